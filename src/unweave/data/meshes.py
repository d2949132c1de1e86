"""Triangle meshes, checked and scaled to the unit ball, with a unit normal at every corner of every triangle."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unweave.data.factors import Integers, integers
from unweave.errors import UsageError

Floats = NDArray[np.float64]

BUMPS = (
    ((0.2, 0.1, 1.0), 1.1, 0.33),  # a horn
    ((0.9, 0.5, -0.3), 0.7, 0.33),  # a shorter one
    ((-0.5, 0.9, -0.1), 0.45, 0.5),  # a hump
    ((-0.7, -0.6, 0.35), 0.55, 0.27),  # a knob
    ((0.3, -0.9, 0.25), -0.5, 0.45),  # a hollow
    ((-0.2, 0.15, -1.0), -0.3, 0.35),  # a shallow one
)
"""The bumps of the stone: direction, height over the ball of radius 1, and width in radians."""


@dataclass(frozen=True)
class Mesh:
    """Triangles around the origin, in the unit ball. Seen from outside, their corners are in anticlockwise order."""

    vertices: Floats
    """Positions (v, 3); the farthest one is at distance 1 from the origin."""
    triangles: Integers
    """The vertices of each triangle, (t, 3)."""
    normals: Floats
    """Outward unit vectors (t, 3, 3), one per corner; they are interpolated across the triangle."""
    closed: bool = False
    """True if no triangle is ever seen from behind, so those that face away need not be drawn."""

    @property
    def nbytes(self) -> int:
        """Memory used by the mesh, in bytes."""
        return self.vertices.nbytes + self.triangles.nbytes + self.normals.nbytes

    def flat(self) -> Mesh:
        """Return the same mesh with flat triangles: all corners have the normal of their triangle's plane."""
        facing = unit(crosses(self.vertices, self.triangles))
        return replace(self, normals=np.repeat(facing[:, None], 3, axis=1))


def build_mesh(points: ArrayLike, triangles: ArrayLike, normals: ArrayLike | None = None) -> Mesh:
    """Return the mesh of points (v, 3) and triangles (t, 3), moved and scaled to fit the unit ball.

    The centre of its axis-aligned bounding box becomes the origin. `normals` (t, 3, 3) are those of the corners, zero
    if unknown; a triangle whose winding contradicts its normals is reversed. An unknown normal becomes that of its
    vertex: the sum of the normals of all triangles there, each weighted by its area,

        n(v) ∝ Σ_{(v, a, b)} (a - v) × (b - v).

    Triangles without area are invisible and left out.
    """
    places, corners, known = _checked(points, triangles, normals)
    used, inverse = np.unique(corners, return_inverse=True)
    places, corners = fit_ball(places[used]), inverse.reshape(corners.shape)

    facing = crosses(places, corners)
    against = (known.sum(axis=1) * facing).sum(axis=1) < 0
    corners[against], known[against], facing[against] = corners[against, ::-1], known[against, ::-1], -facing[against]

    solid = facing.any(axis=1)
    if not solid.any():
        raise UsageError("no face of the mesh has an area: the corners of each lie on a line")
    corners, known, facing = corners[solid], known[solid], facing[solid]
    around = np.zeros_like(places)
    for corner in corners.T:
        np.add.at(around, corner, facing)
    for guess in (unit(around)[corners], np.broadcast_to(unit(facing)[:, None], known.shape)):
        known = np.where(known.any(axis=2, keepdims=True), known, guess)
    return Mesh(places, corners, known)


def crosses(vertices: Floats, triangles: Integers) -> Floats:
    """Return the outward normals (t, 3) of triangles, whose lengths are twice their areas."""
    a, b, c = vertices[triangles].swapaxes(0, 1)
    return np.cross(b - a, c - a)


def fit_ball(points: Floats) -> Floats:
    """Return points moved and scaled to fit the unit ball, whatever their unit and position."""
    moved = points - (points.min(axis=0) / 2 + points.max(axis=0) / 2)  # halves first: their sum may overflow
    largest = np.abs(moved).max()
    if largest == 0:
        raise UsageError("the mesh has no extent: all its corners lie at one point")
    moved = moved / largest  # now no square over- or underflows
    return moved / np.linalg.norm(moved, axis=1).max()


