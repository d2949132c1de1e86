"""Distances between two observations as a reconstruction loss sees them."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor

from unweave.data import Data, Dataset, as_dataset
from unweave.data.factors import Integers
from unweave.errors import UsageError
from unweave.losses import Loss, loss_of
from unweave.progress import OnProgress, silent
from unweave.training.resolve import resolve_loss

Floats = NDArray[np.float64]

CONVERT = "(255 * images).round().astype('uint8')"
VALUES = 2**21
"""Values of images processed together: 8 MB as floats, and twice that if they are blurred."""
PAIRS = 4096
"""Largest number of pairs processed together."""


class Perceived:
    r"""A data set as a reconstruction loss sees it: perceived distances [Michlo2022]_, eq. 3.3.

        d(x, y) = (L(x, y) - L(x, x)) / values,

    with L the loss summed over the values of an image, and y in place of the reconstruction of x. L(x, x) may not be 0
    (for bce it is the entropy of grey pixels); subtracting it puts an image at distance 0 from itself.

    Parameters
    ----------
    data
        A data set, its name or path, or an array of images or vectors.
    loss
        The name of a reconstruction loss; "auto" is training's default.
    standardise
        Whether to standardise values to mean 0 and deviation 1 (per channel, or per feature). By default images are in
        [0, 1], and vectors are as models receive them.
    """

    def __init__(self, data: Data, loss: str = "mse", *, standardise: bool | None = None) -> None:
        self.data = as_dataset(data)
        if not isinstance(loss, str):
            raise UsageError(f"loss must be a name, such as mse, not {loss!r}")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that bce is not 0 for grey pixels: the distance subtracts it
            self.loss_name = resolve_loss(loss, self.data, standardise=bool(standardise))
        self.loss = loss_of(self.loss_name)
        by_itself = self.data.standardise and self.loss.domain == "real"
        self.standardise = by_itself if standardise is None else standardise
        self._shift, self._scale = _pixel_scale(self.data, self.standardise)

    @property
    def size(self) -> int:
        """The number of values of an observation."""
        return math.prod(self.data.shape)

    def values(self, indices: ArrayLike) -> Tensor:
        """Return observations as the loss receives them: (n, C, H, W), or (n, D).

        Parameters
        ----------
        indices
            Indices (n,) of observations.

        Returns
        -------
        Tensor
            The observations.
        """
        rows = self.data.inputs(indices)
        if self.data.has_images:
            rows = np.ascontiguousarray(rows.transpose(0, 3, 1, 2))
        return torch.from_numpy(rows).float().sub_(self._shift).mul_(self._scale)

    def distances(self, pairs: ArrayLike, on_progress: OnProgress = silent, what: str = "distances") -> Floats:
        """Return the perceived distances (m,) of pairs (m, 2) of indices.

        Nearby pairs should share images, because each image is drawn once for all pairs processed together.

        Parameters
        ----------
        pairs
            Pairs (m, 2) of indices.
        on_progress, what
            A function to call with the progress, and the name of the work.

        Returns
        -------
        ndarray
            The distances (m,).
        """
        pairs = np.asarray(pairs, dtype=np.int64).reshape(-1, 2)
        found = np.empty(len(pairs))
        with torch.inference_mode():
            for part, indices, places in _parts(pairs, max(2, VALUES // self.size)):
                on_progress(what, part.start, len(pairs))
                found[part] = distances_of(self.loss, self.values(indices), places)
        on_progress(what, len(pairs), len(pairs))
        return found


def _parts(pairs: Integers, most: int) -> Iterator[tuple[slice, Integers, Integers]]:
    """Yield slices of pairs (m, 2) with at most `most` distinct images, and the pairs as positions among these."""
    start = 0
    while start < len(pairs):
        part = pairs[start : start + PAIRS]
        indices, places = np.unique(part, return_inverse=True)
        while len(indices) > most and len(part) > 1:
            part = part[: len(part) // 2]
            indices, places = np.unique(part, return_inverse=True)
        yield slice(start, start + len(part)), indices, places.reshape(-1, 2)
        start += len(part)


def distances_of(loss: Loss, values: Tensor, pairs: Integers) -> Floats:
    """Return the distances (m,) under a loss, per value, of pairs (m, 2) of rows of values (n, …)."""
    size = math.prod(values.shape[1:])
    found = np.empty(len(pairs))
    if loss.features is not None:
        from unweave.perception.squares import squared_distances

        features = loss.features(values).flatten(1).contiguous().numpy()
        squared_distances(features, np.ascontiguousarray(pairs), found)
        return found / size
    distinct, places = np.unique(pairs[:, 0] * len(values) + pairs[:, 1], return_inverse=True)
    rows = np.stack(np.divmod(distinct, len(values)), axis=1)
    outputs = loss.inverse(values)
    step = max(1, VALUES // (4 * size))
    own = _in_parts(loss, values, outputs, np.repeat(np.arange(len(values))[:, None], 2, axis=1), step)
    apart = _in_parts(loss, values, outputs, rows, step) - own[rows[:, 0]]
    apart[rows[:, 0] == rows[:, 1]] = 0.0
    return apart[places] / size


def _in_parts(loss: Loss, values: Tensor, outputs: Tensor, pairs: Integers, step: int) -> Floats:
    """Return the losses (m,) of pairs (m, 2) of a row of values and a row of outputs, a few at a time."""
    parts = [pairs[start : start + step] for start in range(0, len(pairs), step)]
    found = [loss.distance(values[part[:, 0]], outputs[part[:, 1]]).double().numpy() for part in parts]
    return np.concatenate(found)


def _pixel_scale(data: Dataset, standardise: bool) -> tuple[Tensor, Tensor]:
    """Return the offset and the factor that turn stored values into the loss's values."""
    white = 255.0 if data.has_images else 1.0
    mean, deviation = data.scale() if standardise else ([0.0], [1.0])
    shape = (-1, 1, 1) if data.has_images else (-1,)
    shift, scale = (torch.tensor(part, dtype=torch.float64).view(shape) for part in (mean, deviation))
    return (white * shift).float(), (1 / (white * scale)).float()


