"""InfoMEC: modularity, explicitness and compactness, each as a share of information."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from functools import partial
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from unweave.errors import UsageError, unknown
from unweave.late import importing
from unweave.metrics.information import Information, information, known
from unweave.metrics.inputs import DRAW, check, generator, is_continuous, varying, whole_number
from unweave.metrics.metric import metric
from unweave.metrics.neighbours import continuous_information, neighbour_information
from unweave.metrics.one_hot import check_categorical
from unweave.metrics.resampling import Sampled, by_rows

Pruning = Literal["range", "range-8", "iqr"]

REPLICATES = 10
"""Half-samples behind an interval. Each fits a regression for every factor: half a second at the published sizes."""


class InfoMEC(NamedTuple):
    """The three parts, each in [0, 1]."""

    modularity: float
    explicitness: float
    compactness: float


@metric(
    "Hsu et al. 2023",
    "all three",
    continuous=True,
    ceiling_rows=2_000,
    no_floor=("modularity", "compactness"),
)
def info_mec(
    codes: ArrayLike,
    factors: ArrayLike,
    *,
    pruning: Pruning = "range",
    neighbours: int = 10,
    discrete: bool = False,
    categorical: Sequence[int] = (),
    seed: int = 0,
) -> Sampled[InfoMEC]:
    r"""InfoMEC [Hsu2023]_, three parts in [0, 1]: is there one latent per factor, linearly readable?

        modularity   = mean over active latents j of ( max over k of U_jk / sum over k of U_jk - 1/K ) / (1 - 1/K)
        compactness  = mean over factors k of ( max over j of U_jk / sum over j of U_jk - 1/D ) / (1 - 1/D)
        explicitness = mean over factors k of 1 - L_k / log C_k

    where U_jk = I(z_j; v_k) / H(v_k) for D active latents and K factors, and L_k is the log loss, on the rows it was
    fitted to, of a logistic regression of factor k, which has C_k values, on all latents.

    Parameters
    ----------
    codes
        Codes (n, d).
    factors
        Factors (n, k): classes, or continuous numbers.
    pruning
        Which latents are active; each rule has been published.

        - "range": its range exceeds 1/20 of the largest range (for discrete codes: 0).
        - "range-8": its range exceeds 1/8 of the largest.
        - "iqr": its interquartile range exceeds 1/10 of the largest (for discrete codes: 0.1).
    neighbours
        Number of neighbours from whose distances I is estimated [Ross2014]_.
    discrete
        For quantised codes: I is the plug-in estimate for their values, and the regression sees them one-hot.
    categorical
        Columns of codes, counted from 0, that hold categories: `discrete` for these columns alone. They are active if
        they vary.
    seed
        Seed of the noise that separates equal values before distances are taken.

    Returns
    -------
    InfoMEC
        modularity, explicitness and compactness.

    Notes
    -----
    The regression has no penalty, balanced class weights, and 100 steps of L-BFGS. A continuous factor has
    no such entropy: U_jk is then 1 - exp(-2 I), with I from neighbours in both variables [Kraskov2004]_, and
    explicitness is R² of least squares.

    Without an active latent, or where codes and factors share nothing, modularity and compactness are 0; a single
    active latent or factor that shares something counts 1. An explicitness below 0, which classes of unequal size can
    give, counts 0. A factor with a single value is left out. Invariant to the shift of a latent and to a common scale;
    scaling a single latent can change which latents are active.

    References
    ----------
    .. [Hsu2023] Hsu et al., "Disentanglement via Latent Quantization", NeurIPS 2023.
    .. [Ross2014] Ross, "Mutual Information between Discrete and Continuous Data Sets", PLoS ONE 2014.
    .. [Kraskov2004] Kraskov, Stögbauer and Grassberger, "Estimating Mutual Information", Physical Review E 2004.

    Examples
    --------
    >>> from unweave.metrics import info_mec
    >>> info_mec([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], [[0], [1], [0], [1]], discrete=True).modularity
    0.5
    """
    values, labels = check(codes, factors, continuous=True)
    if pruning not in ("range", "range-8", "iqr"):
        raise unknown("pruning of InfoMEC", str(pruning), ("range", "range-8", "iqr"))
    if not isinstance(discrete, bool):
        raise UsageError(f"discrete must be True or False, got {discrete!r}")
    generator(seed, DRAW)  # checks the seed for discrete codes too
    options: dict[str, Any] = {
        "pruning": pruning,
        "neighbours": whole_number(neighbours, "neighbours", 1),
        "discrete": discrete,
    }
    labels = labels[:, varying(labels)]
    options["categories"] = np.isin(np.arange(values.shape[1]), check_categorical(categorical, values.shape[1]))
    score = partial(_score, **options, numbers=is_continuous(labels), seed=seed)
    return by_rows(score, values, labels, replicates=REPLICATES)


def _score(
    codes: np.ndarray,
    factors: np.ndarray,
    pruning: Pruning,
    neighbours: int,
    discrete: bool,
    categories: np.ndarray,
    numbers: np.ndarray,
    seed: int,
) -> InfoMEC:
    varies = (factors != factors[0]).any(axis=0)  # a factor may have a single value in a subset
    factors, numbers = factors[:, varies], numbers[varies]
    if factors.shape[1] == 0:
        return InfoMEC(0.0, 0.0, 0.0)
    by_value = categories | discrete
    inputs = _inputs(codes, by_value)
    explained = [
        _explained_variance(inputs, factor) if number else _explicitness(inputs, factor)
        for factor, number in zip(factors.T, numbers, strict=True)
    ]
    explicitness = float(np.mean(explained))
    active = _active(codes, pruning, discrete, categories)
    codes, by_value = codes[:, active], by_value[active]
    if codes.shape[1] == 0:
        return InfoMEC(0.0, explicitness, 0.0)
    shares = np.empty((codes.shape[1], factors.shape[1]))
    rng, classes = generator(seed, DRAW), factors[:, ~numbers].astype(np.int64)
    if not numbers.all():
        shares[:, ~numbers] = _known_of_classes(codes, classes, neighbours, by_value, rng)
    if numbers.any():
        shares[:, numbers] = _known_of_numbers(codes, factors[:, numbers], neighbours, by_value, rng)
    return InfoMEC(_concentration(shares.T), explicitness, _concentration(shares))


def _inputs(codes: np.ndarray, by_value: np.ndarray) -> Any:
    """Return the inputs of the regressions: standardised numbers, and one-hot categories."""
    if by_value.all():
        return _one_hot(codes)
    numbers = _standardised(codes[:, ~by_value])
    return np.hstack([numbers, _one_hot(codes[:, by_value]).toarray()]) if by_value.any() else numbers


def _active(codes: np.ndarray, pruning: Pruning, discrete: bool, categories: np.ndarray) -> np.ndarray:
    """Return which latents are active, (d,)."""
    low, high = np.quantile(codes, [0.25, 0.75] if pruning == "iqr" else [0.0, 1.0], axis=0)
    spread = np.where(categories, 0.0, high - low)
    if discrete and pruning != "range-8":
        active = spread > (0.1 if pruning == "iqr" else 0.0)
    else:
        active = spread > spread.max() / {"range": 20, "range-8": 8, "iqr": 10}[pruning]
    return np.where(categories, (codes != codes[0]).any(axis=0), active)


def _known_of_classes(
    codes: np.ndarray, factors: np.ndarray, neighbours: int, by_value: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """Return I(z_j; v_k) / H(v_k), (d, k), for factors that are classes."""
    shares = np.empty((codes.shape[1], factors.shape[1]))
    if by_value.any():
        shares[by_value] = _known_by_value(codes[:, by_value], factors)
    if not by_value.all():
        shares[~by_value] = _known_by_distance(codes[:, ~by_value], factors, neighbours, rng)
    return shares


def _known_by_value(codes: np.ndarray, factors: np.ndarray) -> np.ndarray:
    """Return I(z_j; v_k) / H(v_k), (d, k), by counting the values of the codes."""
    labels = np.stack([np.unique(code, return_inverse=True)[1] for code in codes.T], axis=1)
    return known(information(labels, int(labels.max()) + 1, factors))


def _known_by_distance(codes: np.ndarray, factors: np.ndarray, neighbours: int, rng: np.random.Generator) -> np.ndarray:
    """Return I(z_j; v_k) / H(v_k), (d, k), from the distances between values of the codes."""
    shared = neighbour_information(_standardised(codes), factors, neighbours, rng)
    nothing = information(np.zeros((len(codes), 1), np.intp), 1, factors)
    return known(Information(shared, nothing.code, nothing.factor))


def _known_of_numbers(
    codes: np.ndarray, factors: np.ndarray, neighbours: int, by_value: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """Return 1 - exp(-2 I(z_j; v_k)), (d, k), for continuous factors, which have no entropy to divide by.

    For Gaussians it is the squared correlation.
    """
    numbers = _standardised(factors)
    shared = np.empty((codes.shape[1], factors.shape[1]))
    if by_value.any():
        labels = np.stack([np.unique(code, return_inverse=True)[1] for code in codes[:, by_value].T], axis=1)
        shared[by_value] = neighbour_information(numbers, labels, neighbours, rng).T
    if not by_value.all():
        shared[~by_value] = continuous_information(_standardised(codes[:, ~by_value]), numbers, neighbours, rng)
    return -np.expm1(-2 * shared)


def _explained_variance(inputs: Any, factor: np.ndarray) -> float:
    """Return R² of least squares, at least 0, on the rows it was fitted to."""
    with importing():
        from sklearn.linear_model import LinearRegression

    return max(0.0, float(LinearRegression().fit(inputs, factor).score(inputs, factor)))


def _concentration(shares: np.ndarray) -> float:
    """Return the mean over columns of how much of the sum is in the largest entry, from 0 (even) to 1 (all)."""
    total, largest, rows = shares.sum(axis=0), shares.max(axis=0), len(shares)
    if rows == 1:
        return float((total > 0).mean())
    part = np.divide(largest, total, out=np.full_like(total, 1 / rows), where=total > 0)
    return float(np.clip((part - 1 / rows) / (1 - 1 / rows), 0.0, 1.0).mean())  # clips rounding only


def _standardised(codes: np.ndarray) -> np.ndarray:
    spread = codes.std(axis=0)
    varies = (codes != codes[0]).any(axis=0) & (spread > 0)
    return np.where(varies, codes - codes.mean(axis=0), 0.0) / np.where(varies, spread, 1.0)


def _one_hot(codes: np.ndarray) -> Any:
    with importing():
        from sklearn.preprocessing import OneHotEncoder

    return OneHotEncoder().fit_transform(codes)  # sparse: a latent may have many values


def _explicitness(inputs: Any, factor: np.ndarray) -> float:
    """Return the share of a factor's entropy (with equally frequent values) that the regression explains."""
    with importing():
        from sklearn.exceptions import ConvergenceWarning
        from sklearn.linear_model import LogisticRegression

    values, labels = np.unique(factor, return_inverse=True)
    # Perfectly separable classes have no optimum without a penalty: the 100 steps are part of the definition.
    model = LogisticRegression(C=np.inf, class_weight="balanced", max_iter=100)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        chances = model.fit(inputs, labels).predict_proba(inputs)
    right = np.maximum(chances[np.arange(len(labels)), labels], np.finfo(np.float64).eps)
    return max(0.0, 1 + float(np.log(right).mean()) / math.log(len(values)))
