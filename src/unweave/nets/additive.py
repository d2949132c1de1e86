"""An additive decoder: groups of latents are decoded separately, and the outputs are pooled."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import torch
from torch import Tensor, nn

from unweave.errors import UsageError, unknown
from unweave.nets.body import Body, Shape
from unweave.nets.conv import conv
from unweave.nets.mlp import mlp


def total(outputs: Tensor) -> Tensor:
    """Return the sum over groups of (n, groups, …)."""
    return outputs.sum(1)


def log_mean_exp(outputs: Tensor) -> Tensor:
    """Return log(mean over groups of exp) of (n, groups, …); equal groups give their common value."""
    return outputs.logsumexp(1) - math.log(outputs.shape[1])


POOLING: Mapping[str, Callable[[Tensor], Tensor]] = {"sum": total, "logsumexp": log_mean_exp}


def additive(
    shape: Shape,
    latents: int | Sequence[int],
    width: float,
    depth: int = 1,
    *,
    groups: int = 0,
    pooling: str = "sum",
    shared: bool = False,
    narrow: bool = True,
) -> Body:
    r"""Return `conv`, or `mlp` for vectors, with a decoder that is a sum over groups of latents:

        decoder(z) = pool over groups g of decoder_g(z_g),    z = (z_1, z_2, …) in groups of equal size.

    By default (0) there is one group for each latent. If a latent has several inputs, such as one for each category,
    `latents` is the number of inputs of each: they stay together. The groups are pooled by a sum [Lachapelle2023]_, or
    by the logarithm of the mean of their exponentials [Moinfar2024]_, so exp(decoder) is the mean of exp(decoder_g).
    Each group has its own decoder or, if `shared`, only its own first layer. A `narrow` decoder_g has 1 / sqrt(groups)
    of the channels and units, so all groups together have about as many weights as one decoder of all latents.
    """
    widths = (1,) * latents if isinstance(latents, int) else latents
    count = _checked(len(widths), groups, pooling, {"shared": shared, "narrow": narrow})
    pair, each = (conv if len(shape) == 3 else mlp), len(widths) // count
    sizes = [sum(widths[start : start + each]) for start in range(0, len(widths), each)]
    whole = pair(shape, sum(widths), width, depth)
    inner = width / math.sqrt(count) if narrow else width
    parts = [list(pair(shape, size, inner, depth).decoder.children()) for size in sizes]
    return Body(whole.encoder, AdditiveDecoder(parts, sizes, shared, pooling), whole.features, whole.draw)


class AdditiveDecoder(nn.Module):
    """Decodes groups of latents, each with a list of layers, and pools the outputs; `sizes` are their inputs."""

    def __init__(
        self, parts: Sequence[Sequence[nn.Module]], sizes: Sequence[int], shared: bool = False, pooling: str = "sum"
    ) -> None:
        super().__init__()
        self.sizes = list(sizes)
        # Never shared: with the same first layer, all groups would compute the same function.
        self.first = nn.ModuleList(part[0] for part in parts)
        self.rest = nn.ModuleList(nn.Sequential(*part[1:]) for part in (parts[:1] if shared else parts))
        self.pooling = pooling

    def forward(self, z: Tensor) -> Tensor:
        """Return images (n, C, H, W), or vectors (n, D)."""
        return POOLING[self.pooling](self.of_groups(z))

    def of_groups(self, z: Tensor) -> Tensor:
        """Return the output of each group: (n, groups, C, H, W), or (n, groups, D)."""
        return torch.stack([part(own) for part, own in zip(self.parts(), self.split(z), strict=True)], 1)

    def parts(self) -> list[nn.Sequential]:
        """Return the decoder of each group."""
        rests = [*self.rest] * (len(self.first) // len(self.rest))
        return [nn.Sequential(first, rest) for first, rest in zip(self.first, rests, strict=True)]

    def split(self, z: Tensor) -> tuple[Tensor, ...]:
        """Return the inputs (n, size) of each group."""
        return z.split(self.sizes, 1)


def _checked(latents: int, groups: int, pooling: str, flags: Mapping[str, object]) -> int:
    """Return the number of groups, or raise a `UsageError` that says which option is wrong."""
    if isinstance(groups, bool) or not isinstance(groups, int) or groups < 0 or (groups and latents % groups):
        raise UsageError(f"the option groups of additive must divide the number of latents, {latents}: {groups!r}")
    if pooling not in POOLING:
        raise unknown("pooling", str(pooling), POOLING)
    for name, value in flags.items():
        if not isinstance(value, bool):
            raise UsageError(f"the option {name} of additive must be true or false, not {value!r}")
    return groups or latents
