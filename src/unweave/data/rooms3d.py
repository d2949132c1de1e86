"""A coloured object in the corner of a coloured room: 480 geometries are drawn once and coloured on demand."""

from __future__ import annotations

import colorsys
from itertools import product

import numpy as np
from numpy.typing import NDArray

from unweave.data.dataset import SIZES, Dataset, Images, fit, integer_option
from unweave.data.factors import FactorSpace, Integers
from unweave.data.rooms3d_scene import ANGLES, SCALES, SOLIDS, draw_geometries
from unweave.data.statistics import Statistics, summarise

HUES = 10
WHEEL = np.array([colorsys.hsv_to_rgb(k / HUES, 1, 1) for k in range(HUES)])
COLOURS = (np.rint(256 * WHEEL) / 256).astype(np.float32)  # multiples of 1/256: see `_colour`


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
        self._canvas = max(size, 64)
        planes = draw_geometries(self._canvas)
        self._planes = planes.reshape(-1, self._canvas**2, 4)  # (geometry, pixel, 4)

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
        batches = (fit(self._colour(np.full(64, one), colours), self.shape) for one in geometries)
        return summarise(batches, np.tile(weights, (len(geometries), 1)))

    def _colour(self, geometries: Integers, colours: NDArray[np.float32]) -> Images:
        """Return geometries with these colours (n, 3, channels) of floor, walls and object."""
        n, _, channels = colours.shape
        weights = np.concatenate([colours, np.ones((n, 1, channels), dtype=np.float32)], axis=1)
        images = np.empty((n, self._canvas**2, channels), dtype=np.uint8)
        # A single image fits into the processor's cache. All numbers are multiples of 1/256 and below 256, so float32
        # is exact and every machine draws the same images.
        for image, geometry, weight in zip(images, geometries, weights, strict=True):
            image[...] = self._planes[geometry].astype(np.float32) @ weight
        return images.reshape(n, self._canvas, self._canvas, channels)
