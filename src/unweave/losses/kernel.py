"""The loss with a blur by a kernel from a file."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cache
from io import BytesIO
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from unweave.errors import UsageError
from unweave.files import refuse_special
from unweave.losses.blur import fourier_blur
from unweave.losses.blurred import Blurred

DIGITS = 16


@dataclass(frozen=True)
class KernelBlurred(Blurred):
    r"""MSE and MSE after a convolution with a kernel from a file [Michlo2022]_, eq. 6.3.

    The kernel is not rescaled. Each process reads a file only once.
    """

    path: str = ""
    """A .npy file: one array of odd height and width."""
    weight: float = 1.0
    """Weight of the blurred term."""
    sha256: str = ""
    """First digits of the SHA-256 that the file must have; recorded by a run."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.path:
            raise UsageError("the loss mse-kernel needs a kernel: mse-kernel:path=kernel.npy")

    @property
    def alpha(self) -> float:
        """Return the weight of the blurred term."""
        return self.weight

    def options(self) -> dict[str, object]:
        """Return all options that determine the loss, by name, with the file's absolute path and digest."""
        place = str(Path(self.path).expanduser().resolve())
        if "," in place:
            raise UsageError(f"the path of a kernel must not contain a comma: '{place}'")
        content = self.content()
        _parse(self.path, content)
        return {"path": place, "weight": self.weight, "sha256": hashlib.sha256(content).hexdigest()[:DIGITS]}

    def blur(self, images: Tensor) -> Tensor:
        """Return images (n, C, H, W) blurred channel by channel."""
        return fourier_blur(images, _kernel(self, images.device))

    def content(self) -> bytes:
        """Return the file's bytes, which must match `sha256` if it is given."""
        place = Path(self.path).expanduser()
        refuse_special(place)
        try:
            content = place.read_bytes()
        except OSError as error:
            raise UsageError(f"the kernel '{self.path}' cannot be read: {error.strerror}") from error
        if not hashlib.sha256(content).hexdigest().startswith(self.sha256):
            raise UsageError(f"the kernel '{self.path}' has changed: its SHA-256 does not begin with {self.sha256}")
        return content


@cache
@torch.inference_mode(mode=False)
def _kernel(loss: KernelBlurred, device: torch.device) -> Tensor:
    return torch.from_numpy(_parse(loss.path, loss.content())).to(device)


def _parse(path: str, content: bytes) -> np.ndarray:
    """Return the kernel in a .npy file's bytes as float32; nothing is unpickled."""
    try:
        array = np.lib.format.read_array(BytesIO(content), allow_pickle=False)
    except (ValueError, EOFError) as error:
        raise UsageError(f"the kernel '{path}' is not a .npy file of numbers") from error
    if array.ndim != 2 or not all(side % 2 for side in array.shape):
        raise UsageError(f"a kernel needs an odd height and an odd width, but '{path}' has the shape {array.shape}")
    if array.dtype.kind not in "iuf" or not np.isfinite(array).all():
        raise UsageError(f"the kernel '{path}' contains values that are not finite numbers")
    return array.astype(np.float32)
