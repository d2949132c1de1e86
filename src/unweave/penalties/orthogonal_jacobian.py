"""Orthogonal columns of a decoder's Jacobian: each latent moves the image in a direction of its own."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from unweave.errors import UsageError
from unweave.penalties.checks import check_codes, check_count
from unweave.penalties.normalisation import WrittenOut


def orthogonal_jacobian(
    decode: Callable[[Tensor], Tensor],
    z: Tensor,
    *,
    columns: int | None = None,
    generator: torch.Generator | None = None,
) -> Tensor:
    r"""How far the columns of a decoder's Jacobian are from orthogonal, in [0, 1].

        mean over images and pairs i < j of cos^2(J_i, J_j),    J_i = d decode(z) / d z_i

    0 where the columns are orthogonal, 1 where they are all parallel. A VAE with a diagonal posterior prefers
    orthogonal columns [Rolinek2019]_; [Wei2021]_ add their products as a penalty.

    Parameters
    ----------
    decode
        Codes (n, latents) to outputs (n, …), each row from its own code alone: a decoder, or `model.decode`.
    z
        Floats (n, latents), where the Jacobian is taken.
    columns
        How many latents are drawn at each call: the cost of a call is in proportion. None: all.
    generator
        A generator on the CPU, from which these come. By default torch's own.

    Returns
    -------
    Tensor
        A scalar with a gradient by the decoder's weights, and by z where z has one. 0 with a single latent.

    Notes
    -----
    Unchanged by the scale and order of latents and of outputs. A column that vanishes counts as orthogonal to the
    others, with a gradient of zero. The columns are exact. The decoder's layers need second derivatives, as nearly all
    of torch's have.

    References
    ----------
    .. [Rolinek2019] Rolínek, Zietlow and Martius, "Variational Autoencoders Pursue PCA Directions (by Accident)", CVPR
       2019.
    .. [Wei2021] Wei et al., "Orthogonal Jacobian Regularization for Unsupervised Disentanglement in Image Generation",
       ICCV 2021.

    Examples
    --------
    >>> import torch
    >>> from unweave.penalties import orthogonal_jacobian
    >>> skewed = torch.tensor([[1.0, 0.0], [1.0, 1.0]])
    >>> round(orthogonal_jacobian(lambda z: z @ skewed, torch.zeros(4, 2)).item(), 6)
    0.5
    """
    check_codes(z, "z", rows=1)
    n, latents = z.shape
    if columns is not None:
        check_count(columns, "columns", 2)
    chosen = torch.arange(latents)
    if columns is not None and columns < latents:
        chosen = torch.randperm(latents, generator=generator)[:columns].sort().values
    if len(chosen) < 2:
        return z.new_zeros(())
    with torch.autocast(z.device.type, enabled=False):  # cosines of small columns need every digit
        unit = _unit_columns(jacobian_columns(decode, z, chosen))
        cosines = torch.einsum("inp,jnp->nij", unit, unit)
    pairs = len(chosen) * (len(chosen) - 1)
    return (cosines.square().sum() - cosines.diagonal(dim1=1, dim2=2).square().sum()) / (n * pairs)


def jacobian_columns(decode: Callable[[Tensor], Tensor], z: Tensor, chosen: Tensor) -> Tensor:
    """Return the derivatives of a decoder's outputs by some latents: (latents chosen, n, outputs).

    The gradient of u · decode(z) by z_i is J_i · u, whose gradient by u is the column J_i: two reverse passes, at about
    the cost of torch's forward mode, which fewer layers have.
    """
    with torch.enable_grad(), WrittenOut():
        z = z if z.requires_grad else z.detach().requires_grad_()
        output = decode(z)
        if not isinstance(output, Tensor) or output.ndim < 2 or len(output) != len(z):
            kind = tuple(output.shape) if isinstance(output, Tensor) else type(output).__name__
            raise UsageError(f"decode must turn {len(z)} codes into {len(z)} outputs, (n, …), not {kind}")
        u = torch.zeros_like(output, requires_grad=True)
        (products,) = torch.autograd.grad(output, z, u, create_graph=True, allow_unused=True)
        if products is None:  # the outputs are the same for all codes
            return output.new_zeros(len(chosen), *output.flatten(1).shape)
        columns = [torch.autograd.grad(products[:, i].sum(), u, create_graph=True)[0] for i in chosen.tolist()]
        return torch.stack(columns).flatten(2)


def _unit_columns(jacobian: Tensor) -> Tensor:
    """Return columns (chosen, n, outputs) at length 1; those that vanish stay zero."""
    largest = jacobian.detach().abs().amax(2, keepdim=True)
    alive = largest > 0
    # Lengths are taken at a common scale, where no square underflows. The scale does not change a cosine, so it needs
    # no gradient.
    scaled = jacobian / torch.where(alive, largest, 1.0)
    squared = scaled.square().sum(2, keepdim=True)
    return torch.where(alive, scaled, 0.0) / torch.where(alive, squared, 1.0).sqrt()
