"""Total correlation by a discriminator: the log-odds that codes are not shuffled."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.func import functional_call
from torch.nn import functional

from unweave.errors import UsageError
from unweave.penalties.checks import check_codes, check_discriminator
from unweave.penalties.precision import at_least_single


def density_ratio(discriminator: nn.Module, codes: Tensor) -> Tensor:
    r"""Total correlation of codes by the density-ratio trick [Kim2018]_, eq. 3, in nats.

        KL(q(z) || prod_j q(z_j)) ≈ E_q(z)[log D(z) - log (1 - D(z))]

    where D(z) is the probability that z is a code and not a row of shuffled latents. A discriminator that is trained
    together with the model estimates it (`density_ratio_loss`).

    Parameters
    ----------
    discriminator
        Maps codes (n, latents) to two logits (n, 2): for actual codes, and for shuffled ones.
    codes
        Floats (n, latents): samples of the posteriors, with a gradient; or (n, latents, k), if a latent is k numbers
        that belong together, such as the weights of its categories.

    Returns
    -------
    Tensor
        A scalar with a gradient for the codes, but none for the discriminator's weights.

    Notes
    -----
    Invariant to the order of rows. The estimate is only as good as the discriminator, and can be negative.

    References
    ----------
    .. [Kim2018] Kim and Mnih, "Disentangling by Factorising", ICML 2018.

    Examples
    --------
    >>> import torch
    >>> from unweave.penalties import density_ratio, density_ratio_loss
    >>> codes, others = torch.randn(16, 4, requires_grad=True), torch.randn(16, 4)
    >>> discriminator = torch.nn.Linear(4, 2)
    >>> density_ratio(discriminator, codes).backward()                      # the encoder's term
    >>> density_ratio_loss(discriminator, codes.detach(), others).backward()  # the discriminator's own
    """
    check_discriminator(discriminator)
    check_codes(codes, rows=1, vectors=True)
    weights = {name: weight.detach() for name, weight in discriminator.named_parameters()}
    logits = _two_logits(functional_call(discriminator, weights, codes), codes)
    return (logits[:, 0] - logits[:, 1]).mean()


def density_ratio_loss(discriminator: nn.Module, codes: Tensor, others: Tensor) -> Tensor:
    """Loss of the discriminator for `density_ratio`: the cross-entropy of distinguishing codes from shuffled codes.

    Parameters
    ----------
    discriminator
        Maps codes (n, latents) to two logits (n, 2).
    codes
        Floats (n, latents), detached from the encoder: class 0.
    others
        Codes of other images, (n, latents), whose latents are shuffled: class 1. The paper uses another batch.

    Returns
    -------
    Tensor
        A scalar in nats with a gradient for the discriminator's weights; log 2 if it cannot distinguish the two.

    Examples
    --------
    >>> import torch
    >>> from unweave.penalties import density_ratio_loss
    >>> blind = torch.nn.Linear(4, 2)
    >>> for weight in blind.parameters():
    ...     _ = torch.nn.init.zeros_(weight)
    >>> round(density_ratio_loss(blind, torch.randn(8, 4), torch.randn(8, 4)).item(), 4)
    0.6931
    """
    check_discriminator(discriminator)
    check_codes(codes, rows=1, vectors=True)
    check_codes(others, "others", rows=1, vectors=True)
    if others.shape != codes.shape:
        raise UsageError(f"others must have the shape of codes, {tuple(codes.shape)}, not {tuple(others.shape)}")
    both = torch.cat([codes, shuffle_latents(others)])
    classes = torch.arange(2, device=codes.device).repeat_interleave(len(codes))
    return functional.cross_entropy(_two_logits(discriminator(both), both), classes)


def shuffle_latents(codes: Tensor) -> Tensor:
    """Shuffle latents across images: latent j of row i is taken from row i + j.

    Rows are independent draws, so any permutation of each column works. This one needs no randomness, and no two
    latents of a row come from the same image as long as there are at least as many rows as latents.

    Parameters
    ----------
    codes
        Floats (n, latents), or (n, latents, k).

    Returns
    -------
    Tensor
        The shuffled codes, of the same shape.

    Examples
    --------
    >>> import torch
    >>> from unweave.penalties import shuffle_latents
    >>> shuffle_latents(torch.tensor([[1.0, 10.0], [2.0, 20.0], [3.0, 30.0]])).tolist()
    [[1.0, 20.0], [2.0, 30.0], [3.0, 10.0]]
    """
    check_codes(codes, rows=1, vectors=True)
    n, latents = codes.shape[:2]
    columns = torch.arange(latents, device=codes.device)
    rows = torch.arange(n, device=codes.device)[:, None] + columns
    return codes[rows % n, columns]


def _two_logits(logits: Tensor, codes: Tensor) -> Tensor:
    """Return a discriminator's logits, in float32 at least, after checking that there are two for each code."""
    if not isinstance(logits, Tensor) or logits.shape != (len(codes), 2):
        kind = tuple(logits.shape) if isinstance(logits, Tensor) else type(logits).__name__
        raise UsageError(f"the discriminator must give two logits for each code, not {kind}")
    return at_least_single(logits)
