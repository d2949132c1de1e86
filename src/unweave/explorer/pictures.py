"""Images as PNG and GIF bytes: one image, strips and grids of them at their true size."""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO

import numpy as np
from PIL import Image

from unweave.explorer.opened import Array

GAP = 1
"""Pixels between images of a grid; transparent."""
FRAME = 90
"""Milliseconds of a frame of an animation."""
GREY, COLOUR, TRANSPARENT = 1, 3, 4


def png(images: Array, *, columns: int | None = None, scale: int = 1) -> bytes:
    """Return images (n, H, W, C) as one PNG, by default side by side: fast to write rather than small."""
    if len(images) == 1 and scale == 1:
        return _png(Image.fromarray(_pixels(images)[0]))
    return _png(Image.fromarray(grid(images, columns or len(images), scale=scale)))


def gif(frames: Sequence[Array], *, columns: int, scale: int = 1) -> bytes:
    """Return frames, each the images (n, H, W, C) of a grid, as a GIF that goes there and back for ever."""
    drawn = [Image.fromarray(grid(images, columns, scale=scale)).convert("RGB") for images in frames]
    palette = drawn[len(drawn) // 2].quantize(256)
    there = [frame.quantize(palette=palette, dither=Image.Dither.NONE) for frame in drawn]
    first, *rest = [*there, *there[-2:0:-1]]
    buffer = BytesIO()
    first.save(buffer, "GIF", save_all=True, append_images=rest, duration=FRAME, loop=0)
    return buffer.getvalue()


def grid(images: Array, columns: int, *, scale: int = 1) -> Array:
    """Return images (n, H, W, C) in rows of so many, enlarged, as one array of pixels with gaps between them."""
    pixels = _pixels(images)
    if scale > 1:
        pixels = pixels.repeat(scale, axis=1).repeat(scale, axis=2)
    count, height, width = pixels.shape[:3]
    rows = -(-count // columns)
    gap = GAP * scale
    size = (rows * (height + gap) - gap, columns * (width + gap) - gap, TRANSPARENT)
    canvas = np.zeros(size, dtype=np.uint8)
    for place, image in enumerate(pixels):
        top, left = (place // columns) * (height + gap), (place % columns) * (width + gap)
        shown = image if image.ndim == 3 else image[..., None]
        canvas[top : top + height, left : left + width, : shown.shape[-1]] = shown
        if shown.shape[-1] < TRANSPARENT:
            canvas[top : top + height, left : left + width, :COLOUR] = shown
            canvas[top : top + height, left : left + width, COLOUR] = 255
    return canvas


def _pixels(images: Array) -> Array:
    """Return images as Pillow takes them: grey without a channel, colours, or colours and opacity."""
    channels = images.shape[-1]
    if channels == GREY:
        return np.ascontiguousarray(images[..., 0])
    if channels in (COLOUR, TRANSPARENT):
        return np.ascontiguousarray(images)
    return images.mean(axis=-1).astype(np.uint8)  # what has no colours is shown in grey


def _png(picture: Image.Image) -> bytes:
    buffer = BytesIO()
    picture.save(buffer, "PNG", compress_level=1)
    return buffer.getvalue()
