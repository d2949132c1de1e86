"""Images as PNG and GIF bytes: single images, strips and grids."""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from unweave.explorer.opened import Array

GAP = 1
"""Transparent pixels between the images of a grid."""
FRAME = 90
"""Milliseconds per frame of an animation."""
LETTERS = (12, 20)
"""Smallest and largest size of the letters of names, in pixels."""
MARGIN = 6
GREY, COLOUR, TRANSPARENT = 1, 3, 4


def png(images: Array, *, columns: int | None = None, scale: int = 1, names: Sequence[str] = ()) -> bytes:
    """Return images (n, H, W, C) as one PNG, by default side by side; it is fast to write rather than small.

    `names` are written before the rows, black on white.
    """
    if len(images) == 1 and scale == 1 and not names:
        return _png(Image.fromarray(_pixels(images)[0]))
    drawn = Image.fromarray(grid(images, columns or len(images), scale=scale))
    return _png(_with_names(drawn, names) if names else drawn)


def gif(frames: Sequence[Array], *, columns: int, scale: int = 1, names: Sequence[str] = ()) -> bytes:
    """Return frames, each a grid of images (n, H, W, C), as a GIF that plays forwards and backwards for ever.

    `names` are written above the images, black on white.
    """
    if names:
        above = _titles(names, frames[0].shape[2] * scale)
        frames = [np.concatenate([above, _enlarged(_coloured(images), scale)], axis=1) for images in frames]
        scale = 1
    drawn = [_on_white(Image.fromarray(grid(images, columns, scale=scale))) for images in frames]
    palette = drawn[len(drawn) // 2].quantize(256)
    there = [frame.quantize(palette=palette, dither=Image.Dither.NONE) for frame in drawn]
    first, *rest = [*there, *there[-2:0:-1]]
    buffer = BytesIO()
    first.save(buffer, "GIF", save_all=True, append_images=rest, duration=FRAME, loop=0)
    return buffer.getvalue()


def _with_names(drawn: Image.Image, names: Sequence[str]) -> Image.Image:
    """Return a grid with a name before each of its rows."""
    height = drawn.height / len(names)
    font = ImageFont.load_default(size=min(LETTERS[1], max(LETTERS[0], height / 5)))
    width = round(max(font.getlength(name) for name in names)) + 2 * MARGIN
    canvas = Image.new("RGB", (width + drawn.width, drawn.height), "white")
    canvas.paste(drawn, (width, 0), drawn)
    pen = ImageDraw.Draw(canvas)
    for row, name in enumerate(names):
        pen.text((MARGIN, (row + 0.5) * height), name, "black", font, anchor="lm")
    return canvas


def _titles(names: Sequence[str], width: int) -> Array:
    """Return names as images of this width (n, H, width, 3); names that are too long are cut to their first word."""
    font = ImageFont.load_default(size=LETTERS[0])
    height = 2 * LETTERS[0]
    found = []
    for name in names:
        title = Image.new("RGB", (width, height), "white")
        text = name if font.getlength(name) <= width else name.split()[0]
        ImageDraw.Draw(title).text((width / 2, height / 2), text, "black", font, anchor="mm")
        found.append(np.asarray(title))
    return np.stack(found)


def _on_white(picture: Image.Image) -> Image.Image:
    canvas = Image.new("RGB", picture.size, "white")
    canvas.paste(picture, (0, 0), picture)
    return canvas


def _coloured(images: Array) -> Array:
    """Return images (n, H, W, C) with three channels."""
    pixels = _pixels(images)
    if pixels.ndim == 3:
        return pixels[..., None].repeat(COLOUR, axis=-1)
    return np.stack([np.asarray(_on_white(Image.fromarray(each).convert("RGBA"))) for each in pixels])


def _enlarged(pixels: Array, scale: int) -> Array:
    return pixels.repeat(scale, axis=1).repeat(scale, axis=2) if scale > 1 else pixels


def grid(images: Array, columns: int, *, scale: int = 1) -> Array:
    """Return images (n, H, W, C) in rows of `columns`, enlarged, as one array of pixels with gaps between them."""
    pixels = _enlarged(_pixels(images), scale)
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
    """Return images in the form that Pillow expects: grey without a channel, colour, or colour and opacity."""
    channels = images.shape[-1]
    if channels == GREY:
        return np.ascontiguousarray(images[..., 0])
    if channels in (COLOUR, TRANSPARENT):
        return np.ascontiguousarray(images)
    return images.mean(axis=-1).astype(np.uint8)  # other numbers of channels are shown in grey


def _png(picture: Image.Image) -> bytes:
    buffer = BytesIO()
    picture.save(buffer, "PNG", compress_level=1)
    return buffer.getvalue()
