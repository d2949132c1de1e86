"""The information of codes matched with single factors: the score that a later paper calls I_m."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from unweave.gaussian.im import correlations


class MatchedInformation(NamedTuple):
    """The score in nats, and the factor, by index, that each latent is matched with (None: with none)."""

    value: float
    factors: tuple[int | None, ...]


def matched_information(sigma_x: ArrayLike, sigma_xv: ArrayLike, sigma_v: ArrayLike) -> MatchedInformation:
    """Return the information of latents about the single factors they are matched with [Vu2026]_, in nats from 0 up.

        max over one-to-one matchings of latents i and factors j(i) of  sum over i of I(x_i; v_j(i))

    by the Hungarian method. The later paper also calls this I_m, but it has no groups: dependent factors need a latent
    each, and what they share is counted twice.

    Parameters
    ----------
    sigma_x
        Covariance of the codes (m, m); only its diagonal counts.
    sigma_xv
        Covariance of codes and factors (m, s).
    sigma_v
        Covariance of the factors (s, s).

    Returns
    -------
    MatchedInformation
        The score, and the factor of each latent.

    Examples
    --------
    >>> matched_information([[1.0, 0.0], [0.0, 1.0]], [[0.0, 0.8], [0.6, 0.0]], [[1.0, 0.0], [0.0, 1.0]]).factors
    (1, 0)
    """
    cross, _ = correlations(sigma_x, sigma_xv, sigma_v)
    return match(-0.5 * np.log1p(-(cross**2)))


def match(known: np.ndarray) -> MatchedInformation:
    """Match latents and factors by each latent's information about each factor, (m, s)."""
    from scipy.optimize import linear_sum_assignment

    codes, factors = linear_sum_assignment(known, maximize=True)
    partner = dict(zip(codes.tolist(), factors.tolist(), strict=True))
    return MatchedInformation(float(known[codes, factors].sum()), tuple(partner.get(i) for i in range(len(known))))
