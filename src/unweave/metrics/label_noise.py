"""Whether a metric still ranks representations the same way when its labels are noisy."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from unweave.errors import UsageError, unknown
from unweave.metrics.correlation import standardised
from unweave.metrics.inputs import DRAW, GivenPair, check, check_factors, generator, whole_number
from unweave.metrics.ranks import ranks

REGIMES: dict[int, dict[str, float]] = {
    1: {"shape": 0.05, "scale": 0.1, "orientation": 0.05, "position": 0.05},
    2: {"shape": 0.1, "scale": 0.2, "orientation": 0.1, "position": 0.1},
    3: {"shape": 0.3, "scale": 0.3, "orientation": 0.3, "position": 0.3},
}
"""The published noise levels p of dSprites' factors."""
OTHER = "position"
"""The kind of factors with other names: in each regime three of the four kinds have its level."""

Regime: TypeAlias = int | Mapping[str, float] | Sequence[float]


def noisy_labels(
    factors: ArrayLike,
    *,
    regime: Regime = 1,
    names: Sequence[str] | None = None,
    sizes: Sequence[int] | None = None,
    categorical: Collection[str | int] | None = None,
    seed: int = 0,
) -> np.ndarray:
    """Add noise to every factor, as in the noisy dSprites of [Holtz2022]_.

    Parameters
    ----------
    factors
        Factors (n, k), whole numbers.
    regime
        1, 2 or 3 of the published table, or the levels p themselves, from 0 to 1: one for each factor, or a mapping
        from names (factors left out get no noise).
    names
        The names of the factors. In the table, "scale" or "size" in a name means the level of scale; shape,
        orientation, position and all others share one level.
    sizes
        The number of values of each factor: factor k takes the values 0 .. sizes[k] - 1. Without it, the values are
        those that occur.
    categorical
        Names or positions of factors without order; by default those with "shape" in their name.
    seed
        Seed of the noise.

    Returns
    -------
    numpy.ndarray
        Noisy factors (n, k), int64.

    Notes
    -----
    A categorical factor is replaced, with probability p, by a value drawn uniformly, which may be the old
    one. Any other factor gets Gaussian noise of mean 0, and is rounded and clipped to its range. The publication does
    not give the standard deviation; here it is p times the range (largest minus least value). A circular factor is
    clipped too.

    References
    ----------
    .. [Holtz2022] Holtz, Mishne and Cloninger, "Evaluating Disentanglement in Generative Models Without Knowledge of
       Latent Factors", arXiv 2210.01760, 2022.

    Examples
    --------
    >>> from unweave.metrics import noisy_labels
    >>> noisy_labels([[0], [1], [2], [3]], regime=[0.0]).tolist()
    [[0], [1], [2], [3]]
    """
    labels = check_factors(factors)
    k = labels.shape[1]
    known = _known_names(names, k)
    levels = levels_of(regime, known, k)
    drawn = categorical_factors(categorical, known, k)
    rng = generator(seed, DRAW)
    noisy = np.empty_like(labels)
    for j in range(k):
        values = _values(labels[:, j], sizes, j, k)
        # All draws are made for every factor, so that one factor's noise does not depend on the others.
        uniform, replaced, normal = (
            rng.choice(values, len(labels)),
            rng.random(len(labels)),
            rng.normal(size=len(labels)),
        )
        if j in drawn:
            noisy[:, j] = np.where(replaced < levels[j], uniform, labels[:, j])
        else:
            moved = labels[:, j] + levels[j] * (values[-1] - values[0]) * normal
            noisy[:, j] = np.clip(np.rint(moved), values[0], values[-1])
    return noisy


