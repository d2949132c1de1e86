"""Batches of images and pairs, for a loss that is being learnt."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from unweave.data.dataset import Images
from unweave.data.factors import Integers


@dataclass(frozen=True)
class PairedRows:
    """Rows (n, c, H, W) in [0, 1], pairs of them, and to which pair of images each belongs.

    A kernel treats every channel alike, so its rows are planes: channels of images. Equal planes, which are common
    among images of a few shapes, are kept once, and so are equal pairs of them.
    """

    rows: Tensor
    pairs: Integers
    places: Tensor
    """The pairs that are summed for each pair of images (m, parts)."""


def whole_images(images: Images, pairs: Integers) -> PairedRows:
    """Return a batch (n, H, W, C) unchanged, and pairs (m, 2) of it."""
    return PairedRows(_pixels(images.transpose(0, 3, 1, 2)), pairs, torch.arange(len(pairs))[:, None])


def distinct_planes(images: Images, pairs: Integers) -> PairedRows:
    """Return the distinct planes of a batch (n, H, W, C), and the distinct pairs of them in pairs (m, 2) of images."""
    count, height, width, channels = images.shape
    planes = np.ascontiguousarray(images.transpose(0, 3, 1, 2)).reshape(count * channels, -1)
    numbers: dict[bytes, int] = {}
    names = np.array([numbers.setdefault(plane.tobytes(), len(numbers)) for plane in planes]).reshape(count, channels)
    _, first = np.unique(names, return_index=True)
    one, other = np.sort(names[pairs], axis=1).transpose(1, 0, 2).reshape(2, -1)  # in any order
    found, places = np.unique(one * len(numbers) + other, return_inverse=True)
    distinct = np.stack(np.divmod(found, len(numbers)), axis=1)
    rows = _pixels(planes[first].reshape(-1, 1, height, width))
    return PairedRows(rows, distinct, torch.from_numpy(places.reshape(-1, channels)))


def _pixels(images: Images) -> Tensor:
    return torch.from_numpy(np.ascontiguousarray(images)).float().div_(255)
