"""Orthogonal columns of a decoder's Jacobian: each latent should move the image in a different direction."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from unweave.errors import UsageError
from unweave.penalties.checks import check_codes, check_count, check_generator
from unweave.penalties.normalisation import WrittenOut
from unweave.penalties.off_diagonal import off_diagonal_squares
from unweave.penalties.precision import at_least_single


def orthogonal_jacobian(
    decode: Callable[[Tensor], Tensor],
    z: Tensor,
    *,
    columns: int | None = None,
    generator: torch.Generator | None = None,
) -> Tensor:
    r"""Deviation of the columns of a decoder's Jacobian from orthogonality, in [0, 1].

        mean over images and pairs i < j of cos^2(J_i, J_j),    J_i = d decode(z) / d z_i

    It is 0 if the columns are orthogonal, 1 if they are all parallel. A VAE with a diagonal posterior prefers
    orthogonal columns [Rolinek2019]_; [Wei2021]_ add the products of columns as a penalty.

    Parameters
    ----------
    decode
        Maps codes (n, latents) to outputs (n, …), each row only from its own code: a decoder, or `model.decode`.
    z
        Floats (n, latents): the codes at which the Jacobian is computed.
    columns
        Number of latents to draw at each call; the cost is proportional to it. None: all.
    generator
        Generator of these draws, on the CPU; by default torch's own.

    Returns
    -------
    Tensor
        A scalar with a gradient for the decoder's weights, and for z if z requires one. 0 with a single latent.

    Notes
    -----
    Invariant to the order and scale of latents, and to the order and common scale of outputs. A zero column counts as
    orthogonal to the others, with a gradient of zero. The columns are exact. The decoder's layers need second
    derivatives, which nearly all torch layers have.

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
    check_generator(generator)
    n, latents = z.shape
    if columns is not None:
        columns = check_count(columns, "columns", 2)
    chosen = torch.arange(latents)
    if columns is not None and columns < latents:
        chosen = torch.randperm(latents, generator=generator)[:columns].sort().values
    if len(chosen) < 2:
        return at_least_single(z).new_zeros(())
    with torch.autocast(z.device.type, enabled=False):  # cosines of small columns need every digit
        unit = _unit_columns(at_least_single(jacobian_columns(decode, z, chosen)))
        cosines = torch.einsum("inp,jnp->nij", unit, unit)
    pairs = len(chosen) * (len(chosen) - 1)
    return off_diagonal_squares(cosines) / (n * pairs)


def jacobian_columns(decode: Callable[[Tensor], Tensor], z: Tensor, chosen: Tensor) -> Tensor:
    """Return the derivatives of a decoder's outputs with respect to some latents: (latents chosen, n, outputs).

    The gradient of u · decode(z) with respect to z_i is J_i · u, whose gradient with respect to u is the column J_i.
    The two reverse passes cost about as much as torch's forward mode, which fewer layers support.
    """
    with torch.inference_mode(False), torch.enable_grad(), WrittenOut():
        z = z.clone() if z.is_inference() else z  # such a tensor can have no gradient
        z = z if z.requires_grad else z.detach().requires_grad_()
        output = _decoded(decode, z)
        u = torch.zeros_like(output, requires_grad=True)
        (products,) = torch.autograd.grad(output, z, u, create_graph=True, allow_unused=True)
        if products is None:  # the outputs depend on weights, but not on the codes
            return output.new_zeros(len(chosen), *output.flatten(1).shape)
        columns = [torch.autograd.grad(products[:, i].sum(), u, create_graph=True)[0] for i in chosen.tolist()]
        return torch.stack(columns).flatten(2)


def _decoded(decode: Callable[[Tensor], Tensor], z: Tensor) -> Tensor:
    """Return the outputs for codes z, or raise a `UsageError` if they are none that can be differentiated."""
    output = decode(z)
    if not isinstance(output, Tensor) or output.ndim < 2 or len(output) != len(z):
        kind = tuple(output.shape) if isinstance(output, Tensor) else type(output).__name__
        raise UsageError(f"decode must turn {len(z)} codes into {len(z)} outputs, (n, …), not {kind}")
    if not output.requires_grad:
        raise UsageError("decode must be differentiable, but its outputs have no gradient: avoid detach and no_grad")
    return output


def _unit_columns(jacobian: Tensor) -> Tensor:
    """Return columns (chosen, n, outputs) scaled to length 1; zero columns stay zero."""
    largest = jacobian.detach().abs().amax(2, keepdim=True)
    alive = largest != 0  # a NaN is alive: it must reach the result
    # Lengths are computed at a common scale, where no square underflows. The scale does not change a cosine, so it
    # needs no gradient.
    scaled = jacobian / torch.where(alive, largest, 1.0)
    squared = scaled.square().sum(2, keepdim=True)
    return torch.where(alive, scaled, 0.0) / torch.where(alive, squared, 1.0).sqrt()
