"""The base class of the tables of the thesis: statistics of distances over several draws, and the printed numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import nan
from typing import TYPE_CHECKING, Any

import numpy as np

from unweave.data.files import missing
from unweave.progress import OnProgress
from unweave.reproduce.frame import Reproduction, Row
from unweave.reproduce.intervals import Estimate, mean_and_interval
from unweave.reproduce.thesis.printed import FACTOR, RANDOM

if TYPE_CHECKING:
    import polars

SELF_PAIRS = 1 / 32
"""The share of the thesis' random pairs in which both images are the same: pairs are drawn within batches of 32."""
WITH_SELF = "random, 1 of 32 with itself"
BOX = "mse-box:radius=31"
Draws = Mapping[str, np.ndarray]
"""By factor, the numbers of each draw (draws, numbers)."""


@dataclass(frozen=True)
class Distances:
    """How much of a table is computed."""

    data: tuple[str, ...]
    pairs: int
    """Number of pairs for each factor, and of random pairs."""
    draws: int
    """Number of draws of pairs; the interval is over these."""
    losses: tuple[str, ...] = ("mse", BOX)
    kernel: Mapping[str, Any] = field(default_factory=dict)
    """Settings of `unweave.perception.learn_loss`, if losses are learnt."""


class ThesisTable(Reproduction):
    """A table of the thesis: no training, but distances of many pairs."""

    def cost(self, settings: Distances) -> str:
        """Return the number of statistics."""
        parts = len(settings.data) * len(settings.losses)
        return (
            f"No model is trained: distances under {len(settings.losses)} losses on {_sets(len(settings.data))}, "
            f"{parts} parts of {settings.draws} × {settings.pairs:,} pairs for each factor, and as many random pairs."
        )


def _sets(count: int) -> str:
    return "1 data set" if count == 1 else f"{count} data sets"


def measured(
    measure: Callable[[int], polars.DataFrame], seed: int, draws: int, *, alike: bool
) -> dict[str, np.ndarray]:
    """Return the numbers of every factor in each of several draws, by the factor's name.

    Parameters
    ----------
    measure
        A function from a seed to a table whose first column is the factor.
    seed, draws
        The first seed, and the number of seeds.
    alike
        Whether all factors are equivalent, as in xysquares: then their mean is returned.
    """
    tables = [measure(seed * 1000 + draw) for draw in range(draws)]
    names = tables[0]["factor"].to_list()
    values = np.array([table.select(table.columns[1:]).to_numpy() for table in tables])  # (draws, factors, numbers)
    found = {name: values[:, place] for place, name in enumerate(names)}
    if not alike:
        return found
    factors = [found[name] for name in names if name != RANDOM]
    return {FACTOR: np.mean(factors, axis=0), RANDOM: found[RANDOM]} if factors else {RANDOM: found[RANDOM]}


def estimate(draws: np.ndarray) -> Estimate:
    """Return the mean of several draws and its interval; for one draw only the number."""
    return mean_and_interval(draws) if len(draws) > 1 else Estimate(float(draws[0]), nan, nan)


def here(data: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the data sets that can be loaded, and a note on the others."""
    absent = [name for name in data if missing(name)]
    told = (
        f"Missing, and left out: {', '.join(absent)}; to fetch one: unweave data fetch {absent[0]}." if absent else ""
    )
    return [name for name in data if name not in absent], [told] if told else []


def is_squares(data: str) -> bool:
    """Return whether all factors of a data set are equivalent."""
    return data.partition(":")[0] == "xysquares"


def parts(data: Sequence[str], losses: Sequence[str], on_progress: OnProgress) -> Iterator[tuple[str, str]]:
    """Yield every data set with every loss, and report progress."""
    pairs = [(name, loss) for name in data for loss in losses]
    for done, (name, loss) in enumerate(pairs):
        on_progress(f"{name}, {loss.partition(':')[0]}", done, len(pairs))
        yield name, loss


def row(what: str, published: float | None, draws: np.ndarray) -> Row:
    """Return a row from the draws of one number."""
    return Row(what, published, *estimate(draws))


def largest_difference(rows: Sequence[Row]) -> str:
    """Return a sentence on how far our numbers are from the printed ones."""
    known = [each for each in rows if each.difference is not None]
    if not known:
        return "The thesis prints no number for these data sets."
    most = max(known, key=lambda each: abs(each.difference or 0))
    return f"The largest difference from {len(known)} printed numbers is {abs(most.difference or 0):.2g} ({most.what})."
