"""Do perceived distances follow ground-truth distances?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from unweave.data import Data, Dataset
from unweave.data.factors import Integers
from unweave.data.table import require_factors
from unweave.errors import UsageError, warn_user
from unweave.metrics.inputs import whole_number
from unweave.perception.association import Correlation, correlation, partial_correlations
from unweave.perception.ground_truth import ranges, total
from unweave.perception.pairs import ENOUGH, Traversals, along, random_pairs, varying_factors
from unweave.perception.perceived import Floats, Perceived
from unweave.progress import OnProgress, reporting

if TYPE_CHECKING:
    import polars

RANDOM = "random"
"""The row for pairs of any two images."""


class FewPairs(UserWarning):
    """Factors of which there are too few pairs of images that differ in nothing else."""


def correlations(
    data: Data,
    loss: str = "mse",
    *,
    pairs: int = 65_536,
    seed: int = 0,
    self_pairs: float = 0.0,
    scaled: bool | None = None,
    standardise: bool | None = None,
    factors: Sequence[str] | None = None,
    progress: bool | None = None,
    on_progress: OnProgress | None = None,
) -> polars.DataFrame:
    r"""Correlate perceived with ground-truth distances [Michlo2022]_, section 4.2, tables 4.1 and 4.2.

    Along a factor, both images of a pair are drawn from the same traversal, and may be the same image. Random pairs are
    two different images.

    Parameters
    ----------
    data
        A data set with factors, or its name or path: "xysquares:spacing=4".
    loss
        The name of a reconstruction loss: "mse-box:radius=31".
    pairs
        Pairs for each factor, and random ones.
    seed
        Seed of the pairs; those of a factor do not depend on the other factors.
    self_pairs
        The share of random pairs that are an image with itself; 1/32 in the thesis.
    scaled
        Whether ground-truth distances of random pairs give each factor the length 1; see `ground_truth_distance`.
    standardise
        Whether pixels are standardised; by default they are in [0, 1]. See `Perceived`.
    factors
        Names of the factors to measure; by default all that vary.
    progress, on_progress
        A bar or none, and who is told of progress instead.

    Returns
    -------
    polars.DataFrame
        factor, linear (Pearson), rank (Spearman, mean ranks for ties); the last row is `random`. 0 where either
        distance is the same for all pairs.

    Notes
    -----
    Of images that are no full grid, pairs along a factor are rows that differ in it alone. Where there are fewer than
    100 such pairs, a warning says so, and the row is the partial correlation over random pairs: that with the distance
    of the factor, while the distances of the other factors are held constant.

    Examples
    --------
    >>> from unweave.perception import correlations
    >>> correlations("xysquares", pairs=16_384, factors=["x_R"])["rank"].round(2).to_list()
    [0.58, 0.22]
    """
    import polars

    seen = Perceived(data, loss, standardise=standardise)
    with reporting(on_progress, progress) as told:
        found = correlate(seen, chosen_factors(seen.data, factors), pairs, seed, self_pairs, scaled, told)
    return polars.DataFrame([{"factor": name, **each._asdict()} for name, each in found.items()])


def chosen_factors(data: Dataset, names: Sequence[str] | None) -> list[int]:
    """Return the positions of the factors to measure: those that are named, or all that vary."""
    require_factors(data, "a distance along a factor")
    if isinstance(names, str):
        raise UsageError(f"factors must be a list of names, not '{names}'")
    varying = varying_factors(data)
    if not varying:
        raise UsageError(f"'{data.name}' has no factor that varies")
    if names is None:
        return varying
    wanted = [data.factors.axis(name) for name in names]
    if constant := [data.factors.names[axis] for axis in wanted if axis not in varying]:
        raise UsageError(f"the factor '{constant[0]}' of '{data.name}' has a single value: nothing lies along it")
    return wanted


def correlate(
    seen: Perceived,
    factors: Sequence[int],
    pairs: int,
    seed: int,
    self_pairs: float,
    scaled: bool | None,
    on_progress: OnProgress,
) -> dict[str, Correlation]:
    """Return the correlations of each factor, by its name, and of random pairs."""
    pairs = whole_number(pairs, "pairs", 2)
    if not 0 <= self_pairs < 1:
        raise UsageError(f"self_pairs is a share from 0 to below 1, not {self_pairs}")
    names = seen.data.factors.names
    found: dict[str, Correlation] = {}
    missing: list[int] = []
    for axis in factors:
        if is_measurable(seen.data, axis):
            drawn = along(seen.data, axis).draw(pairs, seed, differ=False)
            perceived = seen.distances(drawn, on_progress, names[axis])
            found[names[axis]] = correlation(apart(seen.data, drawn)[:, axis], perceived)
        else:
            missing.append(axis)
    drawn = random_pairs(seen.data, pairs, seed, self_pairs)
    perceived, truths = seen.distances(drawn, on_progress, RANDOM), apart(seen.data, drawn)
    if missing:
        warn_of_few(seen.data, missing)
        alone = partial_correlations(truths, perceived)
        found |= {names[axis]: alone[axis] for axis in missing}
    found = {names[axis]: found[names[axis]] for axis in factors}
    return found | {RANDOM: correlation(total(truths, ranges(seen.data, scaled)), perceived)}


def is_measurable(data: Dataset, factor: int) -> bool:
    """Tell whether there are enough pairs that differ in a factor alone."""
    source = along(data, factor)
    return isinstance(source, Traversals) or source.distinct >= ENOUGH


def apart(data: Dataset, pairs: Integers) -> Floats:
    """Return how far apart each factor is (m, k) in pairs (m, 2)."""
    first, second = (data.values(pairs[:, side]) for side in (0, 1))
    return np.abs(first - second).astype(np.float64)


def warn_of_few(data: Dataset, factors: Sequence[int]) -> None:
    """Warn of factors that cannot be measured along themselves."""
    listed = ", ".join(data.factors.names[axis] for axis in factors)
    text = f"'{data.name}' has fewer than {ENOUGH} pairs that differ only in: {listed}"
    warn_user(f"{text}; these are measured on random pairs, the other factors held constant", FewPairs)
