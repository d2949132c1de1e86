"""How much a factor changes an observation, as a loss sees it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from unweave.data import Data
from unweave.metrics.inputs import whole_number
from unweave.perception.measured import RANDOM, chosen_factors, mean_and_spread, measurable, warn_of_few
from unweave.perception.pairs import random_pairs
from unweave.perception.perceived import Floats, Perceived
from unweave.progress import OnProgress, reporting

if TYPE_CHECKING:
    import polars


def importance(
    data: Data,
    loss: str = "mse",
    *,
    pairs: int = 50_000,
    seed: int = 0,
    standardise: bool | None = None,
    factors: Sequence[str] | None = None,
    progress: bool | None = None,
    on_progress: OnProgress | None = None,
) -> polars.DataFrame:
    r"""Measure the mean and spread of perceived distances along factors [Michlo2022]_, eq. 3.9 and 3.10, table 3.1.

    Along a factor, the two images of a pair differ only in it. Random pairs are two different images. To encode a
    factor with larger distances reduces the reconstruction loss more.

    Parameters
    ----------
    data
        A data set, or its name or path; without factors, there is only the row `random`.
    loss
        The name of a reconstruction loss.
    pairs
        Pairs for each factor, and number of random pairs.
    seed
        Seed of the pairs.
    standardise
        Whether pixels are standardised; by default they are in [0, 1]. See `Perceived`.
    factors
        Names of the factors to measure; by default all that vary.
    progress, on_progress
        Whether to show a progress bar, and a function to call instead.

    Returns
    -------
    polars.DataFrame
        factor, mean, std of the distances; the last row is `random`. Null for a factor with too few pairs, which can
        happen if images do not form a full grid; a warning says so.

    Examples
    --------
    >>> from unweave.perception import importance
    >>> importance("xysquares", pairs=8192, factors=["x_R"])["mean"].round(4).to_list()
    [0.0104, 0.0308]
    """
    import polars

    seen = Perceived(data, loss, standardise=standardise)
    with reporting(on_progress, progress) as told:
        found = distances_by_factor(seen, pairs, seed, factors, told)
    rows = [(name, *(mean_and_spread(each) if each is not None else (None, None))) for name, each in found.items()]
    schema = {"factor": polars.String, "mean": polars.Float64, "std": polars.Float64}
    return polars.DataFrame(rows, schema=schema, orient="row")


def distances_by_factor(
    seen: Perceived, pairs: int, seed: int, factors: Sequence[str] | None, on_progress: OnProgress
) -> dict[str, Floats | None]:
    """Return perceived distances by factor, and those of random pairs; None if there are too few pairs."""
    pairs, data = whole_number(pairs, "pairs", 1), seen.data
    found: dict[str, Floats | None] = {}
    axes = chosen_factors(data, factors) if data.is_labelled or factors else []
    for axis in axes:
        name = data.factors.names[axis]
        found[name] = None
        if (source := measurable(data, axis)) is not None:
            found[name] = seen.distances(source.draw(pairs, seed, differ=True), on_progress, name)
    warn_of_few(data, [name for name, each in found.items() if each is None], "their distances are unknown")
    return found | {RANDOM: seen.distances(random_pairs(data, pairs, seed), on_progress, RANDOM)}
