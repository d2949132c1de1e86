"""Which images of a data set are encoded."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from unweave.errors import UsageError
from unweave.scoring import SHARED


def choose(images: int, samples: int, seed: int, indices: ArrayLike | str | None = None) -> tuple[np.ndarray, str]:
    """Return the indices of images, without repeats unless they are given, and a word on how they were chosen.

    Random ones are those that `unweave evaluate` draws from the same seed, without repeats. If the data set has fewer
    images, all are taken.
    """
    if indices is not None and not isinstance(indices, str):
        return _given(images, indices), "given"
    if not isinstance(samples, int | np.integer) or isinstance(samples, bool) or samples < 2:
        raise UsageError(f"samples must be a whole number, 2 or more, not {samples!r}")
    if indices == "first":
        return np.arange(min(samples, images)), "first"
    if isinstance(indices, str):
        raise UsageError(f"indices must be numbers or 'first', not '{indices}'")
    rng = np.random.default_rng(seed)  # one by one, or shuffled, as in `scoring`
    if samples > SHARED * images:
        return rng.permutation(images)[:samples], "random"
    drawn = rng.integers(images, size=2 * samples)
    _, first = np.unique(drawn, return_index=True)
    return drawn[np.sort(first)[:samples]], "random"


def _given(images: int, indices: ArrayLike) -> np.ndarray:
    found = np.asarray(indices)
    if found.ndim != 1 or found.dtype.kind not in "iu" or not len(found):
        raise UsageError(f"indices must be a list of whole numbers, not an array {found.shape} of {found.dtype}")
    if found.min() < 0 or found.max() >= images:
        raise UsageError(
            f"indices must be from 0 to {images - 1}, but one is {found.min() if found.min() < 0 else found.max()}"
        )
    return found.astype(np.int64)
