"""A folder of images and the list of their factors."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import ClassVar

from unweave.data.encoded import SUFFIXES, read_pictures
from unweave.data.listing import Listing, read_attributes, read_csv
from unweave.data.table_files import Content, FileTable
from unweave.errors import UsageError


class Listed(FileTable):
    """Images in files, named by a list; the files lie beside the list, or in one folder below."""

    patterns: ClassVar[tuple[str, ...]]
    """How the list may be called, the surest names first."""
    read: ClassVar[Callable[[Path], Listing]]

    def _read(self, path: Path, size: int) -> Content:
        listing = type(self).read(_find_list(path, self.patterns))
        root = _root(listing)
        paths = [Path(os.path.normpath(root / file)) for file in listing.files]
        for row, file in enumerate(paths):
            if not file.is_relative_to(root):
                raise UsageError(f"{listing.label(row)} leaves the folder '{root}'; name files in it, or below")
            if not file.is_file():
                raise UsageError(f"there is no image {listing.label(row)} in '{root}'")
        _refuse_unlisted(listing, root, paths)
        images = read_pictures(paths, size, listing.label)
        return Content(images, listing.factors, listing.names, listing.sizes, listing.levels)


class ImageFolder(Listed):
    """Images of your own in a folder, with a CSV: a column file, and one column a factor."""

    name = "folder"
    example = "faces"
    patterns = ("*.csv",)
    read = staticmethod(read_csv)


class Attributes(Listed):
    """Images with binary attributes, 0 and 1 or -1 and 1: a CSV, or a list in the format of CelebA's."""

    name = "attributes"
    example = "celeba"
    patterns = ("list_attr*.txt", "list_attr*.csv", "*.csv", "*.txt")
    read = staticmethod(read_attributes)


def _find_list(path: Path, patterns: tuple[str, ...]) -> Path:
    """Return the list itself, or the one in a folder."""
    if path.is_file():
        return path
    for pattern in patterns:
        found = sorted(path.glob(pattern))
        if len(found) == 1:
            return found[0]
        if found:
            names = ", ".join(file.name for file in found)
            raise UsageError(f"'{path}' holds several lists ({names}); name one: path={found[0]}")
    raise UsageError(f"'{path}' holds no list of its images ({' or '.join(patterns)})")


def _root(listing: Listing) -> Path:
    """Return the folder that the files of a list are relative to: its own, or one below that has the first file."""
    own = listing.path.parent
    folders = [own, *sorted(folder for folder in own.iterdir() if folder.is_dir())]
    return next((folder for folder in folders if (folder / listing.files[0]).is_file()), own)


def _refuse_unlisted(listing: Listing, root: Path, paths: list[Path]) -> None:
    """Raise the error for images that lie among the listed ones but have no row."""
    listed = set(paths)
    among = {path.parent for path in paths}
    images = (file for folder in among for file in folder.iterdir() if file.suffix.lower() in SUFFIXES)
    missing = sorted(file for file in images if file not in listed and not file.name.startswith("."))
    if missing:
        first = missing[0].relative_to(root)
        others = f" and {len(missing) - 1:,} more images" if len(missing) > 1 else ""
        raise UsageError(f"'{first}'{others} in '{root}' have no row in '{listing.path}'")
