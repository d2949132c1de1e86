"""The file of a learnt loss: safetensors, with its settings as JSON under one key of the metadata."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load as load_tensors
from safetensors.torch import save as save_tensors
from torch import Tensor

from unweave.errors import UsageError
from unweave.files import refuse_special
from unweave.losses.autoencoder import WIDTHS, autoencode, autoencoder_shapes
from unweave.losses.blur import fourier_blur, full_fourier_blur
from unweave.losses.pixelwise import total

KEY = "unweave"
VERSION = 1
SUFFIX = ".loss"
LARGEST = 2**26
"""Size in bytes of the largest file that is read."""
KINDS = ("kernel", "autoencoder")
EXTENTS = ("same", "full")
"""The part of blurred images that is compared: the pixels of the image, or the full convolution."""


@dataclass(frozen=True)
class LossFile:
    r"""A learnt loss [Michlo2022]_, eq. 6.3: |x - y|^2 + weight |h(x) - h(y)|^2, both summed over pixels."""

    kind: str
    """The transformation h: a kernel that is convolved with every channel, or an autoencoder."""
    tensors: dict[str, Tensor]
    weight: float = 1.0
    record: dict[str, Any] = field(default_factory=dict)
    """The data and settings that the loss was learnt with: plain JSON."""
    extent: str = "same"
    """Whether a blur is cut off at the border of the image ("same") or compared beyond it ("full")."""

    @property
    def radius(self) -> int | None:
        """Pixels from a kernel's centre to its edge; None for an autoencoder."""
        return self.tensors["kernel"].shape[0] // 2 if self.kind == "kernel" else None

    @property
    def channels(self) -> int:
        """Number of channels that it compares together; a kernel applies to any number of channels."""
        return 1 if self.kind == "kernel" else self.tensors["up.0.bias"].shape[0]

    def augmented(self, images: Tensor) -> Tensor:
        """Return h of images (n, C, H, W)."""
        if self.kind == "kernel":
            blur = full_fourier_blur if self.extent == "full" else fourier_blur
            return blur(images, self.tensors["kernel"])
        return autoencode(images, self.tensors)

    def distance(self, x: Tensor, mean: Tensor) -> Tensor:
        """Return the loss (n,) between pixels and the decoder's output, summed over pixels."""
        with torch.autocast(x.device.type, enabled=False):
            mean = mean.float()
            difference = mean - x
            linear = self.kind == "kernel"  # the difference of blurred images is the blurred difference
            seen = self.augmented(difference) if linear else self.augmented(mean) - self.augmented(x)
            return total(difference.square()) + self.weight * total(seen.square())

    def features(self, x: Tensor) -> Tensor:
        """Return pixels and their weighted transformation by h, (n, values), whose squared distance is the loss."""
        return torch.cat([x.flatten(1), math.sqrt(self.weight) * self.augmented(x).flatten(1)], 1)

    def to(self, device: torch.device) -> LossFile:
        """Return the same loss on a device."""
        return replace(self, tensors={name: tensor.to(device) for name, tensor in self.tensors.items()})

    def to_bytes(self) -> bytes:
        """Return the content of the file: the same bytes for the same loss."""
        known = {"version": VERSION, "kind": self.kind, "radius": self.radius, "channels": self.channels}
        known |= {"extent": self.extent} if self.kind == "kernel" else {}
        text = json.dumps({**known, "weight": self.weight, **self.record}, allow_nan=False, ensure_ascii=False)
        # A single key, because safetensors writes several keys in random order.
        return save_tensors({name: tensor.contiguous() for name, tensor in self.tensors.items()}, {KEY: text})

    def check(self, path: str, shape: tuple[int, ...]) -> None:
        """Raise a `UsageError` for images (H, W, C) that the loss cannot compare."""
        height, width, channels = shape
        if self.radius is not None and self.radius >= max(height, width):
            most = f"images of {height} × {width} pixels allow at most {max(height, width) - 1}"
            raise UsageError(f"the kernel of '{path}' has a radius of {self.radius}, but {most}; learn a smaller one")
        if self.kind == "autoencoder" and channels != self.channels:
            ours = "1 channel" if self.channels == 1 else f"{self.channels} channels"
            raise UsageError(f"the loss '{path}' was learnt on images of {ours}, but these have {channels}")


def read_loss_file(path: str) -> bytes:
    """Return the bytes of a possible loss file; refuse folders, pipes, devices and files that are far too large."""
    place = Path(path).expanduser()
    refuse_special(place)
    try:
        if place.stat().st_size > LARGEST and place.is_file():
            raise UsageError(f"'{path}' is not a loss file: it is too large")
        return place.read_bytes()
    except OSError as error:
        raise UsageError(f"the loss '{path}' cannot be read: {error.strerror}") from error


def parse_loss_file(path: str, content: bytes) -> LossFile:
    """Return the loss in a file's bytes, or raise a `UsageError` that says what is wrong; nothing is unpickled."""
    known = _known(path, content)
    try:
        tensors = load_tensors(content)
    except (SafetensorError, ValueError, KeyError) as error:
        raise UsageError(f"the loss file '{path}' is damaged; learn it again: unweave learn-loss") from error
    kind, weight, extent = known.pop("kind", None), known.pop("weight", None), known.pop("extent", "same")
    if kind not in KINDS or extent not in EXTENTS or not _are_weights(kind, tensors):
        raise _no_loss(path)
    if isinstance(weight, bool) or not isinstance(weight, int | float) or not 0 <= weight < math.inf:
        raise UsageError(f"the loss file '{path}' has a weight that is not a number of at least 0: {weight!r}")
    if not all(tensor.isfinite().all() for tensor in tensors.values()):
        raise UsageError(f"the loss file '{path}' contains weights that are not finite numbers")
    if kind == "kernel" and any((tensor < 0).any() for tensor in tensors.values()):
        raise UsageError(f"the loss file '{path}' is damaged: a kernel has no negative weights; learn it again")
    record = {name: value for name, value in known.items() if name not in ("version", "radius", "channels")}
    return LossFile(kind, tensors, float(weight), record, extent)


def _known(path: str, content: bytes) -> dict[str, Any]:
    """Return the file's metadata, after checking that they are those of a loss file."""
    length = int.from_bytes(content[:8], "little")
    try:
        known = json.loads(json.loads(content[8 : 8 + length])["__metadata__"][KEY])
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise _no_loss(path) from error
    if not isinstance(known, dict) or "version" not in known:
        raise _no_loss(path)
    if known["version"] != VERSION:
        raise UsageError(f"the loss file '{path}' has version {known['version']}, but this unweave reads {VERSION}")
    return known


def _are_weights(kind: str, tensors: Mapping[str, Tensor]) -> bool:
    """Return whether tensors have the names, types and shapes of a kind of loss."""
    if any(tensor.dtype != torch.float32 for tensor in tensors.values()):
        return False
    shapes = {name: tuple(tensor.shape) for name, tensor in tensors.items()}
    if kind == "kernel":
        side = max(shapes.get("kernel", ()), default=0)
        return side % 2 == 1 and shapes == {"kernel": (side, side)}
    channels, depth = sum(shapes.get("up.0.bias", ())), len(shapes) // 4
    return channels > 0 and depth <= len(WIDTHS) and shapes == autoencoder_shapes(channels, depth)


def _no_loss(path: str) -> UsageError:
    return UsageError(f"'{path}' is not a loss file; learn one: unweave learn-loss DATA --out my{SUFFIX}")
