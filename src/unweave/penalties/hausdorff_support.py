"""Factorised support: every combination of two latents' values should be near a code."""

from __future__ import annotations

import torch
from torch import Tensor

from unweave.penalties.checks import check_codes, check_count, check_generator
from unweave.penalties.latent_pairs import draw_pairs
from unweave.penalties.precision import at_least_single


def hausdorff_support(codes: Tensor, *, pairs: int | None = None, generator: torch.Generator | None = None) -> Tensor:
    r"""Distance of the support of codes from the product of the supports of single latents [Roth2023]_, eq. 3.

        sum_{i<j} max_{(a, b) in Z_i x Z_j} min_{z in Z} |(a, b) - (z_i, z_j)|^2

    Z are the codes, Z_i their values of latent i. This is the squared Hausdorff distance between the codes of two
    latents and the grid that their values span, summed over pairs of latents.

    Parameters
    ----------
    codes
        Floats (n, latents): the posterior means of a batch.
    pairs
        Number of pairs of latents to draw at each call, without replacement; the authors' code draws 25. None: all.
    generator
        Generator of these pairs, on the CPU; by default torch's own.

    Returns
    -------
    Tensor
        A scalar of at least 0, with a gradient. It is 0 if every combination of two latents' values occurs, even if
        unevenly, and if there is a single latent.

    Notes
    -----
    For each pair, three codes have a gradient. Invariant to the order of rows, to shifts and, with all pairs, to the
    order of latents. Memory and time grow with n^3; `soft_hausdorff_support` is smoother and faster.

    References
    ----------
    .. [Roth2023] Roth, Ibrahim, Akata, Vincent and Bouchacourt, "Disentanglement of Correlated Factors via Hausdorff
       Factorized Support", ICLR 2023.

    Examples
    --------
    >>> import torch
    >>> from unweave.penalties import hausdorff_support
    >>> corners = torch.tensor([[0.0, 0.0], [0.0, 1.0], [3.0, 0.0]])
    >>> hausdorff_support(corners).item()          # (3, 1) is missing, and is 1 away from (3, 0)
    1.0
    """
    check_codes(codes)
    check_generator(generator)
    if pairs is not None:
        pairs = check_count(pairs, "pairs")
    drawn = draw_pairs(codes.shape[1], pairs, generator).to(codes.device)
    return support_distances(at_least_single(codes), drawn).sum()


def support_distances(codes: Tensor, pairs: Tensor) -> Tensor:
    """Return for each pair (i, j) the largest squared distance of a point of Z_i x Z_j from its nearest code.

    Only three codes have a gradient: the two that form the farthest point, and the code nearest to it. They are found
    first, without a gradient.
    """
    first, second = codes.T[pairs]  # (pairs, n) each
    a, b, c = _farthest(first.detach(), second.detach())
    return (first.gather(1, a) - first.gather(1, c)).square() + (second.gather(1, b) - second.gather(1, c)).square()


def _farthest(first: Tensor, second: Tensor) -> Tensor:
    """Return for each pair the point (first_a, second_b) farthest from all codes, and its nearest code c: a, b, c."""
    places = first.new_empty((3, len(first), 1), dtype=torch.long)
    for pair, (x, y) in enumerate(zip(first, second, strict=True)):  # one at a time: a pair takes n^3 numbers
        distances = (x[:, None] - x).square()[:, None] + (y[:, None] - y).square()  # (a, b, c)
        nearest, codes = distances.flatten(0, 1).min(1)
        point = nearest.argmax(0, keepdim=True)
        places[:, pair] = torch.stack([point // len(x), point % len(x), codes[point]])
    return places
