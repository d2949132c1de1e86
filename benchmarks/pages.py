"""Write tables of the docs between two marks of a page, from stored measurements."""

from __future__ import annotations

from pathlib import Path


def block(name: str, text: str) -> str:
    """Return a text with its marks, as on a page."""
    return f"<!-- {name} -->\n{text}\n<!-- /{name} -->"


def put(page: Path, name: str, text: str) -> None:
    """Put a text between the existing marks of a page."""
    before, _, rest = page.read_text().partition(f"<!-- {name} -->")
    _, _, after = rest.partition(f"<!-- /{name} -->")
    page.write_text(before + block(name, text) + after)
