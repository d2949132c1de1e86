"""Tables of the docs, written between two marks of a page from the files that hold what was measured."""

from __future__ import annotations

from pathlib import Path


def block(name: str, text: str) -> str:
    """Return a text between its marks, as it stands on a page."""
    return f"<!-- {name} -->\n{text}\n<!-- /{name} -->"


def put(page: Path, name: str, text: str) -> None:
    """Put a text between the marks of a page, which has them already."""
    before, _, rest = page.read_text().partition(f"<!-- {name} -->")
    _, _, after = rest.partition(f"<!-- /{name} -->")
    page.write_text(before + block(name, text) + after)
