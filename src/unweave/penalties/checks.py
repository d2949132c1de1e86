"""What a penalty asks of its tensors, and the one line for what is wrong with them."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from unweave.errors import UsageError


class NotFinite(UsageError):
    """Codes that hold a NaN or an infinity; while training, a sign that it has diverged."""


def check_codes(codes: Tensor, name: str = "codes", rows: int = 2, vectors: bool = False) -> None:
    """Refuse all but finite floats of shape (n, latents), with at least so many rows; `vectors`: or (n, latents, k).

    Whether they are finite is asked on the CPU alone. A GPU would have to be waited for: there a NaN gives a NaN.
    """
    if not isinstance(codes, Tensor) or not codes.is_floating_point():
        kind = codes.dtype if isinstance(codes, Tensor) else type(codes).__name__
        raise UsageError(f"{name} must be a tensor of floats, not {kind}")
    if codes.ndim not in ((2, 3) if vectors else (2,)) or not codes.shape[1]:
        raise UsageError(f"{name} must have the shape (n, latents), not {tuple(codes.shape)}")
    if len(codes) < rows:
        raise UsageError(f"{name} must have at least {rows} rows, not {len(codes)}")
    if codes.device.type == "cpu" and not torch.isfinite(codes.detach()).all():
        raise NotFinite(f"{name} must be finite, and hold a NaN or an infinity")


def check_posteriors(mean: Tensor, log_variance: Tensor | None, z: Tensor | None = None) -> None:
    """Refuse means, log-variances and samples of a batch's posteriors that are no codes, or of different shapes."""
    given = {"mean": mean, "log_variance": log_variance, "z": z}
    for name, tensor in given.items():
        if tensor is None:
            continue
        check_codes(tensor, name)
        if tensor.shape != mean.shape:
            raise UsageError(f"{name} must have the shape of mean, {tuple(mean.shape)}, not {tuple(tensor.shape)}")


def check_count(value: int, name: str, least: int = 1) -> None:
    """Refuse what is not a whole number of at least so many."""
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise UsageError(f"{name} must be a whole number of at least {least}, not {value!r}")


def check_positive(value: float, name: str) -> None:
    """Refuse what is not a positive, finite number."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < math.inf:
        raise UsageError(f"{name} must be a positive number, not {value!r}")
