"""Ranks with gradients, and the rank correlation based on them."""

from __future__ import annotations

import math
from typing import Any, cast

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.optimize import isotonic_regression
from torch import Tensor
from torch.autograd.function import FunctionCtx, once_differentiable

from unweave.errors import UsageError

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


def soft_rank(values: Tensor, strength: float = 1.0) -> Tensor:
    r"""Return the soft ranks of a vector [Blondel2020]_ with quadratic regularisation; 1 is the smallest.

    They are the point of the permutahedron, the hull of all orders of 1, …, n, that is nearest to values / strength:

        r(x) = argmin_r |r - x / strength|^2,    r in conv{(p(1), …, p(n)) : p a permutation}.

    With s the sorted values / strength, this is r = s - v, where v is the isotonic regression of s - (1, …, n):
    neighbours in a block share one v, their mean. So the gradient is exact, and the cost is O(n log n).

    If distinct values are at least n · `strength` apart, the ranks are exact, and equal values have the mean of their
    ranks, as in Spearman's correlation. The larger `strength`, the closer the ranks are to values / strength plus a
    constant, and their correlation to a linear one. Everything is computed in float64.

    Parameters
    ----------
    values
        A vector (n,). If a value is not finite, all ranks are NaN.
    strength
        How far apart values must be for ranks that are one apart; positive.

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
    if values.ndim != 1 or not len(values):
        raise UsageError(f"soft ranks need a vector, not an array of shape {tuple(values.shape)}")
    if not 0 < strength < math.inf:
        raise UsageError(f"the strength of soft ranks must be positive, not {strength}")
    return cast(Tensor, _SoftRank.apply(values.double() / strength))


def soft_spearman(values: Tensor, target: Tensor, strength: float = 0.01) -> Tensor:
    """Return the correlation of the soft ranks of two vectors, from -1 to 1; only the first gets gradients.

    Parameters
    ----------
    values, target
        Vectors (n,) of finite numbers. If one is constant, the correlation is 0.
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
        order = np.argsort(values.detach().cpu().numpy())
        ascending = values.detach().cpu().numpy()[order]
        ranks, starts = _projected(ascending)
        cast(Any, ctx).order, cast(Any, ctx).starts = order, starts
        return _put_back(ranks, order).to(values.device)

    @staticmethod
    @once_differentiable
    def backward(ctx: FunctionCtx, *gradients: Tensor) -> Tensor:  # pyright: ignore[reportIncompatibleMethodOverride]
        order, starts = cast(Any, ctx).order, cast(Any, ctx).starts
        gradient = gradients[0].cpu().numpy()[order]
        # The Jacobian subtracts from every entry the mean of its block, and is symmetric.
        return _put_back(gradient - _block_means(gradient, starts), order).to(gradients[0].device)


def _projected(ascending: Floats) -> tuple[Floats, Integers]:
    """Return the point of the permutahedron that is nearest to a sorted vector, and where its blocks begin."""
    places = np.arange(1.0, len(ascending) + 1)
    if not np.isfinite(ascending).all():
        return np.full_like(ascending, np.nan), np.zeros(1, np.int64)
    starts = isotonic_regression(ascending - places).blocks[:-1]
    # Relative to the first of its block, so that large values lose no digits of their ranks.
    above = ascending - np.repeat(ascending[starts], _sizes(starts, len(ascending)))
    return above - _block_means(above, starts) + _block_means(places, starts), starts


def _block_means(values: Floats, starts: Integers) -> Floats:
    """Return for each value the mean of its block."""
    sizes = _sizes(starts, len(values))
    return np.repeat(np.add.reduceat(values, starts) / sizes, sizes)


def _sizes(starts: Integers, length: int) -> Integers:
    return np.diff(starts, append=length)


def _put_back(ascending: Floats, order: Integers) -> Tensor:
    values = np.empty_like(ascending)
    values[order] = ascending
    return torch.from_numpy(values)
