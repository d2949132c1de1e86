"""The claims of the thesis about a figure: numbers, their expected range, and a verdict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, isfinite, nan

from unweave.reproduce.frame import Row
from unweave.study import analysis

SEEDS = "95 % interval over seeds"


@dataclass(frozen=True)
class Case:
    """One number of a claim, its expected range, and its 95 % interval over seeds, if there is one."""

    what: str
    value: float
    low: float | None
    high: float | None
    above: float = 0.0
    below: float = inf
    chance: analysis.Interval | None = None
    """For a difference: the probability that a run of the first group scores higher than one of the second."""

    @property
    def agrees(self) -> bool:
        """Whether the number is in the expected range."""
        return self.above < self.value < self.below

    @property
    def is_clear(self) -> bool:
        """Whether its whole interval is."""
        return self.low is not None and self.high is not None and self.above < self.low and self.high < self.below

    @property
    def contradicts(self) -> bool:
        """Whether its whole interval is outside the expected range."""
        return self.low is not None and self.high is not None and (self.high <= self.above or self.low >= self.below)

    def rows(self) -> list[Row]:
        """Return the number, and the chance if there is one, as rows; the thesis prints neither."""
        found = [Row(self.what, None, self.value, _or_nan(self.low), _or_nan(self.high))]
        if self.chance:
            chance = self.chance
            what = f"{self.what}, chance above 0"
            found.append(Row(what, None, chance.value, _or_nan(chance.low), _or_nan(chance.high)))
        return found


@dataclass(frozen=True)
class Claim:
    """A statement of the thesis, and the numbers for or against it."""

    says: str
    cases: tuple[Case, ...]

    @property
    def verdict(self) -> str:
        """Whether it holds: in every case, on average, in some cases, or not."""
        agreeing = sum(case.agrees for case in self.cases)
        clear = sum(case.is_clear for case in self.cases)
        if clear == len(self.cases):
            return "holds"
        if agreeing == len(self.cases):
            return "holds on average"
        if clear:
            return "holds in part"
        is_open = agreeing or any(case.low is not None for case in self.cases)
        return "is undecided" if is_open and not self._contradicted() else "does not hold"

    def _contradicted(self) -> int:
        return sum(case.contradicts for case in self.cases)

    def note(self) -> str:
        """Return the claim and its verdict in a sentence."""
        count = len(self.cases)
        agreeing, clear = (sum(getattr(case, name) for case in self.cases) for name in ("agrees", "is_clear"))
        told = f"{agreeing} of {count} {'number agrees' if count == 1 else 'numbers agree'}"
        seeds = f"{clear} with the whole {SEEDS}; {self._contradicted()} contradict it with the whole interval"
        if all(case.low is None for case in self.cases):
            seeds = f"with fewer than {analysis.FEW_SEEDS} seeds there are no intervals"
        return f"Thesis: {self.says}. Here this {self.verdict}: {told}, {seeds}."


def claim(says: str, cases: Sequence[Case]) -> list[Claim]:
    """Return a list with the claim, or an empty one if no run concerns it."""
    found = tuple(case for case in cases if isfinite(case.value))
    return [Claim(says, found)] if found else []


def _or_nan(value: float | None) -> float:
    return nan if value is None else value
