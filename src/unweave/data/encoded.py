"""Decode images, all of one size, from files or bytes into one array."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from unweave.data.dataset import Images
from unweave.errors import UsageError
from unweave.progress import OnProgress, silent
from unweave.text import memory

if TYPE_CHECKING:
    from PIL.Image import Image, Resampling

SUFFIXES = (".png", ".jpg", ".jpeg", ".bmp", ".gif", ".tif", ".tiff", ".webp", ".pgm", ".ppm")
"""File name endings of pictures in a folder; case does not matter."""
READERS = ("PNG", "JPEG", "BMP", "GIF", "TIFF", "WEBP", "PPM")
"""Pillow's formats that are decoded in this process; others start programs or need fonts."""

GREY = ("1", "L", "LA")
COLOUR = ("P", "RGB", "RGBA", "CMYK", "YCbCr")
LIMIT = 4 * 10**9
"""Largest size in bytes of a set's images in memory."""
LARGEST = 4096
"""The largest side that images are resized to."""
LISTED = 3
"""Number of broken files that an error or a warning lists."""
REPORTED = 100
"""Images between two reports of progress."""


@dataclass(frozen=True)
class Decoded:
    """Images in one array, the position of the file of each, and a line for each file that cannot be read."""

    images: Images
    kept: list[int]
    faults: list[str]


def read_pictures(
    pictures: Sequence[Path | bytes],
    size: int,
    label: Callable[[int], str],
    *,
    skip: bool = False,
    on_progress: OnProgress = silent,
) -> Decoded:
    """Decode images into one array (n, H, W, C), with one channel if all are grey, otherwise three.

    All headers are read before anything is decoded, and only that array is kept in memory.

    Parameters
    ----------
    pictures
        Files, or their bytes.
    size
        The side to which the central square of each image is resized; with 0, all must have the same size.
    label
        Returns the name of image i in error messages.
    skip
        Leave out images that cannot be read, instead of raising an error.
    on_progress
        Called with the number of images read so far.
    """
    from PIL.Image import DecompressionBombWarning  # slow to import

    with warnings.catch_warnings():
        warnings.simplefilter("error", DecompressionBombWarning)
        return _read(pictures, size, label, skip, on_progress)


def _read(
    pictures: Sequence[Path | bytes], size: int, label: Callable[[int], str], skip: bool, on_progress: OnProgress
) -> Decoded:
    headers: dict[int, tuple[tuple[int, int], str]] = {}
    faults: list[str] = []
    for place, picture in enumerate(pictures):
        with _collecting(faults):
            headers[place] = _header(picture, partial(label, place))
    _refuse_faults(faults, len(pictures), skip)
    shapes = {place: shape for place, (shape, _) in headers.items()}
    if not size:
        _refuse_sizes(shapes, label)
    mode = "L" if {mode for _, mode in headers.values()} <= set(GREY) else "RGB"
    width, height = (size, size) if size else next(iter(shapes.values()))
    shape = (len(headers), height, width, 1 if mode == "L" else 3)
    refuse_large(shape)
    images = np.empty(shape, dtype=np.uint8)
    kept: list[int] = []
    for done, place in enumerate(headers):
        if done % REPORTED == 0:
            on_progress("reading images", done, len(headers))
        with _collecting(faults), _opened(pictures[place], partial(label, place)) as image:
            # Converted directly to RGB, a palette with transparency would make Pillow warn.
            whole = image.convert("RGBA") if image.mode == "P" else image
            images[len(kept)] = np.asarray(_fitted(whole.convert(mode), size)).reshape(shape[1:])
            kept.append(place)
    _refuse_faults(faults, len(pictures), skip)
    return Decoded(images[: len(kept)], kept, faults)


@contextmanager
def _collecting(faults: list[str]) -> Iterator[None]:
    """Collect an error about an image, instead of raising it."""
    try:
        yield
    except UsageError as error:
        faults.append(str(error))


def _refuse_faults(faults: Sequence[str], count: int, skip: bool) -> None:
    """Raise the error for files that cannot be read, unless they are skipped and other files remain."""
    if not faults or (skip and len(faults) < count):
        return
    way_out = "" if len(faults) == count else "; corrupt=skip leaves such files out"
    many = f"{len(faults):,} of {count:,} images cannot be used: " if len(faults) > 1 else ""
    raise UsageError(f"{many}{list_faults(faults)}{way_out}")


