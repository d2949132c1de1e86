"""Your own model: any function from codes to images, and codes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from unweave.errors import UsageError
from unweave.explorer.drawn import sampled
from unweave.explorer.opened import SAMPLES, Array, Opened, surveyed
from unweave.explorer.refusals import Unable
from unweave.metrics.inputs import check_codes, check_factors

IDENTITY = "model"
"""The identity of the only model in addresses."""
LARGEST_BYTE = 255
CHANNELS = (1, 3, 4)
"""Numbers of channels: grey, colour, or colour and opacity."""
OVER = 0.5
"""How far floats may be outside of 0 to 1, as from a decoder without a final sigmoid; they are clipped."""

Decode = Callable[[Any], Any]
"""A function from codes (n, latents) to images (n, H, W, C), uint8 or floats from 0 to 1, or to vectors (n, D)."""


def open_own(
    decode: Decode,
    codes: ArrayLike,
    *,
    factors: ArrayLike | None = None,
    names: Sequence[str] | None = None,
    samples: int = SAMPLES,
    title: str = "your model",
) -> Opened:
    """Return a decoder and its codes as the pages show them; the decoder is tried on one code first.

    Parameters
    ----------
    decode
        A function from codes (n, latents), float32, to images (n, H, W, C) or (n, H, W), uint8 or floats from 0 to 1,
        or to vectors (n, D). Arrays may come from any library that NumPy can read.
    codes
        Codes (n, latents) of your data, which set the range of each slider.
    factors
        Factors (n, k) of the same rows, if known.
    names
        The names of the factors.
    samples
        Number of random rows that are shown.
    title
        The model's name on the page.

    Returns
    -------
    Opened
        The model.
    """
    values = check_codes(codes)
    known = np.zeros((len(values), 0), dtype=np.int64) if factors is None else check_factors(factors, continuous=True)
    if len(known) != len(values):
        raise UsageError(f"codes and factors must have the same number of rows: {len(values):,} and {len(known):,}")
    called = _names(names, known.shape[1])
    images = as_arrays(_called(decode, np.ascontiguousarray(values[:1], dtype=np.float32)), 1)
    rows = sampled(len(values), samples)
    opened = Opened(title, "images" if images.ndim == 4 else "vectors", values.shape[1], images.shape[1:])
    opened.decoder = lambda given: as_arrays(_called(decode, given), len(given), opened.shape)
    opened.survey = surveyed(values[rows], None, known[rows])
    opened.indices, opened.total = rows, len(values)
    opened.factors, opened.sizes = called, tuple(len(np.unique(factor)) for factor in known.T)
    return opened


def _called(decode: Decode, codes: Array) -> Any:
    """Call the user's decoder; its errors become one line."""
    try:
        return decode(codes)
    except Exception as error:
        raise Unable(f"decode failed: {type(error).__name__}: {' '.join(str(error).split())[:400]}") from error


def _names(names: Sequence[str] | None, count: int) -> tuple[str, ...]:
    if names is None:
        return tuple(f"factor {place}" for place in range(count))
    if len(names) != count:
        raise UsageError(f"there are {count} factors, but {len(names)} names")
    return tuple(map(str, names))


def as_arrays(found: Any, count: int, shape: tuple[int, ...] | None = None) -> Array:
    """Return a decoder's output as images, uint8 (n, H, W, C), or vectors, float32 (n, D).

    >>> as_arrays([[[0.0, 1.0]]], 1).tolist()
    [[[[0], [255]]]]
    """
    try:
        found = found.detach().cpu() if hasattr(found, "detach") else found  # a torch tensor, without importing torch
        values = np.asarray(found)
    except (TypeError, ValueError, RuntimeError) as error:
        raise UsageError(f"decode must return an array of images or vectors: {error}") from error
    if values.dtype.kind not in "buif" or values.ndim not in (2, 3, 4) or len(values) != count or not values.size:
        given = f"{values.dtype} {values.shape}"
        raise UsageError(f"decode must return {count} images (n, H, W, C) or vectors (n, D) of numbers, not {given}")
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        raise UsageError("decode returned values that are not finite (NaN or infinity)")
    if values.ndim == 2:
        values = values.astype(np.float32)
    else:
        values = _pixels(values if values.ndim == 4 else values[..., None])
    if shape is not None and values.shape[1:] != shape:
        raise UsageError(f"decode returned images of shape {values.shape[1:]}, but {shape} before")
    return values


def _pixels(values: Array) -> Array:
    """Return images as uint8, channels last; floats are clipped to 0 … 1."""
    first, last = values.shape[1], values.shape[3]
    if last not in CHANNELS and first not in CHANNELS:
        raise UsageError(f"decode must return images of 1, 3 or 4 channels (n, H, W, C), not of shape {values.shape}")
    if last not in CHANNELS:
        values = np.moveaxis(values, 1, 3)  # channels first, as in torch
    if values.dtype == np.uint8:
        return values
    if values.dtype.kind == "f":
        low, high = float(values.min()), float(values.max())
        if low < -OVER or high > 1 + OVER:
            raise UsageError(f"decode must return floats from 0 to 1, or uint8, but these are {low:.3g} to {high:.3g}")
        values = values.astype(np.float64) * LARGEST_BYTE
    elif values.dtype.kind == "b":
        values = values * LARGEST_BYTE
    return np.clip(np.round(values), 0, LARGEST_BYTE).astype(np.uint8)
