"""A white shape that turns, grows and moves: 720 sprites are drawn once and shifted."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import product
from typing import ClassVar

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from unweave.data.dataset import SIZES, Dataset, Images, Option, integer_option
from unweave.data.factors import FactorSpace, Integers

PLACES = 32
BOX = 64 - PLACES + 1  # a sprite's box, which fits at every position of the 64×64 image
SIDE = 17.0  # every shape at full scale has the area of a square of this side
SCALES = np.linspace(0.5, 1.0, 6)
ORIENTATIONS = 40
TURNS = (41, 40)
"""Steps of a full turn: after a quarter turn, not a multiple of 1/41, a square looks the same. Earlier runs had 40."""

Plane = NDArray[np.float64]
Mask = NDArray[np.bool_]


def square(u: Plane, v: Plane) -> Mask:
    """Return where the square of area 1 around the origin is."""
    return np.maximum(np.abs(u), np.abs(v)) <= 0.5


def ellipse(u: Plane, v: Plane) -> Mask:
    """Return where the ellipse of area 1 around the origin is; it is twice as wide as high."""
    return u**2 / 2 + 2 * v**2 <= 1 / math.pi


def heart(u: Plane, v: Plane) -> Mask:
    """Return where the heart of area 1 is, its centroid in the origin and its tip pointing down.

    It is a square of side 2 that stands on a corner, with a disc of radius 1 on each upper side.
    """
    area = 4 + math.pi
    centroid = (math.pi / 2 + 2 / 3) / area  # along both of the square's axes
    unit = math.sqrt(area / 2)
    p, q = unit * (v + u) + centroid, unit * (v - u) + centroid
    tip = np.maximum(np.abs(p), np.abs(q)) <= 1
    return tip | ((p - 1) ** 2 + q**2 <= 1) | (p**2 + (q - 1) ** 2 <= 1)


SHAPES = (square, ellipse, heart)


class Shapes2D(Dataset):
    """A square, an ellipse or a heart on the factor grid of dSprites; drawn by unweave.

    All three shapes have the same area at the same scale. The orientation takes the first 40 of 41 equal steps of a
    full turn, anticlockwise. A square looks the same after a quarter turn and an ellipse after half a turn, but neither
    is a whole number of steps. The images that still look the same are too small to show a turn of a degree or two.
    """

    name = "shapes2d"
    factors = FactorSpace(
        ("shape", "scale", "orientation", "x", "y"), (len(SHAPES), len(SCALES), ORIENTATIONS, PLACES, PLACES)
    )

    earlier: ClassVar[dict[str, Option]] = {"turn": 40}

    def __init__(self, *, size: int = 64, turn: int = 41) -> None:
        size, turn = integer_option("size", size, SIZES), integer_option("turn", turn, TURNS)
        self.options = {"size": size, "turn": turn}
        self.shape = (size, size, 1)
        self.binary = size >= 64

        self._zoom = max(size, 64) // 64
        angles = 2 * np.pi * np.arange(ORIENTATIONS) / turn
        sprites = [draw_sprite(*look, self._zoom) for look in product(SHAPES, SCALES, angles)]
        padded = np.pad(sprites, [(0, 0), *[(self._zoom * (PLACES - 1),) * 2] * 2])
        self._sprites = padded.reshape(*self.factors.sizes[:3], *padded.shape[1:])

    def _draw(self, indices: Integers) -> Images:
        shape, scale, orientation, x, y = self.factors.from_index(indices).T
        # Moving the window to the left moves the sprite to the right.
        windows = sliding_window_view(self._sprites, (64 * self._zoom,) * 2, axis=(3, 4))
        left, top = self._zoom * (PLACES - 1 - x), self._zoom * (PLACES - 1 - y)
        return windows[shape, scale, orientation, top, left][..., None]

    def _representatives(self) -> Integers:
        # Moving the shape by two pixels changes no statistic, even if two pixels are merged into one.
        return np.arange(len(self)).reshape(self.factors.sizes)[..., :2, :2].ravel()


def draw_sprite(shape: Callable[[Plane, Plane], Mask], scale: float, angle: float, zoom: int) -> Images:
    """Return a shape in its box: a pixel is white if its centre lies inside."""
    steps = (np.arange(zoom * BOX) + 0.5) / zoom - BOX / 2
    x, y = np.meshgrid(steps / (SIDE * scale), -steps / (SIDE * scale))
    u, v = x * np.cos(angle) + y * np.sin(angle), y * np.cos(angle) - x * np.sin(angle)
    return np.where(shape(u, v), np.uint8(255), np.uint8(0))
