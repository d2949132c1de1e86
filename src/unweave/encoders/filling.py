"""Passing batches of images through an encoder, into stores of codes."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from unweave.data import Dataset
from unweave.encoders.cache import Store
from unweave.encoders.encoder import Encoder
from unweave.errors import UsageError
from unweave.progress import OnProgress


def fill(
    encoder: Encoder,
    data: Dataset,
    wanted: np.ndarray,
    kept: Mapping[str, Store],
    pooling: str,
    batch: int,
    on_progress: OnProgress,
) -> None:
    """Encode the images that any of the stores lacks, each once."""
    lacking = {layer: np.setdiff1d(wanted, store.indices(), assume_unique=True) for layer, store in kept.items()}
    due = np.unique(np.concatenate(list(lacking.values())))
    done = len(wanted) - len(due)
    widths: dict[str, int] = {}
    on_progress("encoding", done, len(wanted))
    for start in range(0, len(due), batch):
        rows = due[start : start + batch]
        images = data.images(rows)
        with errors_of(encoder, data):
            found = encoder.codes(images, list(kept), pooling)
        for layer, codes in found.items():
            _refuse_nan(codes, rows, encoder, layer)
            if codes.shape[1] != widths.setdefault(layer, codes.shape[1]):
                raise UsageError(f"{encoder.name} gave codes of width {widths[layer]}, then of width {codes.shape[1]}")
            new = np.isin(rows, lacking[layer], assume_unique=True)
            kept[layer].add(rows[new], codes[new])
        on_progress("encoding", done + start + len(rows), len(wanted))


def _refuse_nan(codes: np.ndarray, rows: np.ndarray, encoder: Encoder, layer: str) -> None:
    if codes.ndim != 2 or len(codes) != len(rows):
        raise UsageError(f"{encoder.name} gave codes of shape {codes.shape} for {len(rows)} images, not (n, d)")
    good = np.isfinite(codes).all(1)
    if not good.all():
        where = f"image {rows[~good][0]}, layer {layer}"
        raise UsageError(f"{encoder.name} gives NaN or infinite codes ({where}); check its weights and preprocessing")


class errors_of:
    """Turn errors of a network on images of the wrong shape into one line."""

    def __init__(self, encoder: Encoder, data: Dataset | None) -> None:
        self._encoder, self._data = encoder, data

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if isinstance(error, UsageError) and self._encoder.name not in str(error):
            raise UsageError(f"{self._encoder.name}: {error}") from error
        if not isinstance(error, Exception) or isinstance(error, UsageError | OSError | MemoryError):
            return
        if isinstance(error, RuntimeError) and "memory" in str(error):  # torch's error for too little memory
            return
        size = self._encoder.preprocessing.get("size")
        if size and isinstance(error, RuntimeError):  # torch's messages about inner layers do not help
            told = f"{self._encoder.name} cannot encode images of {size} × {size} pixels; give it another size"
            raise UsageError(told) from error
        shape = "" if self._data is None else f" of shape {self._data.shape}"
        said = next(iter(str(error).strip().splitlines()), type(error).__name__)
        described = bool(self._encoder.preprocessing)
        fix = (
            "say what it takes: preprocessing=Preprocessing(size=…, channels=…)" if described else "try it on one image"
        )
        raise UsageError(f"{self._encoder.name} cannot encode images{shape} ({said}); {fix}") from error
