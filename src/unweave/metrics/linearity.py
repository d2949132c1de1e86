"""Is a factor's traversal a straight line in the codes, and does the line follow an axis? Ratios of variances."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from unweave.data.dataset import Dataset
from unweave.data.factors import Integers
from unweave.metrics.codebook import Codebook, Encode, open_codebook
from unweave.metrics.inputs import DRAW, generator, whole_number
from unweave.metrics.metric import metric
from unweave.metrics.resampling import Sampled
from unweave.metrics.traversals import chunks, draw_traversals, geometric_mean


@metric("Michlo 2022", "linearity", fast={"traversals": 48}, categories="none")
def linearity(
    encode: Encode | Codebook, data: Dataset | None = None, *, traversals: int = 1024, seed: int = 0
) -> Sampled[float]:
    r"""Linearity ratio [Michlo2022]_, eq. 4.9, in [0, 1]: do codes move along a line as one factor changes?

        r_k = mean over traversals of factor k of (largest eigenvalue of the codes' covariance) / (sum of eigenvalues)
        linearity = geometric mean over k of (r_k - 1/d) / (1 - 1/d),    d the number of latents

    Parameters
    ----------
    encode
        A `Codebook`, or an encoder of the images of `data`.
    data
        The data set of an encoder; nothing with a `Codebook`.
    traversals
        Random traversals of each factor.
    seed
        Seed of the traversals.

    Returns
    -------
    float
        The score.

    Notes
    -----
    A traversal along which no latent changes counts 0 in the normalised mean; a single latent (d = 1) that
    changes counts
    1. Factors with a single value are left out; one with two values is always on a line. Invariant to a rotation of the
    codes, so to their order and sign, and to their shift and common scale.

    References
    ----------
    .. [Michlo2022] Michlo, "Disentanglement using VAEs resembles distance learning and requires overlapping data",
       master's thesis, University of the Witwatersrand, 2022.

    Examples
    --------
    >>> from unweave.metrics import Codebook, linearity
    >>> linearity(Codebook.of_grid([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]], sizes=(3,)))
    1.0
    """
    linear, _ = _ratios(encode, data, traversals, seed)
    return _by_traversals(geometric_mean, linear)


@metric("Michlo 2022", "compactness", fast={"traversals": 48}, categories="none")
def axis_alignment(
    encode: Encode | Codebook, data: Dataset | None = None, *, traversals: int = 1024, seed: int = 0
) -> Sampled[float]:
    r"""Axis-alignment ratio [Michlo2022]_, eq. 4.6, in [0, 1]: does a single latent change as one factor changes?

        r_k = mean over traversals of factor k of (largest variance of a latent) / (sum of the codes' variances)
        alignment = geometric mean over k of (r_k - 1/d) / (1 - 1/d),    d the number of latents

    Parameters
    ----------
    encode, data, traversals, seed
        As in `linearity`.

    Returns
    -------
    float
        The score, at most the linearity.

    Notes
    -----
    Edge cases are as in `linearity`. Invariant to the order, sign and shift of latents and to their common scale.

    References
    ----------
    .. [Michlo2022] Michlo, "Disentanglement using VAEs resembles distance learning and requires overlapping data",
       master's thesis, University of the Witwatersrand, 2022.

    Examples
    --------
    >>> from unweave.metrics import Codebook, axis_alignment
    >>> axis_alignment(Codebook.of_grid([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]], sizes=(3,)))
    0.0
    """
    _, axis = _ratios(encode, data, traversals, seed)
    return _by_traversals(geometric_mean, axis)


@metric("Michlo 2022", "compactness", fast={"traversals": 48}, categories="none")
def axis_orientation(
    encode: Encode | Codebook, data: Dataset | None = None, *, traversals: int = 1024, seed: int = 0
) -> Sampled[float]:
    r"""Axis-orientation ratio [Michlo2022]_, eq. A.1, in [0, 1]: do the lines that codes move along follow axes?

        orientation = axis alignment / linearity, of the same traversals

    Parameters
    ----------
    encode, data, traversals, seed
        As in `linearity`.

    Returns
    -------
    float
        The score; 0 where the linearity is 0.

    Notes
    -----
    Invariant to the order, sign and shift of latents and to their common scale.

    References
    ----------
    .. [Michlo2022] Michlo, "Disentanglement using VAEs resembles distance learning and requires overlapping data",
       master's thesis, University of the Witwatersrand, 2022.

    Examples
    --------
    >>> from unweave.metrics import Codebook, axis_orientation
    >>> axis_orientation(Codebook.of_grid([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0]], sizes=(3,)))
    1.0
    """
    linear, axis = _ratios(encode, data, traversals, seed)

    def quotient(axis: np.ndarray, linear: np.ndarray) -> np.ndarray:
        above, below = geometric_mean(axis), geometric_mean(linear)
        return np.minimum(np.divide(above, below, out=np.zeros_like(above), where=below > 0), 1.0)

    return _by_traversals(quotient, axis, linear)


def _ratios(
    encode: Encode | Codebook, data: Dataset | None, traversals: int, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the normalised shares of the largest eigenvalue and of the largest variance: (k, traversals) each."""
    book = open_codebook(encode, data)
    drawn = draw_traversals(book.sizes, whole_number(traversals, "traversals", 1), generator(seed, DRAW))
    book.prepare(np.concatenate([cells.ravel() for cells in drawn.values()]))
    linear, axis = zip(*(_shares(book, cells) for cells in drawn.values()), strict=True)
    return np.stack(linear), np.stack(axis)


def _shares(book: Codebook, cells: Integers) -> tuple[np.ndarray, np.ndarray]:
    """Return one factor's shares, (n,) each, of traversals (n, size)."""
    width = book.codes(cells[0, :1]).shape[1]
    linear, axis = np.zeros(len(cells)), np.zeros(len(cells))
    for part in chunks(len(cells), cells.shape[1] * width):
        codes = book.codes(cells[part])
        codes -= codes[:, :1].copy()  # so that constant codes have a variance of exactly 0
        codes -= codes.mean(axis=1, keepdims=True)
        # Z'Z and ZZ' have the same eigenvalues except for zeros: use the smaller matrix.
        flat = codes if width > cells.shape[1] else codes.transpose(0, 2, 1)
        eigenvalues = np.linalg.eigvalsh(flat @ flat.transpose(0, 2, 1))
        variances = np.einsum("tsd,tsd->td", codes, codes)
        total = variances.sum(axis=1)
        linear[part], axis[part] = (_share(most, total, width) for most in (eigenvalues[:, -1], variances.max(axis=1)))
    return linear, axis


def _share(most: np.ndarray, total: np.ndarray, width: int) -> np.ndarray:
    """Return the largest part as a share of the total, from 0 (all `width` parts are equal, or 0) to 1."""
    share = np.divide(most, total, out=np.zeros_like(total), where=total > 0)
    return np.clip((share - 1 / width) / (1 - 1 / width), 0.0, 1.0) if width > 1 else np.minimum(share, 1.0)


def _by_traversals(score: Callable[..., np.ndarray], *ratios: np.ndarray) -> Sampled:
    """Resample a score, (r,), of the means over traversals, (r, k) each, of ratios (k, traversals)."""

    def rescore(subsets: np.ndarray) -> np.ndarray:
        return score(*(subsets.astype(np.float64) @ of.T / subsets.sum(axis=1, keepdims=True) for of in ratios))

    count = ratios[0].shape[1]
    details = {"": score(*(of.mean(axis=1)[:, None] for of in ratios))}
    return Sampled(float(rescore(np.ones((1, count), dtype=bool))[0]), count, rescore, per_factor=details)
