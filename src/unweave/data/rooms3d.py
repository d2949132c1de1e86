"""A coloured object in the corner of a coloured room: 480 geometries are drawn once and coloured on demand."""

from __future__ import annotations

import colorsys
from itertools import product

import numpy as np
from numpy.typing import NDArray

from unweave.data.dataset import SIZES, Dataset, Images, integer_option
from unweave.data.factors import FactorSpace, Integers
from unweave.data.rooms3d_scene import ANGLES, SCALES, SOLIDS, draw_geometries
from unweave.data.statistics import Statistics, summarise

HUES = 10
WHEEL = np.array([colorsys.hsv_to_rgb(k / HUES, 1, 1) for k in range(HUES)])
COLOURS = np.rint(256 * WHEEL).astype(np.uint16)  # in 256ths


class Rooms3D(Dataset):
    """A cube, cylinder, sphere or capsule in a room, on the factor grid of 3D Shapes; drawn by unweave.

    The camera turns around the object from -30° to 30°; hues are ten equal steps of the colour wheel.
    """

    name = "rooms3d"
    factors = FactorSpace(
        ("floor_hue", "wall_hue", "object_hue", "scale", "shape", "orientation"),
        (HUES, HUES, HUES, len(SCALES), len(SOLIDS), len(ANGLES)),
    )
    binary = False

    def __init__(self, *, size: int = 64) -> None:
        size = integer_option("size", size, SIZES)
        self.options = {"size": size}
        self.shape = (size, size, 3)
        self._planes = _in_parts(draw_geometries(max(size, 64)), size)

    def _draw(self, indices: Integers) -> Images:
        hues = self.factors.from_index(indices)[:, :3]
        return self._colour(indices % len(self._planes), COLOURS[hues])

    def statistics(self) -> Statistics:
        """Return the mean and standard deviation of each channel, exact over the whole set."""
        # A channel of an image depends on the geometry and on that channel of three colours, which takes four values
        # over the colour wheel. So 64 pictures represent the thousand colourings of a geometry.
        levels, counts = zip(*(np.unique(channel, return_counts=True) for channel in COLOURS.T), strict=True)
        triples = np.array(list(product(range(4), repeat=3)))
        colours = np.stack(levels, axis=-1)[triples]  # (64, surfaces, channels)
        weights = np.stack(counts, axis=-1)[triples].prod(axis=1)  # (64, channels)

        geometries = np.arange(len(self._planes))
        batches = (self._colour(np.full(64, one), colours) for one in geometries)
        return summarise(batches, np.tile(weights, (len(geometries), 1)))

    def _colour(self, geometries: Integers, colours: NDArray[np.uint16]) -> Images:
        """Return geometries with these colours (n, 3, channels) of floor, walls and object."""
        from unweave.data.rooms3d_colours import colour

        pixels = self._planes.shape[-1]
        images = np.empty((len(geometries), pixels, self.shape[-1]), dtype=np.uint8)
        colour(self._planes, geometries, colours, np.empty(pixels, dtype=np.uint16), images)
        return images.reshape(-1, *self.shape)


def _in_parts(planes: NDArray[np.uint8], size: int) -> NDArray[np.uint8]:
    """Return planes (…, width, width, 4) as (geometry, 4, parts, pixels): a pixel has one part, or 2×2 of them."""
    side = planes.shape[-2] // size
    blocks = planes.reshape(-1, size, side, size, side, 4).transpose(0, 5, 2, 4, 1, 3)
    return np.ascontiguousarray(blocks).reshape(-1, 4, side**2, size**2)