def label_noise_correlation(
    score: Callable[[np.ndarray, np.ndarray], float],
    representations: Sequence[GivenPair],
    *,
    regime: Regime = 1,
    kind: Literal["rank", "linear"] = "rank",
    seed: int = 0,
    **labels: Any,
) -> float:
    """Return the correlation, in [-1, 1], of scores on clean and on noisy labels: do rankings survive noise?

    Parameters
    ----------
    score
        Any function of (codes, factors).
    representations
        Three or more pairs (codes, factors). Representations of the same rows get the same noise.
    regime
        Of the noise, as in `noisy_labels`.
    kind
        "rank" is Spearman's correlation, "linear" Pearson's, as in the table of [Holtz2022]_.
    seed
        Seed of the noise.
    **labels
        The other arguments of `noisy_labels`: names, sizes, categorical.

    Returns
    -------
    float
        The correlation; 0 where all scores are equal.

    References
    ----------
    .. [Holtz2022] Holtz, Mishne and Cloninger, "Evaluating Disentanglement in Generative Models Without Knowledge of
       Latent Factors", arXiv 2210.01760, 2022.

    Examples
    --------
    >>> from unweave.metrics import label_noise_correlation, mcc
    >>> factors = [[0], [1], [2], [3]] * 50
    >>> codes = [[[v + noise * (row % 3)] for row, (v,) in enumerate(factors)] for noise in (0, 1, 2)]
    >>> round(label_noise_correlation(mcc, [(z, factors) for z in codes], regime=[0.1]), 9)
    1.0
    """
    if kind not in ("rank", "linear"):
        raise unknown("kind of correlation", str(kind), ("rank", "linear"))
    pairs = [check(*pair) for pair in representations]
    if len(pairs) < 3:
        raise UsageError(f"a correlation of scores needs at least three representations, got {len(pairs)}")
    noise = [noisy_labels(factors, regime=regime, seed=seed, **labels) for _, factors in pairs]
    clean = [float(score(codes, factors)) for codes, factors in pairs]
    noisy = [float(score(codes, factors)) for (codes, _), factors in zip(pairs, noise, strict=True)]
    scores = np.array([clean, noisy]).T
    if not np.isfinite(scores).all():
        raise UsageError("the metric returned a score that is not finite")
    if kind == "rank":
        scores = ranks(scores)
    first, second = standardised(scores).T
    return float(np.clip(first @ second, -1.0, 1.0))


def _known_names(names: Sequence[str] | None, k: int) -> tuple[str, ...]:
    if names is None:
        return ("",) * k
    if len(names) != k:
        raise UsageError(f"there are {k} factors but {len(names)} names")
    return tuple(str(name) for name in names)


def levels_of(regime: Regime, names: Sequence[str], k: int) -> np.ndarray:
    """Return each factor's level of noise (k,)."""
    if isinstance(regime, Mapping):
        for name in regime:
            if name not in names:
                raise unknown("factor", str(name), [name for name in names if name])
        levels = [regime.get(name, 0.0) for name in names]
    elif isinstance(regime, int | np.integer):
        if regime not in REGIMES:
            raise UsageError(f"regime must be 1, 2 or 3 or the levels themselves, got {regime}")
        levels = [REGIMES[int(regime)][_kind(name)] for name in names]
    else:
        levels = list(regime)
    array = np.array(levels, dtype=np.float64)
    if array.shape != (k,) or not ((array >= 0) & (array <= 1)).all():
        raise UsageError(f"a regime must give each of the {k} factors a level from 0 to 1, got {levels}")
    return array


def _kind(name: str) -> str:
    if "scale" in name or "size" in name:
        return "scale"
    return next((kind for kind in REGIMES[1] if kind in name), OTHER)


def categorical_factors(categorical: Collection[str | int] | None, names: Sequence[str], k: int) -> set[int]:
    """Return the positions of the categorical factors."""
    if categorical is None:
        return {j for j, name in enumerate(names) if "shape" in name}
    positions: set[int] = set()
    for factor in categorical:
        if isinstance(factor, str):
            if factor not in names:
                raise unknown("factor", factor, [name for name in names if name])
            positions.add(list(names).index(factor))
        elif 0 <= factor < k:
            positions.add(int(factor))
        else:
            raise UsageError(f"there is no factor {factor}; they are numbered 0 to {k - 1}")
    return positions


def _values(factor: np.ndarray, sizes: Sequence[int] | None, j: int, k: int) -> np.ndarray:
    """Return the values that factor j may take, in order."""
    if sizes is None:
        return np.unique(factor)
    if len(sizes) != k:
        raise UsageError(f"there are {k} factors but {len(sizes)} sizes")
    size = whole_number(sizes[j], "a size", 1)
    if factor.min() < 0 or factor.max() >= size:
        raise UsageError(f"factor {j} holds {factor.min()} to {factor.max()}, not values of 0 to {size - 1}")
    return np.arange(size)
