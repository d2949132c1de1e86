"""Points on products of known manifolds, and the tangent spaces of every factor at every point, exactly.

A product is written as mathematicians write it: `S^2 x SO(3)`. The factors are spheres S^n, ellipsoids E^n, rotation
groups SO(n), tori T^n and cubes of a plane R^n.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from unweave.errors import UsageError

FACTOR = re.compile(r"(S|E|T|R)\^?(\d+)|SO\((\d+)\)")
EMBEDDINGS = ("standard", "rotated", "stretched")
Drawn = tuple[np.ndarray, list[np.ndarray]]
"""Points (n, D), and frames (n, D, k_i) of the factors that they fall into."""


@dataclass(frozen=True)
class Sample:
    """Points on a product manifold, with the truth about its factors."""

    points: np.ndarray
    """(n, D)."""
    frames: list[np.ndarray]
    """For each factor (n, D, k_i): an orthonormal basis of its tangent space at every point."""

    @property
    def dim(self) -> int:
        """The dimension of the manifold."""
        return sum(frame.shape[2] for frame in self.frames)


class _Factor(NamedTuple):
    """A factor of a product: how it is drawn, and the number in its name."""

    draw: Callable[[int, int, np.random.Generator], Drawn]
    size: int


def sample(
    manifold: str,
    n: int = 10_000,
    *,
    seed: int = 0,
    noise: float = 0.0,
    embedding: str = "standard",
    ambient: int | None = None,
    stretch: float = 4.0,
) -> Sample:
    """Draw n points uniformly from a product manifold, with the tangent spaces of its factors.

    Parameters
    ----------
    manifold
        The product, such as "S^2 x SO(3)": spheres S^n, ellipsoids E^n, rotation groups SO(n), flat tori T^n and cubes
        R^n.
    n
        Number of points.
    seed
        Seed of all draws.
    noise
        Standard deviation of normal noise on every coordinate.
    embedding
        "standard" (the factors' coordinates side by side), "rotated" (by a random rotation of a space of `ambient`
        dimensions), or "stretched" (by a random linear map whose largest singular value is `stretch` times the
        smallest, so that the metric is no longer that of the product).
    ambient
        Number of dimensions of the space; by default as many as the factors need.
    stretch
        Ratio of the singular values of "stretched".

    Returns
    -------
    Sample
        Points (n, D), and for each factor its bases (n, D, k_i).

    Examples
    --------
    >>> drawn = sample("S^2 x SO(3)", n=100)
    >>> drawn.points.shape, [frame.shape for frame in drawn.frames]
    ((100, 12), [(100, 12, 2), (100, 12, 3)])
    """
    if n < 1:
        raise UsageError(f"a sample needs 1 point or more, not {n}")
    if not noise >= 0 or not stretch >= 1:
        raise UsageError(f"noise must be 0 or more and stretch 1 or more, not {noise} and {stretch}")
    if embedding not in EMBEDDINGS:
        raise UsageError(f"the embedding is one of {', '.join(EMBEDDINGS)}, not '{embedding}'")
    rng = np.random.default_rng(seed)
    points, frames = _side_by_side([factor.draw(n, factor.size, rng) for factor in _factors(manifold)])
    if embedding != "standard" or ambient is not None:
        into = _embedding(
            points.shape[1], ambient or points.shape[1], stretch if embedding == "stretched" else 1.0, rng
        )
        if embedding == "standard":
            into = np.eye(*into.shape)
        points, frames = points @ into.T, [np.linalg.qr(into @ frame)[0] for frame in frames]
    return Sample(points + noise * rng.standard_normal(points.shape), frames)


def _factors(manifold: str) -> list[_Factor]:
    """Return the factors that a name such as `S^2 x SO(3)` lists."""
    words = [word.strip() for word in re.split(r"[x×*]", manifold)]
    found = [FACTOR.fullmatch(word) for word in words]
    draws = {"S": _sphere, "E": _ellipsoid, "T": _torus, "R": _cube}
    factors = [
        _Factor(draws[each[1]], int(each[2])) if each[1] else _Factor(_rotations, int(each[3]))
        for each in found
        if each is not None
    ]
    smallest = [2 if factor.draw is _rotations else 1 for factor in factors]
    if len(factors) < len(words) or any(factor.size < least for factor, least in zip(factors, smallest, strict=True)):
        raise UsageError(
            f"'{manifold}' is not a product such as S^2 x E^2 x SO(3) x T^2 x R^1: "
            "of spheres, ellipsoids, rotations, tori and planes"
        )
    return factors


def _side_by_side(drawn: list[Drawn]) -> Drawn:
    """Return the product of factors, each with coordinates of its own."""
    widths = [points.shape[1] for points, _ in drawn]
    starts = np.cumsum([0, *widths])
    frames = []
    for (_, own), start in zip(drawn, starts, strict=False):
        for frame in own:
            wide = np.zeros((len(frame), starts[-1], frame.shape[2]))
            wide[:, start : start + frame.shape[1]] = frame
            frames.append(wide)
    return np.concatenate([points for points, _ in drawn], axis=1), frames


def _embedding(inside: int, outside: int, stretch: float, rng: np.random.Generator) -> np.ndarray:
    """Return a random linear map whose singular values lie evenly, in logarithm, over a factor `stretch`."""
    if outside < inside:
        raise UsageError(f"the manifold lies in {inside} dimensions; ambient must be {inside} or more, not {outside}")
    left = np.linalg.qr(rng.standard_normal((outside, inside)))[0]
    right = np.linalg.qr(rng.standard_normal((inside, inside)))[0]
    return left * stretch ** np.linspace(-0.5, 0.5, inside) @ right.T


def _sphere(n: int, size: int, rng: np.random.Generator) -> Drawn:
    """Draw from the unit sphere S^size; its tangent space is what a Householder reflection makes of the other axes."""
    points = rng.standard_normal((n, size + 1))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    mirror = points.copy()
    mirror[:, 0] += np.copysign(1.0, points[:, 0])
    scale = 2 / (mirror**2).sum(axis=1)
    frames = np.eye(size + 1)[None, :, 1:] - scale[:, None, None] * mirror[:, :, None] * mirror[:, None, 1:]
    return points, [frames]


def _ellipsoid(n: int, size: int, rng: np.random.Generator) -> Drawn:
    """Draw from a sphere that is squeezed along its axes, evenly from 1 to 1/2; its flatter parts get more points."""
    points, (frame,) = _sphere(n, size, rng)
    axes = np.linspace(1, 0.5, size + 1)
    return points * axes, [np.linalg.qr(axes[:, None] * frame)[0]]


def _torus(n: int, size: int, rng: np.random.Generator) -> Drawn:
    """Draw from the flat torus of `size` unit circles: one flat factor."""
    angle = rng.uniform(0, 2 * np.pi, (n, size))
    frame = np.zeros((n, 2 * size, size))
    axis = np.arange(size)
    frame[:, 2 * axis, axis], frame[:, 2 * axis + 1, axis] = -np.sin(angle), np.cos(angle)
    return np.stack([np.cos(angle), np.sin(angle)], axis=2).reshape(n, -1), [frame]


def _cube(n: int, size: int, rng: np.random.Generator) -> Drawn:
    """Draw from the cube [-1, 1]^size of a plane."""
    return rng.uniform(-1, 1, (n, size)), [np.tile(np.eye(size), (n, 1, 1))]


def _rotations(n: int, size: int, rng: np.random.Generator) -> Drawn:
    """Draw rotation matrices, as rows of size² numbers; the tangent space at R is R times the antisymmetric matrices.

    SO(4) is, but for a sign, a product of two S^3, so its tangent space falls into two of dimension 3: the
    antisymmetric matrices that are their own dual, and those that are minus it.
    """
    q, r = np.linalg.qr(rng.standard_normal((n, size, size)))
    q *= np.sign(np.diagonal(r, axis1=1, axis2=2))[:, None, :]
    q[:, :, 0] *= np.linalg.det(q)[:, None]
    rows, columns = np.triu_indices(size, 1)
    basis = np.zeros((len(rows), size, size))
    place = np.arange(len(rows))
    basis[place, rows, columns], basis[place, columns, rows] = 0.5**0.5, -(0.5**0.5)
    parts = [basis]
    if size == 4:  # e12, e13, e14, e23, e24, e34, whose duals are e34, -e24, e23, e14, -e13, e12
        dual = basis[[5, 4, 3]] * np.array([1, -1, 1])[:, None, None]
        parts = [(basis[:3] + dual) / 2**0.5, (basis[:3] - dual) / 2**0.5]
    frames = [np.einsum("nij,bjk->nikb", q, part).reshape(n, size * size, len(part)) for part in parts]
    return q.reshape(n, -1), frames
