"""The FactorVAE score: the latent that varies least tells which factor is fixed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from unweave.data.dataset import Dataset
from unweave.metrics.codebook import Encode
from unweave.metrics.inputs import DRAW, generator, whole_number
from unweave.metrics.metric import metric
from unweave.metrics.one_hot import OneHot
from unweave.metrics.pool import Source, open_source, resampled
from unweave.metrics.resampling import Sampled
from unweave.metrics.voting import active, batch_variances, by_majority, no_votes, variance_of


@metric(
    "Kim & Mnih 2018",
    "modularity",
    fast={"votes": 700, "test_votes": 350, "variance_rows": 1_000},
    shuffles=4,
    floor_options={"votes": 2_000},
    ceiling_options={"votes": 2_000, "test_votes": 2_500},
)
def factor_vae_score(
    source: ArrayLike | Encode | Source,
    data: ArrayLike | Dataset | None = None,
    *,
    votes: int = 10_000,
    test_votes: int = 5_000,
    batch: int = 64,
    variance_rows: int = 10_000,
    threshold: float = 0.05,
    categorical: Sequence[int] = (),
    seed: int = 0,
) -> Sampled[float]:
    r"""FactorVAE score [Kim2018]_, in [0, 1]: does the latent that varies least identify the fixed factor?

        vote = argmin over latents j of Var_batch(z_j) / Var_all(z_j)

    A batch shares the value of one factor, drawn at random. Each latent predicts the factor it was voted for most
    often; the score is the accuracy of these predictions on other votes.

    Parameters
    ----------
    source
        The source of batches: a `Codebook`, or an encoder of the images of `data`, to draw from the full grid of
        factors; codes (n, d), with factors as `data`, or a `Pool`, to draw from these rows.
    data
        The data set of an encoder, or the factors (n, k) of codes; nothing with a `Codebook` or a `Pool`.
    votes, test_votes
        Votes that decide which factor a latent predicts, and votes to test on.
    batch
        Samples per vote.
    variance_rows
        Samples that Var_all is estimated from.
    threshold
        A latent with a smaller standard deviation cannot be voted for; 0 excludes only constant latents.
    categorical
        Columns of codes, counted from 0, that hold categories: their variance is that of a one-hot vector, 1 minus the
        sum of the categories' squared shares.
    seed
        Seed of all draws.

    Returns
    -------
    float
        The accuracy; 0 where no latent is left to vote for. Chance is 1 over the number of factors.

    Notes
    -----
    Variances divide by n - 1. Ties go to the first latent and the first factor. A factor with a single
    value is never the fixed one. Invariant to the sign and shift of a latent and, with threshold 0, to its scale.

    References
    ----------
    .. [Kim2018] Kim and Mnih, "Disentangling by Factorising", ICML 2018.

    Examples
    --------
    >>> from unweave.metrics import Codebook, factor_vae_score
    >>> factor_vae_score(Codebook.of_grid([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], sizes=(2, 2)))
    1.0
    >>> factor_vae_score([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], [[0, 0], [0, 1], [1, 0], [1, 1]])
    1.0
    """
    votes, test_votes = whole_number(votes, "votes", 1), whole_number(test_votes, "test_votes", 1)
    batch, variance_rows = whole_number(batch, "batch", 2), whole_number(variance_rows, "variance_rows", 2)

    def by_votes(book: Source) -> Sampled[float]:
        rng = generator(seed, DRAW)
        anywhere = book.draw(variance_rows, rng)
        factors, cells = book.draw_batches(votes + test_votes, batch, rng)
        book.prepare(np.concatenate([anywhere, cells.ravel()]))
        codes = book.codes(anywhere)
        read = OneHot.of(codes, categorical)
        kept = active(variance_of(read)(codes), threshold)
        if len(kept) == 0:
            return no_votes(votes + test_votes + variance_rows)
        spreads = batch_variances(book, cells, variance_of(read))[:, kept]
        return by_majority(factors, spreads, codes[:, kept], votes, variance=variance_of(read.kept(kept)))

    return resampled(by_votes, open_source(source, data))
