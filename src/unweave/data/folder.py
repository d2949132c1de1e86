"""A folder of images, with or without a list of their factors."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import ClassVar

from unweave.data.backdrops import find_pictures
from unweave.data.encoded import LISTED, SUFFIXES, Decoded, list_faults, read_pictures
from unweave.data.listing import Listing, read_attributes, read_csv
from unweave.data.table_files import Content, FileTable, Reading
from unweave.errors import UsageError

LOOKED_AT = 100
"""Number of files of a list that are looked for to find their folder."""


class Listed(FileTable):
    """Image files that a list names; they are in the folder of the list, or in one folder below it."""

    patterns: ClassVar[tuple[str, ...]]
    """Patterns for the name of the list, the most specific first."""
    read: ClassVar[Callable[[Path, Sequence[str] | None], Listing]]

    def _read(self, path: Path, reading: Reading) -> Content:
        listing = type(self).read(_find_list(path, self.patterns), reading.factors)
        root = _root(listing)
        paths = [Path(os.path.normpath(root / file)) for file in listing.files]
        for row, file in enumerate(paths):
            if not file.is_relative_to(root):
                raise UsageError(f"{listing.label(row)} is outside '{root}'; list only files in it or below it")
        rows = [row for row, file in enumerate(paths) if file.is_file()]
        if not rows:
            raise UsageError(f"none of the images in '{listing.path}' is in '{root}'; the first is {listing.label(0)}")
        notes = [*listing.notes, *_absent(listing, root, rows), *_unlisted(listing, root, paths)]
        found = read_pictures(
            [paths[row] for row in rows],
            reading.size,
            lambda place: listing.label(rows[place]),
            skip=reading.skip,
            on_progress=reading.on_progress,
        )
        factors = listing.factors[[rows[place] for place in found.kept]] if listing.names else None
        notes += _skipped(found, root)
        return Content(found.images, factors, listing.names or None, listing.sizes, listing.levels, notes)


class ImageFolder(Listed):
    """Your own images in a folder, with or without a CSV (a column `file`, and one for each factor)."""

    name = "folder"
    example = "faces"
    patterns = ("*.csv",)
    read = staticmethod(read_csv)

    def _read(self, path: Path, reading: Reading) -> Content:
        if path.is_dir() and (reading.factors == () or not any(path.glob("*.csv"))):
            return _unlabelled(path, reading)
        return super()._read(path, reading)


class Attributes(Listed):
    """Images with binary attributes, 0 and 1 or -1 and 1, from a CSV or a list in CelebA's format."""

    name = "attributes"
    example = "celeba"
    patterns = ("list_attr*.txt", "list_attr*.csv", "*.csv", "*.txt")
    read = staticmethod(read_attributes)


def _find_list(path: Path, patterns: tuple[str, ...]) -> Path:
    """Return the path of the list: the given file, or the list in the given folder."""
    if path.is_file():
        return path
    for pattern in patterns:
        found = sorted(path.glob(pattern))
        if len(found) == 1:
            return found[0]
        if found:
            names = ", ".join(file.name for file in found)
            raise UsageError(f"'{path}' holds several lists ({names}); choose one: path={found[0]}")
    raise UsageError(f"'{path}' holds no list of its images ({' or '.join(patterns)})")


def _unlabelled(folder: Path, reading: Reading) -> Content:
    """Return all images in a folder and below it, without factors."""
    if reading.factors:
        raise UsageError(f"there is no CSV in '{folder}' to take factors={','.join(reading.factors)} from")
    paths = find_pictures(folder)
    found = read_pictures(
        paths, reading.size, lambda place: f"'{paths[place]}'", skip=reading.skip, on_progress=reading.on_progress
    )
    return Content(found.images, None, notes=_skipped(found, folder))


def _root(listing: Listing) -> Path:
    """Return the folder that a list's files are relative to: its own, or a subfolder with one of the first files."""
    own = listing.path.parent
    folders = [own, *sorted(folder for folder in own.iterdir() if folder.is_dir())]
    some = listing.files[:LOOKED_AT]
    return next((folder for folder in folders if any((folder / file).is_file() for file in some)), own)


def _absent(listing: Listing, root: Path, rows: Sequence[int]) -> list[str]:
    """Return the note on rows without an image."""
    missing = sorted(set(range(len(listing.files))) - set(rows))
    if not missing:
        return []
    return [f"left out rows without an image in '{root}': {_counted(map(listing.label, missing))}"]


def _unlisted(listing: Listing, root: Path, paths: Sequence[Path]) -> list[str]:
    """Return the note on images in the same folders as the listed ones that have no row."""
    listed = set(paths)
    among = {path.parent for path in paths if path.parent.is_dir()}
    images = (file for folder in among for file in folder.iterdir() if file.suffix.lower() in SUFFIXES)
    missing = sorted(file for file in images if file not in listed and not file.name.startswith("."))
    if not missing:
        return []
    names = _counted(f"'{file.relative_to(root)}'" for file in missing)
    return [f"left out images without a row in '{listing.path}': {names}"]


def _skipped(found: Decoded, folder: Path) -> list[str]:
    """Return the note on images that cannot be read."""
    if not found.faults:
        return []
    return [f"left out images that cannot be read: {len(found.faults):,} in '{folder}': {list_faults(found.faults)}"]


def _counted(names: Iterable[str]) -> str:
    """Return the number of names, and the first few of them."""
    listed = list(names)
    return f"{len(listed):,} ({', '.join(listed[:LISTED])}{', …' if len(listed) > LISTED else ''})"
