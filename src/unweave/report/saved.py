"""Which saved scores belong to the current weights of a run, with notes about them."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from unweave.report.protocols import RunLike
from unweave.report.scores import Score, is_score, metrics_of
from unweave.report.style import number


@dataclass(frozen=True)
class Saved:
    """The saved scores of the weights in a run's folder, and notes about them, as HTML."""

    scores: list[Score]
    news: str
    """What is missing, unfinished or left out."""
    reading: str
    """How to read the table."""


def saved_scores(run: RunLike) -> Saved:
    """Return the scores of the weights in the run's folder."""
    table = run.scores()
    rows: Sequence[Score] = [] if table is None else table.to_dicts()
    current = [row for row in rows if row["current"]]
    shown = [row for row in current if is_score(row)]
    older = [row for row in rows if not row["current"] and is_score(row)]
    missing = "" if shown else f"None yet: {_command(run)} computes them."
    news = " ".join(filter(None, [_progress(run), missing, _left_out(run, older, shown)]))
    return Saved(shown, news, " ".join(_reading(shown)))


def _progress(run: RunLike) -> str:
    """Return a note that the scores of an unfinished run will change."""
    if run.state == "finished":
        return ""
    planned = number(run.config["training"].get("steps", run.step))
    return (
        f"<strong>This run {'has' if run.state == 'failed' else 'is'} {escape(run.state)}, "
        f"at step {number(run.step)} of {planned}: "
        "its scores are those of a half-trained model.</strong>"
    )


def _left_out(run: RunLike, older: Sequence[Score], shown: Sequence[Score]) -> str:
    """Return which saved scores are not of the current weights, and the command that computes them again."""
    if not older:
        return ""
    known = sorted({row["step"] for row in older if row["step"] is not None})
    steps = [f"step {number(step)}" for step in known]
    if any(row["step"] is None for row in older):
        steps.append("a step that was not recorded")
    lacking = [name for name in metrics_of(older) if name not in metrics_of(shown)]
    again = f" {_command(run, lacking)} computes what is missing." if lacking else ""
    noun, verb = ("score", "is") if len(older) == 1 else ("scores", "are")
    return f"{number(len(older))} older {noun}, of {' and '.join(steps)}, {verb} left out.{again}"


def _reading(shown: Sequence[Score]) -> list[str]:
    """Return how to read the table: its intervals and, if there are any, floors and ceilings."""
    lines = []
    if any(row.get("low") is not None for row in shown):
        lines.append(
            "An interval is over images: would another draw of this many images change the score? "
            "It says nothing about other training seeds."
        )
    if any(row.get("floor") is not None for row in shown):
        lines.append(
            'On the scale, <span class="key"><u class="floor"></u></span> from below is the floor, the score of the '
            'same codes with the factors shuffled, and <span class="key"><u class="ceiling"></u></span> from above the '
            "ceiling, that of the factors themselves as codes; point at a scale for their numbers. The adjusted value "
            "is 0 at the floor and 1 at the ceiling. A scale that does not go from 0 to 1 has its ends below it."
        )
    return lines


def _command(run: RunLike, metrics: Sequence[str] = ()) -> str:
    """Return the command that scores a run, as HTML."""
    words = ["unweave evaluate", escape(shlex.quote(str(run.path)))]
    if metrics:  # a browser would break the line between the two hyphens
        words += ['<span class="whole">--metrics</span>', *map(escape, metrics)]
    return f"<code>{' '.join(words)}</code>"
