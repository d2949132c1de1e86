"""How many samples the scores of a run are computed from, and how many are too few."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unweave.errors import warn_user
from unweave.metrics.reading import whole_columns

ROWS_PER_VALUE = 200
"""With fewer rows for each value of the largest factor, scores are known to be biased.

The plug-in mutual information of a useless code is too large by about (bins - 1)(values - 1) / 2n nats: at 20 bins and
this many rows a value, by 0.05 nats, that is 1 to 3 % of the factor's entropy."""


ROWS_PER_CODE, FEWEST_ROWS = 10, 100
"""With fewer rows for each column of the codes, or fewer in all, not even scores without factors can be relied on."""


class FewSamples(UserWarning):
    """A score is computed from fewer samples than it takes for its bias not to matter."""


class Strangers(UserWarning):
    """The test rows have values that none of the train rows has."""


class LeftOut(UserWarning):
    """A metric of a group refuses what it was given, and is left out."""


class NumberedLabels(UserWarning):
    """A factor holds texts, which are numbered: metrics that treat values as numbers depend on their order."""


class LooksTransposed(UserWarning):
    """There are fewer rows than columns."""


class ConstantFactor(UserWarning):
    """A factor has a single value, and no metric can tell anything about it."""


class DistinctValues(UserWarning):
    """A factor of whole numbers has another value in every row, so that it has no classes."""


@dataclass(frozen=True)
class Preset:
    """Random images that a run is scored on; metrics that draw samples of their own have counts of their own."""

    samples: int
    """To score, or to fit on."""
    test_samples: int
    """To test on what was fitted."""
    pool: int
    """In the place of a grid of factors, for scores of rows that share a value; 0: the grid itself."""


PRESETS = {"paper": Preset(10_000, 5_000, 0), "fast": Preset(2_000, 1_000, 10_000)}
"""`paper` has the counts of the published studies (disentanglement_lib), `fast` is for a first look."""


def warn_of_few(factors: np.ndarray | None, codes: np.ndarray | None = None) -> None:
    """Warn when there are too few rows for the number of values of the largest factor, or for the number of codes.

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
            warn_user(f"{rows:,} rows are few for {what}: below {wanted:,} scores are biased", FewSamples)
            return  # one is enough


def warn_of_strangers(factors: np.ndarray, test_factors: np.ndarray) -> None:
    """Warn when no test row has a value of a factor that occurs in the train rows; continuous values never do."""
    classes = whole_columns(factors) & whole_columns(test_factors)
    for number, (train, test) in enumerate(zip(factors.T, test_factors.T, strict=True), start=1):
        if classes[number - 1] and not np.isin(test, train).any():
            text = f"no test row has a value of factor {number} that was fitted: are both numbered alike?"
            warn_user(text, Strangers)
