"""Read a user's pictures, of any size and kind, as RGB layers in front of or behind an object."""

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
    """Return the picture in a file as RGB, without transparency."""
    from PIL import Image  # slow to import

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
        raise UsageError(f"'{path}' has more than 8 bits per channel; save it with 8 bits")
    return rgb


def read_folder(folder: Path, height: int, width: int) -> Images:
    """Return the pictures in a folder and the folders below it, (n, H, W, 3), in the order of their paths.

    Each is cropped around its centre to the required aspect ratio, then scaled (Lanczos).
    """
    paths = find_pictures(folder)
    from PIL.Image import Resampling

    images = np.empty((len(paths), height, width, 3), dtype=np.uint8)
    for image, path in zip(images, paths, strict=True):
        image[:] = np.asarray(fitted(read_picture(path), height, width, Resampling.LANCZOS))
    return images


def find_pictures(folder: Path) -> list[Path]:
    """Return the paths of the pictures in a folder and below it, in the same order on every platform.

    Hidden files and folders are left out. Links to folders are not followed, so no picture is found twice.
    """
    if not folder.is_dir():
        raise UsageError(f"there is no folder '{folder}'")
    paths = list(_pictures(folder))
    if not paths:
        raise UsageError(f"the folder '{folder}' has no images (looked for {', '.join(SUFFIXES)})")
    return sorted(paths, key=lambda path: path.relative_to(folder).as_posix())


def has_pictures(folder: Path) -> bool:
    """Return whether `find_pictures` would find any picture."""
    return next(_pictures(folder), None) is not None


def is_picture(name: str) -> bool:
    """Return whether a file is a picture, by its name; hidden files are not."""
    return name.lower().endswith(SUFFIXES) and not name.startswith(".")


def _pictures(folder: Path) -> Iterator[Path]:
    for root, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        yield from (Path(root, name) for name in names if is_picture(name))
