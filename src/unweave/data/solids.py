"""Intersections of rays with simple solids that stand on the floor: closed forms, many rays at once.

A bundle of n rays is an array of origins and one of directions, (3, n) or (3, 1); z points up.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating]


@dataclass(frozen=True)
class Solid(ABC):
    """A convex solid around the z axis, from the floor z = 0 up to its height."""

    radius: float
    height: float

    @property
    def bound(self) -> float:
        """Radius of a ball around the solid's middle that contains it."""
        return float(np.hypot(np.sqrt(2) * self.radius, self.height / 2))

    @abstractmethod
    def entry(self, origins: Floats, directions: Floats) -> Floats:
        """Return the distance at which each ray enters the solid, in lengths of its direction; inf if it does not."""

    @abstractmethod
    def normals(self, points: Floats) -> Floats:
        """Return the outward normals (3, n) at points (3, n) of the surface."""


class Box(Solid):
    """A box with a square base of side 2·radius: the region between three pairs of planes."""

    def entry(self, origins: Floats, directions: Floats) -> Floats:
        """Return the last entry through a pair of planes, if it comes before the first exit."""
        near, far = _between(origins[2], directions[2], 0, self.height)
        for axis in (0, 1):
            enter, leave = _between(origins[axis], directions[axis], -self.radius, self.radius)
            near, far = np.maximum(near, enter), np.minimum(far, leave)
        return np.where(near < far, near, np.inf)

    def normals(self, points: Floats) -> Floats:
        """Return the normal of the face that each point lies on."""
        relative = points / self.radius
        relative[2] = 2 * points[2] / self.height - 1
        face = np.abs(relative).argmax(axis=0) == np.arange(3)[:, None]
        return np.sign(relative) * face


class Cylinder(Solid):
    """An upright cylinder: the part of an infinite tube between two planes."""

    def entry(self, origins: Floats, directions: Floats) -> Floats:
        """Return the later of the entries into tube and slab, if it comes before the first exit."""
        near, far = _tube(origins, directions, self.radius)
        enter, leave = _between(origins[2], directions[2], 0, self.height)
        near, far = np.maximum(near, enter), np.minimum(far, leave)
        return np.where(near < far, near, np.inf)

    def normals(self, points: Floats) -> Floats:
        """Return up or down on a lid, and the direction away from the axis elsewhere."""
        x, y, z = points
        level = 2 * z / self.height - 1
        lid = np.abs(level) > np.hypot(x, y) / self.radius
        return np.where(lid, (0 * x, 0 * y, np.sign(level)), (x / self.radius, y / self.radius, 0 * z))


class Capsule(Solid):
    """A tube closed by two half balls; a ball if the height is twice the radius."""

    def entry(self, origins: Floats, directions: Floats) -> Floats:
        """Return the entry into the tube, or into the half ball that closes it."""
        side, _ = _tube(origins, directions, self.radius)
        z = origins[2] + side * directions[2]
        near = self._nearest_on_axis(z)
        x, y, z_ball = np.broadcast_arrays(origins[0], origins[1], origins[2] - near)
        ball, _ = _roots(
            (directions * directions).sum(axis=0),
            x * directions[0] + y * directions[1] + z_ball * directions[2],
            x * x + y * y + z_ball * z_ball - self.radius**2,
        )
        return np.where(near == z, side, ball)

    def normals(self, points: Floats) -> Floats:
        """Return the direction away from the nearest point of the axis between the balls' centres."""
        x, y, z = points
        return np.stack([x, y, z - self._nearest_on_axis(z)]) / self.radius

    def _nearest_on_axis(self, z: Floats) -> Floats:
        return np.clip(z, self.radius, self.height - self.radius)


def _between(origins: Floats, directions: Floats, low: float, high: float) -> tuple[Floats, Floats]:
    """Return where rays enter and leave the slab low < z < high, in one coordinate."""
    a, b = (low - origins) / directions, (high - origins) / directions
    return np.minimum(a, b), np.maximum(a, b)


def _tube(origins: Floats, directions: Floats, radius: float) -> tuple[Floats, Floats]:
    """Return where rays enter and leave the infinite tube x² + y² < radius²."""
    (x, y, _), (u, v, _) = origins, directions
    return _roots(u * u + v * v, x * u + y * v, x * x + y * y - radius**2)


def _roots(a: Floats, b: Floats, c: Floats) -> tuple[Floats, Floats]:
    """Return the roots of a t² + 2 b t + c, the smaller first; (inf, -inf) if there are none."""
    discriminant = b * b - a * c
    root = np.sqrt(np.maximum(discriminant, 0))
    real = discriminant > 0
    return np.where(real, (-b - root) / a, np.inf), np.where(real, (-b + root) / a, -np.inf)
