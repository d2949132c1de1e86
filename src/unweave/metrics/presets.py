"""How many samples the scores of a run are computed from, and how many are too few."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unweave.errors import warn_user
from unweave.metrics.reading import whole_columns

ROWS_PER_VALUE = 200
"""With fewer rows for each value of the largest factor, scores are known to be biased.

The plug-in mutual information of a useless latent is too large by about (bins - 1)(values - 1) / 2n nats. At 20 bins
and this many rows per value, this is 0.05 nats, or 1 to 3 % of the factor's entropy.
"""


FEWEST = 20
"""With fewer units (rows, or votes) a half says nothing about the rest, and there is no interval."""
ROWS_PER_CODE, FEWEST_ROWS = 10, 100
"""With fewer rows for each latent, or fewer in total, even scores without factors are unreliable."""


class FewSamples(UserWarning):
    """A score is computed from so few samples that its bias matters."""


class UnseenValues(UserWarning):
    """The test rows have values that no train row has."""


class LeftOut(UserWarning):
    """A metric of a group cannot take the inputs, and is left out."""


class NumberedLabels(UserWarning):
    """A factor holds strings, which are numbered: metrics that take values as numbers depend on their order."""


class LooksTransposed(UserWarning):
    """There are fewer rows than columns."""


class ConstantFactor(UserWarning):
    """A factor has a single value, so no metric can use it."""


class ConstantCodes(UserWarning):
    """Codes of which every column has a single value: all rows have the same code."""


class DistinctValues(UserWarning):
    """A factor of whole numbers has a different value in every row, so it has no classes."""


@dataclass(frozen=True)
class Preset:
    """Numbers of random images that a run is scored on; metrics that draw their own samples have their own counts."""

    samples: int
    """Images to score, or to fit on."""
    test_samples: int
    """Images to test on."""
    pool: int
    """Images to draw from, in place of the grid, for scores of rows that share a value; 0 uses the grid itself."""


PRESETS = {"paper": Preset(10_000, 5_000, 0), "fast": Preset(2_000, 1_000, 10_000)}
"""`paper` has the counts of the published studies (disentanglement_lib), `fast` is for a first look."""


def warn_of_few(factors: np.ndarray | None, codes: np.ndarray | None = None) -> None:
    """Warn when there are too few rows for the number of values of the largest factor, or for the number of latents.

    Continuous factors have no classes to count.
    """
    demands = []
    if factors is not None and (classes := factors[:, whole_columns(factors)]).size:
        largest = max(len(np.unique(factor)) for factor in classes.T)
        demands.append((len(factors), f"a factor of {largest:,} values", ROWS_PER_VALUE * largest))
    if codes is not None:
        rows, columns = codes.shape
        demands.append((rows, f"codes of {columns:,} columns", max(FEWEST_ROWS, ROWS_PER_CODE * columns)))
    for rows, what, wanted in demands:
        if rows < wanted:
            more = f"give more rows or, for a run, --samples {wanted} (in Python, samples={wanted})"
            few = "too few for an interval, and few" if rows < FEWEST else "few"
            warn_user(f"{rows:,} rows are {few} for {what}: below {wanted:,} scores are biased; {more}", FewSamples)
            return  # one is enough


def warn_of_unseen_values(factors: np.ndarray, test_factors: np.ndarray) -> None:
    """Warn if the train rows have none of the test rows' values of some factor; continuous factors are ignored."""
    classes = whole_columns(factors) & whole_columns(test_factors)
    for number, (train, test) in enumerate(zip(factors.T, test_factors.T, strict=True), start=1):
        if classes[number - 1] and not np.isin(test, train).any():
            text = f"no test row has a value of factor {number} that the train rows have: number both in the same way"
            warn_user(text, UnseenValues)
