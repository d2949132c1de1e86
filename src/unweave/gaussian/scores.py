"""Scores of linear-Gaussian codes, exact from covariances, for many cells at once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import product

import numpy as np

from unweave.errors import UsageError
from unweave.gaussian.im import TIE, im_score
from unweave.gaussian.information import tables
from unweave.gaussian.matching import match
from unweave.gaussian.model import Groups, World, as_partition

MOST_ASSIGNMENTS = 5000
"""Up to this many assignments, m**s, all cells evaluate all of them together; above, cells are searched one by one."""
CHUNK = 2**21
"""Values of assignments held at once."""


@dataclass(frozen=True, eq=False)
class Scores:
    """The scores of cells; every array has one entry for each cell, `im_groups` and `sap_groups` one partition."""

    im: np.ndarray
    """I_m [Vu2024]_, eq. 5 and 6, in nats."""
    im_groups: tuple[tuple[frozenset[int], ...], ...]
    """The group of factors of each latent."""
    sap: np.ndarray
    """SAP [Kumar2018]_ with squared correlations (eq. 7 and 8)."""
    sap_groups: tuple[tuple[frozenset[int], ...], ...]
    """The factors that correlate best with each latent."""
    mig: np.ndarray
    dci_disentanglement: np.ndarray
    dci_completeness: np.ndarray
    dci_informativeness: np.ndarray
    total_correlation: np.ndarray
    matched: np.ndarray
    """Information of latents matched with single factors [Vu2026]_, in nats."""

    def succeeded(self, truth: Groups) -> tuple[np.ndarray, np.ndarray]:
        r"""Return in which cells I_m, and SAP, find the true groups of factors.

        I_m succeeds where its best partition is the truth [Vu2024]_; which latent has which group does not matter. The
        paper does not say what counts as success for SAP. Here SAP also gives a partition: eq. 8 names for every factor
        j the latent i(j) that correlates best with it, and factors with the same latent form a group. Both scores then
        follow one rule, without a threshold.
        """
        im, sap = (
            np.array([as_partition(groups) == truth for groups in found], dtype=bool)
            for found in (self.im_groups, self.sap_groups)
        )
        return im, sap


def score(world: World, sigma_x: np.ndarray, sigma_xv: np.ndarray, *, tie: float = TIE) -> Scores:
    """Score codes in a world by their covariances, for many cells at once.

    Parameters
    ----------
    world
        The world that the codes are from.
    sigma_x
        Covariances of the codes (cells, m, m).
    sigma_xv
        Covariances of codes and factors (cells, m, s).
    tie
        Assignments within this many nats of the best I_m count as equal, and the one with the fewest groups is taken.
        With 0 the largest value decides, even among latents with hardly any information.

    Returns
    -------
    Scores
        All scores, with one entry for each cell.

    Notes
    -----
    MIG [Chen2018]_ is the mean over factors of the gap in I(x_i; v_k) between the best latent and the next, as a share
    of I(x; v_k), because the entropy of a continuous factor would depend on its unit. DCI [Eastwood2018]_ has the
    absolute standardised regression coefficients as importances, and informativeness is the mean over factors of 1 -
    sqrt(1 - R^2). The total correlation [Watanabe1960]_ is that of the codes, in nats.

    Examples
    --------
    >>> world = SCENARIOS["3-in-2"].world()
    >>> found = blahut_arimoto(world, gamma=[1.0, 0.99], lam=0.0)
    >>> scores = score(world, *world.seen_by(found.encoder))
    >>> scores.im.shape, scores.sap.shape              # one entry for each cell
    ((2,), (2,))
    """
    spread, width = np.sqrt(np.diag(world.sigma_v)), np.sqrt(np.diagonal(sigma_x, axis1=1, axis2=2))
    correlations = sigma_xv / width[:, :, None] / spread  # (cells, m, s)
    codes = sigma_x / width[:, :, None] / width[:, None, :]
    squared = np.minimum(correlations**2, 1.0)
    weights = np.linalg.solve(codes, correlations)  # of standardised codes, to predict standardised factors
    explained = np.clip((weights * correlations).sum(axis=1), 0.0, 1 - 1e-15)  # R^2 of all latents, (cells, s)
    values, groups = _im_of_cells(correlations, world.sigma_v / spread[:, None] / spread, tie)
    return Scores(
        im=values,
        im_groups=groups,
        sap=_gap(squared).mean(axis=1),
        sap_groups=_owned(squared),
        mig=_share(_gap(_nats(squared)), _nats(explained)).mean(axis=1),
        dci_disentanglement=_disentanglement(np.abs(weights)),
        dci_completeness=_disentanglement(np.abs(weights).swapaxes(1, 2)),
        dci_informativeness=(1 - np.sqrt(1 - explained)).mean(axis=1),
        total_correlation=np.maximum(-0.5 * np.linalg.slogdet(codes)[1], 0.0),
        matched=np.array([match(known).value for known in _nats(squared)]),
    )


def _nats(explained: np.ndarray) -> np.ndarray:
    """Return the information, in nats, of a Gaussian that explains this share of another's variance."""
    return -0.5 * np.log1p(-np.minimum(explained, 1 - 1e-15))


