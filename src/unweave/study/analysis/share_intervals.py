r"""The interval of a share of variance, from the noncentral F distribution.

For :math:`N` runs in :math:`G` groups, :math:`F = \frac{R^2}{1 - R^2} \frac{N - G}{G - 1}` has a noncentral F
distribution whose noncentrality :math:`\lambda` is :math:`N \rho^2 / (1 - \rho^2)` for groups that explain the share
:math:`\rho^2`. The two :math:`\lambda` under which :math:`F` is the 97.5th and the 2.5th percentile are the ends
[Steiger2004]_. Resampling would not work: runs drawn twice make a cell look less varied than it is.
"""

from __future__ import annotations


def share_interval(share: float, runs: int, groups: int) -> tuple[float, float]:
    """Return the 95 % interval of the share of variance that groups explain.

    Parameters
    ----------
    share
        The R² of the runs, not adjusted.
    runs, groups
        How many there are.

    Returns
    -------
    tuple
        low and high, within [0, 1]; nan if each run is a group, or there is one group.

    Examples
    --------
    >>> [round(end, 2) for end in share_interval(0.26, 1800, 6)]
    [0.23, 0.29]
    """
    from scipy.stats import f as central

    inner, within = groups - 1, runs - groups
    if inner < 1 or within < 1 or not 0 <= share <= 1:
        return float("nan"), float("nan")
    if share == 1:
        return 1.0, 1.0
    found = share / (1 - share) * within / inner
    if float(central.cdf(found, inner, within)) <= 0.025:
        return 0.0, 0.0
    low = _noncentrality(found, inner, within, 0.975)
    high = _noncentrality(found, inner, within, 0.025)
    return low / (low + runs), high / (high + runs)


def _noncentrality(found: float, inner: int, within: int, chance: float) -> float:
    """Return the noncentrality under which F is at most the value found with this probability; 0 if there is none."""
    from scipy.optimize import brentq
    from scipy.special import ncfdtr
    from scipy.stats import f as central

    if float(central.cdf(found, inner, within)) <= chance:
        return 0.0
    upper = 1.0
    while ncfdtr(inner, within, upper, found) > chance:
        upper *= 2
    return float(brentq(lambda noncentrality: ncfdtr(inner, within, noncentrality, found) - chance, 0, upper))  # pyright: ignore[reportArgumentType]
