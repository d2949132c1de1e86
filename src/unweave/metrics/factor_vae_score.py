"""The FactorVAE score: the code that varies least tells which factor is kept."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from unweave.data.dataset import Dataset
from unweave.metrics.codebook import Encode
from unweave.metrics.inputs import DRAW, generator, whole_number
from unweave.metrics.metric import metric
from unweave.metrics.pool import Source, open_source, resampled
from unweave.metrics.resampling import Sampled
from unweave.metrics.voting import FEW_VOTES, active, batch_variances, by_majority, no_votes, variance


@metric("Kim & Mnih 2018", "modularity", fast=FEW_VOTES)
def factor_vae_score(
    source: ArrayLike | Encode | Source,
    data: ArrayLike | Dataset | None = None,
    *,
    votes: int = 10_000,
    test_votes: int = 5_000,
    batch: int = 64,
    variance_rows: int = 10_000,
    threshold: float = 0.05,
    seed: int = 0,
) -> Sampled[float]:
    r"""FactorVAE score [Kim2018]_, in [0, 1]: does the code that varies least tell which factor is kept?

    A vote: one factor, drawn at random, is kept at a random value in a batch of cells and the others are drawn; the
    vote goes to the code with the least

        (variance within the batch) / (variance over `variance_rows` cells of the grid),

    both with n - 1. Each code predicts the factor it was voted for most often in `votes` votes (at a tie the first);
    the score is the accuracy on `test_votes` others. Codes with a standard deviation below `threshold` (0: none),
    and constant ones, cannot be voted for; if none is left the score is 0. A factor with a single value is never
    the one kept.

    The batches come from a grid of factors (a `Codebook`, or an encoder of the images of `data`), or, where there is
    none, from rows: `factor_vae_score(codes, factors)`.

    Unchanged by the sign and shift of a code and, with threshold 0, by its scale.

    >>> factor_vae_score(Codebook.of_grid([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], sizes=(2, 2)))
    1.0
    """
    votes, test_votes = whole_number(votes, "votes", 1), whole_number(test_votes, "test_votes", 1)
    batch, variance_rows = whole_number(batch, "batch", 2), whole_number(variance_rows, "variance_rows", 2)

    def by_votes(book: Source) -> Sampled[float]:
        rng = generator(seed, DRAW)
        anywhere = book.draw(variance_rows, rng)
        factors, cells = book.draw_batches(votes + test_votes, batch, rng)
        book.prepare(np.concatenate([anywhere, cells.ravel()]))
        overall = variance(book.codes(anywhere))
        kept = active(overall, threshold)
        if len(kept) == 0:
            return no_votes(votes + test_votes)
        relative = batch_variances(book, cells)[:, kept] / overall[kept]
        return by_majority(factors, relative.argmin(axis=1), votes)

    return resampled(by_votes, open_source(source, data))
