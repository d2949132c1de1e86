"""Three squares that move on a grid; the spacing determines how much their positions overlap."""

from __future__ import annotations

import numpy as np

from unweave.data.dataset import SIZES, Dataset, Images, integer_option
from unweave.data.factors import FactorSpace, Integers

SIDE = 8  # of a square, in pixels of the 64×64 image
PLACES = 8  # along each axis


class XYSquares(Dataset):
    """A red, a green and a blue square, each on an 8×8 grid of positions [Michlo2022]_, section 3.3.1.

    With the default spacing, positions do not overlap: any two images that differ in one factor are equally far
    apart, so pixels carry no information about the order of a factor's values. With a smaller spacing, positions
    overlap (section 3.3.4), and the grid is smaller and in the centre of the image.
    """

    name = "xysquares"
    factors = FactorSpace(("x_R", "y_R", "x_G", "y_G", "x_B", "y_B"), (PLACES,) * 6)

    def __init__(self, *, spacing: int = 8, size: int = 64) -> None:
        spacing = integer_option("spacing", spacing, range(1, 9))
        size = integer_option("size", size, (16, *SIZES))
        self.options = {"spacing": spacing, "size": size}
        self.shape = (size, size, 3)

        self._canvas = max(size, 64)
        zoom = self._canvas // 64
        margin = (64 - SIDE - (PLACES - 1) * spacing) // 2
        self._starts = zoom * (margin + spacing * np.arange(PLACES))
        self.binary = size >= 64 or not (self._starts % (64 // size)).any()

        run = np.arange(zoom * SIDE)
        self._square = 3 * (self._canvas * run[:, None] + run).ravel()  # flat offsets from a corner
        # Each channel of a small image is one of 64 pictures. Shrinking these once is 15 times faster.
        self._channels = None if size == self._canvas else self._shrunk_channels()

    def _draw(self, indices: Integers) -> Images:
        factors = self.factors.from_index(indices)
        if self._channels is None:
            return self._painted(factors)
        places = PLACES * factors[:, 0::2] + factors[:, 1::2]
        images = np.empty((len(indices), *self.shape), dtype=np.uint8)
        for channel in range(3):
            images[..., channel] = self._channels[places[:, channel]]
        return images

    def _shrunk_channels(self) -> Images:
        """Return a channel with the square at each position, (64, H, W): rounded means of blocks."""
        painted = self._painted(self.factors.from_index(self._representatives()))[..., 0]
        size, block = self.shape[0], self._canvas // self.shape[0]
        sums = painted.reshape(-1, size, block, size, block).sum((2, 4), dtype=np.uint32)
        return ((sums + block**2 // 2) // block**2).astype(np.uint8)

    def _painted(self, factors: Integers) -> Images:
        """Return the images on the canvas, which has at least the size `shape`."""
        left, top = self._starts[factors[:, 0::2]], self._starts[factors[:, 1::2]]  # (n, 3)
        images = np.zeros((len(factors), self._canvas, self._canvas, 3), dtype=np.uint8)
        first = np.arange(len(factors))[:, None] * images[:1].size
        corners = first + 3 * (self._canvas * top + left) + np.arange(3)
        images.reshape(-1)[corners[..., None] + self._square] = 255
        return images

    def _representatives(self) -> Integers:
        # A channel shows one square, so images in which the three squares move together cover every channel.
        x, y = np.divmod(np.arange(PLACES**2), PLACES)
        return self.factors.to_index(np.stack([x, y, x, y, x, y], axis=-1))
