"""Images out of files and bytes, all of one size, in one array."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from unweave.data.dataset import Images
from unweave.errors import UsageError
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


def read_pictures(pictures: Sequence[Path | bytes], size: int, label: Callable[[int], str]) -> Images:
    """Return encoded images as one array (n, H, W, C), with one channel if all are grey and else three.

    `size` is the side to which the middle square of each is resized; with 0 all must have one size already.
    `label(i)` is what errors call image i. All headers are read before anything is decoded.
    """
    from PIL.Image import DecompressionBombWarning  # only who reads pictures waits for it

    with warnings.catch_warnings():
        warnings.simplefilter("error", DecompressionBombWarning)
        return _read(pictures, size, label)


def _read(pictures: Sequence[Path | bytes], size: int, label: Callable[[int], str]) -> Images:
    count = len(pictures)
    shapes, modes = zip(
        *(_header(picture, partial(label, place)) for place, picture in enumerate(pictures)), strict=True
    )
    if not size and len(set(shapes)) > 1:
        other = next(place for place in range(count) if shapes[place] != shapes[0])
        sizes = [f"{width}×{height}" for width, height in (shapes[0], shapes[other])]
        raise UsageError(
            f"the images differ in size: {label(0)} has {sizes[0]} pixels, {label(other)} {sizes[1]}; "
            "give size=64, for example, to crop and resize them"
        )
    mode = "L" if set(modes) <= set(GREY) else "RGB"
    width, height = (size, size) if size else shapes[0]
    shape = (count, height, width, 1 if mode == "L" else 3)
    refuse_large(shape)
    images = np.empty(shape, dtype=np.uint8)
    for place, picture in enumerate(pictures):
        with _opened(picture, partial(label, place)) as image:
            # Straight to RGB, Pillow would warn of a palette with transparency.
            whole = image.convert("RGBA") if image.mode == "P" else image
            pixels = np.asarray(_fitted(whole.convert(mode), size))
        images[place] = pixels.reshape(shape[1:])
    return images


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
        raise UsageError(f"{label()} is no image that can be read, or a broken one") from error


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
