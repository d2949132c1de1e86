"""The mean correlation coefficient with the randomised dependence coefficient instead of a correlation."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from unweave.errors import UsageError
from unweave.metrics.inputs import DRAW, check, generator, varying, whole_number
from unweave.metrics.mcc import matched
from unweave.metrics.metric import metric
from unweave.metrics.one_hot import check_categorical
from unweave.metrics.ranks import ranks
from unweave.metrics.resampling import Sampled, by_rows, mean_over_factors

NEGLIGIBLE = 1e-7
"""Directions of the features that are this much smaller than the largest are rounding errors: the tolerance of R's
`cancor`, which the authors use."""


@metric("Lopez-Paz et al. 2013", "compactness", continuous=True)
def mcc_rdc(
    codes: ArrayLike,
    factors: ArrayLike,
    *,
    features: int = 20,
    scale: float = 1 / 6,
    categorical: Sequence[int] = (),
    seed: int = 0,
) -> Sampled[float]:
    r"""MCC by randomised dependence [LopezPaz2013]_, in [0, 1]: does a latent depend on each factor?

        MCC-RDC = max over one-to-one assignments a of the mean over factors k of rdc(z_a(k), v_k)

    where rdc is the largest canonical correlation of random functions sin(w u + b) of the two variables; u is the rank
    of a value divided by the number of rows (the mean rank for ties), and w and b are normal.

    Parameters
    ----------
    codes
        Codes (n, d).
    factors
        Factors (n, k); values are numbers and may be continuous.
    features
        Random functions of each variable.
    scale
        Variance of w and b.
    categorical
        Columns of codes, counted from 0, that hold categories: they have one function for each category, 1 there and 0
        elsewhere.
    seed
        Seed of w and b. They are the same for all latents, and for all factors.

    Returns
    -------
    float
        The score.

    Notes
    -----
    It detects what no correlation does, a square or a circle, and estimates the largest correlation of any
    two functions f(z), g(v): near 1 wherever one variable is a function of the other, even a function that is not
    invertible. The assignment, missing latents and factors with a single value are treated as in `mcc`; a constant
    latent scores 0. A half-sample of the interval keeps the ranks of all rows. Invariant to the order of latents,
    factors or rows and to increasing functions of a latent; nearly invariant to its sign.

    References
    ----------
    .. [LopezPaz2013] Lopez-Paz, Hennig and Schölkopf, "The Randomized Dependence Coefficient", NeurIPS 2013.

    Examples
    --------
    >>> import numpy as np
    >>> from unweave.metrics import mcc_rdc
    >>> x = np.linspace(-1, 1, 201)[:, None]
    >>> mcc_rdc(x**2, x) > 0.99
    True
    """
    count = whole_number(features, "features", 1)
    if not isinstance(scale, int | float) or not 0 < scale < np.inf:
        raise UsageError(f"scale must be a number above 0, got {scale!r}")
    values, labels = check(codes, factors, continuous=True)
    rng = generator(seed, DRAW)
    weights = rng.normal(scale=scale**0.5, size=(2, 2, count))  # of codes and of factors: w and b
    labels = labels[:, varying(labels)]
    basis = with_categories(_basis(values, *weights[0]), values, check_categorical(categorical, values.shape[1]))
    return mean_over_factors(by_rows(_matched, basis, _basis(labels, *weights[1])))


def _matched(codes: np.ndarray, factors: np.ndarray) -> np.ndarray:
    return matched(canonical(codes, factors))


def _basis(columns: np.ndarray, slope: np.ndarray, shift: np.ndarray) -> np.ndarray:
    """Return an orthonormal basis (n, c, r) of each column's centred random functions, padded with 0 up to r."""
    places = ranks(columns) / len(columns)
    waves = np.sin(places.T[..., None] * slope + shift)  # (c, n, features)
    waves -= waves.mean(axis=1, keepdims=True)
    axes, sizes, _ = np.linalg.svd(waves, full_matrices=False)
    kept = sizes > NEGLIGIBLE * np.maximum(sizes[:, :1], NEGLIGIBLE)  # a constant column has no functions left
    return np.moveaxis(axes * kept[:, None], 0, 1)[..., : max(1, kept.sum(axis=1).max())]


def with_categories(basis: np.ndarray, columns: np.ndarray, categorical: Sequence[int]) -> np.ndarray:
    """Return the basis with all centred functions of the category for categorical columns."""
    own = {}
    for j in categorical:
        indicators = (columns[:, [j]] == np.unique(columns[:, j])).astype(np.float64)
        axes, sizes, _ = np.linalg.svd(indicators - indicators.mean(axis=0), full_matrices=False)
        own[j] = axes[:, sizes > NEGLIGIBLE * max(sizes[0], NEGLIGIBLE)]
    widest = max([basis.shape[2], *(functions.shape[1] for functions in own.values())])
    wider = np.concatenate([basis, np.zeros((*basis.shape[:2], widest - basis.shape[2]))], axis=2)
    for j, functions in own.items():
        wider[:, j] = 0.0
        wider[:, j, : functions.shape[1]] = functions
    return wider


def canonical(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Return the largest canonical correlation of functions (n, d, r) and (n, k, s) for every pair of them, (d, k)."""
    left, right = (each - each.mean(axis=0) for each in (left, right))
    (n, d, r), (_, k, s) = left.shape, right.shape
    products = (left.reshape(n, -1).T @ right.reshape(n, -1)).reshape(d, r, k, s).transpose(0, 2, 1, 3)
    between = _whitener(left)[:, None] @ products @ _whitener(right)
    return np.minimum(np.linalg.svd(between, compute_uv=False)[..., 0], 1.0)  # cuts rounding only


def _whitener(functions: np.ndarray) -> np.ndarray:
    """Return the symmetric matrix (c, r, r) that makes each column's functions (n, c, r) orthonormal on these rows."""
    columns = np.ascontiguousarray(functions.transpose(1, 2, 0))
    sizes, axes = np.linalg.eigh(columns @ columns.transpose(0, 2, 1))
    kept = sizes > NEGLIGIBLE * np.maximum(sizes[:, -1:], NEGLIGIBLE)
    inverse = np.where(kept, 1 / np.sqrt(np.where(kept, sizes, 1.0)), 0.0)
    return (axes * inverse[:, None]) @ axes.transpose(0, 2, 1)
