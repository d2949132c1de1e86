"""Guess from posteriors which latents images share, for the adaptive methods."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from itertools import combinations
from typing import TypeVar

import torch
from torch import Tensor

from unweave.errors import UsageError
from unweave.methods.base import Method
from unweave.nets import Gaussian, Posterior
from unweave.schedules import extremes

Q = TypeVar("Q", bound=Posterior)


def symmetric_kl(a: Posterior, b: Posterior) -> Tensor:
    """Return (KL(a || b) + KL(b || a)) / 2 for every image and latent."""
    return (kl(a, b) + kl(b, a)) / 2


def kl(a: Posterior, b: Posterior) -> Tensor:
    """Return KL(a || b) of Gaussians for every image and latent."""
    assert isinstance(a, Gaussian), "a point has no such divergence"
    assert isinstance(b, Gaussian), "a point has no such divergence"
    return a.divergence(b)


def absolute(a: Posterior, b: Posterior) -> Tensor:
    """Return the distance between the means for every image and latent."""
    return (a.mean - b.mean).abs()


DIFFERENCES: dict[str, Callable[[Posterior, Posterior], Tensor]] = {
    "symmetric-kl": symmetric_kl,
    "kl": kl,
    "absolute": absolute,
}
"""How far apart two posteriors (n, latents) are in each latent: delta_i."""


@torch.no_grad()
def mean_difference(members: Sequence[Posterior], difference: Callable[[Posterior, Posterior], Tensor]) -> Tensor:
    """Return the difference of two posteriors, averaged over all ordered pairs of a group."""
    deltas = [difference(a, b) for a, b in combinations(members, 2)]
    return reduce(torch.add, deltas) / len(deltas)


@torch.no_grad()
def shared(delta: Tensor, eta: float) -> Tensor:
    """Return which latents two images share: delta_i < (1 - eta) min_j delta_j + eta max_j delta_j.

    This is [Michlo2022]_, eq. 5.16; eta = 1/2 is [Locatello2020]_. If eta = 0 or all delta_i are equal, none is shared.
    """
    low, high = delta.aminmax(dim=1, keepdim=True)
    return delta < low + eta * (high - low)


@torch.no_grad()
def all_but_largest(delta: Tensor, count: int) -> Tensor:
    """Return which latents two images share, if the `count` latents that differ most are not shared."""
    return delta.argsort(dim=1, descending=True, stable=True).argsort(dim=1) >= count


def parts(q: Q, groups: int) -> list[Q]:
    """Return the posteriors of the first images of all groups, of the second images, and so on."""
    n = len(q.mean) // groups
    return [q.rows(slice(group * n, (group + 1) * n)) for group in range(groups)]


def require_fraction(method: Method, *names: str) -> None:
    """Raise a `UsageError` if a hyper-parameter, a number or a schedule, is ever outside [0, 1]."""
    for name in names:
        value = getattr(method, name)
        low, high = extremes(value)
        if not 0 <= low <= high <= 1:
            raise UsageError(f"{name} must be between 0 and 1, not {value}")
