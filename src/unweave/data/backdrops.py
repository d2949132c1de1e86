"""Pictures of a user's own, of any size and kind, as RGB to put before or behind an object."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from unweave.data.dataset import Images
from unweave.data.encoded import READERS, SUFFIXES, fitted
from unweave.errors import UsageError

if TYPE_CHECKING:
    from PIL.Image import Image


def read_picture(path: Path) -> Image:
    """Return the picture in a file as RGB; transparency is left out."""
    from PIL import Image  # only who reads pictures waits for it

    if not path.is_file():
        raise UsageError(f"there is no image file '{path}'")
    try:
        with warnings.catch_warnings(action="error"), Image.open(path, formats=READERS) as picture:
            deep = picture.mode[0] in "IF"
            rgb = picture.convert("RGBA").convert("RGB")
    except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        raise UsageError(f"'{path}' has more than {Image.MAX_IMAGE_PIXELS:,} pixels; make it smaller") from error
    except Exception as error:  # broken files make the decoders raise almost anything
        raise UsageError(f"'{path}' cannot be read as an image") from error
    if deep:  # converted, it would be white almost everywhere
        raise UsageError(f"'{path}' has more than 8 bits a channel; save it with 8")
    return rgb


def read_folder(folder: Path, height: int, width: int) -> Images:
    """Return the pictures in a folder and the folders below it, (n, H, W, 3), in the order of their paths.

    Each is cut to the aspect wanted around its centre, then scaled (Lanczos).
    """
    paths = find_pictures(folder)
    from PIL.Image import Resampling

    images = np.empty((len(paths), height, width, 3), dtype=np.uint8)
    for image, path in zip(images, paths, strict=True):
        image[:] = np.asarray(fitted(read_picture(path), height, width, Resampling.LANCZOS))
    return images


def find_pictures(folder: Path) -> list[Path]:
    """Return the paths of the pictures in a folder and below, sorted alike on every platform.

    Hidden files and folders are left out, and links to folders are not followed, so that none is met twice.
    """
    if not folder.is_dir():
        raise UsageError(f"there is no folder '{folder}'")
    paths = list(_pictures(folder))
    if not paths:
        raise UsageError(f"the folder '{folder}' has no images (looked for {', '.join(SUFFIXES)})")
    return sorted(paths, key=lambda path: path.relative_to(folder).as_posix())


def has_pictures(folder: Path) -> bool:
    """Tell whether `find_pictures` finds any."""
    return next(_pictures(folder), None) is not None


def is_picture(name: str) -> bool:
    """Tell by its name whether a file is a picture, and not a hidden one."""
    return name.lower().endswith(SUFFIXES) and not name.startswith(".")


def _pictures(folder: Path) -> Iterator[Path]:
    for root, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        yield from (Path(root, name) for name in names if is_picture(name))
