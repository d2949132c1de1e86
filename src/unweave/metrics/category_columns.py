"""All inputs of a metric with other numbers for categories, for metrics that treat codes as numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from unweave.metrics.codebook import Codebook, DerivedBook
from unweave.metrics.one_hot import OneHot, Ranked
from unweave.metrics.pool import Pool, Source

Read: TypeAlias = Callable[[np.ndarray], np.ndarray]
"""A function from codes (..., d) to those that a metric sees."""


def with_category_columns(inputs: Mapping[str, Any], categorical: Sequence[int]) -> dict[str, Any]:
    """Return inputs with one-hot categorical latents, in all rows, the codebook and the pool."""
    test = inputs.get("test")
    rows = [inputs["codes"], *([] if test is None else [np.asarray(test[0])])]
    return _read_by(OneHot.of(np.concatenate(rows), categorical), inputs)


def with_category_ranks(inputs: Mapping[str, Any], categorical: Sequence[int]) -> dict[str, Any]:
    """Return inputs whose categories are numbered by their frequency, in all rows, the codebook and the pool."""
    return _read_by(Ranked.of(inputs["codes"], categorical), inputs)


def _read_by(read: Read, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Return inputs with all their codes as `read` gives them."""
    changed = {**inputs, "categorical": ()}
    test = inputs.get("test")
    for name in ("codes", "means", "sampled"):
        if inputs.get(name) is not None:
            changed[name] = read(inputs[name])
    if test is not None:
        changed["test"] = read(np.asarray(test[0])), test[1]
    for name in ("encode", "source"):
        if inputs.get(name) is not None:
            changed[name] = _read_source(inputs[name], read)
    return changed


def _read_source(source: Source, read: Read) -> Source:
    return Pool(read(source.table), source.factors) if isinstance(source, Pool) else _ReadBook(source, read)


class _ReadBook(DerivedBook):
    """The codes of another codebook, as `read` gives them."""

    def __init__(self, book: Codebook, read: Read) -> None:
        super().__init__(book)
        self._read = read

    def codes(self, cells: ArrayLike) -> np.ndarray:
        return self._read(self._book.codes(cells))
