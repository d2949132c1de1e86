"""The table of scores as HTML: grouped by what they measure, each drawn on a scale with its floor and ceiling."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from math import isfinite, nan
from typing import Any

from unweave.metrics import METRICS, Metric
from unweave.metrics.dci_es import LIMITS as DCI_ES
from unweave.metrics.downstream import LIMITS as DOWNSTREAM
from unweave.metrics.metric import KIND
from unweave.report.directions import NOT_SCORES
from unweave.report.style import decimals, number

Score = Mapping[str, Any]
"""A row of the table of scores, by column."""

QUESTIONS = {
    "modularity": "Does each latent follow one factor only?",
    "compactness": "Is each factor in one latent only?",
    "explicitness": "Can the factors be predicted from the codes, and by how simple a predictor?",
    "all three": "Modularity, compactness and explicitness in one number.",
    "robustness": "Does a latent keep its value when factors that it does not follow change?",
    "distances": "Are codes as far apart as the factors of their images?",
    "linearity": "When one factor changes, do the codes move along a line, or along one latent?",
    "usefulness": "How well do classifiers predict the factors from the codes, given few or many labelled rows?",
    "fairness": "Do predictions of one factor change with another that they should not depend on?",
    "independence": "Do the latents depend on each other? No factors are used.",
    "capacity": "How many latents are in use? No factors are used.",
    "likelihood": "What do the codes cost, and what do they keep of an image, in nats? No factors are used.",
    "geometry": "Do the latents change the decoded image in directions of their own? No factors are used.",
    "other": "Scores of your own, or that this version does not know.",
}
"""The question of each group of scores, in the order of the page."""
PARTS = {"disentanglement": "modularity", "completeness": "compactness", "informativeness": "explicitness"}
"""The group of a part whose name differs from what it measures."""
PART_LIMITS = {"downstream": DOWNSTREAM, "dci_es": DCI_ES}
"""The least and the largest values of the parts, by the metric's function, if they differ between parts."""
SLACK = 0.02
"""How far outside a scale from 0 to 1 a value is still drawn: floors that are 0 up to noise."""
ENDS = '<span class="ends"><span>0</span><span>1</span></span>'
COLUMNS = ("metric", "better", "value", "95 % interval", ENDS, "adjusted")


@dataclass(frozen=True)
class Origin:
    """Where a row of the table of scores comes from."""

    name: str
    """The metric's name."""
    metric: Metric
    group: str
    """What it measures: a key of `QUESTIONS`."""
    most: float
    """The largest value there can be."""


def _origins(metrics: Mapping[str, Metric]) -> dict[str, Origin]:
    """Return the origin of every possible row; a part of a score is in the group of that part."""
    found = {}
    for name, metric in metrics.items():
        limits = PART_LIMITS.get(metric.sample.__name__)
        for place, row in enumerate(metric.names(name)):
            most = limits[1][place] if limits else metric.range[1]
            part = row.removeprefix(f"{name}-")
            part = PARTS.get(part, part) if metric.measures == "all three" else ""
            group = part if part in QUESTIONS else metric.measures
            found[row] = Origin(name, metric, group if group in QUESTIONS else "other", most)
    return found


ORIGINS = _origins(METRICS)
"""The origins of unweave's own scores."""


def origin_of(name: str) -> Origin | None:
    """Return where a row of this name comes from, if known: a user's metric is known once it is defined."""
    return ORIGINS.get(name) or _origins(KIND.own).get(name)


def direction_of(name: str) -> bool | None:
    """Return what the metric of a score says of its direction: whether higher is better, or None."""
    origin = origin_of(name)
    return getattr(origin.metric, "higher_is_better", True) if origin else None


def score_table(scores: Sequence[Score]) -> str:
    """Return a <table> with a row for every score, in groups by what they measure.

    Scores of one name are adjacent, with the options in which they differ; a tooltip has all options.
    """
    names = [score["metric"] for score in scores]
    rows = sorted(scores, key=lambda score: names.index(score["metric"]))  # equal names side by side
    columns = COLUMNS if any(isfinite(_number(score, "adjusted")) for score in rows) else COLUMNS[:-1]
    head = "".join(f'<th scope="col">{title}</th>' for title in columns)
    body = "\n".join(_group(group, rows, len(columns)) for group in QUESTIONS)
    return f'<div class="scroll"><table>\n<thead><tr>{head}</tr></thead>\n{body}\n</table></div>'


def is_score(score: Score) -> bool:
    """Return whether a row is a score, not just a time."""
    return score["metric"] not in NOT_SCORES


def metrics_of(scores: Iterable[Score]) -> list[str]:
    """Return the metrics of the scores, each once, without unknown ones."""
    return list(dict.fromkeys(origin.name for score in scores if (origin := origin_of(score["metric"]))))


