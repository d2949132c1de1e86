"""Tripod: quantised codes, kernel latent multi-information, and a normalised Hessian penalty."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from unweave.errors import UsageError
from unweave.fields import later
from unweave.methods.base import Batch, Method
from unweave.nets import Model, Posterior
from unweave.nets.modulated import ModulatedDecoder
from unweave.nets.quantised import LEVELS, Quantised
from unweave.schedules import Scheduled, value_at

REACH = 0.1  # width of the finite differences, in standard deviations of a latent
LEAST = 1e-3
"""Smallest denominator, relative to its mean over the batch: a piecewise linear decoder may have no curvature."""
LINEAR = (nn.Linear, nn.Conv2d, nn.ConvTranspose2d, nn.Flatten, nn.Unflatten)


@dataclass(frozen=True)
class Tripod(Method):
    r"""Tripod [Hsu2024]_: -log p(x|z) + pixels * (multi_information * KLM(z) + hessian * NHP(decoder, z)).

    Codes are rounded to a few levels in [-1, 1]. KLM is the latent multi-information from kernel density estimates, NHP
    the fraction of the decoder's second derivatives that mixes latents, on its hidden layers. The paper's
    reconstruction is a mean over pixels; multiplying by the number of pixels keeps the meaning of its weights.
    """

    bottleneck: ClassVar[str] = "grid"
    min_batch: ClassVar[int] = 2

    multi_information: Scheduled = 1e-4
    """Weight of the latent multi-information, relative to the mean loss of a pixel."""
    hessian: Scheduled = 1e-2
    """Weight of the normalised Hessian penalty, relative to the mean loss of a pixel."""

    levels: int = later(LEVELS)
    """Number of levels that codes are rounded to."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require_not_negative("multi_information", "hessian")
        if self.levels < 2:
            raise UsageError(f"levels must be at least 2, not {self.levels}")

    @property
    def bottleneck_options(self) -> dict[str, Any]:
        """The number of levels."""
        return {"levels": self.levels}

    def terms(self, model: Model, batch: Batch, q: Posterior, z: Tensor, step: int) -> dict[str, Tensor]:
        """Return the reconstruction, the weighted multi-information and the weighted Hessian penalty."""
        terms = super().terms(model, batch, q, z, step)
        pixels = math.prod(model.shape)
        probes = draw_probes(len(z), model.latents, batch.choices).to(z) * spread(q)
        with torch.autocast(z.device.type, enabled=False):  # second differences need every digit
            mixing = hessian_penalty(model.decoder, z, probes)
        return {**terms, "hessian": value_at(self.hessian, step) * pixels * mixing}

    def penalty(self, model: Model, q: Posterior, z: Tensor, step: int) -> dict[str, Tensor]:
        """Return the weighted multi-information."""
        weight = value_at(self.multi_information, step) * math.prod(model.shape)
        return {"multi_information": weight * multi_information(z, spread(q))}


def spread(q: Posterior) -> Tensor:
    """Return the standard deviation (latents,) of the codes of a batch before rounding."""
    assert isinstance(q, Quantised), "the bottleneck is a grid"
    return q.continuous.std(0, correction=0) + 1e-6


def multi_information(z: Tensor, deviation: Tensor) -> Tensor:
    """Return the mean of log q(z) - sum_j log q(z_j) for codes (n, latents), with densities from the same codes.

    Each density is a mean of Gaussians around the codes. The joint density uses Silverman's bandwidth,
    deviation * (4 / (n (latents + 2)))^(1 / (latents + 4)), the marginal densities the standard deviation itself, as in
    the authors' code.
    """
    n, latents = z.shape
    silverman = (4 / (n * (latents + 2))) ** (1 / (latents + 4))
    apart = (z[:, None] - z) / deviation  # (n, n, latents)
    height = deviation.log() + 0.5 * math.log(2 * math.pi)
    marginal = (-0.5 * apart.square() - height).logsumexp(1)  # (n, latents)
    joint = (-0.5 * (apart / silverman).square() - height - math.log(silverman)).sum(-1).logsumexp(1)  # (n,)
    return (joint - marginal.sum(-1)).mean() + (latents - 1) * math.log(n)


def draw_probes(n: int, latents: int, choices: torch.Generator) -> Tensor:
    """Return two directions of random signs and two of normal numbers for each code: (2 kinds, 2, n, latents)."""
    signs = 2.0 * torch.randint(2, (2, n, latents), generator=choices) - 1
    return torch.stack([signs, torch.randn(2, n, latents, generator=choices)])


def hessian_penalty(decoder: nn.Module, z: Tensor, probes: Tensor) -> Tensor:
    """Return, summed over hidden layers, the fraction of the squared second derivatives that mixes latents.

    For the Hessian H of a unit, the variance of v'Hv is 2 sum_{i≠j} H_ij^2 if v are random signs, and 2 sum_{ij} H_ij^2
    if v are normal. The penalty is the mean over images of the ratio of the two, each a mean over a layer's units. v'Hv
    is computed by second central differences. The penalty is zero if all second derivatives are on the diagonal.
    """
    moves = REACH * probes
    codes = torch.stack([z + moves, z - moves])  # (2 sides, 2 kinds, 2 directions, n, latents)
    total = z.new_zeros(())
    for layer in hidden_layers(decoder, codes.flatten(0, 3)):
        ahead, behind = layer.unflatten(0, codes.shape[:4])
        # A second difference is (ahead + behind - 2 centre) / REACH^2; the centre is the same for both directions.
        one, two = ((ahead + behind) / REACH**2).unbind(1)
        mixing, whole = (one - two).square().flatten(2).mean(2) / 4  # the variance of two numbers: (2, n)
        total = total + (mixing / (whole.clamp(min=LEAST * whole.mean().item()) + 1e-10)).mean()
    return total


def hidden_layers(decoder: nn.Module, z: Tensor) -> list[Tensor]:
    """Return the hidden layers of a modulated or sequential decoder; of any other decoder, its output."""
    if isinstance(decoder, ModulatedDecoder):
        return decoder.hidden(z)
    if not isinstance(decoder, nn.Sequential):
        return [decoder(z)]
    found = []
    last = max((place for place, layer in enumerate(decoder) if not isinstance(layer, LINEAR)), default=-1)
    for layer in list(decoder)[: last + 1]:
        z = layer(z)
        if not isinstance(layer, LINEAR):
            found.append(z)
    return found
