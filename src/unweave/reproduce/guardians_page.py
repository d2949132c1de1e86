"""The scores as a table of all cells, and the count of missed claims as a page."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import astuple, dataclass, fields
from io import StringIO
from itertools import product
from textwrap import fill

from unweave.metrics import METRICS
from unweave.reproduce.guardians_claims import CLAIM_OF, CLAIMS, Expected, verdict
from unweave.reproduce.guardians_worlds import ENCODERS, WORLDS

DIGITS = 4
"""Decimals of stored scores: the same numbers are counted and printed."""
WORDS = {
    Expected.HIGH: "high",
    Expected.HALF: "half",
    Expected.NOT_HIGH: "not high",
    Expected.LOW: "low",
    Expected.ANY: "",
}


@dataclass(frozen=True)
class Score:
    """One score of one encoder in one world."""

    rows: int
    factors: int
    repeat: int
    world: str
    encoder: str
    metric: str
    value: float
    floor: float | None
    ceiling: float | None
    adjusted: float | None

    def __post_init__(self) -> None:
        for name in ("value", "floor", "ceiling", "adjusted"):
            number = getattr(self, name)
            object.__setattr__(self, name, None if number is None else round(number, DIGITS) + 0.0)

    @property
    def verdict(self) -> int | None:
        """1 if the adjusted score is too high, -1 if it is too low, 0 if it is as claimed."""
        return verdict(self.metric, self.encoder, self.adjusted) if self.metric in CLAIM_OF else None

    @property
    def raw_verdict(self) -> int | None:
        """The same for the plain value, for metrics whose largest score is 1."""
        return verdict(self.metric, self.encoder, self.value) if _ends_at_1(self.metric) else None


@dataclass(frozen=True)
class Tally:
    """How often a metric misses its claim."""

    metric: str
    claim: str
    tested: int
    too_high: Counter[str]
    too_low: Counter[str]
    """By encoder."""
    raw: int | None
    """How often its plain value misses it; None for metrics whose largest score is not 1."""

    @property
    def missed(self) -> int:
        """The number of missed claims."""
        return self.too_high.total() + self.too_low.total()

    @property
    def percent(self) -> float:
        """The share of missed claims, in per cent."""
        return 100 * self.missed / self.tested


def tally(scores: Sequence[Score]) -> list[Tally]:
    """Return the count for every metric that has a claim, in the order of `CLAIM_OF`."""
    found = []
    for metric, claim in CLAIM_OF.items():
        own = [each for each in scores if each.metric == metric and each.verdict is not None]
        if not own:
            continue
        high, low = (Counter(each.encoder for each in own if each.verdict == side) for side in (1, -1))
        raw = sum(bool(each.raw_verdict) for each in own) if _ends_at_1(metric) else None
        found.append(Tally(metric, claim, len(own), high, low, raw))
    return found


def conclusions(scores: Sequence[Score]) -> tuple[str, ...]:
    """Return the conclusions from the counts, as sentences."""
    counts = tally(scores)
    tested, missed = sum(each.tested for each in counts), sum(each.missed for each in counts)
    both = [each for each in counts if each.raw is not None]
    fooled = [each for each in counts if each.missed]
    best, worst = (sorted(fooled, key=lambda each: side * each.percent)[:3] for side in (1, -1))
    none = [each.metric for each in counts if not each.missed]
    lines = [
        f"Of {tested:,} claims, adjusted scores miss {missed:,} ({_percent(missed / tested)}). "
        f"Of the {sum(each.tested for each in both):,} claims of metrics whose largest score is 1, they miss "
        f"{sum(each.missed for each in both):,}, plain values {sum(each.raw or 0 for each in both):,}.",
        f"Metrics that miss no claim: {', '.join(none) or 'none'}. Of the others, the fewest: {_named(best)}; "
        f"the most: {_named(worst)}.",
        f"Missed by world: {_shares(scores, 'world', WORLDS)}.",
        f"Missed by encoder: {_shares(scores, 'encoder', ENCODERS)}.",
    ]
    lines += [_mostly_fooled(scores, encoder) for encoder in ENCODERS]
    lines.append(_ends(scores))
    sizes = sizes_of(scores)
    if len(sizes) > 1:
        shares = {f"{rows:,} rows of {k} factors": missed_share(of_size(scores, (rows, k))) for rows, k in sizes}
        lines.append(f"Missed by size: {', '.join(f'{_percent(share)} at {size}' for size, share in shares.items())}.")
    return tuple(lines)


def page(scores: Sequence[Score]) -> str:
    """Return the counts as a page of Markdown."""
    *most, last = [f"{rows:,} rows of {k} factors" for rows, k in sizes_of(scores)]
    sizes = f"{', '.join(most)} and {last}" if most else last
    repeats = len({each.repeat for each in scores})
    draws = "1 draw" if repeats == 1 else f"{repeats} draws"
    parts = [
        "# What fools which metric",
        _lines(
            f"Made by `unweave reproduce guardians`, which scores {draws} of each of {len(WORLDS)} worlds × "
            f"{len(ENCODERS)} encoders at {sizes}. [What the names mean](../reproduce/guardians.md)."
        ),
        as_list(conclusions(scores)),
        "## Metrics",
        _lines(
            "The table counts the claims tested, and those that adjusted scores and plain values miss. The last "
            "columns name the encoders on which the adjusted score is too high or too low, and how often."
        ),
        _markdown(["metric", "claim", "tested", "missed", "%", "plain", "too high on", "too low on"], _counted(scores)),
        "## Missed by world, %",
        _markdown(["metric", *WORLDS], _by_world(scores)),
        "## What is claimed",
        _markdown(["claim", "of codes", *ENCODERS], _claimed()),
    ]
    return "\n\n".join(parts) + "\n"


def as_list(sentences: Iterable[str]) -> str:
    """Return sentences as a list of Markdown."""
    return "\n".join(_lines(sentence, "- ") for sentence in sentences)


def _lines(text: str, start: str = "") -> str:
    """Return a text in lines of at most 118 characters."""
    return fill(text, 118, initial_indent=start, subsequent_indent=" " * len(start), break_on_hyphens=False)


def as_csv(scores: Iterable[Score]) -> str:
    """Return a header and one line for each score."""
    buffer = StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(field.name for field in fields(Score))
    writer.writerows(astuple(each) for each in scores)
    return buffer.getvalue()


def from_csv(text: str) -> tuple[Score, ...]:
    """Return the scores that `as_csv` wrote."""

    def read(line: list[str]) -> Score:
        rows, factors, repeat = map(int, line[:3])
        world, encoder, metric = line[3:6]
        floor, ceiling, adjusted = (float(cell) if cell else None for cell in line[7:])
        return Score(rows, factors, repeat, world, encoder, metric, float(line[6]), floor, ceiling, adjusted)

    return tuple(map(read, list(csv.reader(StringIO(text)))[1:]))


def _ends_at_1(metric: str) -> bool:
    """Return whether a score's largest value is 1, so that it needs no ceiling."""
    owner = max((name for name in METRICS if metric == name or metric.startswith(f"{name}-")), key=len)
    return METRICS[owner].range[1] == 1.0


