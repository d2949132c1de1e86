"""How much of each factor, as a number, is a linear function of all latents."""

from __future__ import annotations

from math import inf

import numpy as np
from numpy.typing import ArrayLike

from unweave.metrics.inputs import GivenPair, Pair, train_and_test
from unweave.metrics.metric import metric
from unweave.metrics.resampling import Sampled, by_refits, mean_over_factors
from unweave.metrics.scaling import standardise

RIDGE = 1e-8
"""Added to the variances of the standardised codes, which are 1: it only decides between redundant latents."""


@metric("least squares", "explicitness", range=(-inf, 1.0), continuous=True)
def linear_probe(
    codes: ArrayLike, factors: ArrayLike, *, test: GivenPair | None = None, seed: int = 0
) -> Sampled[float]:
    r"""R² of least squares, in (-inf, 1]: how much of each factor is a linear function of the codes?

        R2 = mean over factors k of 1 - sum (v_k - f_k(z))^2 / sum (v_k - mean v_k)^2

    where f_k is the linear function of all latents, with a constant, that is fitted to factor k in the train rows; the
    sums run over the test rows.

    Parameters
    ----------
    codes
        Codes (n, d).
    factors
        Factors (n, k); values are numbers and may be continuous.
    test
        Test rows `(codes, factors)`; without them a third of the rows is held out.
    seed
        Seed of the split.

    Returns
    -------
    float
        The mean R². A fit that is worse than the mean of the test rows is below 0, without bound.

    Notes
    -----
    Constant codes score 0 or just below it. A factor with a single value in all rows is left out of the mean, one with
    a single value among the test rows counts 0. A ridge of 1e-8 of each latent's variance decides between collinear
    codes. Up to rounding, invariant to any invertible linear map of the codes and to the shift and scale of a
    factor.

    Examples
    --------
    >>> from unweave.metrics import linear_probe
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
