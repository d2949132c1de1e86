"""Squared distances of pairs of rows with gradients, without storing a row for each pair."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import torch
from scipy.sparse import coo_array
from torch import Tensor
from torch.autograd.function import FunctionCtx, once_differentiable

from unweave.data.factors import Integers

DENSE = 8
"""If more than one entry in this many is nonzero, a dense product is faster."""


def pair_squares(rows: Tensor, pairs: Integers) -> Tensor:
    """Return |r_a - r_b|^2 (m,), float64, for rows (n, d), float32, and pairs (m, 2) of them.

    No difference is kept: the gradient of sum_p g_p |r_a - r_b|^2 is 2 L r, with L the Laplacian of the graph whose
    edges are the pairs and have the weights g.
    """
    return cast(Tensor, _PairSquares.apply(rows, pairs))


class _PairSquares(torch.autograd.Function):
    @staticmethod
    def forward(ctx: FunctionCtx, rows: Tensor, pairs: Integers) -> Tensor:
        from unweave.perception.squares import squared_distances

        ctx.save_for_backward(rows)
        cast(Any, ctx).pairs = pairs
        found = np.empty(len(pairs))
        squared_distances(rows.detach().contiguous().numpy(), np.ascontiguousarray(pairs), found)
        return torch.from_numpy(found)

    @staticmethod
    @once_differentiable
    def backward(  # pyright: ignore[reportIncompatibleMethodOverride]
        ctx: FunctionCtx, *gradients: Tensor
    ) -> tuple[Tensor, None]:
        (rows,) = cast(Any, ctx).saved_tensors
        laplacian = _laplacian(cast(Any, ctx).pairs, gradients[0].numpy(), len(rows))
        return torch.from_numpy(2 * (laplacian @ rows.detach().numpy())), None


def _laplacian(pairs: Integers, weights: np.ndarray, count: int) -> Any:
    """Return sum_p w_p (e_a - e_b)(e_a - e_b)^T: sparse, unless it has many nonzero entries."""
    one, other = pairs.T
    places = np.concatenate([one, other, one, other]), np.concatenate([one, other, other, one])
    values = np.concatenate([weights, weights, -weights, -weights])
    laplacian = coo_array((values, places), shape=(count, count)).tocsr().astype(np.float32)
    return laplacian.toarray() if DENSE * laplacian.nnz > count**2 else laplacian