def perceived_distance(x: ArrayLike, y: ArrayLike, loss: str = "mse") -> Floats:
    r"""Return how far apart images are in the eyes of a reconstruction loss [Michlo2022]_, eq. 3.3.

        d(x, y) = (L(x, y) - L(x, x)) / values,    L summed over the values of an image

    Parameters
    ----------
    x, y
        Images, uint8 (n, H, W, C), scaled to [0, 1], or vectors (n, D); x are observed, y reconstructed.
    loss
        The name of a reconstruction loss.

    Returns
    -------
    ndarray
        The distances (n,).

    Examples
    --------
    >>> import numpy as np
    >>> black, white = np.zeros((1, 8, 8, 1), dtype=np.uint8), np.full((1, 8, 8, 1), 255, dtype=np.uint8)
    >>> perceived_distance(black, white).tolist()
    [1.0]
    """
    one, other = np.asarray(x), np.asarray(y)
    if one.shape != other.shape or one.ndim not in (2, 4):
        shapes = f"{one.shape} and {other.shape}"
        raise UsageError(f"x and y must have the same shape, (n, H, W, C) or (n, D), not {shapes}")
    chosen = loss_of(loss)
    if chosen.needs_images and one.ndim == 2:
        raise UsageError(f"the loss {loss.partition(':')[0]} blurs images, but these are vectors; use the loss mse")
    values = torch.cat([_as_values(rows) for rows in (one, other)])
    with torch.inference_mode():
        return distances_of(chosen, values, np.arange(len(values)).reshape(2, -1).T)


def perceived_overlap(x: ArrayLike, y: ArrayLike, loss: str = "mse") -> Floats:
    """Return how much images overlap for a loss: the negative perceived distance [Michlo2022]_, eq. 3.4.

    Parameters
    ----------
    x, y, loss
        As for `perceived_distance`.

    Returns
    -------
    ndarray
        The overlaps (n,), 0 or less.

    Examples
    --------
    >>> import numpy as np
    >>> grey = np.full((1, 8, 8, 1), 102, dtype=np.uint8)
    >>> perceived_overlap(grey, 2 * grey, "mae").round(6).tolist()
    [-0.4]
    """
    return -perceived_distance(x, y, loss)


def _as_values(rows: NDArray[Any]) -> Tensor:
    """Return images as floats (n, C, H, W) in [0, 1], and vectors as they are."""
    if rows.ndim == 4 and rows.dtype != np.uint8:
        raise UsageError(f"images must be uint8, not {rows.dtype}; convert those in [0, 1]: {CONVERT}")
    if not np.isfinite(rows).all():
        raise UsageError("vectors must be finite numbers: they hold a NaN or an infinity")
    values = torch.from_numpy(np.array(rows, dtype=np.float32))
    return values if rows.ndim == 2 else values.permute(0, 3, 1, 2).div(255)