def unit(vectors: Floats) -> Floats:
    """Return vectors (..., 3) scaled to length 1; vectors of length 0 stay 0."""
    largest = np.abs(vectors).max(axis=-1, keepdims=True)
    scaled = vectors / np.where(largest > 0, largest, 1)
    length = np.linalg.norm(scaled, axis=-1, keepdims=True)
    return scaled / np.where(length > 0, length, 1)


def sphere(divisions: int) -> tuple[Floats, Integers]:
    """Return points on the unit sphere and triangles: an icosahedron whose sides are halved repeatedly.

    >>> [len(part) for part in sphere(3)]
    [642, 1280]
    """
    golden = (1 + 5**0.5) / 2
    rectangle = np.array([(0, y, z) for y in (-1, 1) for z in (-golden, golden)])
    points = unit(np.concatenate([np.roll(rectangle, shift, axis=1) for shift in range(3)]))
    gaps = np.linalg.norm(points[:, None] - points, axis=-1)
    near = gaps < 1.1 * gaps[gaps > 0].min()
    a, b, c = np.nonzero(near[:, :, None] & near[:, None] & near)
    outward = np.linalg.det(points[np.stack([a, b, c], axis=1)]) > 0.1
    triangles = np.stack([a, b, c], axis=1)[outward & (a < b) & (a < c)]
    for _ in range(divisions):
        points, triangles = _halve(points, triangles)
    return points, triangles


def horned_stone(divisions: int = 3) -> Mesh:
    """Return a smooth stone with horns and hollows that all differ: every rotation changes what it looks like.

    In the direction of the unit vector u, its surface is at this distance from a point inside:

        r(u) = 1 + Σ_k h_k exp((u·d_k - 1) / w_k²),    d_k, h_k, w_k the direction, height and width of bump k.
    """
    points, triangles = sphere(divisions)
    radii = np.ones(len(points))
    for direction, height, width in BUMPS:
        radii += height * np.exp((points @ unit(np.array(direction)) - 1) / width**2)
    return replace(build_mesh(radii[:, None] * points, triangles), closed=True)


def _halve(points: Floats, triangles: Integers) -> tuple[Floats, Integers]:
    """Split each triangle into four, with the midpoints of its sides moved out to the sphere."""
    sides = np.sort(np.stack([triangles, np.roll(triangles, -1, axis=1)], axis=-1), axis=-1)  # ab, bc, ca
    distinct, which = np.unique(sides.reshape(-1, 2), axis=0, return_inverse=True)
    middles = len(points) + which.reshape(-1, 3)
    (a, b, c), (ab, bc, ca) = triangles.T, middles.T
    parts = [(a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca)]
    new = unit(points[distinct].sum(axis=1))
    return np.concatenate([points, new]), np.concatenate([np.stack(part, axis=1) for part in parts])


def _checked(points: ArrayLike, triangles: ArrayLike, normals: ArrayLike | None) -> tuple[Floats, Integers, Floats]:
    """Return points, triangles and normals after checking their shapes; normals have length 1 or 0."""
    places = np.asarray(points, dtype=np.float64)
    corners = integers(triangles, "the corners of triangles")
    if corners.size == 0:
        raise UsageError("the mesh has no faces")
    if places.ndim != 2 or places.shape[1] != 3 or corners.ndim != 2 or corners.shape[1] != 3:
        raise UsageError(f"a mesh needs points (v, 3) and triangles (t, 3), not {places.shape} and {corners.shape}")
    if not np.isfinite(places).all():
        raise UsageError(f"vertex {int((~np.isfinite(places)).any(axis=1).argmax())} of the mesh is not finite")
    if corners.min() < 0 or corners.max() >= len(places):
        raise UsageError(f"the vertices of faces are numbered 0 to {len(places) - 1}")
    known = np.zeros((*corners.shape, 3)) if normals is None else np.asarray(normals, dtype=np.float64)
    if known.shape != (*corners.shape, 3) or not np.isfinite(known).all():
        raise UsageError(f"normals must be finite numbers ({len(corners)}, 3, 3), a vector for each corner")
    return places, corners, unit(known)
