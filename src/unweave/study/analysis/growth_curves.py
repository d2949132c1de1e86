r"""How a score grows with a size: steps of training, images, parameters.

There are two descriptions. The *slope* is the gain of a score per factor of ten, fitted to each seed separately, so
that its interval is over seeds. The *curve* is one of

    constant      s(x) = a
    logarithmic   s(x) = a + b log10 x
    saturating    s(x) = a - b x^-c,  c > 0

fitted to the scores of all seeds by least squares; the one with the smallest corrected Akaike criterion [Hurvich1989]_
is chosen. Differences between seeds count as noise. Only a saturating curve, of four sizes or more, says where growth
would end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, log, nan

import numpy as np
from numpy.typing import ArrayLike

from unweave.errors import UsageError
from unweave.study.analysis.seeds import Interval, over_seeds

EXPONENTS = np.geomspace(0.05, 3.0, 200)
"""Exponents of saturating curves: with a smaller one a curve is logarithmic over any observed range, with a larger one
it saturates at the first size."""
SIZES = 4
"""With fewer sizes, no saturating curve is fitted."""
TINY = 1e-24
"""A mean square error below which a fit is exact."""


@dataclass(frozen=True)
class Curve:
    """A curve of a score against a size, fitted by least squares."""

    kind: str
    """"constant", "logarithmic" or "saturating"."""
    a: float
    b: float
    c: float
    aicc: float
    """Corrected Akaike criterion; lower is better, infinite if there are too few scores."""

    def __call__(self, sizes: ArrayLike) -> np.ndarray:
        """Return the curve at these sizes."""
        x = np.asarray(sizes, dtype=float)
        if self.kind == "saturating":
            return self.a - self.b * x**-self.c
        return self.a + self.b * np.log10(x)

    @property
    def limit(self) -> float:
        """The limit of the score as the size grows; NaN if the curve has none."""
        return nan if self.kind == "logarithmic" else self.a


@dataclass(frozen=True)
class Growth:
    """How a score grows with a size."""

    slope: Interval
    """Gain per factor of ten, over seeds."""
    curve: Curve
    """The curve that describes the scores best."""


def growth(sizes: Sequence[float], scores: ArrayLike, *, seed: int = 0) -> Growth:
    """Return how scores grow with a size.

    Parameters
    ----------
    sizes
        Two sizes or more (k,), above 0.
    scores
        Scores (seeds, k): a row for each training seed.
    seed
        Seed of the resampling of seeds.

    Returns
    -------
    Growth
        The slope per factor of ten with its interval over seeds, and the curve that fits best.

    Examples
    --------
    >>> found = growth([10, 100, 1000], [[0.1, 0.2, 0.3], [0.1, 0.3, 0.5]])
    >>> round(found.slope.value, 3)
    0.15
    """
    x, y = np.asarray(sizes, dtype=float), np.atleast_2d(np.asarray(scores, dtype=float))
    if x.ndim != 1 or len(np.unique(x)) < 2 or not (np.isfinite(x) & (x > 0)).all():
        raise UsageError(f"growth needs two different sizes or more, all above 0, not {list(sizes)}")
    if y.shape[1:] != x.shape or not np.isfinite(y).all():
        raise UsageError(f"growth needs finite scores (seeds, {len(x)}), not {y.shape}")
    centred = np.log10(x) - np.log10(x).mean()
    slopes = y @ centred / (centred @ centred)
    return Growth(over_seeds(slopes, seed=seed), best_curve(x, y))


def best_curve(sizes: ArrayLike, scores: ArrayLike) -> Curve:
    """Return the curve with the smallest corrected Akaike criterion.

    Parameters
    ----------
    sizes, scores
        Sizes (k,), and scores (seeds, k) or (k,).

    Returns
    -------
    Curve
        The constant, logarithmic or saturating curve that fits best.
    """
    table = np.atleast_2d(np.asarray(scores, dtype=float))
    x, y = np.tile(np.asarray(sizes, dtype=float), len(table)), table.ravel()
    found = [_linear("constant", x, y), _linear("logarithmic", x, y)]
    if len(np.unique(x)) >= SIZES:
        found.append(_saturating(x, y))
    return min(found, key=lambda curve: (curve.aicc, len(curve.kind)))


def _linear(kind: str, x: np.ndarray, y: np.ndarray) -> Curve:
    """Return a constant or a logarithmic curve."""
    count = 1 if kind == "constant" else 2
    columns = np.stack([np.ones_like(x), np.log10(x)], axis=1)[:, :count]
    solution = np.linalg.lstsq(columns, y, rcond=None)[0]
    error = float(np.mean((y - columns @ solution) ** 2))
    return Curve(kind, float(solution[0]), float(solution[1]) if count > 1 else 0.0, nan, _aicc(error, len(x), count))


def _saturating(x: np.ndarray, y: np.ndarray) -> Curve:
    """Return the saturating curve: for each exponent a and b are a linear fit."""
    best = (inf, nan, nan, nan)
    for exponent in EXPONENTS:
        columns = np.stack([np.ones_like(x), -((x / x.min()) ** -exponent)], axis=1)
        solution = np.linalg.lstsq(columns, y, rcond=None)[0]
        error = float(np.mean((y - columns @ solution) ** 2))
        if error < best[0]:
            best = (error, float(solution[0]), float(solution[1]) * float(x.min()) ** exponent, float(exponent))
    error, a, b, c = best
    return Curve("saturating", a, b, c, _aicc(error, len(x), 3))


def _aicc(error: float, points: int, parameters: int) -> float:
    """Return the corrected Akaike criterion of a least-squares fit; the variance counts as a parameter."""
    count = parameters + 1
    if points - count - 1 <= 0:
        return inf
    return points * log(max(error, TINY)) + 2 * count + 2 * count * (count + 1) / (points - count - 1)
