"""All inputs of a metric with a column for each category, for metrics that treat codes as numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from unweave.metrics.codebook import Codebook, DerivedBook
from unweave.metrics.one_hot import OneHot
from unweave.metrics.pool import Pool, Source


def with_category_columns(inputs: Mapping[str, Any], categorical: Sequence[int]) -> dict[str, Any]:
    """Return inputs with one-hot categorical latents, in all rows, the codebook and the pool."""
    test = inputs.get("test")
    rows = [inputs["codes"], *([] if test is None else [np.asarray(test[0])])]
    read = OneHot.of(np.concatenate(rows), categorical)
    changed = {**inputs, "categorical": ()}
    for name in ("codes", "means", "sampled"):
        if inputs.get(name) is not None:
            changed[name] = read(inputs[name])
    if test is not None:
        changed["test"] = read(np.asarray(test[0])), test[1]
    for name in ("encode", "source"):
        if inputs.get(name) is not None:
            changed[name] = _with_columns(inputs[name], read)
    return changed


def _with_columns(source: Source, read: OneHot) -> Source:
    return Pool(read(source.table), source.factors) if isinstance(source, Pool) else _ColumnsBook(source, read)


class _ColumnsBook(DerivedBook):
    """The codes of another codebook, with a column for each category."""

    def __init__(self, book: Codebook, read: OneHot) -> None:
        super().__init__(book)
        self._read = read

    def codes(self, cells: ArrayLike) -> np.ndarray:
        return self._read(self._book.codes(cells))
