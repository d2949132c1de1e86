"""Factorised support with soft extremes: every code gets a gradient."""

from __future__ import annotations

import torch
from torch import Tensor

from unweave.penalties.checks import check_codes, check_count, check_generator, check_positive
from unweave.penalties.latent_pairs import draw_pairs
from unweave.penalties.precision import at_least_single

STEEPEST = 60.0
"""Largest distance, in units of the temperature, whose exponential can still be represented in float32 products."""


def soft_hausdorff_support(
    codes: Tensor,
    *,
    temperature: float = 1.0,
    pairs: int | None = None,
    generator: torch.Generator | None = None,
) -> Tensor:
    r"""`hausdorff_support` with soft extremes, as in the code of [Roth2023]_.

    With d_abc = |(z_ai, z_bj) - (z_ci, z_cj)|^2 for rows a, b, c and temperature T,

        sum_{i<j} sum_ab s_ab m_ab,    m_ab = sum_c w_abc d_abc
        w_abc = softmax over c of -d_abc / T,    s_ab = softmax over (a, b) of m_ab / T

    that is, softmax-weighted means replace the minimum and then the maximum.

    Parameters
    ----------
    codes
        Floats (n, latents): the posterior means of a batch.
    temperature
        T, in units of squared distances. Smaller values are closer to `hausdorff_support`.
    pairs, generator
        As in `hausdorff_support`.

    Returns
    -------
    Tensor
        A scalar of at least 0, with a gradient for every code. Unlike the hard distance it does not vanish on a full
        grid, because the soft minimum is above the minimum.

    Notes
    -----
    The weights factorise, w_abc ∝ exp(-(z_ai - z_ci)^2 / T) exp(-(z_bj - z_cj)^2 / T), so all m_ab take three matrix
    products, and memory n^2 for each pair instead of n^3. Codes that are far apart compared with T are computed in
    logarithms, one pair after another. It has the invariances of `hausdorff_support`. The authors' code has a separate
    temperature for each extreme, both 1 by default; here there is one.

    Examples
    --------
    >>> import torch
    >>> from unweave.penalties import hausdorff_support, soft_hausdorff_support
    >>> codes = torch.randn(16, 3, generator=torch.Generator().manual_seed(0))
    >>> hard, soft = hausdorff_support(codes), soft_hausdorff_support(codes, temperature=1e-3)
    >>> bool(abs(hard - soft) < 0.01 * hard)
    True
    """
    check_codes(codes)
    check_generator(generator)
    temperature = check_positive(temperature, "temperature")
    if pairs is not None:
        pairs = check_count(pairs, "pairs")
    drawn = draw_pairs(codes.shape[1], pairs, generator).to(codes.device)
    first, second = at_least_single(codes).T[drawn]  # (pairs, n) each
    with torch.autocast(codes.device.type, enabled=False):  # a product in bfloat16 would be too coarse
        nearest = (_near if _is_near(first, second, temperature) else _far)(first, second, temperature)
    nearest = nearest.flatten(1)  # (pairs, n * n)
    return ((nearest / temperature).softmax(1) * nearest).sum()


def _is_near(first: Tensor, second: Tensor, temperature: float) -> bool:
    """Return whether the exponentials of all smallest distances can be represented.

    The distance of the point (a, b) from the code a is at most the range of the second latent, and from b that of the
    first.
    """
    if not first.numel():
        return True
    widths = [(x.amax(1) - x.amin(1)).detach() for x in (first, second)]
    return bool((torch.minimum(*widths).square() < STEEPEST * temperature).all())


def _near(first: Tensor, second: Tensor, temperature: float) -> Tensor:
    """Return the soft distance of every point (a, b) from the codes, (pairs, n, n), by matrix products."""
    x, y = _squares(first), _squares(second)  # (pairs, n, n): from a to c, from b to c
    u, v = (-x / temperature).exp(), (-y / temperature).exp()
    weighted = (x * u) @ v.mT + u @ (y * v).mT
    return weighted / (u @ v.mT)


def _far(first: Tensor, second: Tensor, temperature: float) -> Tensor:
    """Return the same by softmax, for any distances."""
    found = []
    for x, y in zip(_squares(first), _squares(second), strict=True):  # one at a time: a pair takes n^3 numbers
        distances = x[:, None] + y  # (a, b, c)
        found.append(((-distances / temperature).softmax(2) * distances).sum(2))
    return torch.stack(found)


def _squares(values: Tensor) -> Tensor:
    """Return the squared differences (pairs, n, n) of values (pairs, n)."""
    return (values[:, :, None] - values[:, None]).square()