def _group(group: str, scores: Sequence[Score], columns: int) -> str:
    """Return the rows of one group below its heading, or nothing."""
    inside = [score for score in scores if _group_of(score) == group]
    if not inside:
        return ""
    heading = f"<strong>{group.capitalize()}</strong> {QUESTIONS[group]}"
    head = f'<tr class="group"><th scope="rowgroup" colspan="{columns}">{heading}</th></tr>'
    rows = "\n".join(_row(score, apart(score, scores), columns) for score in inside)
    return f"<tbody>\n{head}\n{rows}\n</tbody>"


def _group_of(score: Score) -> str:
    origin = origin_of(score["metric"])
    return origin.group if origin else "other"


def _row(score: Score, apart: str, columns: int) -> str:
    value, low, high = (_number(score, column) for column in ("value", "low", "high"))
    cells = [
        f'<td class="better">{_direction(score)}</td>',
        f'<td class="value">{decimals(value)}</td>',
        f"<td>{decimals(low)} – {decimals(high)}</td>" if isfinite(low + high) else "<td>–</td>",
        f'<td class="range">{_scale(score)}</td>',
        f"<td>{decimals(_number(score, 'adjusted'))}</td>",
    ]
    options = escape(_listed(_read(score.get("options"))))
    name = escape(str(score["metric"])) + (f" <small>{escape(apart)}</small>" if apart else "")
    return f'<tr><th scope="row" title="{options}">{name}</th>{"".join(cells[: columns - 1])}</tr>'


def _direction(score: Score) -> str:
    """Return whether higher or lower is better, if either is."""
    higher = direction_of(score["metric"])
    return "" if higher is None else "↑ higher" if higher else "↓ lower"


def _scale(score: Score) -> str:
    """Draw the value, its interval, floor and ceiling on a scale; nothing if the scale has no ends."""
    span = _span(score)
    if span is None:
        return ""
    start, end = span
    value, low, high = (_number(score, column) for column in ("value", "low", "high"))
    low, high = (low, high) if isfinite(low + high) else (value, value)
    marks = {mark: _number(score, mark) for mark in ("floor", "ceiling") if isfinite(_number(score, mark))}

    def place(number: float) -> float:
        return 100 * (number - start) / (end - start)

    ticks = "".join(f'<u class="{mark}" style="left:{place(at):.2f}%"></u>' for mark, at in marks.items())
    band = f'<i style="left:{place(low):.2f}%;width:{place(high) - place(low):.2f}%"></i>'
    dot = f'<b style="left:{place(value):.2f}%"></b>'
    told = ", ".join(f"{mark} {decimals(at)}" for mark, at in marks.items()) + _inverted(score)
    described = f' role="img" aria-label="{told}" title="{told}"' if told else ' aria-hidden="true"'
    ends = "" if span == (0, 1) else f'<span class="ends own"><span>{_end(start)}</span><span>{_end(end)}</span></span>'
    return f'<span class="scale"{described}>{band}{ticks}{dot}</span>{ends}'


def _span(score: Score) -> tuple[float, float] | None:
    """Return the ends of a score's scale: 0 and 1, or the least range of 0, the score, its floor and ceiling."""
    origin = origin_of(score["metric"])
    numbers = [_number(score, column) for column in ("value", "low", "high", "floor", "ceiling")]
    known = [number for number in numbers if isfinite(number)]
    if not isfinite(numbers[0]):
        return None
    if (origin is None or origin.most <= 1) and all(-SLACK <= number <= 1 + SLACK for number in known):
        return 0, 1
    start, end = min(0, *known), max(0, *known)
    return (start, end) if isfinite(numbers[3] + numbers[4]) and start < end else None


def _inverted(score: Score) -> str:
    """Return a note if the ceiling is not better than the floor."""
    floor, ceiling, higher = _number(score, "floor"), _number(score, "ceiling"), direction_of(score["metric"])
    if not isfinite(floor + ceiling) or higher is None or (ceiling > floor if higher else ceiling < floor):
        return ""
    return ": the ceiling is not better than the floor here, so that neither says how good the value is"


def _end(value: float) -> str:
    return number(float(f"{value:.2g}")).replace("-", "−")


def apart(score: Score, scores: Sequence[Score]) -> str:
    """Return the options that a score does not share with others of its name."""
    own = _read(score.get("options"))
    others = [_read(other.get("options")) for other in scores if other["metric"] == score["metric"]]
    return _listed({name: value for name, value in own.items() if any(other.get(name) != value for other in others)})


def _number(score: Score, column: str) -> float:
    value = score.get(column)
    return nan if value is None else float(value)


def _read(options: object) -> Mapping[str, Any]:
    """Return options, a mapping or the JSON text of one."""
    if isinstance(options, str):
        try:
            options = json.loads(options)
        except ValueError:
            options = {"options": options}
    return options if isinstance(options, Mapping) else {}


def _listed(options: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={value}" for name, value in options.items() if value is not None)
