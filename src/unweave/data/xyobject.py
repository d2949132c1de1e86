"""A coloured square that moves and grows; two data sets describe its colour in different ways."""

from __future__ import annotations

import numpy as np

from unweave.data.dataset import SIZES, Dataset, Images, integer_option
from unweave.data.factors import FactorSpace, Integers

SIDES = (7, 9, 11, 13, 15)  # in pixels of the 64×64 image
HUES = ((1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 1, 1), (0, 0, 1), (1, 0, 1))  # red … magenta
SHADES = tuple(255 * k // 4 for k in (1, 2, 3, 4))
PLACES = 25
STEP = 2  # pixels between positions

GRID = FactorSpace(("x", "y", "scale", "colour"), (PLACES, PLACES, len(SIDES), len(HUES) * len(SHADES)))


class XYObject(Dataset):
    """A square with a position, a size and one of 24 colours [Michlo2022]_, section 7.2.

    Colours are ordered by shade, the darkest first, and by the six hues within a shade.
    """

    name = "xyobject"
    factors = GRID
    binary = False

    def __init__(self, *, size: int = 64) -> None:
        size = integer_option("size", size, SIZES)
        self.options = {"size": size}
        self.shape = (size, size, 3)

        centre = max(SIDES) // 2 + STEP * np.arange(PLACES)[:, None, None]
        reach = np.array(SIDES)[:, None] // 2
        spans = np.abs(np.arange(64) - centre) <= reach
        self._halved = size < 64
        if self._halved:
            self._spans = spans.reshape(*spans.shape[:2], size, 2).sum(axis=-1, dtype=np.uint16)  # of two pixels
        else:
            self._spans = spans.repeat(size // 64, axis=-1).astype(np.uint8)  # (place, scale, pixel)
        self._colours = np.array([np.multiply(hue, shade) for shade in SHADES for hue in HUES], dtype=np.uint8)

    def _draw(self, indices: Integers) -> Images:
        x, y, scale, colour = GRID.from_index(indices).T
        rows = self._spans[y, scale][:, :, None]
        columns = self._spans[x, scale][:, :, None] * self._colours[colour][:, None, :]
        n, width, channels = columns.shape
        images = rows * columns.reshape(n, 1, width * channels)
        if self._halved:  # each number is a sum of 2×2 pixels
            images += 2
            images >>= 2
            images = images.astype(np.uint8)
        return images.reshape(n, width, width, channels)

    def _representatives(self) -> Integers:
        # Moving the square changes no statistic.
        return np.arange(len(self)).reshape(GRID.sizes)[0, 0].ravel()


class XYObjectShaded(XYObject):
    """The images of `xyobject` in the same order; the colour is two factors, intensity and hue."""

    name = "xyobject-shaded"
    factors = FactorSpace((*GRID.names[:3], "intensity", "hue"), (*GRID.sizes[:3], len(SHADES), len(HUES)))
