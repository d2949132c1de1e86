"""Total correlation by a discriminator: the log-odds that codes are codes and not shuffled ones."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.func import functional_call
from torch.nn import functional

from unweave.errors import UsageError
from unweave.penalties.checks import check_codes


def density_ratio(discriminator: nn.Module, codes: Tensor) -> Tensor:
    r"""Total correlation of codes by the density-ratio trick [Kim2018]_, eq. 3, in nats.

        KL(q(z) || prod_j q(z_j)) ≈ E_q(z)[log D(z) - log (1 - D(z))]

    where D(z) is the probability that z is a code and not a row of shuffled latents, as a discriminator that is trained
    beside the model estimates it (`density_ratio_loss`).

    Parameters
    ----------
    discriminator
        Codes (n, latents) to two logits (n, 2): that they are codes, and that they are shuffled.
    codes
        Floats (n, latents): samples of the posteriors, with a gradient; or (n, latents, k), where a latent is k numbers
        that stay together, such as the weights of its categories.

    Returns
    -------
    Tensor
        A scalar with a gradient by the codes, and none by the discriminator's weights.

    Notes
    -----
    Unchanged by the order of rows. The estimate is as good as the discriminator, and can be negative.

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
    check_codes(codes, rows=1, vectors=True)
    weights = {name: weight.detach() for name, weight in discriminator.named_parameters()}
    logits = _two_logits(functional_call(discriminator, weights, codes), codes).float()
    return (logits[:, 0] - logits[:, 1]).mean()


def density_ratio_loss(discriminator: nn.Module, codes: Tensor, others: Tensor) -> Tensor:
    """What the discriminator of `density_ratio` minimises: the cross-entropy of telling codes from shuffled ones.

    Parameters
    ----------
    discriminator
        Codes (n, latents) to two logits (n, 2).
    codes
        Floats (n, latents), detached from the encoder: class 0.
    others
        Codes of other images, (n, latents): class 1, once their latents are shuffled. The paper takes another batch.

    Returns
    -------
    Tensor
        A scalar in nats with a gradient by the discriminator's weights; log 2 where it cannot tell them apart.

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
    check_codes(codes, rows=1, vectors=True)
    check_codes(others, "others", rows=1, vectors=True)
    if others.shape != codes.shape:
        raise UsageError(f"others must have the shape of codes, {tuple(codes.shape)}, not {tuple(others.shape)}")
    both = torch.cat([codes, shuffle_latents(others)])
    classes = torch.arange(2, device=codes.device).repeat_interleave(len(codes))
    return functional.cross_entropy(_two_logits(discriminator(both), both), classes)


def shuffle_latents(codes: Tensor) -> Tensor:
    """Codes whose latents come from different images each: latent j of row i is that of row i + j.

    Rows are independent draws, so that any permutations of the columns do. These need no randomness, and no two
    latents of a row share an image as long as there are as many rows as latents.

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
    """Return a discriminator's logits, if there are two for each code."""
    if logits.shape != (len(codes), 2):
        raise UsageError(f"the discriminator must give two logits for each code, not {tuple(logits.shape)}")
    return logits
