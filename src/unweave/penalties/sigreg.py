"""Sketched isotropic Gaussian regularisation: codes should be standard normal in every direction."""

from __future__ import annotations

import torch
from torch import Tensor

from unweave.penalties.checks import check_codes, check_count, check_generator, check_positive
from unweave.penalties.precision import at_least_single


def sigreg(
    codes: Tensor,
    *,
    directions: int = 256,
    points: int = 17,
    limit: float = 5.0,
    generator: torch.Generator | None = None,
) -> Tensor:
    r"""Deviation of codes from N(0, I): the Epps-Pulley statistic of random projections [Balestriero2025]_.

        mean over directions u of  n ∫ |1/n sum_k exp(i t u·z_k) - exp(-t^2 / 2)|^2 exp(-t^2 / 2) dt

    over t from -limit to limit, by the trapezoid rule. A projection of standard normal codes is standard normal, so its
    empirical characteristic function is near exp(-t^2 / 2). Mean, scale, correlation and shape all count.

    Parameters
    ----------
    codes
        Floats (n, latents): samples or means of any encoder.
    directions
        Number of unit vectors to project on, drawn at each call.
    points
        Number of nodes of the trapezoid rule.
    limit
        End of the integral; beyond 5 its weight is below 1e-5.
    generator
        Generator of the directions, on the CPU, so they are the same on every device; by default torch's own.

    Returns
    -------
    Tensor
        A scalar of at least 0, with a gradient. For codes from N(0, I) its expected value is near ∫ (1 - exp(-t^2))
        exp(-t^2 / 2) dt = 1.06, for any n: the factor n makes it a test statistic.

    Notes
    -----
    Invariant to the order of rows, and in expectation to rotations of the codes. The paper's listing uses 17 points on
    [-5, 5]; later versions of the authors' package use 33 on [-3, 3]: `points=33, limit=3`.

    References
    ----------
    .. [Balestriero2025] Balestriero and LeCun, "LeJEPA: Provable and Scalable Self-Supervised Learning Without the
       Heuristics", arXiv 2511.08544, 2025.

    Examples
    --------
    >>> import torch
    >>> from unweave.penalties import sigreg
    >>> draw = torch.Generator().manual_seed(0)
    >>> codes = torch.randn(256, 8, generator=draw)
    >>> bool(sigreg(codes, generator=draw) < sigreg(3 * codes, generator=draw))
    True
    """
    check_codes(codes, rows=1)
    check_generator(generator)
    directions = check_count(directions, "directions")
    points, limit = check_count(points, "points", 3), check_positive(limit, "limit")
    with torch.autocast(codes.device.type, enabled=False):  # a product in bfloat16 would be too coarse
        codes = at_least_single(codes)
        projected = codes @ draw_directions(codes.shape[1], directions, generator).to(codes)  # (n, directions)
        # The integrand is even: the nodes above 0 count twice. At t = 0 it vanishes.
        t = torch.linspace(-limit, limit, points, dtype=torch.float64)[(points + 1) // 2 :]
        normal = (-0.5 * t.square()).exp()
        weights = (2 * limit / (points - 1)) * 2 * normal
        weights[-1] /= 2
        t, normal, weights = t.to(codes), normal.to(codes), weights.to(codes)
        angles = projected[:, :, None] * t  # (n, directions, nodes)
        apart = (angles.cos().mean(0) - normal).square() + angles.sin().mean(0).square()
        return len(codes) * (apart @ weights).mean()


def draw_directions(latents: int, count: int, generator: torch.Generator | None) -> Tensor:
    """Return unit vectors (latents, count) on the CPU, uniform on the sphere."""
    normal = torch.randn(latents, count, generator=generator, dtype=torch.float64)
    return normal / normal.norm(dim=0)
