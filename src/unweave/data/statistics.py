"""The mean and standard deviation of each channel of a set of images, from exact integer sums."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Statistics:
    """Per channel, of images with values in [0, 1]."""

    mean: tuple[float, ...]
    deviation: tuple[float, ...]
    """The standard deviation within each image, with n - 1, averaged over images ([Michlo2022]_, table A.2)."""
    global_deviation: tuple[float, ...]
    """The standard deviation over all pixels of all images."""


def summarise(batches: Iterable[NDArray[np.uint8]], weights: NDArray[np.int64] | None = None) -> Statistics:
    """Return the statistics of batches of images (n, H, W, C).

    `weights` (total n, C) is the number of images that each channel of each image represents; by default 1.
    """
    sums, squares, pixels = zip(*map(_sums, batches), strict=True)
    sums, squares, pixels = np.concatenate(sums), np.concatenate(squares), pixels[0]
    mean = np.average(sums, axis=0, weights=weights) / pixels
    square = np.average(squares, axis=0, weights=weights) / pixels
    variances = (pixels * squares - sums**2) / (pixels * (pixels - 1))
    deviation = np.average(np.sqrt(variances), axis=0, weights=weights)
    return Statistics(
        mean=tuple((mean / 255).tolist()),
        deviation=tuple((deviation / 255).tolist()),
        global_deviation=tuple((np.sqrt(square - mean**2) / 255).tolist()),
    )


def _sums(images: NDArray[np.uint8]) -> tuple[NDArray[np.int64], NDArray[np.int64], int]:
    """Return the sum and the sum of squares of each channel of each image (n, C), and the count of pixels."""
    n, height, width, channels = images.shape
    planes = images.reshape(n, height * width, channels).swapaxes(1, 2).astype(np.int64, order="C")
    return planes.sum(axis=-1), np.einsum("ncp,ncp->nc", planes, planes), height * width
