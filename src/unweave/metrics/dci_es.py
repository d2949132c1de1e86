"""Explicitness and size of DCI-ES: how much capacity it takes to read the factors off the codes."""

from __future__ import annotations

from math import inf
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from unweave.errors import unknown
from unweave.metrics.inputs import FIT, GivenPair, Pair, generator, train_and_test
from unweave.metrics.metric import metric
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
    """Factors per code, above 0: 1 where there are as many codes as factors."""


class Curves(NamedTuple):
    """What probes of rising capacity leave unexplained in the judged rows."""

    capacities: np.ndarray
    """(c,): random features beside the codes, or the depth of the trees."""
    losses: np.ndarray
    """(k, c): the least loss up to each capacity, for each factor that varies."""
    baselines: np.ndarray
    """(k,): the loss without any codes."""


@metric("Eastwood et al. 2023", "explicitness", range=(-1.0, inf))
def dci_es(
    codes: ArrayLike,
    factors: ArrayLike,
    *,
    test: GivenPair | None = None,
    probe: Probe = "rff",
    targets: Targets = "classes",
    axis: Axis | None = None,
    seed: int = 0,
) -> Sampled[DCIES]:
    r"""Explicitness and size [Eastwood2023]_: how small a probe suffices, and how many factors are there for each code?

        E = mean over factors k of 1 - 2 area_k / ( baseline_k (x_max - x_min) ),     S = factors / codes

    where area_k lies between the curve of the loss on held-out rows over the probe's capacity x and the curve's
    minimum. E is 1 where the smallest probe does as well as the largest, 0 where the loss falls along a straight line
    from the baseline to 0, and close to -1 where only the largest probe finds anything. It asks how early, not how
    much, is found: codes that tell nothing have a flat curve and E = 1. Read it beside a score of informativeness.

    - `probe`: "rff", ridge regression on the codes and on 0, 16, 48, ... 1008 random Fourier features of them, so that
      the smallest is linear; or "forest", 20 random trees cut at depth 1, 2, 4, ... 32.
    - `targets`: "classes", the loss is the share of rows predicted wrongly, the baseline that of the commonest value
      among the rows fitted; or "numbers", it is 1 - R², where the values of a factor are meant as numbers.
    - `axis`: x is the capacity ("linear", the forest's default) or the logarithm of 1 + features / 16, or of the depth
      ("log", the default for features).

    Each curve is made monotone (the least loss so far) and cut at its baseline. The probes are judged on
    `test=(codes, factors)`, or else on a third of the rows held out by `seed`, which draws their features or trees too.
    Codes are standardised: sign, shift and scale do not matter to "rff", and their order only as another draw of the
    features would. A factor with one value is left out, and one whose baseline is 0 has E = 1.

    >>> dci_es([[0.0], [1.0]] * 20, [[3], [7]] * 20)
    DCIES(explicitness=1.0, size=1.0)
    """
    _check_options(probe, targets, axis)
    train, held_out = train_and_test(codes, factors, test, seed)
    size = train[1].shape[1] / train[0].shape[1]

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
    """Return the curves behind `dci_es`: the loss on held-out rows of probes of rising capacity, factor by factor.

    >>> loss_capacity_curves([[0.0], [1.0]] * 20, [[3], [7]] * 20).losses[0, 0]
    np.float64(0.0)
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


def _curves(fitted: Pair, judged: Pair, probe: Probe, targets: Targets, seed: int) -> Curves:
    capacities, predictions = PROBES[probe](fitted, judged, targets == "classes", generator(seed, FIT))
    losses = []
    baselines = np.empty(judged[1].shape[1])
    for k, (factor, truth, predicted) in enumerate(zip(fitted[1].T, judged[1].T, predictions, strict=True)):
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
    """Return where each capacity lies on the axis of the curves."""
    if axis == "linear" or (axis is None and probe == "forest"):
        return capacities.astype(np.float64)
    return np.log1p(capacities / capacities[1]) if probe == "rff" else np.log(capacities)


def _explicitness(curves: Curves, x: np.ndarray) -> np.ndarray:
    """Return, for each factor, 1 less twice the area between curve and minimum, as a share of the whole."""
    excess = curves.losses - curves.losses[:, -1:]
    area = np.trapezoid(excess, x, axis=1) / (x[-1] - x[0])
    shares = np.divide(area, curves.baselines, out=np.zeros_like(area), where=curves.baselines > 0)
    return 1 - 2 * shares
