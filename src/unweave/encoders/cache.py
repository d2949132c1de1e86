"""A cache of codes by image index, in parts that are written atomically."""

from __future__ import annotations

import hashlib
import json
import secrets
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from io import BytesIO
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np

from unweave.data.files import data_folder
from unweave.errors import UsageError, warn_user
from unweave.files import is_temporary, is_whole_archive, locked, write_atomically, write_json
from unweave.progress import OnProgress

IDENTITY = "identity.json"
PART_ROWS = 4096
PART_SECONDS = 20.0
"""A part is written when it has this many rows or seconds: the most that an interruption can lose."""
Part = tuple[np.ndarray, np.ndarray]


def cache_folder() -> Path:
    """Return the folder of the cache, in the data folder."""
    return data_folder() / "codes"


def hash_of(identity: Mapping[str, Any]) -> str:
    """Return a folder name from a description in plain JSON."""
    return hashlib.sha256(json.dumps(identity, sort_keys=True).encode()).hexdigest()[:24]


class Store:
    """The codes of one layer; without a folder they are kept only in memory."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._fresh: list[Part] = []
        self._keeps = True
        self._since = monotonic()
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
            for left_over in filter(is_temporary, list(folder.iterdir())):  # left by a killed process: the lock is held
                left_over.unlink(missing_ok=True)

    def indices(self) -> np.ndarray:
        """Return the indices of all images in the store, removing damaged parts."""
        for path in self._paths():
            if not _is_whole(path):
                path.unlink(missing_ok=True)
        found = [indices for indices, _ in self._all(read=False)]
        return np.unique(np.concatenate(found)) if found else np.empty(0, np.int64)

    def add(self, indices: np.ndarray, codes: np.ndarray) -> None:
        """Add the codes (n, d) of the images with these indices (n,)."""
        if not self._fresh:
            self._since = monotonic()
        self._fresh.append((indices, codes))
        rows = sum(len(part) for part, _ in self._fresh)
        if self._folder is not None and (rows >= PART_ROWS or monotonic() - self._since > PART_SECONDS):
            self.flush()

    def flush(self) -> None:
        """Write what was added since the last time."""
        if not self._fresh or self._folder is None or not self._keeps:
            return
        indices, codes = (np.concatenate(arrays) for arrays in zip(*self._fresh, strict=True))
        buffer = BytesIO()
        np.savez(buffer, indices=indices, codes=codes)
        try:
            write_atomically(self._folder / f"{secrets.token_hex(8)}.npz", buffer.getvalue())
        except OSError as error:  # a full disk: the codes stay in memory
            _warn(self._folder.parent, error)
            self._keeps = False
            return
        self._fresh = []

    def read(self, indices: np.ndarray) -> np.ndarray:
        """Return the codes (n, d) of these images (n,), all of which must be in the store."""
        distinct, inverse = np.unique(indices, return_inverse=True)
        found: np.ndarray | None = None
        for part, codes in self._all(read=True, wanted=distinct):
            rows = np.searchsorted(distinct, part).clip(max=len(distinct) - 1)
            hit = distinct[rows] == part
            if found is None:
                found = np.empty((len(distinct), codes.shape[1]), np.float32)
            found[rows[hit]] = codes[hit]
        assert found is not None
        return found if np.array_equal(distinct, indices) else found[inverse]

    def _all(self, read: bool, wanted: np.ndarray | None = None) -> Iterator[Part]:
        """Yield the parts, with codes only if `read`."""
        yield from self._fresh
        for path in self._paths():
            with path.open("rb") as opened, np.load(opened, allow_pickle=False) as file:
                indices = file["indices"]
                if wanted is not None and not np.isin(indices, wanted).any():
                    continue
                part = indices, file["codes"] if read else np.empty(0)
            yield part

    def _paths(self) -> list[Path]:
        return [] if self._folder is None else sorted(self._folder.glob("*.npz"))


def _is_whole(path: Path) -> bool:
    """Return whether a part is undamaged and has the expected content."""
    try:
        if not is_whole_archive(path):
            return False
        with zipfile.ZipFile(path) as archive:
            return {"indices.npy", "codes.npy"} <= set(archive.namelist())
    except (OSError, ValueError, RuntimeError, EOFError, zlib.error, zipfile.BadZipFile):  # by the damaged byte
        return False


@contextmanager
def stores(
    folder: Path | None,
    identity: Mapping[str, Any] | None,
    layers: Sequence[str],
    pooling: str,
    on_progress: OnProgress,
) -> Iterator[dict[str, Store]]:
    """Give the stores of layers; another process that encodes the same waits, and reuses the result."""
    if folder is None or identity is None:
        yield {layer: Store(None) for layer in layers}
        return
    home = folder / hash_of(identity)

    def waiting() -> None:
        on_progress("waiting for another process that encodes the same images", 0, None)

    with ExitStack() as held:
        try:
            home.mkdir(parents=True, exist_ok=True)
            held.enter_context(locked(home, waiting))
            if not (home / IDENTITY).is_file():
                write_json(home / IDENTITY, identity)
            found = {layer: Store(home / hash_of({"layer": layer, "pooling": pooling})) for layer in layers}
        except (OSError, UsageError) as error:  # a folder that cannot be written
            _warn(home, error)
            found = {layer: Store(None) for layer in layers}
        try:
            yield found
        finally:
            for store in found.values():
                store.flush()


def _warn(home: Path, error: OSError | UsageError) -> None:
    reason = (error.strerror if isinstance(error, OSError) else None) or error
    warn_user(f"codes cannot be cached in '{home}' and will be computed again next time: {reason}", UserWarning)
