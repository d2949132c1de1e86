"""Do perceived distances follow ground-truth distances?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from unweave.data import Data
from unweave.perception.measured import RANDOM, chosen_factors, measure, warn_of_few
from unweave.perception.perceived import Perceived
from unweave.progress import OnProgress, reporting

if TYPE_CHECKING:
    import polars


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

    Along a factor, both images of a pair are drawn from the same traversal and may be the same image. Random pairs are
    two different images.

    Parameters
    ----------
    data
        A data set with factors, or its name or path: "xysquares:spacing=4".
    loss
        The name of a reconstruction loss: "mse-box:radius=31".
    pairs
        Pairs for each factor, and number of random pairs.
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
        Whether to show a progress bar, and a function to call instead.

    Returns
    -------
    polars.DataFrame
        factor, linear (Pearson), rank (Spearman, mean ranks for ties); the last row is `random`. 0 if either
        distance is the same for all pairs.

    Notes
    -----
    If images do not form a full grid, pairs along a factor are rows that differ only in it. If there are fewer than 100
    such pairs, a warning says so, and the row is the partial correlation over random pairs: with the distance of the
    factor, while the distances of the other factors are held constant.

    Examples
    --------
    >>> from unweave.perception import correlations
    >>> correlations("xysquares", factors=["x_R"])["rank"].round(2).to_list()
    [0.58, 0.23]
    """
    import polars

    seen = Perceived(data, loss, standardise=standardise)
    axes = chosen_factors(seen.data, factors)
    with reporting(on_progress, progress) as told:
        found = measure(seen, axes, pairs=pairs, seed=seed, self_pairs=self_pairs, scaled=scaled, on_progress=told)
    missing = [name for name, each in found.along.items() if each is None]
    warn_of_few(seen.data, missing, "they are measured on random pairs, with the other factors held constant")
    by_name = found.correlations() | {RANDOM: found.random.correlation()}
    return polars.DataFrame([{"factor": name, **each._asdict()} for name, each in by_name.items()])
