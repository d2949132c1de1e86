"""Grids of images: labelled rows of equal cells, and how they are drawn as one picture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import matplotlib
import numpy as np
from PIL import Image, ImageDraw, ImageFont

from unweave.errors import UsageError
from unweave.report.protocols import Images
from unweave.report.style import LIGHT

CELL = 128
"""Side in pixels to which a cell is enlarged, by a whole factor."""
GAP = 4
MARGIN = 24


@dataclass(frozen=True)
class Row:
    """Images side by side, with a label (pale when muted) and a smaller note of a line or more at their left."""

    images: Images  # (n, H, W, C)
    label: str = ""
    note: str = ""
    muted: bool = False


@dataclass(frozen=True)
class Grid:
    """Rows of images under an optional title and optional column headings."""

    rows: Sequence[Row]
    header: Sequence[str] = ()
    title: str = ""


def strip(images: Images, *, cell: int = CELL, background: str | None = None) -> Image.Image:
    """Return images (n, H, W, C) side by side as one picture, with thin gaps.

    Pixels are enlarged by a whole factor, so that they stay crisp. The gaps are transparent unless a `background` is
    given.
    """
    count, height, width, channels = images.shape
    if channels not in (1, 3):
        raise UsageError(f"a picture needs images of 1 or 3 channels, not {channels}")
    scale = max(1, cell // max(height, width))
    enlarged = np.repeat(np.repeat(images, scale, axis=1), scale, axis=2)
    pixels = np.broadcast_to(enlarged, (*enlarged.shape[:3], 3))
    step = width * scale + GAP
    picture = Image.new("RGBA", (count * step - GAP, height * scale), background or "#00000000")
    for place, image in enumerate(pixels):
        picture.paste(Image.fromarray(np.ascontiguousarray(image)), (place * step, 0))
    return picture


def draw(*grids: Grid) -> Image.Image:
    """Return grids below each other as one picture on white, their cells aligned."""
    labels = max(_label_width(row) for grid in grids for row in grid.rows)
    left = MARGIN + (labels + 20 if labels else 0)
    bands = [_stack(_bands(grid, left), GAP) for grid in grids]
    inside = _stack(bands, MARGIN)
    picture = Image.new("RGB", (inside.width + MARGIN, inside.height + 2 * MARGIN), LIGHT["paper"])
    picture.paste(inside, (0, MARGIN))
    return picture


def _stack(bands: Sequence[Image.Image], gap: int) -> Image.Image:
    """Return pictures below each other."""
    height = sum(band.height + gap for band in bands) - gap
    stacked = Image.new("RGB", (max(band.width for band in bands), height), LIGHT["paper"])
    top = 0
    for band in bands:
        stacked.paste(band, (0, top))
        top += band.height + gap
    return stacked


def _bands(grid: Grid, left: int) -> list[Image.Image]:
    """Return title, header and rows of a grid, each as wide as it needs."""
    title = [_title(grid.title)] if grid.title else []
    header = [_header(grid.header, left, strip(grid.rows[0].images[:1]).width)] if grid.header else []
    return [*title, *header, *(_row(row, left) for row in grid.rows)]


def _title(text: str) -> Image.Image:
    font = _font(24, bold=True)
    band = Image.new("RGB", (MARGIN + _text_width(text, font), 40), LIGHT["paper"])
    ImageDraw.Draw(band).text((MARGIN, 14), text, LIGHT["ink"], font, anchor="lm")
    return band


def _header(texts: Sequence[str], left: int, cell: int) -> Image.Image:
    band = Image.new("RGB", (left + len(texts) * (cell + GAP) - GAP, 30), LIGHT["paper"])
    for place, text in enumerate(texts):
        centre = left + place * (cell + GAP) + cell // 2
        ImageDraw.Draw(band).text((centre, 14), text, LIGHT["muted"], _font(20), anchor="mm")
    return band


def _row(row: Row, left: int) -> Image.Image:
    images = strip(row.images, background=LIGHT["paper"]).convert("RGB")
    band = Image.new("RGB", (left + images.width, images.height), LIGHT["paper"])
    band.paste(images, (left, 0))
    pen, middle = ImageDraw.Draw(band), images.height // 2
    ink = LIGHT["muted"] if row.muted else LIGHT["ink"]
    notes = row.note.splitlines()
    top = middle - 14 * len(notes)
    pen.text((MARGIN, top), row.label, ink, _font(22, bold=True), anchor="lm")
    for place, note in enumerate(notes, start=1):
        pen.text((MARGIN, top + 28 * place), note, LIGHT["muted"], _font(20), anchor="lm")
    return band


def _label_width(row: Row) -> int:
    notes = [_text_width(note, _font(20)) for note in row.note.splitlines()]
    return max(_text_width(row.label, _font(22, bold=True)), *notes, 0)


def _text_width(text: str, font: ImageFont.FreeTypeFont) -> int:
    return int(np.ceil(font.getlength(text)))


@cache
def _font(size: int, *, bold: bool = False) -> ImageFont.FreeTypeFont:
    """Return DejaVu Sans, which comes with matplotlib, so that the picture is the same on every machine."""
    name = "DejaVuSans-Bold.ttf" if bold else "DejaVuSans.ttf"
    return ImageFont.truetype(str(Path(matplotlib.get_data_path()) / "fonts" / "ttf" / name), size)
