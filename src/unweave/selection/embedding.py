"""The joint embedding of several walks: left singular vectors of their stacked diffusion kernels."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, TypeVar

import numpy as np

from unweave.late import importing
from unweave.selection.diffusion import Diffusion

T = TypeVar("T")
S = TypeVar("S")
Map = Callable[[Callable[[T], S], Iterable[T]], Iterator[S]]
"""Like the builtin `map`, perhaps with several threads; results come in order."""
OVERSAMPLING = 6
"""Columns of a block beyond the requested vectors."""
TOLERANCE = 1e-3
"""Stop adding blocks when the requested singular values change by less than this share."""
BLOCKS = 10
"""Largest number of blocks of the Krylov space."""
ROUNDING = 1e-3
"""A singular vector whose value is a smaller share of the largest is rounding error, and is set to 0."""


def left_singular_vectors(
    walks: Sequence[Diffusion], count: int, rng: np.random.Generator, mapping: Map[Any, Any] = map
) -> tuple[np.ndarray, np.ndarray]:
    r"""Return the first left singular vectors of A = [P_1^t; ...; P_R^t] and their values.

    A has a row for each (realisation, moment, sample) and a column for each (moment, sample). Realisations share the
    columns, so that from points with equal rows the walk goes to the same points with equal probabilities, and the
    rows of U embed the points of all realisations in one space. A is never formed: A x takes t products with the
    blocks of each kernel, and the vectors come from a block Krylov space of A'A [Musco2015]_.

    Parameters
    ----------
    walks
        One for each realisation, on the same moments and samples.
    count
        How many vectors.
    rng
        Draws the first block.
    mapping
        Applies a function to all walks.

    Returns
    -------
    tuple
        U (R, n m, count), float32, with orthonormal columns over its first two axes, and the values (count,). Vectors
        whose value is below a thousandth of the largest are 0.

    References
    ----------
    .. [Musco2015] Musco and Musco, "Randomized Block Krylov Methods for Stronger and Faster Approximate Singular Value
       Decomposition", NeurIPS 2015.
    """
    rows = int(np.prod(walks[0].kernel.shape))
    width = min(count + OVERSAMPLING, rows)
    blocks = [_orthonormal(rng.standard_normal((rows, width)).astype(np.float32))]
    images: list[list[np.ndarray]] = []  # A times each block, by walk
    gram = np.zeros((0, 0))
    values, vectors = np.zeros(count), np.zeros((0, count))
    while True:
        images.append(list(mapping(lambda walk, x=blocks[-1]: walk.apply(x), walks)))
        gram = _bordered(gram, images)
        before, (values, vectors) = values, _largest(gram, count)
        if np.abs(values - before).max() <= TOLERANCE * values.max() or len(blocks) == BLOCKS or len(gram) >= rows:
            break
        pulled = mapping(lambda pair: pair[0].apply_transposed(pair[1]), zip(walks, images[-1], strict=True))
        blocks.append(_next(blocks, np.sum(list(pulled), axis=0), rows - len(gram)))
    kept = values > ROUNDING * values.max()
    scaled = np.where(kept, vectors / np.where(kept, values, 1), 0).astype(np.float32)
    parts = np.split(scaled, np.cumsum([block.shape[1] for block in blocks])[:-1])
    points = [sum(x @ part for x, part in zip(own, parts, strict=True)) for own in zip(*images, strict=True)]
    return np.stack(points), values


def _bordered(gram: np.ndarray, images: list[list[np.ndarray]]) -> np.ndarray:
    """Return the products of the columns of A times the basis, given those of all blocks before the last."""
    new = images[-1]
    parts = [sum((x.T @ y).astype(np.float64) for x, y in zip(old, new, strict=True)) for old in images]
    border = np.concatenate(parts)  # (columns so far, columns of the last block)
    known = len(gram)
    return np.block([[gram, border[:known]], [border[:known].T, border[known:]]]) if known else border


def _largest(gram: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the largest singular values of A on the basis, and the corresponding combinations of its columns."""
    eigenvalues, vectors = np.linalg.eigh((gram + gram.T) / 2)
    order = np.argsort(eigenvalues)[::-1][:count]
    values = np.sqrt(np.maximum(eigenvalues[order], 0))
    missing = count - len(values)
    return np.pad(values, (0, missing)), np.pad(vectors[:, order], ((0, 0), (0, missing)))


def _next(blocks: list[np.ndarray], block: np.ndarray, room: int) -> np.ndarray:
    """Return a block, orthonormal and orthogonal to earlier ones; done twice because of rounding."""
    block = block[:, :room]
    for _ in range(2):
        for known in blocks:
            block = block - known @ (known.T @ block)
        block = _orthonormal(block)
    return block


def _orthonormal(block: np.ndarray) -> np.ndarray:
    return np.linalg.qr(block)[0]


@contextmanager
def threads(count: int) -> Iterator[Map[Any, Any]]:
    """Give a `map` with this many threads; each uses one thread of linear algebra, so that sums do not change."""
    with importing():
        from threadpoolctl import ThreadpoolController

    with ThreadpoolController().select(user_api="blas").limit(limits=1), ThreadPoolExecutor(count) as pool:
        yield pool.map
