"""Maximum mean discrepancy between codes and the prior, with exact expectations over the prior."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from unweave.errors import unknown
from unweave.penalties.checks import check_codes, check_positive
from unweave.penalties.precision import at_least_single

KERNELS = ("imq", "gaussian")
NODES = 64
TAIL = 18.0
"""Range of the quadrature: exp(-18) is below the precision of float32."""


def mmd(codes: Tensor, *, kernel: str = "imq", bandwidth: float = 1.0) -> Tensor:
    r"""Squared maximum mean discrepancy between codes and N(0, I), as in InfoVAE [Zhao2019]_; unbiased.

        E k(z, z') - 2 E k(z, y) + E k(y, y'),    y, y' from N(0, I)

        imq:       k = C / (C + |z - z'|^2)
        gaussian:  k = exp(-|z - z'|^2 / C)         C = 2 latents bandwidth

    Parameters
    ----------
    codes
        Floats (n, latents): samples of the posteriors.
    kernel
        "imq", the inverse multiquadratic, or "gaussian".
    bandwidth
        C in units of the mean squared distance between two draws from the prior, 2 latents.

    Returns
    -------
    Tensor
        A scalar with a gradient. Its mean is 0 for codes from the prior, so it can be slightly negative.

    Notes
    -----
    The prior is not sampled: its expectations have closed forms (gaussian), or a quadrature of them (imq). Invariant to
    the order of rows and latents, and to rotations.

    References
    ----------
    .. [Zhao2019] Zhao, Song and Ermon, "InfoVAE: Balancing Learning and Inference in Variational Autoencoders", AAAI
       2019.

    Examples
    --------
    >>> import torch
    >>> from unweave.penalties import mmd
    >>> codes = torch.randn(256, 4, generator=torch.Generator().manual_seed(0))
    >>> bool(abs(mmd(codes)) < 0.01 < mmd(3 + codes))
    True
    """
    check_codes(codes)
    bandwidth = check_positive(bandwidth, "bandwidth")
    if kernel not in KERNELS:
        raise unknown("kernel", str(kernel), KERNELS)
    codes = at_least_single(codes)
    n, latents = codes.shape
    scale = 2 * latents * bandwidth
    squares = (codes[:, None] - codes).square().sum(2)
    similar = scale / (scale + squares) if kernel == "imq" else (-squares / scale).exp()
    among = (similar.sum() - n) / (n * (n - 1))  # without k(z, z) = 1 on the diagonal
    norms = codes.square().sum(1)
    # Two draws from the prior differ by N(0, 2 I): twice the noise around a point at 0.
    between = smoothed(kernel, torch.zeros_like(norms[:1]), scale, latents, 2.0)
    return among - 2 * smoothed(kernel, norms, scale, latents, 1.0).mean() + between.squeeze(0)


def smoothed(kernel: str, norms: Tensor, scale: float, latents: int, noise: float) -> Tensor:
    """Return the expected kernel between 0 and points with these squared norms (n,) plus N(0, noise I)."""
    if kernel == "gaussian":
        return log_smoothed_gaussian(norms, torch.full_like(norms, 1 / scale), latents, noise).exp()
    # scale / (scale + d^2) is the integral of scale exp(-t (scale + d^2)) over t > 0: Gaussians of every width.
    # In log t the integrand is smooth and vanishes at both ends, where the trapezoidal rule is very accurate.
    first = -(scale + norms.detach()).log()[:, None] - TAIL
    last = math.log(2 * TAIL / scale)
    log_t = first + (last - first) * torch.linspace(0, 1, NODES, device=norms.device)  # (n, NODES)
    t = log_t.exp()
    values = log_smoothed_gaussian(norms[:, None], t, latents, noise) - scale * t + log_t
    return scale * torch.trapezoid(values.exp(), log_t)


def log_smoothed_gaussian(norms: Tensor, t: Tensor, latents: int, noise: float) -> Tensor:
    """Return log E exp(-t |z + e|^2) for points z with these squared norms, and e from N(0, noise I)."""
    spread = 1 + 2 * noise * t
    return -latents / 2 * spread.log() - t * norms / spread
