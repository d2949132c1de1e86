"""The interface of encoders: the codes of images, layer by layer."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from unweave.errors import UsageError, unknown

POOLED = "pooled"
"""The layer that every encoder has: its output."""
POOLINGS = ("mean", "max", "first", "flatten")
Shape = tuple[int, ...]
SIDE = 64
"""Height and width at which the layers of a network that takes any size are listed."""


class Encoder(ABC):
    """An encoder that is ready to be used."""

    name: str
    identity: str | None = None
    """A hash of everything that decides its codes; None if unknown, and then nothing is cached."""
    weights: str | None = None
    """A hash of its weights."""
    parameters: int | None = None
    """The number of its parameters."""
    preprocessing: dict[str, Any]
    """The preprocessing of images, as plain JSON."""
    random_weights: bool = False
    projection: str | None = None
    """The default projection of its codes."""

    takes: Shape = (SIDE, SIDE, 3)
    """The image shape at which its layers are listed if there is no data set: its own, if it has one."""

    @abstractmethod
    def codes(self, images: np.ndarray, layers: Sequence[str], pooling: str) -> dict[str, np.ndarray]:
        """Return by layer the codes (n, d), float32, of uint8 images (n, H, W, C).

        Parameters
        ----------
        images
            Images (n, H, W, C), uint8.
        layers
            Names of layers.
        pooling
            How maps and tokens become one row.

        Returns
        -------
        dict
            Codes (n, d) by layer.
        """

    def shapes(self, shape: Shape) -> dict[str, Shape]:
        """Return the layers, and the shape of each layer's output for one image of this shape, before pooling.

        Parameters
        ----------
        shape
            The shape of an image, (H, W, C).

        Returns
        -------
        dict
            Shapes by layer.
        """
        blank = np.zeros((2, *shape), np.uint8)
        return {POOLED: self.codes(blank, [POOLED], "mean")[POOLED].shape[1:]}

    def check_layers(self, layers: Sequence[str], shape: Shape) -> None:
        """Raise a `UsageError` for unknown layers; the output always exists.

        Parameters
        ----------
        layers
            Names of layers.
        shape
            The shape of an image, (H, W, C).
        """
        if set(layers) == {POOLED}:
            return
        known = self.shapes(shape)
        for layer in layers:
            if layer not in known:
                raise unknown(f"layer of {self.name}", layer, known)


class Pixels(Encoder):
    """The pixels themselves, in [0, 1], as one row."""

    parameters = 0

    def __init__(self, name: str, projection: str | None, size: int | None = None) -> None:
        from unweave.encoders.preprocessing import Preprocessing

        self.name, self.projection = name, projection
        self._preprocessing = Preprocessing(size=size, channels=None)
        self.preprocessing = self._preprocessing.record

    def codes(self, images: np.ndarray, layers: Sequence[str], pooling: str) -> dict[str, np.ndarray]:
        """Return the pixels (n, H W C)."""
        if self._preprocessing.size is None:
            return {POOLED: images.reshape(len(images), -1).astype(np.float32) / 255}
        return {POOLED: self._preprocessing.resized(images).permute(0, 2, 3, 1).flatten(1).numpy()}


class Function(Encoder):
    """Any function from uint8 images (n, H, W, C) to codes (n, d), or tokens (n, T, d), which are averaged."""

    def __init__(self, function: Callable[[np.ndarray], Any]) -> None:
        self.name = getattr(function, "__name__", type(function).__name__)
        self.preprocessing = {}
        self._function = function

    def codes(self, images: np.ndarray, layers: Sequence[str], pooling: str) -> dict[str, np.ndarray]:
        """Return the function's output as codes."""
        found = self._function(images)
        found = found.detach().cpu() if hasattr(found, "detach") else found
        values = np.asarray(found)
        if values.dtype.kind not in "biuf":
            raise UsageError(f"the function {self.name} must return numbers, not an array of type {values.dtype}")
        if values.ndim not in (2, 3) or len(values) != len(images):
            expected = f"codes (n, d) or tokens (n, T, d) of {len(images)} images"
            raise UsageError(f"the function {self.name} must return {expected}, not an array of shape {values.shape}")
        values = values.astype(np.float32)
        return {POOLED: values if values.ndim == 2 else values.mean(1)}
