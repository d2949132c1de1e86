"""The unsupervised disentanglement ranking: do models find the same latents?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from unweave.errors import unknown
from unweave.metrics.correlation import standardised
from unweave.metrics.inputs import generator
from unweave.metrics.ranks import ranks
from unweave.selection.codes import informative_codes, off_diagonal
from unweave.selection.lasso import lasso

Kind = Literal["lasso", "spearman"]
Averaging = Literal["paper", "dlib"]
ALPHA = 0.1
"""Weight of the lasso's penalty on standardised codes, as in the paper."""


def udr(
    codes: Sequence[ArrayLike],
    kind: Kind = "lasso",
    seed: int = 0,
    *,
    kl: Sequence[ArrayLike] | None = None,
    averaging: Averaging = "paper",
) -> np.ndarray:
    r"""Unsupervised disentanglement ranking [Duan2020]_, in [0, 1]: does each latent have a counterpart elsewhere?

        UDR_j = median over the other models i of UDR_ij

    Models that disentangle find the same latents up to order and sign; others mix them differently for every seed. Use
    it on models that differ only in their seed, or on all models of a study (the paper's "all to all").

    Parameters
    ----------
    codes
        Codes (n, d_r) of the same n samples by two models or more; the numbers of latents may differ.
    kind
        How latents are compared, R(a, b). "lasso": coefficients (absolute) of the lasso, with weight 0.1, of each
        standardised latent b of model j on those of model i. "spearman": absolute rank correlations.
    seed
        Checked but not used, since nothing is drawn; every score of a selection takes a seed.
    kl
        Mean KL divergence (d_r,) of each latent, for every model: latents with at most 0.01 nats are left out. Without
        it, all latents that vary count, including dead latents of a VAE, whose means are noise.
    averaging
        "paper": the sum over both models' latents divided by their number. "dlib": the mean of the two models' means,
        as in disentanglement_lib; the same if both have equally many informative latents.

    Returns
    -------
    array
        One score per model (R,).

    Notes
    -----
    Permuted and sign-flipped copies of codes score 1 by "spearman" if their latents have no rank correlation, and
    exactly 0.9 by "lasso", whatever their correlations: the penalty subtracts 0.1 from the one coefficient. A model
    without an informative latent scores 0. The lasso is not symmetric: as in disentanglement_lib, model j's latents are
    predicted.

    References
    ----------
    .. [Duan2020] Duan et al., "Unsupervised Model Selection for Variational Disentangled Representation Learning", ICLR
       2020.

    Examples
    --------
    >>> import numpy as np
    >>> from unweave.selection import udr
    >>> codes = np.random.default_rng(0).normal(size=(1000, 2))
    >>> turned = codes @ [[0.8, 0.6], [-0.6, 0.8]]
    >>> udr([codes, codes[:, ::-1], turned]).round(2)
    array([0.65, 0.65, 0.41])
    """
    pairs = udr_pairs(codes, kind, seed, kl=kl, averaging=averaging)
    return np.median(off_diagonal(pairs), axis=0)


def check_choice(name: str, given: object, choices: Any) -> None:
    """Raise a `UsageError` for a value that is not in a `Literal`."""
    if given not in get_args(choices):
        raise unknown(f"{name} of UDR", str(given), get_args(choices))


def udr_pairs(
    codes: Sequence[ArrayLike],
    kind: Kind = "lasso",
    seed: int = 0,
    *,
    kl: Sequence[ArrayLike] | None = None,
    averaging: Averaging = "paper",
) -> np.ndarray:
    r"""Return the score of every pair of models [Duan2020]_; `udr` takes their medians.

        UDR_ij = (sum_b max_a R(a, b)^2 / sum_a R(a, b) + sum_a max_b R(a, b)^2 / sum_b R(a, b)) / (d_i + d_j)

    where a and b are the informative latents of models i and j, and d_i and d_j their numbers. A latent without any
    relation counts 0.

    Parameters
    ----------
    codes, kind, seed, kl, averaging
        As for `udr`.

    Returns
    -------
    array
        Scores (R, R) in [0, 1]; the diagonal is NaN. Entry (i, j) predicts the latents of j from those of i.

    Examples
    --------
    >>> import numpy as np
    >>> from unweave.selection import udr_pairs
    >>> codes = np.random.default_rng(0).normal(size=(1000, 2))
    >>> udr_pairs([codes, codes[:, ::-1]]).round(2)
    array([[nan, 0.9],
           [0.9, nan]])
    """
    check_choice("kind", kind, Kind)
    check_choice("averaging", averaging, Averaging)
    generator(seed, 0)
    models = informative_codes(codes, kl)
    correlations, parts = _correlations(models, kind)
    pairs = np.full((len(models), len(models)), np.nan)
    for i, rows in enumerate(parts):
        strengths = correlations[rows]
        if kind == "lasso":
            strengths = lasso(strengths[:, rows], strengths, ALPHA)
        for j, columns in enumerate(parts):
            if i != j:
                pairs[i, j] = _relative_strength(np.abs(strengths[:, columns]), averaging)
    return pairs


def _correlations(models: list[np.ndarray], kind: Kind) -> tuple[np.ndarray, list[slice]]:
    """Return the correlations of all latents of all models, and the slice of each model."""
    values = [ranks(each) if kind == "spearman" and each.size else each for each in models]
    unit = np.concatenate([standardised(each) for each in values], axis=1)
    ends = np.cumsum([each.shape[1] for each in models])
    parts = [slice(int(end) - each.shape[1], int(end)) for end, each in zip(ends, models, strict=True)]
    return unit.T @ unit, parts


def _relative_strength(strengths: np.ndarray, averaging: Averaging) -> float:
    """Return how clearly each latent has one counterpart, from strengths (d_i, d_j)."""
    if strengths.size == 0:
        return 0.0
    of_targets, of_sources = _single(strengths), _single(strengths.T)
    if averaging == "dlib":
        return float((of_targets.mean() + of_sources.mean()) / 2)
    return float((of_targets.sum() + of_sources.sum()) / (len(of_targets) + len(of_sources)))


def _single(strengths: np.ndarray) -> np.ndarray:
    """Return for each column its largest entry, squared, divided by its sum; 0 for a column of zeros."""
    total = strengths.sum(axis=0)
    return strengths.max(axis=0) ** 2 / np.where(total > 0, total, 1.0)
