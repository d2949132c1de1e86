"""A loss that `unweave learn-loss` has learnt, read from its file."""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import torch
from torch import Tensor

from unweave.errors import UsageError
from unweave.losses.kernel import DIGITS
from unweave.losses.loss import Loss
from unweave.losses.loss_file import LossFile, parse_loss_file, read_loss_file


@dataclass(frozen=True)
class Learnt:
    r"""MSE and MSE after a learnt transformation h [Michlo2022]_, eq. 6.3: |x - y|^2 + weight |h(x) - h(y)|^2.

    h is a kernel or an autoencoder. Each process reads a file only once.
    """

    path: str = ""
    """A file that `unweave learn-loss` wrote."""
    weight: float | None = None
    """Weight of the second term; by default that of the file."""
    sha256: str = ""
    """First digits of the SHA-256 that the file must have; recorded by a run."""

    def __post_init__(self) -> None:
        if not self.path:
            raise UsageError("the loss learnt needs a file: learnt:path=my.loss, or my.loss alone")
        if self.weight is not None and not 0 <= self.weight < math.inf:
            raise UsageError(f"weight must be a number that is not negative, not {self.weight}")

    def loss(self) -> Loss:
        """Return the loss."""
        return Loss(self.distance, needs_images=True, features=self.features, check=self.check)

    def distance(self, x: Tensor, mean: Tensor) -> Tensor:
        """Return the loss (n,) between pixels and the decoder's output, summed over pixels."""
        return self._file_for(x).distance(x, mean)

    def features(self, x: Tensor) -> Tensor:
        """Return pixels and their weighted transformation, (n, values), whose squared distance is the loss."""
        return self._file_for(x).features(x)

    def check(self, shape: tuple[int, ...], standardise: bool) -> None:
        """Raise a `UsageError` for images (H, W, C) that the loss cannot compare."""
        file = self._file(torch.device("cpu"))
        file.check(self.path, shape)
        if standardise and file.kind == "autoencoder":
            raise UsageError(f"the loss '{self.path}' was learnt on pixels in [0, 1]; train without standardise")

    def options(self) -> dict[str, object]:
        """Return all options that determine the loss, by name, with the file's absolute path and digest."""
        place = str(Path(self.path).expanduser().resolve())
        if "," in place:
            raise UsageError(f"the path of a loss must not contain a comma: '{place}'")
        content = self.content()
        digest = hashlib.sha256(content).hexdigest()[:DIGITS]
        return {"path": place, "weight": self.parsed(content).weight, "sha256": digest}

    def content(self) -> bytes:
        """Return the file's bytes, which must match `sha256` if it is given."""
        content = read_loss_file(self.path)
        if not hashlib.sha256(content).hexdigest().startswith(self.sha256):
            raise UsageError(f"the loss '{self.path}' has changed: its SHA-256 does not begin with {self.sha256}")
        return content

    def parsed(self, content: bytes) -> LossFile:
        """Return the loss in the file's bytes, with the given weight."""
        file = parse_loss_file(self.path, content)
        return file if self.weight is None else replace(file, weight=self.weight)

    def _file_for(self, x: Tensor) -> LossFile:
        """Return the loss on the device of x, after checking that it can compare images like x."""
        file = self._file(x.device)
        file.check(self.path, (*x.shape[2:], x.shape[1]))
        return file

    def _file(self, device: torch.device) -> LossFile:
        # Without a digest, the file may be written again during the process.
        return _loaded(self, None if self.sha256 else _state(self.path), device)


def _state(path: str) -> tuple[int, ...] | None:
    try:
        found = Path(path).expanduser().stat()
    except OSError:  # reading the file will report it
        return None
    return found.st_size, found.st_mtime_ns, found.st_ino


@cache
@torch.inference_mode(mode=False)
def _loaded(loss: Learnt, state: tuple[int, ...] | None, device: torch.device) -> LossFile:
    return loss.parsed(loss.content()).to(device)