def _gap(table: np.ndarray) -> np.ndarray:
    """Return the largest minus the second largest entry over latents: (cells, m, s) to (cells, s)."""
    if table.shape[1] == 1:
        return table[:, 0]
    ordered = np.partition(table, -2, axis=1)
    return ordered[:, -1] - ordered[:, -2]


def _share(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    return np.divide(part, whole, out=np.zeros_like(part), where=whole > 0)


def _owned(table: np.ndarray) -> tuple[tuple[frozenset[int], ...], ...]:
    """Return, for every cell, the columns whose largest entry is in each row."""
    m, s = table.shape[1:]
    return tuple(
        tuple(frozenset(k for k in range(s) if owners[k] == i) for i in range(m))
        for owners in table.argmax(axis=1).tolist()
    )


def _disentanglement(importance: np.ndarray) -> np.ndarray:
    """Return D of DCI of importances (cells, d, k); 0 where nothing is used, 1 where there is one column."""
    total = importance.sum(axis=(1, 2))
    if importance.shape[2] == 1:
        return (total > 0).astype(np.float64)
    rows = importance.sum(axis=2)
    shares = _share(importance, np.broadcast_to(rows[:, :, None], importance.shape))
    entropies = -(shares * np.log(np.where(shares > 0, shares, 1.0))).sum(axis=2)
    lacking = _share((rows * entropies).sum(axis=1), total * np.log(importance.shape[2]))
    return np.where(total > 0, np.clip(1 - lacking, 0.0, 1.0), 0.0)


def _im_of_cells(
    cross: np.ndarray, factors: np.ndarray, tie: float
) -> tuple[np.ndarray, tuple[tuple[frozenset[int], ...], ...]]:
    """Return I_m of every cell, and its groups, from correlations (cells, m, s) and (s, s)."""
    m, s = cross.shape[1:]
    if m**s > MOST_ASSIGNMENTS:
        if tie != TIE:
            raise UsageError(f"tie={tie:g} needs at most {MOST_ASSIGNMENTS:,} assignments, not {m}**{s}: leave out tie")
        found = [im_score(np.eye(m), each, factors) for each in cross]  # only the variances of the codes count
        return np.array([score.value for score in found]), tuple(score.groups for score in found)
    sets, groups = _assignments(s, m)
    known, entropy = tables(cross.reshape(-1, s), factors)
    known = known.reshape(-1, m, 2**s)
    penalties = np.zeros(len(sets))
    for i in range(m):
        for j in range(i):
            penalties += np.maximum(entropy[sets[:, i]] + entropy[sets[:, j]] - entropy[sets[:, i] | sets[:, j]], 0.0)
    best, chosen = np.empty(len(known)), np.empty(len(known), dtype=int)
    step = max(1, CHUNK // len(sets))
    for first in range(0, len(known), step):
        part = slice(first, first + step)
        values = sum(known[part, i][:, sets[:, i]] for i in range(m)) - penalties  # (cells, assignments)
        best[part] = values.max(axis=1)
        chosen[part] = (values >= best[part, None] - tie).argmax(axis=1)  # the first, in the order of ties
    return np.maximum(best, 0.0), tuple(groups[k] for k in chosen.tolist())


@lru_cache(maxsize=8)
def _assignments(s: int, m: int) -> tuple[np.ndarray, tuple[tuple[frozenset[int], ...], ...]]:
    """Return all assignments of s factors to m latents as bit masks (ways, m) and as groups, ties as in `im_score`."""

    def rank(codes: tuple[int, ...]) -> tuple[int, list[int], tuple[int, ...]]:
        opened = list(dict.fromkeys(codes))
        return len(opened), [opened.index(code) for code in codes], codes

    ways = sorted(product(range(m), repeat=s), key=rank)
    sets = np.array([[sum(1 << k for k in range(s) if way[k] == i) for i in range(m)] for way in ways])
    groups = tuple(tuple(frozenset(k for k in range(s) if way[k] == i) for i in range(m)) for way in ways)
    return sets, groups
