"""From the bytes of images to the input of a network."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np

from unweave.errors import UsageError

if TYPE_CHECKING:
    import torch

MODES = ("bilinear", "bicubic", "nearest")


class Normalisation(TypedDict):
    """The mean that is subtracted from each channel in [0, 1], and the divisor."""

    mean: tuple[float, ...]
    std: tuple[float, ...]


IMAGENET = Normalisation(mean=(0.485, 0.456, 0.406), std=(0.229, 0.224, 0.225))
PIXELS: dict[str, Normalisation] = {
    "unit": Normalisation(mean=(0.0,), std=(1.0,)),
    "signed": Normalisation(mean=(0.5,), std=(0.5,)),
    "imagenet": IMAGENET,
    "bytes": Normalisation(mean=(0.0,), std=(1 / 255,)),
}
"""Ranges of pixels by name: 0 to 1, -1 to 1, standardised as for ImageNet, 0 to 255."""


@dataclass(frozen=True)
class Preprocessing:
    """Pixels in [0, 1], resized without cropping, x -> (x - mean) / std; grey becomes three channels."""

    size: int | None = None
    """Height and width; None: the images' own."""
    mean: tuple[float, ...] = (0.0,)
    """One number for all channels, or one for each."""
    std: tuple[float, ...] = (1.0,)
    interpolation: str = "bilinear"
    """How to resize: "bilinear", "bicubic" (both with antialiasing when they shrink images) or "nearest"."""
    channels: int | None = 3
    """Channels of the network's input; None: those of the images."""

    def __post_init__(self) -> None:
        if self.interpolation not in MODES:
            raise UsageError(f"interpolation must be one of {', '.join(MODES)}, not {self.interpolation!r}")
        if self.size is not None and (not isinstance(self.size, int) or isinstance(self.size, bool) or self.size < 1):
            raise UsageError(f"size must be a whole number of pixels, not {self.size!r}")

    def __call__(self, images: np.ndarray, device: torch.device | str = "cpu") -> torch.Tensor:
        """Return uint8 images (n, H, W, C) as floats (n, channels, size, size)."""
        import torch

        x = self.resized(images, device)
        channels = self.channels or x.shape[1]
        if x.shape[1] not in (1, channels):
            raise UsageError(f"the encoder takes {channels} channels, but the images have {x.shape[1]}")
        if x.shape[1] == 1 < channels:
            x = x.expand(-1, channels, -1, -1)
        x = x.contiguous(memory_format=torch.channels_last)  # convolutions on a CPU are faster with it
        if self.mean == (0.0,) and self.std == (1.0,):
            return x
        mean, std = (torch.tensor(values, device=device).view(1, -1, 1, 1) for values in (self.mean, self.std))
        return (x - mean) / std

    def resized(self, images: np.ndarray, device: torch.device | str = "cpu") -> torch.Tensor:
        """Return uint8 images (n, H, W, C) as floats in [0, 1] at the network's size, channels first.

        Parameters
        ----------
        images
            Images (n, H, W, C), uint8.
        device
            Where to compute.

        Returns
        -------
        Tensor
            Images (n, C, size, size).
        """
        import torch
        from torch.nn.functional import interpolate

        x = torch.from_numpy(np.ascontiguousarray(images)).to(device).permute(0, 3, 1, 2).float() / 255
        if self.size is None or x.shape[2:] == (self.size, self.size):
            return x
        smooth = self.interpolation != "nearest"
        x = interpolate(x, (self.size, self.size), mode=self.interpolation, antialias=smooth)
        return x.clamp(0, 1)  # a cubic overshoots at edges

    @property
    def record(self) -> dict[str, Any]:
        """The fields, as plain JSON."""
        return {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(self).items()}
