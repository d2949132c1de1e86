"""Scenes of four small moving shapes: two colours × two shapes, each anywhere in the image."""

from __future__ import annotations

from itertools import product

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unweave.data.dataset import SIZES, Dataset, Images, integer_option
from unweave.data.factors import FactorSpace, Integers, integers
from unweave.data.shapes2d import BOX, draw_sprite, ellipse, square
from unweave.errors import UsageError

COLOURS = {"red": 0, "blue": 2}
"""The channel that each colour lights: pixels of both have the same weight in a loss."""
SHAPES = {"square": square, "ellipse": ellipse}
SPRITES = tuple(product(COLOURS, SHAPES))
"""Colour and shape of each sprite, in the order in which they are painted: later ones hide earlier ones."""
SCALE = 0.5  # relative to the sprites of shapes2d: the area of a square of side 8.5
SIDE = 15  # a sprite's box, in pixels of the 64×64 image
PLACES = 64 - SIDE + 1
SCENES = 200_000
SHADES = np.array([0, 64, 128, 191, 255], dtype=np.uint8)
"""The value of a pixel that replaces 2×2, by the number of these that are lit: the rounded mean."""


class Scenes2D(Dataset):
    """A red and a blue square and ellipse, each at any position: random scenes of the clustering task.

    The sprites are those of shapes2d at their smallest scale. Each sprite looks different from the others and never
    changes, so its position can be a factor: an image could not identify two sprites that look the same. There are too
    many combinations of positions for a grid. The set is a uniform sample of 200,000, the same on every machine.
    """

    name = "scenes2d"
    factors = FactorSpace(
        tuple(f"{colour}_{shape}_{axis}" for colour, shape in SPRITES for axis in "xy"), (PLACES,) * 2 * len(SPRITES)
    )
    count = SCENES
    is_grid = False

    def __init__(self, *, size: int = 64) -> None:
        size = integer_option("size", size, SIZES)
        self.options = {"size": size}
        self.shape = (size, size, 3)
        self.binary = size >= 64

        self._zoom = max(size, 64) // 64
        self._canvas = 64 * self._zoom
        margin = self._zoom * (BOX - SIDE) // 2
        box = slice(margin, -margin)
        self.masks = np.array(
            [draw_sprite(SHAPES[shape], SCALE, 0.0, self._zoom)[box, box] > 0 for _, shape in SPRITES]
        )
        """The filled pixels of each sprite's box, (sprites, height, width)."""
        # The offsets of each sprite's pixels from the upper left corner of its box, in a flat image of one channel.
        self._pixels = [self._canvas * rows + columns for rows, columns in map(np.nonzero, self.masks)]

    def values(self, indices: ArrayLike) -> Integers:
        """Return the positions (n, 8) of the sprites in the scenes with these indices (n,): x and y of each."""
        indices = integers(indices, "indices")
        if indices.size and not (indices.min() >= 0 and indices.max() < SCENES):
            raise UsageError(f"indices must lie between 0 and {SCENES - 1}")
        drawn = indices[..., None] * len(self.factors.names) + np.arange(len(self.factors.names))
        return (_scrambled(drawn) % PLACES).astype(np.int64)

    def paint(self, places: ArrayLike) -> Images:
        """Return the images (n, H, W, 3) of scenes with sprites at these positions (n, sprites, 2): x and y, 0 to 49.

        >>> Scenes2D(size=32).paint([[[0, 0], [20, 0], [0, 20], [20, 20]]]).shape
        (1, 32, 32, 3)
        """
        corners = integers(places, "places")
        if corners.ndim != 3 or corners.shape[1:] != (len(SPRITES), 2):
            raise UsageError(f"places must have the shape (n, {len(SPRITES)}, 2), not {corners.shape}")
        if corners.size and not (corners.min() >= 0 and corners.max() < PLACES):
            raise UsageError(f"places must lie between 0 and {PLACES - 1}")
        return self._painted(corners)

    def _draw(self, indices: Integers) -> Images:
        return self._painted(self.values(indices).reshape(-1, len(SPRITES), 2))

    def _painted(self, corners: Integers) -> Images:
        """Return the images of sprites whose boxes have these upper left corners (n, sprites, 2)."""
        planes = self._planes(corners)
        if self.shape[0] < 64:
            planes = SHADES[_sums_of_blocks(planes)]
        else:
            planes *= 255
        images = np.zeros((len(corners), *self.shape), dtype=np.uint8)
        for number, channel in enumerate(COLOURS.values()):
            images[..., channel] = planes[number]
        return images

    def _planes(self, corners: Integers) -> Images:
        """Return a mask of each colour, 0 or 1, (colours, n, height, width), at 64 pixels or more."""
        planes = np.zeros((len(COLOURS), len(corners), self._canvas, self._canvas), dtype=np.uint8)
        flat = planes.reshape(len(COLOURS), -1)
        first = np.arange(len(corners)) * self._canvas**2
        for number, (colour, _) in enumerate(SPRITES):
            x, y = self._zoom * corners[:, number].T
            pixels = (first + self._canvas * y + x)[:, None] + self._pixels[number]
            for plane, name in enumerate(COLOURS):
                flat[plane][pixels] = name == colour
        return planes


def _sums_of_blocks(planes: Images) -> NDArray[np.uint16]:
    """Return the sums of 2×2 pixels of planes of 0 and 1; two columns are added as the bytes of one number."""
    rows = planes[..., ::2, :] + planes[..., 1::2, :]
    pairs = rows.view(np.uint16)
    return (pairs & np.uint16(255)) + (pairs >> np.uint16(8))


def _scrambled(numbers: Integers) -> NDArray[np.uint64]:
    """Return 64 pseudo-random bits for each number, the same with every version of numpy [Steele2014]_."""
    bits = (numbers.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))
