"""The InfoVAE: the aggregate posterior is held to the prior by maximum mean discrepancy."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, ClassVar

import torch
from torch import Tensor

from unweave.errors import UsageError, unknown
from unweave.fields import OneOf
from unweave.methods.base import Method
from unweave.nets import Model, Posterior
from unweave.schedules import Scheduled, extremes, value_at

KERNELS = ("imq", "gaussian")
NODES = 64
TAIL = 18.0
"""How far the quadrature goes: exp(-18) is below the precision of float32."""


@dataclass(frozen=True)
class InfoVAE(Method):
    r"""InfoVAE [Zhao2019]_: -E_q[log p(x|z)] + (1 - alpha) KL(q(z|x) || p(z)) + (alpha + lambda - 1) MMD(q(z), p)."""

    min_batch: ClassVar[int] = 2

    alpha: Scheduled = 1.0
    """Preference for information between image and code: 0 leaves the KL term whole, 1 takes it away (MMD-VAE)."""
    lambda_mmd: Scheduled = 1000.0
    """Weight of the divergence between q(z) and the prior; alpha + lambda_mmd - 1 weighs the discrepancy."""
    kernel: Annotated[str, OneOf(KERNELS)] = "imq"
    """Kernel of the discrepancy: imq, C / (C + d^2), or gaussian, exp(-d^2 / C), at distance d."""
    bandwidth: float = 1.0
    """C in units of the mean squared distance between two draws from the prior, 2 * latents."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require_not_negative("lambda_mmd")
        if self.kernel not in KERNELS:
            raise unknown("kernel", self.kernel, KERNELS)
        if not 0 < self.bandwidth < math.inf:
            raise UsageError(f"bandwidth must be positive, not {self.bandwidth}")
        low, high = extremes(self.alpha)
        if not -math.inf < low <= high <= 1:
            raise UsageError(f"alpha must be a number of at most 1, not {self.alpha}")
        if low + extremes(self.lambda_mmd)[0] < 1:
            raise UsageError(f"alpha + lambda_mmd must be at least 1, not {self.alpha} + {self.lambda_mmd}")

    def penalty(self, model: Model, q: Posterior, z: Tensor, step: int) -> dict[str, Tensor]:
        """Return the weighted KL term and the weighted discrepancy."""
        alpha = value_at(self.alpha, step)
        discrepancy = mmd(z, self.kernel, 2 * z.shape[1] * self.bandwidth)
        return {
            "kl": (1 - alpha) * q.kl().sum(1).mean(),
            "mmd": (alpha + value_at(self.lambda_mmd, step) - 1) * discrepancy,
        }


def mmd(z: Tensor, kernel: str, scale: float) -> Tensor:
    """Return the squared maximum mean discrepancy between codes (n, d) and N(0, I), estimated without bias.

    It is E k(z, z') - 2 E k(z, y) + E k(y, y') with y from the prior. The prior's expectations are exact, so that
    none is sampled.
    """
    n, latents = z.shape
    squares = (z[:, None] - z).square().sum(2)
    similar = scale / (scale + squares) if kernel == "imq" else (-squares / scale).exp()
    among = (similar.sum() - n) / (n * max(n - 1, 1))  # without k(z, z) = 1 on the diagonal
    norms = z.square().sum(1)
    # Two draws from the prior differ by N(0, 2 I): twice the noise around a point at 0.
    between = smoothed(kernel, torch.zeros_like(norms[:1]), scale, latents, 2.0)
    return among - 2 * smoothed(kernel, norms, scale, latents, 1.0).mean() + between.squeeze(0)


def smoothed(kernel: str, norms: Tensor, scale: float, latents: int, noise: float) -> Tensor:
    """Return the kernel's expected value between 0 and points of these squared norms (n,) plus N(0, noise I)."""
    if kernel == "gaussian":
        return log_smoothed_gaussian(norms, torch.full_like(norms, 1 / scale), latents, noise).exp()
    # scale / (scale + d^2) is the integral of scale exp(-t (scale + d^2)) over t > 0: Gaussians of every width.
    # By log t the integrand is smooth and dies out at both ends, where the trapezoidal rule is at its best.
    first = -(scale + norms.detach()).log()[:, None] - TAIL
    last = math.log(2 * TAIL / scale)
    log_t = first + (last - first) * torch.linspace(0, 1, NODES, device=norms.device)  # (n, NODES)
    t = log_t.exp()
    values = log_smoothed_gaussian(norms[:, None], t, latents, noise) - scale * t + log_t
    return scale * torch.trapezoid(values.exp(), log_t)


def log_smoothed_gaussian(norms: Tensor, t: Tensor, latents: int, noise: float) -> Tensor:
    """Return log E exp(-t |z + e|^2) for points z of these squared norms and e from N(0, noise I)."""
    spread = 1 + 2 * noise * t
    return -latents / 2 * spread.log() - t * norms / spread
