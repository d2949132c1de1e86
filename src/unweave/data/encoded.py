"""Images out of files and bytes, all of one size, in one array."""

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
"""What the name of a picture in a folder ends in; case does not matter."""
READERS = ("PNG", "JPEG", "BMP", "GIF", "TIFF", "WEBP", "PPM")
"""Pillow's readers that decode in this process; others start programs, or need fonts."""

GREY = ("1", "L", "LA")
COLOUR = ("P", "RGB", "RGBA", "CMYK", "YCbCr")
LIMIT = 4 * 10**9
"""Bytes of images that a set holds in memory at most."""
LARGEST = 4096
"""The largest side that images are resized to."""
LISTED = 3
"""Broken files that an error or a warning names."""
REPORTED = 100
"""Images between two reports of progress."""


@dataclass(frozen=True)
class Decoded:
    """Images in one array, which of the files they are of, and a line for each file that cannot be read."""

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
    """Return encoded images as one array (n, H, W, C), with one channel if all are grey and else three.

    All headers are read before anything is decoded, and nothing but that array is held.

    Parameters
    ----------
    pictures
        Files, or their bytes.
    size
        The side to which the middle square of each is resized; with 0 all must have one size already.
    label
        What errors call image i.
    skip
        Leave out what cannot be read, instead of refusing it.
    on_progress
        Told how many images are read.
    """
    from PIL.Image import DecompressionBombWarning  # only who reads pictures waits for it

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
            # Straight to RGB, Pillow would warn of a palette with transparency.
            whole = image.convert("RGBA") if image.mode == "P" else image
            images[len(kept)] = np.asarray(_fitted(whole.convert(mode), size)).reshape(shape[1:])
            kept.append(place)
    _refuse_faults(faults, len(pictures), skip)
    return Decoded(images[: len(kept)], kept, faults)


@contextmanager
def _collecting(faults: list[str]) -> Iterator[None]:
    """Keep what is wrong with an image for later."""
    try:
        yield
    except UsageError as error:
        faults.append(str(error))


def _refuse_faults(faults: Sequence[str], count: int, skip: bool) -> None:
    """Raise the error for files that cannot be read, unless they are left out; if there is no other file, always."""
    if not faults or (skip and len(faults) < count):
        return
    way_out = "" if len(faults) == count else "; corrupt=skip leaves such files out"
    many = f"{len(faults):,} of {count:,} images cannot be used: " if len(faults) > 1 else ""
    raise UsageError(f"{many}{list_faults(faults)}{way_out}")


def list_faults(faults: Sequence[str]) -> str:
    """Return the first few lines, and how many more there are, as one."""
    more = f"; and {len(faults) - LISTED:,} more" if len(faults) > LISTED else ""
    return "; ".join(faults[:LISTED]) + more


def _refuse_sizes(shapes: Mapping[int, tuple[int, int]], label: Callable[[int], str]) -> None:
    """Raise the error for images of several sizes, which names the least and the largest."""
    if len(sizes := set(shapes.values())) == 1:
        return
    least, largest = (pick(shapes, key=lambda place: math.prod(shapes[place])) for pick in (min, max))
    if shapes[least] == shapes[largest]:  # as many pixels, otherwise shaped
        largest = next(place for place, shape in shapes.items() if shape != shapes[least])
    ends = [f"{label(place)} has {'×'.join(map(str, shapes[place]))} pixels" for place in (least, largest)]
    raise UsageError(
        f"the images differ in size ({len(sizes):,} sizes; {', '.join(ends)}); "
        "give size=64, for example, to crop them to squares and resize them"
    )


def resize(images: Images, size: int) -> Images:
    """Return images (n, H, W, C) with their middle square resized to `size`; 0 leaves them as they are."""
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
    """Return the side that images are resized to, 0 for none."""
    if isinstance(size, int | np.integer) and not isinstance(size, bool) and 0 <= size <= LARGEST:
        return int(size)
    raise UsageError(f"size must be 0, to leave the images as they are, or a side of up to {LARGEST}, not {size!r}")


def refuse_large(shape: tuple[int, ...]) -> None:
    """Raise the error for images that would take more memory than a set may hold."""
    count, height, width, channels = map(int, shape)
    needed = count * height * width * channels
    if needed > LIMIT:
        raise UsageError(
            f"{count:,} images of {height}×{width}×{channels} need {memory(needed)} of memory, more than "
            f"{memory(LIMIT)}; make them smaller with size=64, for example, or take fewer"
        )


def _header(picture: Path | bytes, label: Callable[[], str]) -> tuple[tuple[int, int], str]:
    """Return width, height and mode of an image without decoding it."""
    with _opened(picture, label) as image:
        shape, mode = image.size, image.mode
    if mode not in GREY + COLOUR:
        raise UsageError(f"{label()} has pixels of kind '{mode}'; save it with 8 bits a channel")
    return shape, mode


@contextmanager
def _opened(picture: Path | bytes, label: Callable[[], str]) -> Iterator[Image]:
    """Open an image; whatever is wrong with it becomes one line."""
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
    """Return the middle square of an image at this size; 0 leaves it as it is."""
    from PIL.Image import Resampling

    return fitted(image, size, size, Resampling.BILINEAR) if size else image


def fitted(picture: Image, height: int, width: int, resampling: Resampling) -> Image:
    """Return the largest piece with this aspect around the centre of a picture, scaled to this size."""
    across = min(picture.width, max(1, round(picture.height * width / height)))
    down = min(picture.height, max(1, round(picture.width * height / width)))
    left, top = (picture.width - across) // 2, (picture.height - down) // 2
    # Cut first: scaling from within the whole picture would look beyond the edges of the piece.
    return picture.crop((left, top, left + across, top + down)).resize((width, height), resampling)
