"""The Z-max variance score: the latent that varies most tells which factor changes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from unweave.data.dataset import Dataset
from unweave.data.factors import Integers
from unweave.metrics.codebook import Codebook, Encode, open_codebook
from unweave.metrics.inputs import DRAW, generator, whole_number
from unweave.metrics.metric import metric
from unweave.metrics.one_hot import OneHot
from unweave.metrics.resampling import Sampled
from unweave.metrics.traversals import draw_cells, several_valued, traversals
from unweave.metrics.voting import active, batch_variances, by_majority, no_votes, variance_of


@metric("Kim et al. 2019", "modularity", fast={"votes": 128, "test_votes": 128, "variance_rows": 500}, shuffles=4)
def z_max_variance(
    encode: Encode | Codebook,
    data: Dataset | None = None,
    *,
    votes: int = 10_000,
    test_votes: int = 5_000,
    batch: int = 100,
    variance_rows: int = 10_000,
    threshold: float = 0.05,
    rescaled: bool = False,
    categorical: Sequence[int] = (),
    seed: int = 0,
) -> Sampled[float]:
    r"""Z-max variance score [Kim2019]_, in [0, 1]: does the latent that varies most identify the changed factor?

        vote = argmax over latents j of Var_traversal(z_j) / Var_all(z_j)

    In a traversal one random factor runs through its values while all others stay at random values. Each latent
    predicts the factor it was voted for most often; the score is the accuracy of these predictions on other votes.

    Parameters
    ----------
    encode
        A `Codebook`, or an encoder of the images of `data`.
    data
        The data set of an encoder; nothing with a `Codebook`.
    votes, test_votes
        Votes that decide which factor a latent predicts, and votes to test on.
    batch
        A factor with more values runs through that many of them, drawn without replacement.
    variance_rows
        Cells that Var_all is estimated from.
    threshold
        A latent with a smaller standard deviation cannot be voted for; 0 excludes only constant latents.
    rescaled
        Return 0 for chance, or less, and 1 for a perfect score.
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
    Ties go to the first latent and the first factor. A factor with a single value never changes. Invariant to
    the sign and shift of a latent and, with threshold 0, to its scale.

    References
    ----------
    .. [Kim2019] Kim, Wang, Sahu and Pavlovic, "Relevance Factor VAE: Learning and Identifying Disentangled Factors",
       arXiv 1902.01568, 2019.

    Examples
    --------
    >>> from unweave.metrics import Codebook, z_max_variance
    >>> z_max_variance(Codebook.of_grid([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], sizes=(2, 2)))
    1.0
    """
    book = open_codebook(encode, data)
    votes, test_votes = whole_number(votes, "votes", 1), whole_number(test_votes, "test_votes", 1)
    batch, variance_rows = whole_number(batch, "batch", 2), whole_number(variance_rows, "variance_rows", 2)
    rng = generator(seed, DRAW)
    anywhere = draw_cells(book.sizes, variance_rows, rng)
    factors, batches = draw_changes(book.sizes, votes + test_votes, batch, rng)
    book.prepare(np.concatenate([anywhere, *(cells.ravel() for cells in batches.values())]))

    codes = book.codes(anywhere)
    read = OneHot.of(codes, categorical)
    kept = active(variance_of(read)(codes), threshold)
    if len(kept) == 0:
        return no_votes(votes + test_votes + variance_rows)
    spreads = np.empty((len(factors), len(kept)))
    for factor, cells in batches.items():
        spreads[factors == factor] = batch_variances(book, cells, variance_of(read))[:, kept]
    measure = variance_of(read.kept(kept))
    return by_majority(factors, spreads, codes[:, kept], votes, largest=True, rescaled=rescaled, variance=measure)


def draw_changes(
    sizes: tuple[int, ...], count: int, batch: int, rng: np.random.Generator
) -> tuple[Integers, dict[int, Integers]]:
    """Draw factors (count,), and the traversals of each factor in the order of its draws: (times, at most batch)."""
    factors = rng.choice(several_valued(sizes), size=count)
    bases = draw_cells(sizes, count, rng)
    cells = {}
    for factor in np.unique(factors).tolist():
        cells[factor] = traversals(sizes, factor, bases[factors == factor])
        if sizes[factor] > batch:
            cells[factor] = rng.permuted(cells[factor], axis=1)[:, :batch]
    return factors, cells