def _counted(scores: Sequence[Score]) -> Iterator[list[str]]:
    for each in tally(scores):
        plain = "–" if each.raw is None else f"{each.raw}"
        sides = [", ".join(f"{name} {count}" for name, count in side.items()) for side in (each.too_high, each.too_low)]
        yield [f"`{each.metric}`", each.claim, f"{each.tested}", f"{each.missed}", f"{each.percent:.0f}", plain, *sides]


def _by_world(scores: Sequence[Score]) -> Iterator[list[str]]:
    for each in tally(scores):
        own = [score for score in scores if score.metric == each.metric]
        shares = (missed_share([score for score in own if score.world == world]) for world in WORLDS)
        yield [f"`{each.metric}`", *("–" if share is None else f"{100 * share:.0f}" for share in shares)]


def _claimed() -> Iterator[list[str]]:
    for name, claim in CLAIMS.items():
        yield [name, claim.says, *(WORDS[claim.expected[encoder]] for encoder in ENCODERS)]


def _markdown(heads: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    rows = [heads, ["---"] * len(heads), *lines]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def sizes_of(scores: Iterable[Score]) -> list[tuple[int, int]]:
    """Return the numbers of rows and of factors that occur, in their order."""
    return list(dict.fromkeys((each.rows, each.factors) for each in scores))


def of_size(scores: Iterable[Score], size: tuple[int, int]) -> list[Score]:
    """Return the scores of one number of rows and of factors."""
    return [each for each in scores if (each.rows, each.factors) == size]


def _mostly_fooled(scores: Sequence[Score], encoder: str) -> str:
    """Return a sentence: the metrics that score an encoder too high, or too low, in more than half of the cases."""
    own = [each for each in scores if each.encoder == encoder and each.verdict is not None]
    sides: dict[int, list[str]] = {1: [], -1: []}
    for metric, side in product(CLAIM_OF, sides):
        share = mean([each.verdict == side for each in own if each.metric == metric])
        if share is not None and share > 0.5:
            sides[side].append(metric)
    high, low = (", ".join(metrics) or "none" for metrics in sides.values())
    return f"Mostly too high for `{encoder}`: {high}. Too low: {low}."


def _ends(scores: Sequence[Score]) -> str:
    """Return a sentence: the floors that are not near 0 and the ceilings that are not near 1, at the last size."""
    last = of_size(scores, sizes_of(scores)[-1])
    floors, ceilings = (
        {metric: mean([getattr(each, end) for each in last if each.metric == metric]) for metric in _plain(last)}
        for end in ("floor", "ceiling")
    )
    high = ", ".join(f"{name} {value:.2f}" for name, value in floors.items() if value is not None and value > 0.2)
    low = ", ".join(f"{name} {value:.2f}" for name, value in ceilings.items() if value is not None and value < 0.8)
    return f"Floors above 0.2: {high or 'none'}. Ceilings below 0.8: {low or 'none'}."


def mean(values: Iterable[float | None]) -> float | None:
    """Return the mean of the values that are not None, or None."""
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def _plain(scores: Iterable[Score]) -> list[str]:
    """Return the metrics with a claim whose largest score is 1."""
    there = {each.metric for each in scores}
    return [metric for metric in CLAIM_OF if metric in there and _ends_at_1(metric)]


def missed_share(scores: Iterable[Score]) -> float | None:
    """Return the share of missed claims, or None without claims."""
    return mean([bool(each.verdict) for each in scores if each.verdict is not None])


def _shares(scores: Sequence[Score], field: str, names: Iterable[str]) -> str:
    shares = {name: missed_share([each for each in scores if getattr(each, field) == name]) for name in names}
    return ", ".join(f"{name} {_percent(share)}" for name, share in shares.items())


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.0f} %"


def _named(counts: Iterable[Tally]) -> str:
    return ", ".join(f"{each.metric} {_percent(each.percent / 100)}" for each in counts)
