"""Ranks that have gradients, and the rank correlation made of them."""

from __future__ import annotations

import math
from typing import Any, cast

import torch
from torch import Tensor
from torch.autograd.function import FunctionCtx, once_differentiable

from unweave.errors import UsageError


def soft_rank(values: Tensor, strength: float = 1.0) -> Tensor:
    r"""Return the soft ranks of a vector [Blondel2020]_, with their quadratic regularisation; 1 is the smallest.

    They are the point of the permutahedron, the hull of all orders of 1, …, n, that is nearest to values / strength:

        r(x) = argmin_r |r - x / strength|^2,    r in conv{(p(1), …, p(n)) : p a permutation}.

    With s the sorted values / strength, this is r = s - v, v the isotonic regression of s - (1, …, n): neighbours in
    blocks share one v, the mean of theirs. So the gradient is exact, and all takes O(n log n).

    Where distinct values are at least n · `strength` apart, the ranks are exact, and equal values have the mean of
    their ranks, as in Spearman's correlation. The larger `strength`, the closer are the ranks to
    values / strength plus a constant, so the more is their correlation a linear one. All is computed in float64.

    Parameters
    ----------
    values
        A vector (n,) of finite numbers.
    strength
        How far apart values must be to have ranks that are one apart; positive.

    Returns
    -------
    Tensor
        The ranks (n,), float64, which add up to n (n + 1) / 2.

    Examples
    --------
    >>> import torch
    >>> soft_rank(torch.tensor([0.3, 0.1, 0.2, 0.2]), strength=0.001).tolist()
    [4.0, 1.0, 2.5, 2.5]
    """
    if values.ndim != 1:
        raise UsageError(f"soft ranks are those of a vector, not of an array of shape {tuple(values.shape)}")
    if not 0 < strength < math.inf:
        raise UsageError(f"the strength of soft ranks must be positive, not {strength}")
    return cast(Tensor, _SoftRank.apply(values.double() / strength))


def soft_spearman(values: Tensor, target: Tensor, strength: float = 0.01) -> Tensor:
    """Return the correlation of the soft ranks of two vectors, from -1 to 1; gradients go to the first alone.

    Parameters
    ----------
    values, target
        Vectors (n,) of finite numbers. Where all values of one are the same, the correlation is 0.
    strength
        That of `soft_rank`, for both.

    Returns
    -------
    Tensor
        The correlation, one number in float64.

    Examples
    --------
    >>> import torch
    >>> round(soft_spearman(torch.tensor([1.0, 5.0, 2.0]), torch.tensor([10.0, 30.0, 20.0]), 0.001).item(), 9)
    1.0
    """
    with torch.no_grad():
        expected = _unit(soft_rank(target, strength))
    return _unit(soft_rank(values, strength)) @ expected


def _unit(ranks: Tensor) -> Tensor:
    centred = ranks - (len(ranks) + 1) / 2  # the mean of ranks, soft or not
    return centred / centred.norm() if centred.any() else centred


class _SoftRank(torch.autograd.Function):
    """The projection of a vector onto the permutahedron, and the product of a gradient with its Jacobian."""

    @staticmethod
    def forward(ctx: FunctionCtx, values: Tensor) -> Tensor:
        from unweave.perception.isotonic import project

        order = values.detach().argsort()
        ranks, starts = project(values.detach()[order].cpu().numpy())
        cast(Any, ctx).order, cast(Any, ctx).starts = order, starts
        return torch.empty_like(values).scatter_(0, order, torch.from_numpy(ranks).to(values.device))

    @staticmethod
    @once_differentiable
    def backward(ctx: FunctionCtx, *gradients: Tensor) -> Tensor:
        from unweave.perception.isotonic import without_block_means

        order, starts = cast(Any, ctx).order, cast(Any, ctx).starts
        (gradient,) = gradients
        sorted_gradient = without_block_means(gradient[order].cpu().numpy(), starts)
        return torch.empty_like(gradient).scatter_(0, order, torch.from_numpy(sorted_gradient).to(gradient.device))
