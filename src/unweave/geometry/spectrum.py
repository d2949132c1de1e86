"""The bottom of the Laplacian's spectrum: a block of vectors, filtered by Chebyshev polynomials [Zhou2006]_."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from unweave.geometry.gap import split
from unweave.geometry.laplacian import Laplacian
from unweave.geometry.simd import LANES
from unweave.progress import OnProgress

TOP = 2.0
"""No eigenvalue of the scaled Laplacian is larger."""
GUARD = 4
"""Extra vectors, with which the last of the requested ones converge."""
DEGREE = 20
"""Degree of the first filter, before anything is known about the spectrum."""
DEGREES = (6, 24)
"""Bounds of the degrees of later filters."""
ROUNDS = 12
FIRST_CUT = 0.15
"""The share of the spectrum that the first filter keeps."""
ACCURACY = 0.01
"""The largest angle in radians between a vector below the gap and its exact eigenvector."""


class Spectrum(NamedTuple):
    """The smallest eigenvalues of a Laplacian, their vectors (n, d, count), and the residual of each."""

    values: np.ndarray
    vectors: np.ndarray
    residuals: np.ndarray


def bottom(laplacian: Laplacian, count: int, *, seed: int = 0, on_progress: OnProgress | None = None) -> Spectrum:
    r"""Return the `count` smallest eigenvalues and their vectors.

    Each round applies to a block of vectors the Chebyshev polynomial of L that is small above a cut, followed by the
    Rayleigh-Ritz method; the cut moves down to the largest value of the block. It stops when the vectors below the gap
    of the spectrum, the only ones that matter, are within `ACCURACY` of their eigenvectors: |L v - θ v| divided by the
    gap bounds that angle (Davis and Kahan). The values above the gap are then a few per cent too large at most.
    """
    size = laplacian.size * laplacian.width
    count = min(count, size)
    if size <= 256:
        return _dense(laplacian, count)
    lanes = -(-(count + GUARD) // LANES) * LANES
    start = np.random.default_rng(seed).standard_normal((laplacian.size, laplacian.width, lanes))
    vectors, cut, degree = start.astype(np.float32), FIRST_CUT, DEGREE
    values = residuals = np.empty(0)
    for turn in range(ROUNDS):
        vectors = _filtered(laplacian, vectors, cut, degree, _share_done(on_progress, turn))
        values, vectors, residuals = _fitted(vectors, laplacian.apply(vectors))
        below = split(values[:count])
        off = (residuals[:below] / np.maximum(values[below] - values[:below], 1e-7)).max() / ACCURACY
        if turn and off <= 1:
            break
        cut = float(np.clip(values[-1], 1e-3, 0.9 * TOP))
        degree = _degree(cut, off)
    return Spectrum(values[:count], vectors[:, :, :count], residuals[:count])


def _degree(cut: float, reduction: float) -> int:
    """Return the degree of the filter that damps values above the cut by this factor, relative to 0."""
    growth = np.arccosh((TOP + cut) / (TOP - cut))
    return int(np.clip(np.ceil(np.log(2 * max(reduction, 1.0)) / growth), *DEGREES))


def _share_done(on_progress: OnProgress | None, turn: int) -> Callable[[float], None]:
    """Return the function to call after every step of a filter; the number of rounds is a guess."""

    def tell(share: float) -> None:
        if on_progress is not None:
            on_progress("spectrum", (turn + share) / (turn + share + 1), 1)

    return tell


def _filtered(
    laplacian: Laplacian, x: np.ndarray, cut: float, degree: int, tell: Callable[[float], None]
) -> np.ndarray:
    """Return p(L) x, where p is 1 at 0 and, of its degree, the smallest between the cut and `TOP`."""
    middle, half = (TOP + cut) / 2, (TOP - cut) / 2
    first = ratio = -half / middle
    before, x = x.copy(), laplacian.apply(x, ratio / half, -middle * ratio / half)  # the next step overwrites it
    for step in range(1, degree):
        new = 1 / (2 / first - ratio)
        after = laplacian.apply(x, 2 * new / half, -2 * new * middle / half, before, ratio * new, replace=True)
        before, x, ratio = x, after, new
        tell(step / degree)
    return x


def _fitted(x: np.ndarray, image: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the Ritz values θ of the span of x, their unit vectors v, and |L v - θ v|; `image` is L x."""
    lanes = x.shape[2]
    flat, mapped = x.reshape(-1, lanes), image.reshape(-1, lanes)
    lengths = np.linalg.norm(flat, axis=0)
    scale = 1 / np.maximum(lengths, np.finfo(np.float32).tiny).astype(float)
    inner = (flat.T @ flat).astype(float) * scale * scale[:, None]
    energy = (flat.T @ mapped).astype(float) * scale * scale[:, None]
    sizes, axes = np.linalg.eigh(inner)
    axes = axes / np.sqrt(np.maximum(sizes, 1e-6))  # directions that are 0 within float32 become very short
    values, turns = np.linalg.eigh(axes.T @ (energy + energy.T) / 2 @ axes + np.diag(TOP * (sizes < 1e-6)))
    mixing = (scale[:, None] * (axes @ turns)).astype(np.float32)
    vectors, images = flat @ mixing, mapped @ mixing
    residuals = np.linalg.norm(images - vectors * values.astype(np.float32), axis=0)
    return values, vectors.reshape(x.shape), residuals


def _dense(laplacian: Laplacian, count: int) -> Spectrum:
    """Return the bottom of a small Laplacian by building it."""
    size = laplacian.size * laplacian.width
    wide = -(-size // LANES) * LANES
    unit = np.eye(size, wide, dtype=np.float32).reshape(laplacian.size, laplacian.width, wide)
    matrix = laplacian.apply(unit).reshape(size, wide)[:, :size].astype(float)
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
    shaped = vectors[:, :count].reshape(laplacian.size, laplacian.width, count).astype(np.float32)
    return Spectrum(values[:count], shaped, np.zeros(count))
