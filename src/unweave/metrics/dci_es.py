"""Explicitness and size of DCI-ES: how much capacity it takes to predict the factors from the codes."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from unweave.errors import unknown
from unweave.metrics.inputs import FIT, GivenPair, Pair, generator, train_and_test
from unweave.metrics.metric import metric
from unweave.metrics.one_hot import OneHot
from unweave.metrics.probes import forest_predictions, fourier_predictions
from unweave.metrics.resampling import Sampled, by_refits, mean_over_factors

Probe = Literal["rff", "forest"]
Targets = Literal["classes", "numbers"]
Axis = Literal["log", "linear"]

PROBES = {"rff": fourier_predictions, "forest": forest_predictions}
REFITS = 5
LIMITS = (-1.0, 0.0), (1.0, inf)
"""Of explicitness, and of size."""


class DCIES(NamedTuple):
    """The two parts that DCI-ES adds to DCI."""

    explicitness: float
    """In [-1, 1]: 1 where the smallest probe is as good as any."""
    size: float
    """Factors per latent, above 0: 1 where there are as many latents as factors."""


class Curves(NamedTuple):
    """The test losses of probes of increasing capacity."""

    capacities: np.ndarray
    """(c,): random features beside the codes, or the depth of the trees."""
    losses: np.ndarray
    """(k, c): the least loss up to each capacity, for each factor that varies."""
    baselines: np.ndarray
    """(k,): the loss without any codes."""


@metric("Eastwood et al. 2023", "explicitness", range=(-1.0, inf), floor_rows=1_000)
def dci_es(
    codes: ArrayLike,
    factors: ArrayLike,
    *,
    test: GivenPair | None = None,
    probe: Probe = "rff",
    targets: Targets = "classes",
    axis: Axis | None = None,
    categorical: Sequence[int] = (),
    seed: int = 0,
) -> Sampled[DCIES]:
    r"""Explicitness and size [Eastwood2023]_: how small a probe suffices? Factors per latent?

        E = mean over factors k of 1 - 2 area_k / ( baseline_k (x_max - x_min) ),     S = factors / latents

    where area_k is the area between the curve of the test loss over the probe's capacity x and the curve's minimum.

    Parameters
    ----------
    codes
        Codes (n, d).
    factors
        Factors (n, k).
    test
        Test rows `(codes, factors)`; without them a third of the rows is held out.
    probe
        "rff": ridge regression on the codes and on 0, 16, 48, ... 1008 random Fourier features of them, so that the
        smallest probe is linear. "forest": 20 random trees, cut at depth 1, 2, 4, ... 32.
    targets
        "classes": the loss is the error rate, the baseline that of the most frequent value in the train rows.
        "numbers": the loss is 1 - R², for factors whose values are numbers.
    axis
        x is the capacity ("linear", the default of the forest), or the logarithm of 1 + features / 16, or of the depth
        ("log", the default of "rff").
    categorical
        Columns of codes, counted from 0, that hold categories: probes see a column for each category.
    seed
        Seed of the split and of the features or trees.

    Returns
    -------
    DCIES
        explicitness in [-1, 1] and size above 0.

    Notes
    -----
    E is 1 where the smallest probe does as well as the largest, 0 where the loss falls along a straight line from the
    baseline to 0, and close to -1 where only the largest probe learns anything. It asks how early something is learned,
    not how much: latents of noise have a flat curve and E = 1. Read it beside a score of informativeness.

    Each curve is made monotone (the least loss so far) and capped at its baseline. Codes are standardised: sign, shift
    and scale do not matter to "rff", and the order of latents only as another draw of the features does. A factor with
    a single value is left out, and one whose baseline is 0 has E = 1.

    References
    ----------
    .. [Eastwood2023] Eastwood et al., "DCI-ES: An Extended Disentanglement Framework with Connections to
       Identifiability", ICLR 2023.

    Examples
    --------
    >>> from unweave.metrics import dci_es
    >>> dci_es([[0.0], [1.0]] * 20, [[3], [7]] * 20)
    DCIES(explicitness=1.0, size=1.0)
    """
    _check_options(probe, targets, axis)
    train, held_out = train_and_test(codes, factors, test, seed)
    size = train[1].shape[1] / train[0].shape[1]
    read = OneHot.of(np.concatenate([train[0], held_out[0]]), categorical)
    train, held_out = ((read(codes), factors) for codes, factors in (train, held_out))

    def values(train: Pair, held_out: Pair) -> np.ndarray:
        curves = _curves(train, held_out, probe, targets, seed)
        return _explicitness(curves, _positions(curves.capacities, probe, axis))

    mean = mean_over_factors(by_refits(values, train, held_out, REFITS))

    def rescore(subsets: np.ndarray) -> np.ndarray:
        return np.stack([mean.rescore(subsets), np.full(len(subsets), size)], axis=1)

    details = {"explicitness": mean.per_factor[""]}
    return Sampled(DCIES(mean.score, size), mean.units, rescore, REFITS, LIMITS, details)


def loss_capacity_curves(
    codes: ArrayLike,
    factors: ArrayLike,
    *,
    test: GivenPair | None = None,
    probe: Probe = "rff",
    targets: Targets = "classes",
    seed: int = 0,
) -> Curves:
    """Return the curves behind `dci_es`: for each factor, the test losses of probes of increasing capacity.

    Parameters
    ----------
    codes, factors, test, probe, targets, seed
        As in `dci_es`.

    Returns
    -------
    Curves
        capacities (c,), losses (k, c) and baselines (k,).

    Examples
    --------
    >>> from unweave.metrics import loss_capacity_curves
    >>> float(loss_capacity_curves([[0.0], [1.0]] * 20, [[3], [7]] * 20).losses[0, 0])
    0.0
    """
    _check_options(probe, targets, None)
    train, held_out = train_and_test(codes, factors, test, seed)
    return _curves(train, held_out, probe, targets, seed)


def _check_options(probe: str, targets: str, axis: str | None) -> None:
    if probe not in PROBES:
        raise unknown("probe", str(probe), PROBES)
    if targets not in ("classes", "numbers"):
        raise unknown("kind of targets", str(targets), ("classes", "numbers"))
    if axis not in (None, "log", "linear"):
        raise unknown("axis", str(axis), ("log", "linear"))


def _curves(train: Pair, test: Pair, probe: Probe, targets: Targets, seed: int) -> Curves:
    capacities, predictions = PROBES[probe](train, test, targets == "classes", generator(seed, FIT))
    losses = []
    baselines = np.empty(test[1].shape[1])
    for k, (factor, truth, predicted) in enumerate(zip(train[1].T, test[1].T, predictions, strict=True)):
        if targets == "classes":
            values, counts = np.unique(factor, return_counts=True)
            baselines[k] = (truth != values[counts.argmax()]).mean()
            loss = (predicted != truth).mean(axis=1)
        else:
            whole = ((truth - truth.mean()) ** 2).sum()
            baselines[k] = 1.0 if whole > 0 else 0.0
            loss = ((predicted - truth) ** 2).sum(axis=1) / (whole if whole > 0 else 1.0)
        losses.append(np.minimum(np.minimum.accumulate(loss), baselines[k]))
    return Curves(capacities, np.array(losses), baselines)


def _positions(capacities: np.ndarray, probe: Probe, axis: Axis | None) -> np.ndarray:
    """Return the position of each capacity on the axis of the curves."""
    if axis == "linear" or (axis is None and probe == "forest"):
        return capacities.astype(np.float64)
    return np.log1p(capacities / capacities[1]) if probe == "rff" else np.log(capacities)


def _explicitness(curves: Curves, x: np.ndarray) -> np.ndarray:
    """Return, for each factor, 1 minus twice the area between curve and minimum, as a share of the whole."""
    excess = curves.losses - curves.losses[:, -1:]
    area = np.trapezoid(excess, x, axis=1) / (x[-1] - x[0])
    shares = np.divide(area, curves.baselines, out=np.zeros_like(area), where=curves.baselines > 0)
    return 1 - 2 * shares
