"""What the site changes in the layout of a page: numbers that stay on one line, pictures that lead to their full size.

Both are done to the page that Sphinx has read, so that the Markdown on GitHub needs neither.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from docutils import nodes
from PIL import Image

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sphinx.application import Sphinx

COLUMN = 900
"""Pixels of the column of text: wider pictures are shrunk."""
VALUE = r"(?:[<>≈] ?)?[±−+-]?\d(?:[\d.,]*\d)?(?:e[+-]?\d+)?(?: ?%)?"
BRACKET = r"\((?=[^()]*\d)[^()]{1,24}\)|\[(?=[^][]*\d)[^][]{1,24}\]"
NUMBER = re.compile(rf"(?<![\w.]){VALUE}(?: ?(?:[±…–×/]|of|to) ?{VALUE})*(?: ×)?(?: (?:{BRACKET}))?|{BRACKET}")
"""A number with what belongs to it: 0.31 ± 0.06, 0.05 (2 seeds), −25.0 (−25.2 … −24.8); or an interval alone."""
BREAKABLE = re.compile(r"[\s–−-]")


def arrange(app: Sphinx, page: nodes.document) -> None:
    """Arrange a page that Sphinx has read."""
    for cell in page.findall(nodes.entry):
        keep_numbers_together(cell)
    for image in [*page.findall(nodes.image)]:
        give_width(image, Path(app.srcdir))


def keep_numbers_together(cell: nodes.Element) -> None:
    """Mark a cell that is one number as a whole, in others each number that a line could break."""
    if NUMBER.fullmatch(cell.astext().strip()):
        cell["classes"].append("number")
        return
    for text in [*cell.findall(nodes.Text)]:
        if not isinstance(text.parent, nodes.literal):
            text.parent.replace(text, [*_marked(text.astext())])


def give_width(image: nodes.image, top: Path) -> None:
    """Give a picture that is wider than the column its width: Sphinx links a picture with a width to its file."""
    path = top / image["uri"]
    if "width" not in image and path.suffix == ".png" and path.is_file():
        with Image.open(path) as picture:
            if picture.width > COLUMN:
                image["width"] = f"{picture.width}px"


def _marked(text: str) -> Iterator[nodes.Node]:
    end = 0
    for found in NUMBER.finditer(text):
        if BREAKABLE.search(found[0]):
            yield nodes.Text(text[end : found.start()])
            yield nodes.inline("", found[0], classes=["number"])
            end = found.end()
    yield nodes.Text(text[end:])