def list_faults(faults: Sequence[str]) -> str:
    """Return the first few lines and the number of the others as one line."""
    more = f"; and {len(faults) - LISTED:,} more" if len(faults) > LISTED else ""
    return "; ".join(faults[:LISTED]) + more


def _refuse_sizes(shapes: Mapping[int, tuple[int, int]], label: Callable[[int], str]) -> None:
    """Raise the error for images of different sizes, which names the smallest and the largest."""
    if len(sizes := set(shapes.values())) == 1:
        return
    least, largest = (pick(shapes, key=lambda place: math.prod(shapes[place])) for pick in (min, max))
    if shapes[least] == shapes[largest]:  # as many pixels, but another shape
        largest = next(place for place, shape in shapes.items() if shape != shapes[least])
    ends = [f"{label(place)} has {'×'.join(map(str, shapes[place]))} pixels" for place in (least, largest)]
    raise UsageError(
        f"the images differ in size ({len(sizes):,} sizes; {', '.join(ends)}); "
        "give size=64, for example, to crop them to squares and resize them"
    )


def resize(images: Images, size: int) -> Images:
    """Return images (n, H, W, C) with their central square resized to `size`; 0 leaves them unchanged."""
    if not size or images.shape[1:3] == (size, size):
        return images
    shape = (len(images), size, size, images.shape[3])
    refuse_large(shape)
    from PIL.Image import fromarray

    resized = np.empty(shape, dtype=np.uint8)
    for place, image in enumerate(images):
        picture = fromarray(image[..., 0] if shape[3] == 1 else image)
        resized[place] = np.asarray(_fitted(picture, size)).reshape(shape[1:])
    return resized


def size_option(size: object) -> int:
    """Return the side that images are resized to, after checking it; 0 leaves them unchanged."""
    if isinstance(size, int | np.integer) and not isinstance(size, bool) and 0 <= size <= LARGEST:
        return int(size)
    raise UsageError(f"size must be 0, to leave the images unchanged, or a side of at most {LARGEST}, not {size!r}")


def refuse_large(shape: tuple[int, ...]) -> None:
    """Raise a `UsageError` if images would take more memory than a set may use."""
    count, height, width, channels = map(int, shape)
    needed = count * height * width * channels
    if needed > LIMIT:
        raise UsageError(
            f"{count:,} images of {height}×{width}×{channels} need {memory(needed)} of memory, more than "
            f"{memory(LIMIT)}; make them smaller with size=64, for example, or use fewer"
        )


def _header(picture: Path | bytes, label: Callable[[], str]) -> tuple[tuple[int, int], str]:
    """Return width, height and mode of an image without decoding it."""
    with _opened(picture, label) as image:
        shape, mode = image.size, image.mode
    if mode not in GREY + COLOUR:
        raise UsageError(f"{label()} has pixels of kind '{mode}'; save it with 8 bits per channel")
    return shape, mode


@contextmanager
def _opened(picture: Path | bytes, label: Callable[[], str]) -> Iterator[Image]:
    """Open an image; any error becomes a `UsageError` of one line."""
    from PIL import Image

    try:
        with Image.open(BytesIO(picture) if isinstance(picture, bytes) else picture, formats=READERS) as image:
            yield image
    except MemoryError:
        raise
    except Exception as error:  # Pillow's decoders raise a dozen kinds of errors on broken files
        reason = error.strerror if isinstance(error, OSError) else None
        if reason:
            raise UsageError(f"cannot read {label()}: {reason}") from error
        raise UsageError(f"{label()} cannot be read as an image, or is damaged") from error


def _fitted(image: Image, size: int) -> Image:
    """Return the central square of an image, resized to this size; 0 leaves the image unchanged."""
    from PIL.Image import Resampling

    return fitted(image, size, size, Resampling.BILINEAR) if size else image


def fitted(picture: Image, height: int, width: int, resampling: Resampling) -> Image:
    """Return the largest central crop with this aspect ratio, scaled to this size."""
    across = min(picture.width, max(1, round(picture.height * width / height)))
    down = min(picture.height, max(1, round(picture.width * height / width)))
    left, top = (picture.width - across) // 2, (picture.height - down) // 2
    # Crop first: resampling the whole picture would mix in pixels beyond the edges of the crop.
    return picture.crop((left, top, left + across, top + down)).resize((width, height), resampling)
