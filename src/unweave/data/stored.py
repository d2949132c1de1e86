"""A data set whose images are in a published file."""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import ClassVar

import numpy as np

from unweave.data.conversion import Unreadable
from unweave.data.dataset import Dataset, Images
from unweave.data.factors import Integers
from unweave.data.statistics import Statistics
from unweave.errors import UsageError
from unweave.files import write_json


class Stored(Dataset):
    """A data set with one row of bytes per image, in memory or mapped from a file.

    `path` is the file or its folder; by default the folder into which `unweave data fetch` puts it. A subclass sets
    `files`, the names under which the file is published, and writes `_open`.
    """

    files: ClassVar[tuple[str, ...]]
    shape = (64, 64, 3)
    binary = False
    licence = "unknown"

    def __init__(self, *, path: str = "") -> None:
        given = str(Path(str(path)).expanduser().absolute()) if path else ""
        self.options = {"path": given} if path else {}
        self.file = locate(self.name, given, self.files)
        with naming(self.name, self.file):
            rows = self._open(self.file)
        self.mapped = rows.nbytes if isinstance(rows, np.memmap) else 0
        """Size of the mapped file in bytes; the system keeps as much of it in memory as there is room for."""
        self._rows = np.asarray(rows)

    @property
    def nbytes(self) -> int:
        """Memory used by the set, in bytes, without the mapped file."""
        return super().nbytes - self.mapped

    def statistics(self) -> Statistics:
        """Return the mean and standard deviation of each channel; they are saved beside the file."""
        kept = self.file.with_name(f"{self.file.name}.statistics.json")
        stamp = self.file.stat().st_mtime_ns
        with suppress(OSError, ValueError, TypeError, KeyError):
            known = json.loads(kept.read_text())
            if known.pop("modified") == stamp:
                return Statistics(**{name: tuple(map(float, channels)) for name, channels in known.items()})
        statistics = super().statistics()
        with suppress(OSError):  # in a read-only folder they are computed each time
            write_json(kept, {"modified": stamp, **asdict(statistics)})
        return statistics

    @abstractmethod
    def _open(self, file: Path) -> Images:
        """Return the rows of the file, in the order of the factors."""

    def _draw(self, indices: Integers) -> Images:
        return self._take(indices).reshape(-1, *self.shape)

    def _take(self, indices: Integers) -> Images:
        """Return a copy of the rows with these indices."""
        if indices.size and not (indices.min() >= 0 and indices.max() < len(self)):
            raise UsageError(f"indices must lie between 0 and {len(self) - 1}")
        return self._rows[indices]


def locate(name: str, path: str, files: Sequence[str]) -> Path:
    """Return the file of a data set: the given file, one in the given folder, or the fetched one."""
    if not path:
        return _fetched(name, files)
    given = Path(path)
    if given.is_dir():
        for file in files:
            if (given / file).is_file():
                return given / file
        raise UsageError(f"there is no {files[0]} in '{given}'")
    if not given.is_file():
        raise UsageError(f"there is no file '{given}'")
    return given


@contextmanager
def naming(name: str, file: Path) -> Iterator[None]:
    """Turn errors about a file into a `UsageError` that names the file and says what to do."""
    try:
        yield
    except Unreadable as error:
        why = " ".join(str(error).split())
        raise UsageError(
            f"'{file}' is not the file of {name}: {why}; to get it again: unweave data fetch {name}"
        ) from error
    except OSError as error:
        raise UsageError(f"cannot read '{error.filename or file}': {error.strerror or error}") from error


def _fetched(name: str, files: Sequence[str]) -> Path:
    from unweave.data.files import find  # it imports all that downloading needs

    missing = None
    for file in files:
        try:
            return find(name, file)
        except UsageError as error:
            missing = missing or error
    raise missing or UsageError(f"{name} has no files")
