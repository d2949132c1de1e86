"""The picture of a learnt loss: its kernel, and images as it compares them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from PIL import Image

from unweave.data import Dataset
from unweave.data.factors import Integers
from unweave.report.datasets import spread
from unweave.report.grids import Grid, Row, draw
from unweave.report.protocols import Images

if TYPE_CHECKING:
    from unweave.losses.loss_file import LossFile

KERNEL = 384
"""Approximate side in pixels to which a kernel is enlarged."""
SHOWN = 3
"""The most factors shown."""


def learnt_loss_picture(loss: LossFile, data: Dataset, *, columns: int = 8, seed: int = 0) -> Image.Image:
    """Draw a learnt loss: its kernel, black where it is 0, and images beside the features that it compares.

    Parameters
    ----------
    loss
        The loss.
    data
        Images of one or three channels; traversals of its first factors, or random ones if it is not a full grid.
    columns
        Images in a row.
    seed
        Seed of the images.

    Returns
    -------
    PIL.Image.Image
        The picture.
    """
    kernel = [_kernel_grid(loss)] if loss.kind == "kernel" else []
    rows: list[Row] = []
    for label, indices in _lines(data, columns, seed).items():
        images = data.images(indices)
        rows += [Row(images, label), Row(_seen(loss, images), "", "as the loss\ncompares them")]
    return draw(*kernel, Grid(rows, title=f"{data.name}, and what the learnt loss makes of it"))


def _kernel_grid(loss: LossFile) -> Grid:
    kernel = loss.tensors["kernel"].numpy()
    scale = max(1, KERNEL // len(kernel))
    enlarged = np.repeat(np.repeat(_bytes(kernel), scale, axis=0), scale, axis=1)
    return Grid([Row(enlarged[None, :, :, None])], title=f"kernel of radius {loss.radius}")


def _lines(data: Dataset, columns: int, seed: int) -> dict[str, Integers]:
    """Return the indices of each row of images, by its label."""
    rng = np.random.default_rng(seed)
    if not data.is_grid:
        return {"random": data.sample(columns, rng)}
    space = data.factors
    base = space.from_index(data.sample(1, rng)[0])
    varying = [name for name, size in zip(space.names, space.sizes, strict=True) if size > 1][:SHOWN]
    return {
        name: space.to_index(space.traversal(name, base)[spread(space.sizes[space.axis(name)], columns)])
        for name in varying
    }


def _seen(loss: LossFile, images: Images) -> Images:
    """Return h of images, without their border, from black at the least value to white at the largest."""
    import torch

    pixels = torch.from_numpy(images).permute(0, 3, 1, 2).float() / 255
    with torch.inference_mode():
        seen = loss.augmented(pixels).permute(0, 2, 3, 1).numpy()
    cut = [(have - want) // 2 for have, want in zip(seen.shape[1:3], images.shape[1:3], strict=True)]
    return _bytes(seen[:, cut[0] : cut[0] + images.shape[1], cut[1] : cut[1] + images.shape[2]])


def _bytes(values: np.ndarray) -> Images:
    low, high = min(0.0, float(values.min())), float(values.max())
    return np.round(255 * (values - low) / max(high - low, 1e-12)).astype(np.uint8)
