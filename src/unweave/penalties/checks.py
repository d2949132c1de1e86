"""Checks of a penalty's tensors, with one clear line for each mistake."""

from __future__ import annotations

import math
from numbers import Integral, Real

import torch
from torch import Tensor, nn

from unweave.errors import UsageError


class NotFinite(UsageError):
    """Codes contain a NaN or an infinity; during training, a sign that it has diverged."""


def check_codes(codes: Tensor, name: str = "codes", rows: int = 2, vectors: bool = False) -> None:
    """Raise a `UsageError` unless codes are finite floats (n, latents), or with `vectors` also (n, latents, k).

    Only codes on the CPU are checked for finite values, because the check would have to wait for a GPU; there a NaN
    gives a NaN.
    """
    if not isinstance(codes, Tensor) or not codes.is_floating_point():
        kind = codes.dtype if isinstance(codes, Tensor) else type(codes).__name__
        raise UsageError(f"{name} must be a tensor of floats, not {kind}")
    if codes.ndim not in ((2, 3) if vectors else (2,)) or not codes.shape[1]:
        raise UsageError(f"{name} must have the shape (n, latents), not {tuple(codes.shape)}")
    if len(codes) < rows:
        raise UsageError(f"{name} must have at least {rows} {'row' if rows == 1 else 'rows'}, not {len(codes)}")
    if codes.device.type == "cpu" and not torch.isfinite(codes.detach()).all():
        raise NotFinite(f"{name} must be finite, but contain a NaN or an infinity")


def check_posteriors(mean: Tensor, log_variance: Tensor | None, z: Tensor | None = None) -> None:
    """Raise a `UsageError` unless means, log-variances and samples are codes of the same shape."""
    given = {"mean": mean, "log_variance": log_variance, "z": z}
    for name, tensor in given.items():
        if tensor is None:
            continue
        check_codes(tensor, name)
        if tensor.shape != mean.shape:
            raise UsageError(f"{name} must have the shape of mean, {tuple(mean.shape)}, not {tuple(tensor.shape)}")


def check_count(value: object, name: str, least: int = 1) -> int:
    """Return an integer, numpy's too, as an int, or raise a `UsageError` unless it is at least `least`."""
    if isinstance(value, bool) or not isinstance(value, Integral) or int(value) < least:
        raise UsageError(f"{name} must be an integer of at least {least}, not {value!r}")
    return int(value)


def check_positive(value: object, name: str) -> float:
    """Return a number, numpy's too, as a float, or raise a `UsageError` unless it is positive and finite."""
    if isinstance(value, bool) or not isinstance(value, Real) or not 0 < float(value) < math.inf:
        raise UsageError(f"{name} must be a positive number, not {value!r}")
    return float(value)


def check_generator(generator: torch.Generator | None) -> None:
    """Raise a `UsageError` unless the generator is torch's, or None."""
    if generator is not None and not isinstance(generator, torch.Generator):
        kind = "torch.Generator, such as torch.Generator().manual_seed(0)"
        raise UsageError(f"generator must be a {kind}, not {generator!r}")


def check_discriminator(discriminator: nn.Module) -> None:
    """Raise a `UsageError` unless the discriminator is a module, whose weights can be told from the codes."""
    if not isinstance(discriminator, nn.Module):
        raise UsageError(f"discriminator must be a torch.nn.Module, not {type(discriminator).__name__}")
