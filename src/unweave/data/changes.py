"""Rules for what differs within a pair or a group of images: which factors, and their new values."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unweave.data.dataset import Dataset
from unweave.data.factors import FactorSpace, Integers
from unweave.data.table import require_grid
from unweave.errors import UsageError, unknown

RULES = ("exact", "redrawn", "dlib", "laplace")

Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Changes:
    r"""How the factors of further images differ from those of the first.

    Some factors are chosen and take new values; the others stay the same. With the rule "exact", `changed` factors take
    a different value; None draws their number for each group, uniformly from 1 to F - 1, where F is the number of
    factors that have more than one value and are not `always_shared`.

    With the rule "redrawn", that of the paper [Locatello2020]_, the chosen factors are drawn again and may keep their
    value, so both images of a pair may be the same. The rule "dlib", that of disentanglement_lib, is the same, but with
    probability one half only a single factor is drawn again.

    With the rule "laplace", the small steps of [Klindt2021]_ as in the authors' code, a factor with s values moves from
    v to w with probability proportional to exp(-step_rate |w - v| / log s). If no factor moves, one of them, drawn
    uniformly, takes a different value with these odds.
    """

    changed: int | None = None
    rule: str = "exact"
    step_rate: float = 1.0
    always_shared: str = ""
    """Factors that never differ: comma-separated names."""

    def __post_init__(self) -> None:
        if self.rule not in RULES:
            raise unknown("rule of pairs", self.rule, RULES)
        if not 0 < self.step_rate < math.inf:
            raise UsageError(f"step_rate must be a positive number, not {self.step_rate}")
        if self.rule == "laplace" and self.changed is not None:
            raise UsageError("the rule laplace draws the number of changed factors itself: leave out changed")

    def check(self, data: Dataset) -> None:
        """Raise a `UsageError` if no such images can be drawn."""
        require_grid(data, "a pair that shares chosen factors")
        varying = int(self.movable(data.factors).sum())
        if not varying:
            raise UsageError(f"{data.name} has no factor that varies, so nothing can change within a pair")
        if self.changed is not None and not 1 <= self.changed <= varying:
            raise UsageError(
                f"{data.name} has {varying} factors that vary: 1 to {varying} may change, not {self.changed}"
            )

    def movable(self, space: FactorSpace) -> Mask:
        """Return which factors (k,) may differ."""
        result = np.array(space.sizes) > 1
        for name in filter(None, map(str.strip, self.always_shared.split(","))):
            result[space.axis(name)] = False
        return result

    def choose(self, space: FactorSpace, factors: Integers, rng: np.random.Generator) -> Mask:
        """Return which factors (n, k) of each first image take new values in the other images of its group."""
        movable = self.movable(space)
        if self.rule == "laplace":
            return self._moving(space, factors, movable, rng)
        n, varying = len(factors), int(movable.sum())
        count = np.full(n, self.changed) if self.changed else rng.integers(1, max(varying, 2), size=n)
        if self.rule == "dlib":
            count = np.where(rng.random(n) < 0.5, 1, count)
        keys = np.where(movable, rng.random(factors.shape), 2.0)  # factors that stay come last
        return keys.argsort(axis=1).argsort(axis=1) < count[:, None]

    def move(self, space: FactorSpace, factors: Integers, chosen: Mask, rng: np.random.Generator) -> Integers:
        """Return the indices (n,) of further images: the chosen factors take new values."""
        sizes = np.array(space.sizes)
        if self.rule == "laplace":
            new = self._stepped(space, factors, rng)
        elif self.rule == "exact":
            new = (factors + 1 + rng.integers(0, np.maximum(sizes - 1, 1), size=factors.shape)) % sizes
        else:
            new = rng.integers(0, sizes, size=factors.shape)
        return space.to_index(np.where(chosen, new, factors))

    def _moving(self, space: FactorSpace, factors: Integers, movable: Mask, rng: np.random.Generator) -> Mask:
        """Return which factors take a small step: each independently, and one of them if none does."""
        uniform, moving = rng.random(factors.shape), np.zeros(factors.shape, bool)
        for axis in np.flatnonzero(movable):
            odds = self._odds(space.sizes[axis])  # (size, size): odds of each step relative to staying
            moving[:, axis] = uniform[:, axis] >= (1 / (1 + odds.sum(1)))[factors[:, axis]]
        still = np.flatnonzero(~moving.any(axis=1))
        moving[still, rng.choice(np.flatnonzero(movable), size=len(factors))[still]] = True
        return moving

    def _stepped(self, space: FactorSpace, factors: Integers, rng: np.random.Generator) -> Integers:
        """Return the factors (n, k) after a small step of at least one value."""
        uniform, new = rng.random(factors.shape), factors.copy()
        for axis in np.flatnonzero(np.array(space.sizes) > 1):
            # Relative to the odds of the nearest value, which are 1 and never underflow.
            odds = self._odds(space.sizes[axis], nearest=1)[factors[:, axis]].cumsum(axis=1)
            new[:, axis] = (uniform[:, [axis]] * odds[:, -1:] >= odds).sum(axis=1)
        return new

    def _odds(self, size: int, nearest: int = 0) -> NDArray[np.float64]:
        """Return exp(-step_rate (|w - v| - nearest) / log size) for all v and w of a factor; 0 if they are equal."""
        steps = np.abs(np.subtract.outer(np.arange(size), np.arange(size)))
        return np.where(steps > 0, np.exp(-self.step_rate * np.maximum(steps - nearest, 0) / math.log(size)), 0.0)
