"""How many samples the scores of a run are computed from, and how many are too few."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np

ROWS_PER_VALUE = 200
"""With fewer rows for each value of the largest factor, scores are known to be biased.

The plug-in mutual information of a useless code is too large by about (bins - 1)(values - 1) / 2n nats: at 20 bins and
this many rows a value, by 0.05 nats, that is 1 to 3 % of the factor's entropy."""


class FewSamples(UserWarning):
    """A score is computed from fewer samples than it takes for its bias not to matter."""


class Strangers(UserWarning):
    """The rows that learners are judged on have values that none of the rows fitted has."""


class LeftOut(UserWarning):
    """A metric of a group refuses what it was given, and is left out."""


@dataclass(frozen=True)
class Preset:
    """Random images that a run is scored on; metrics that draw samples of their own have counts of their own."""

    samples: int
    """To score, or to fit on."""
    test_samples: int
    """To judge on what was fitted."""


PRESETS = {"paper": Preset(10_000, 5_000), "fast": Preset(2_000, 1_000)}
"""`paper` has the counts of the published studies (disentanglement_lib), `fast` is for a first look."""


def warn_of_few(factors: np.ndarray) -> None:
    """Warn when there are too few rows for the number of values of the largest factor."""
    largest = max(len(np.unique(factor)) for factor in factors.T)
    wanted = ROWS_PER_VALUE * largest
    if len(factors) < wanted:
        text = f"{len(factors):,} rows are few for a factor of {largest} values: below {wanted:,} scores are biased"
        warnings.warn(text, FewSamples, stacklevel=3)


def warn_of_strangers(factors: np.ndarray, test_factors: np.ndarray) -> None:
    """Warn when no row to judge on has a value of a factor that occurs among the rows to fit."""
    for number, (fitted, judged) in enumerate(zip(factors.T, test_factors.T, strict=True), start=1):
        if not np.isin(judged, fitted).any():
            text = f"no test row has a value of factor {number} that was fitted: are both numbered alike?"
            warnings.warn(text, Strangers, stacklevel=3)
