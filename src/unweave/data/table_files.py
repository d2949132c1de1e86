"""Read tables from files: the base class of all formats, and the simplest format, npz."""

from __future__ import annotations

import os
import zipfile
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

import numpy as np

from unweave.data.columns import factor_columns
from unweave.data.dataset import Images, Values
from unweave.data.encoded import LIMIT, resize, size_option
from unweave.data.table import Table
from unweave.errors import UsageError, warn_user
from unweave.files import refuse_special
from unweave.progress import OnProgress, silent
from unweave.text import memory

NO_FACTORS = "none"
"""The value of the option `factors` that leaves out all labels."""
CORRUPT = ("refuse", "skip")


class DataNote(UserWarning):
    """Warns that part of the user's files was left out, or numbered, while reading."""


@dataclass(frozen=True)
class Reading:
    """Options for reading files."""

    size: int = 0
    """The side to which the central square of each image is resized; 0 leaves images unchanged."""
    factors: tuple[str, ...] | None = None
    """The columns that are factors; None: all suitable ones."""
    skip: bool = False
    """Leave out images that cannot be read, instead of raising an error."""
    on_progress: OnProgress = silent


@dataclass(frozen=True)
class Content:
    """The content of a file of images and factors."""

    images: Images
    factors: Values | None
    names: Sequence[str] | None = None
    sizes: Sequence[int] | None = None
    levels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    notes: Sequence[str] = ()
    """Notes for the user about the reading, one line each."""


class FileTable(Table):
    """A `Table` that is read from a file or a folder; a subclass sets `name` and writes `_read`.

    Its description holds a digest of the content, so that a changed file is detected.
    """

    example: ClassVar[str]
    """An example of the option `path`."""

    levels: Mapping[str, tuple[str, ...]]
    """The words or numbers behind the values of factors that were numbered here."""

    def __init__(
        self,
        *,
        path: str = "",
        size: int = 0,
        factors: str | Sequence[str] = "",
        corrupt: str = "refuse",
        digest: str = "",
        on_progress: OnProgress = silent,
    ) -> None:
        """Read a file or a folder.

        Parameters
        ----------
        path
            The path of the file or folder.
        size
            The side to which the central square of each image is resized; 0 leaves images unchanged.
        factors
            The columns that are factors, as a list or comma-separated; "none": images alone.
        corrupt
            Whether to "refuse" or "skip" images that cannot be read.
        digest
            Raise a `UsageError` if the content has another digest.
        on_progress
            Called with the number of images read so far.
        """
        if not path:
            raise UsageError(f"{self.name} needs a path: {self.name}:path={self.example}")
        place = Path(os.path.abspath(os.path.expanduser(str(path))))  # the same from every working directory
        if not place.exists():
            raise UsageError(f"there is no file or folder '{place}'")
        refuse_special(place)
        if corrupt not in CORRUPT:
            raise UsageError(f"corrupt must be one of {', '.join(CORRUPT)}, not {corrupt!r}")
        reading = Reading(size_option(size), _factors_option(factors), corrupt == "skip", on_progress)
        try:
            content = self._read(place, reading)
        except OSError as error:
            raise UsageError(f"cannot read '{error.filename or place}': {error.strerror or error}") from error
        try:
            super().__init__(content.images, content.factors, names=content.names, sizes=content.sizes)
        except UsageError as error:
            raise UsageError(f"'{place}': {error}") from error
        if digest and digest != self.digest:
            raise UsageError(f"'{place}' holds other images or factors: its digest is {self.digest}, not {digest}")
        if not digest:  # a known digest means that the notes were shown before
            for note in content.notes:
                warn_user(note, DataNote)
        self.levels = content.levels
        self.options = {"path": str(place), "size": reading.size, "digest": self.digest}
        if reading.factors is not None:
            self.options["factors"] = ",".join(reading.factors) or NO_FACTORS
        if reading.skip:
            self.options["corrupt"] = corrupt

    @abstractmethod
    def _read(self, path: Path, reading: Reading) -> Content:
        """Return the content of the file or folder."""


class Npz(FileTable):
    """Your own images in an npz file: its array `images` and, optionally, `factors` and their `names`."""

    name = "npz"
    example = "my.npz"

    def _read(self, path: Path, reading: Reading) -> Content:
        arrays = read_npz(path, ("images",), ("factors", "names"))
        images, names, factors = arrays["images"], arrays.get("names"), arrays.get("factors")
        if names is not None and (names.ndim != 1 or names.dtype.kind not in "US"):
            raise UsageError(f"the array 'names' in '{path}' must be a list of texts")
        words = None if names is None else [as_text(name) for name in names.tolist()]
        if images.dtype == np.uint8 and (images.ndim == 3 or (images.ndim == 4 and images.shape[3] in (1, 3))):
            images = resize(images[..., None] if images.ndim == 3 else images, reading.size)
        if factors is None or reading.factors == ():
            return Content(images, None)
        if reading.factors is not None and factors.ndim == 2 and (words is None or len(words) == factors.shape[1]):
            known = words or [f"factor{axis}" for axis in range(factors.shape[1])]
            words = factor_columns(known, reading.factors)[0]
            factors = factors[:, [known.index(name) for name in words]]
        return Content(images, factors, words)


def _factors_option(value: object) -> tuple[str, ...] | None:
    """Return the names in "color,size", or in a list of names; None for all columns, () for none."""
    names = str(value).split(",") if isinstance(value, str | int | float) else list(value)  # pyright: ignore
    if not all(isinstance(name, str) for name in names) or any("," in name for name in names):
        raise UsageError(f"factors must be names of columns without commas, such as factors=color,size, not {value!r}")
    names = [name.strip() for name in names]
    if names == [NO_FACTORS]:
        return ()
    if len(set(names)) < len(names):
        raise UsageError(f"factors must differ: {', '.join(names)}")
    return None if names in ([], [""]) else tuple(names)


def as_text(name: str | bytes) -> str:
    """Return a name as text; numpy may store it as bytes."""
    return name.decode("utf-8", "replace") if isinstance(name, bytes) else name


def read_npz(path: Path, needed: Sequence[str], optional: Sequence[str] = ()) -> dict[str, np.ndarray]:
    """Return arrays of an npz file by their names; nothing in it is ever unpickled."""
    if path.is_dir():
        raise UsageError(f"'{path}' is a folder, not an npz file")
    if not zipfile.is_zipfile(path):
        raise UsageError(f"'{path}' is not a complete npz file; numpy.savez writes them")
    arrays: dict[str, np.ndarray] = {}
    try:
        with zipfile.ZipFile(path) as archive:
            sizes = {entry.filename.removesuffix(".npy"): entry.file_size for entry in archive.infolist()}
            for name in needed:
                if name not in sizes:
                    raise UsageError(f"'{path}' has no array '{name}'; it has: {', '.join(sizes) or 'nothing'}")
            for name in (name for name in (*needed, *optional) if name in sizes):
                if sizes[name] > LIMIT + 4096:  # and a header
                    raise UsageError(f"'{name}' in '{path}' takes {memory(sizes[name])}, more than {memory(LIMIT)}")
                with archive.open(f"{name}.npy") as file:
                    arrays[name] = np.lib.format.read_array(file, allow_pickle=False)
    except (UsageError, MemoryError, OSError):
        raise
    except Exception as error:  # a broken archive makes zipfile, zlib and numpy raise almost anything
        reason = "it holds Python objects, which are refused" if "Object arrays" in str(error) else "it is broken"
        raise UsageError(f"the arrays in '{path}' cannot be read: {reason}") from error
    return arrays
