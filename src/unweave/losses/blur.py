"""Blur images (n, C, H, W) channel by channel; images are padded with zeros.

A separable kernel is applied as two banded matrices, one from each side. Up to 256 × 256 pixels this is faster than the
Fourier transform and than direct convolution, at any radius (`python benchmarks/losses.py`). Other kernels use the
Fourier transform.
"""

from __future__ import annotations

from functools import cache

import torch
from scipy.fft import next_fast_len
from torch import Tensor

Weights = tuple[float, ...]
"""A centred kernel along one axis, of odd length."""


def separable_blur(images: Tensor, weights: Weights) -> Tensor:
    """Return the images convolved with `weights` along both axes."""
    height, width = images.shape[-2:]
    return band(weights, height, images.device) @ images @ band(weights, width, images.device).T


@cache
@torch.inference_mode(mode=False)  # the cached tensor may be used in training later
def band(weights: Weights, size: int, device: torch.device) -> Tensor:
    """Return the matrix (size, size) that convolves a column with `weights`."""
    place = torch.arange(size)[:, None] - torch.arange(size) + len(weights) // 2
    inside = (place >= 0) & (place < len(weights))
    values = torch.tensor(weights)[place.clamp(0, len(weights) - 1)]
    return torch.where(inside, values, 0.0).to(device)


def fourier_blur(images: Tensor, kernel: Tensor) -> Tensor:
    """Return the images (n, C, H, W) convolved with a centred kernel of odd height and width."""
    height, width = images.shape[-2:]
    kernel = _within(kernel, height, width)
    up, left = kernel.shape[0] // 2, kernel.shape[1] // 2
    # With one radius of padding, only rows and columns that are cut off below wrap around.
    padded = (next_fast_len(height + up, real=True), next_fast_len(width + left, real=True))
    spectrum = torch.fft.rfft2(images, s=padded) * torch.fft.rfft2(kernel.to(images), s=padded)
    return torch.fft.irfft2(spectrum, s=padded)[..., up : up + height, left : left + width]


def full_fourier_blur(images: Tensor, kernel: Tensor) -> Tensor:
    """Return the full convolution of images (n, C, H, W) with a kernel (a, b): (n, C, H + a - 1, W + b - 1).

    Nothing is cut off at the border, so the squared distance of two images does not depend on where they differ.
    """
    height, width = (images.shape[-2 + axis] + kernel.shape[axis] - 1 for axis in (0, 1))
    padded = (next_fast_len(height, real=True), next_fast_len(width, real=True))
    spectrum = torch.fft.rfft2(images, s=padded) * torch.fft.rfft2(kernel.to(images), s=padded)
    return torch.fft.irfft2(spectrum, s=padded)[..., :height, :width]


def _within(kernel: Tensor, height: int, width: int) -> Tensor:
    """Return the part of a kernel that reaches from one pixel of an image to another."""
    up, left = max(kernel.shape[0] // 2 - height + 1, 0), max(kernel.shape[1] // 2 - width + 1, 0)
    return kernel[up : kernel.shape[0] - up, left : kernel.shape[1] - left]
