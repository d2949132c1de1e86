"""How much of each factor, as a number, is a linear function of all codes."""

from __future__ import annotations

from math import inf

import numpy as np
from numpy.typing import ArrayLike

from unweave.metrics.inputs import GivenPair, Pair, train_and_test
from unweave.metrics.metric import metric
from unweave.metrics.resampling import Sampled, by_refits, mean_over_factors
from unweave.metrics.scaling import standardise

RIDGE = 1e-8
"""Added to the variances of the standardised codes, each 1: it decides only between codes that say the same."""


@metric("least squares", "explicitness", range=(-inf, 1.0), continuous=True)
def linear_probe(
    codes: ArrayLike, factors: ArrayLike, *, test: GivenPair | None = None, seed: int = 0
) -> Sampled[float]:
    r"""R² of least squares, in (-inf, 1]: how much of each factor is a linear function of the codes?

        R2 = mean over factors k of 1 - sum (v_k - f_k(z))^2 / sum (v_k - mean v_k)^2

    where f_k is the linear function, with a constant, of all codes that is closest to factor k in the rows fitted on;
    the sums run over the judged rows, `test=(codes, factors)` or else a third of the rows held out by `seed`. The
    values of a factor are taken as numbers, in their order and at their distances.

    Constant codes score 0 or just below it, and a fit that is worse than the judged rows' mean less than 0, without
    bound. A factor with one value in all is left out of the mean, one with one value among the judged rows counts 0.
    Unchanged, but for rounding, by any invertible linear map of the codes and by shift and scale of a factor.

    >>> round(linear_probe([[0.0, 3.0], [1.0, 3.0], [2.0, 4.0]] * 10, [[0], [2], [4]] * 10), 6)
    1.0
    """
    train, held_out = train_and_test(codes, factors, test, seed, continuous=True)
    return mean_over_factors(by_refits(_explained, train, held_out, replicates=200))


def _explained(train: Pair, held_out: Pair) -> np.ndarray:
    """Return R² of each factor, (k,), on the test rows."""
    inputs, test_inputs = standardise(train, held_out)
    centre = train[1].mean(axis=0)
    gram = inputs.T @ inputs + RIDGE * len(inputs) * np.eye(inputs.shape[1])
    weights = np.linalg.solve(gram, inputs.T @ (train[1] - centre))
    left = ((held_out[1] - centre - test_inputs @ weights) ** 2).sum(axis=0)
    whole = ((held_out[1] - held_out[1].mean(axis=0)) ** 2).sum(axis=0)
    return 1 - np.divide(left, whole, out=np.ones_like(whole), where=whole > 0)
