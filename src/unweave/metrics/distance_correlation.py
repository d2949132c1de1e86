"""Do distances between codes follow distances between factors, or between images? Rank correlations of distances."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from unweave.data.dataset import Dataset
from unweave.data.factors import Integers
from unweave.metrics.codebook import Codebook, Encode, open_codebook
from unweave.metrics.inputs import DRAW, check, generator, varying, whole_number
from unweave.metrics.metric import metric
from unweave.metrics.ranks import ranks_of_places
from unweave.metrics.resampling import Sampled
from unweave.metrics.traversals import chunks, draw_traversals, geometric_mean

DIGITS = 16
"""Binary digits that a distance between codes is rounded to. Further digits are rounding errors of single precision and
would break ties: codes in twelve even steps, which follow a factor perfectly, would score 0.996, not 1."""
REPLICATES = 100
"""Half-samples behind an interval; each ranks a hundred thousand distances for every factor."""


@metric("Michlo 2022", "distances", range=(-1.0, 1.0), continuous=True, fast={"pairs": 16_384})
def distance_correlation(
    codes: ArrayLike, factors: ArrayLike, *, pairs: int = 131_072, seed: int = 0
) -> Sampled[float]:
    r"""Global distance correlation [Michlo2022]_, eq. 4.1, in [-1, 1]: are codes far apart where factors are?

        the Spearman correlation, over random pairs of rows, of sum_k |v_k - v'_k| and sum_j |z_j - z'_j|

    Parameters
    ----------
    codes
        Codes (n, d).
    factors
        Factors (n, k); values are numbers and may be continuous.
    pairs
        Random pairs of rows.
    seed
        Seed of the pairs.

    Returns
    -------
    float
        The correlation; 0 where either distance is the same for all pairs.

    Notes
    -----
    Distances between codes are rounded to 16 binary digits, so that rounding errors break no ties. A factor
    with a single value is left out. Invariant to the order of latents and factors, to the sign and shift of a latent,
    and to a common scale of all latents.

    References
    ----------
    .. [Michlo2022] Michlo, "Disentanglement using VAEs resembles distance learning and requires overlapping data",
       master's thesis, University of the Witwatersrand, 2022.

    Examples
    --------
    >>> from unweave.metrics import distance_correlation
    >>> round(distance_correlation([[0.0], [1.0], [2.0]], [[0], [1], [2]]), 9)
    1.0
    """
    values, labels = check(codes, factors, continuous=True)
    labels = labels[:, varying(labels)].astype(np.float64)
    drawn = generator(seed, DRAW).integers(len(values), size=(whole_number(pairs, "pairs", 2), 2))
    ground, latent = numbered(distances(labels, drawn)), numbered(rounded(distances(values, drawn)))

    def rescore(subsets: np.ndarray) -> np.ndarray:
        inside = (subset[drawn].all(axis=1) for subset in subsets)
        return np.array([rank_correlation(ground[kept], latent[kept]) for kept in inside])

    return Sampled(rank_correlation(ground, latent), len(values), rescore, REPLICATES)


@metric("Michlo 2022", "distances", fast={"traversals": 48})
def factor_distance_correlation(
    encode: Encode | Codebook, data: Dataset | None = None, *, traversals: int = 1024, pairs: int = 128, seed: int = 0
) -> Sampled[float]:
    r"""Factor distance correlation [Michlo2022]_, eq. 4.3, in [0, 1]: do codes follow a factor's distances?

        the geometric mean over factors of the correlations of `factor_distance_correlations`, negative ones as 0

    Parameters
    ----------
    encode
        A `Codebook`, or an encoder of the images of `data`.
    data
        The data set of an encoder; nothing with a `Codebook`.
    traversals
        Random traversals of each factor.
    pairs
        Random pairs of cells in each traversal.
    seed
        Seed of all draws.

    Returns
    -------
    float
        The score.

    Notes
    -----
    Factors with a single value are left out. Invariant to the order of latents, to the sign and shift of a
    latent, and to a common scale of all latents.

    References
    ----------
    .. [Michlo2022] Michlo, "Disentanglement using VAEs resembles distance learning and requires overlapping data",
       master's thesis, University of the Witwatersrand, 2022.

    Examples
    --------
    >>> from unweave.metrics import Codebook, factor_distance_correlation
    >>> factor_distance_correlation(Codebook.of_grid([[0.0], [1.0], [2.0], [3.0]], sizes=(4,)))
    1.0
    """
    book = open_codebook(encode, data)
    drawn = _draw(book, traversals, pairs, seed)
    return _over_factors([_along(book, *some) for some in drawn.values()])


def factor_distance_correlations(
    encode: Encode | Codebook, data: Dataset | None = None, *, traversals: int = 1024, pairs: int = 128, seed: int = 0
) -> dict[str, float]:
    r"""Return the distance correlation [Michlo2022]_, eq. 4.2, in [-1, 1], of each factor that has several values.

        the Spearman correlation of |v_k - v'_k| and sum_j |z_j - z'_j|, over pairs of cells on traversals of factor k

    Parameters
    ----------
    encode, data, traversals, pairs, seed
        As in `factor_distance_correlation`.

    Returns
    -------
    dict
        From the name of a factor to its correlation; 0 where either distance is the same for all pairs.

    Notes
    -----
    A cell may be paired with itself. Distances between codes are rounded to 16 binary digits.

    References
    ----------
    .. [Michlo2022] Michlo, "Disentanglement using VAEs resembles distance learning and requires overlapping data",
       master's thesis, University of the Witwatersrand, 2022.

    Examples
    --------
    >>> from unweave.metrics import Codebook, factor_distance_correlations
    >>> factor_distance_correlations(Codebook.of_grid([[0.0], [1.0], [2.0], [3.0]], sizes=(4,)))
    {'factor0': 1.0}
    """
    book = open_codebook(encode, data)
    drawn = _draw(book, traversals, pairs, seed)
    return {book.names[factor]: rank_correlation(*_along(book, *some)) for factor, some in drawn.items()}


@metric("Michlo 2022", "distances", fast={"traversals": 48}, has_ceiling=False)
def perceived_correlation(
    encode: Encode | Codebook, data: Dataset | None = None, *, traversals: int = 1024, pairs: int = 128, seed: int = 0
) -> Sampled[float]:
    r"""Perceived distance correlation [Michlo2022]_, eq. 4.10, in [0, 1]: do distances between codes follow images?

        the geometric mean over factors of the Spearman correlation of mean (x - x')^2 and sum_j |z_j - z'_j|

    over pairs of cells on traversals of each factor, x being their images; a negative correlation counts 0.

    Parameters
    ----------
    encode
        An encoder of the images of `data`, or a `Codebook` that has images.
    data
        The data set of an encoder; nothing with a `Codebook`.
    traversals, pairs, seed
        As in `factor_distance_correlation`.

    Returns
    -------
    float
        The score.

    Notes
    -----
    It compares codes with images, so the factors as codes are not a ceiling. It has the invariances of
    `factor_distance_correlation`.

    References
    ----------
    .. [Michlo2022] Michlo, "Disentanglement using VAEs resembles distance learning and requires overlapping data",
       master's thesis, University of the Witwatersrand, 2022.

    Examples
    --------
    >>> import numpy as np
    >>> from unweave.data import Table
    >>> from unweave.metrics import perceived_correlation
    >>> grey = Table(np.arange(4, dtype=np.uint8).reshape(4, 1, 1, 1), np.arange(4)[:, None])  # images of one pixel
    >>> perceived_correlation(lambda images: images[:, 0, 0], grey)
    1.0
    """
    book = open_codebook(encode, data)
    drawn = _draw(book, traversals, pairs, seed)
    return _over_factors([(_perceived(book, *some), _along(book, *some)[1]) for some in drawn.values()])


def distances(points: np.ndarray, pairs: Integers) -> np.ndarray:
    """Return the ℓ1 distances (n,) between pairs (n, 2) of rows of points."""
    apart = np.empty(len(pairs))
    for part in chunks(len(pairs), 2 * points.shape[1]):
        apart[part] = np.abs(points[pairs[part, 0]] - points[pairs[part, 1]]).sum(axis=1)
    return apart


def rounded(values: np.ndarray) -> np.ndarray:
    """Return values to `DIGITS` binary digits each, large or small."""
    mantissas, exponents = np.frexp(values)
    return np.ldexp(np.rint(np.ldexp(mantissas, DIGITS)), exponents - DIGITS)


def numbered(values: np.ndarray) -> Integers:
    """Return each value's position among the distinct values, which determines all ranks."""
    return np.unique(values, return_inverse=True)[1].reshape(values.shape)


def rank_correlation(a: Integers, b: Integers) -> float:
    """Return the Spearman correlation of values that are `numbered`, in any shape; 0 where either is constant.

    Ranks (means for ties) come from counts of the numbers, so that a subset needs no sorting.
    """
    x, y = _centred_ranks(a.ravel()), _centred_ranks(b.ravel())
    spread = np.sqrt((x @ x) * (y @ y))
    return float(np.clip(x @ y / spread, -1.0, 1.0)) if spread > 0 else 0.0


def _centred_ranks(numbers: Integers) -> np.ndarray:
    return ranks_of_places(numbers[:, None])[:, 0] - (len(numbers) + 1) / 2


def _draw(book: Codebook, count: int, pairs: int, seed: int) -> dict[int, tuple[Integers, Integers]]:
    """Draw, for every factor with several values, traversals (count, size) and pairs in each (count, pairs, 2)."""
    rng = generator(seed, DRAW)
    drawn = draw_traversals(book.sizes, whole_number(count, "traversals", 1), rng)
    pairs = whole_number(pairs, "pairs", 2)
    book.prepare(np.concatenate([cells.ravel() for cells in drawn.values()]))
    return {k: (cells, rng.integers(cells.shape[1], size=(count, pairs, 2))) for k, cells in drawn.items()}


def _along(book: Codebook, cells: Integers, pairs: Integers) -> tuple[Integers, Integers]:
    """Return the numbered distances between a factor's values and between codes, (count, pairs) each."""
    ground = np.abs(pairs[..., 0] - pairs[..., 1])
    chosen = np.take_along_axis(cells[:, :, None], pairs.reshape(len(pairs), -1, 1), axis=1).reshape(-1, 2)
    latent = np.empty(len(chosen))
    width = book.codes(chosen[0]).shape[1]
    for part in chunks(len(chosen), 2 * width):
        codes = book.codes(chosen[part])
        latent[part] = np.abs(codes[:, 0] - codes[:, 1]).sum(axis=1)
    return ground, numbered(rounded(latent)).reshape(ground.shape)


def _perceived(book: Codebook, cells: Integers, pairs: Integers) -> Integers:
    """Return the numbered squared errors of pairs of images, (count, pairs)."""
    from unweave.metrics.pixel_errors import squared_errors

    apart = np.empty(pairs.shape[:2], dtype=np.int64)
    pixels = book.images(cells[0, :1]).size
    for part in chunks(len(cells), cells.shape[1] * pixels):
        images = book.images(cells[part].ravel()).reshape(-1, cells.shape[1], pixels)
        squared_errors(images, pairs[part], apart[part])
    return numbered(apart)


def _over_factors(pairs_of_distances: list[tuple[Integers, Integers]]) -> Sampled[float]:
    """Return the geometric mean of the factors' correlations, from distances (traversals, pairs)."""

    def correlations(kept: np.ndarray) -> np.ndarray:
        return np.maximum([rank_correlation(a[kept], b[kept]) for a, b in pairs_of_distances], 0.0)

    def rescore(subsets: np.ndarray) -> np.ndarray:
        return np.array([geometric_mean(correlations(kept)) for kept in subsets])

    count = len(pairs_of_distances[0][0])
    whole = correlations(np.ones(count, dtype=bool))
    return Sampled(float(geometric_mean(whole)), count, rescore, REPLICATES, per_factor={"": whole})
