"""Tables out of files: what all kinds share, and the simplest kind, an npz."""

from __future__ import annotations

import os
import zipfile
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

import numpy as np

from unweave.data.dataset import Images
from unweave.data.encoded import LIMIT, resize, size_option
from unweave.data.factors import Integers
from unweave.data.table import Table
from unweave.errors import UsageError
from unweave.files import refuse_special
from unweave.text import memory


@dataclass(frozen=True)
class Content:
    """What a file of images and factors holds."""

    images: Images
    factors: Integers
    names: Sequence[str] | None = None
    sizes: Sequence[int] | None = None
    levels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


class FileTable(Table):
    """A `Table` that is read from a file or a folder; a subclass sets `name` and writes `_read`.

    Its description holds a digest of what was read, so that a changed file is not taken for the old one.
    """

    example: ClassVar[str]
    """What the option `path` may look like."""

    levels: Mapping[str, tuple[str, ...]]
    """The words, or decimal numbers, behind the values of the factors that are no whole numbers in the file."""

    def __init__(self, *, path: str = "", size: int = 0, digest: str = "") -> None:
        if not path:
            raise UsageError(f"{self.name} needs a path: {self.name}:path={self.example}")
        place = Path(os.path.abspath(os.path.expanduser(str(path))))  # the same from every working directory
        if not place.exists():
            raise UsageError(f"there is no file or folder '{place}'")
        refuse_special(place)
        side = size_option(size)
        try:
            content = self._read(place, side)
        except OSError as error:
            raise UsageError(f"cannot read '{error.filename or place}': {error.strerror or error}") from error
        try:
            super().__init__(content.images, content.factors, names=content.names, sizes=content.sizes)
        except UsageError as error:
            raise UsageError(f"'{place}': {error}") from error
        if digest and digest != self.digest:
            raise UsageError(f"'{place}' has changed: its digest is {self.digest}, not {digest}")
        self.levels = content.levels
        self.options = {"path": str(place), "size": side, "digest": self.digest}

    @abstractmethod
    def _read(self, path: Path, size: int) -> Content:
        """Return what is in the file or folder, its images resized unless `size` is 0."""


class Npz(FileTable):
    """Images and factors of your own in an npz file: its arrays images, factors and, if you like, names."""

    name = "npz"
    example = "my.npz"

    def _read(self, path: Path, size: int) -> Content:
        arrays = read_npz(path, ("images", "factors"), ("names",))
        images, names = arrays["images"], arrays.get("names")
        if names is not None and (names.ndim != 1 or names.dtype.kind not in "US"):
            raise UsageError(f"the array 'names' in '{path}' must be a list of texts")
        words = None if names is None else [as_text(name) for name in names.tolist()]
        if images.dtype == np.uint8 and (images.ndim == 3 or (images.ndim == 4 and images.shape[3] in (1, 3))):
            images = resize(images[..., None] if images.ndim == 3 else images, size)
        return Content(images, arrays["factors"], words)


def as_text(name: str | bytes) -> str:
    """Return a name as text; numpy keeps some as bytes."""
    return name.decode("utf-8", "replace") if isinstance(name, bytes) else name


def read_npz(path: Path, needed: Sequence[str], optional: Sequence[str] = ()) -> dict[str, np.ndarray]:
    """Return arrays of an npz file by their names; nothing in it is ever unpickled."""
    if path.is_dir():
        raise UsageError(f"'{path}' is a folder, not an npz file")
    if not zipfile.is_zipfile(path):
        raise UsageError(f"'{path}' is no npz file, or not all of one; numpy.savez writes them")
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
