"""Write tables of the docs between two marks of a page, from stored measurements."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from textwrap import fill


def block(name: str, text: str) -> str:
    """Return a text with its marks, as on a page."""
    return f"<!-- {name} -->\n{text}\n<!-- /{name} -->"


def put(page: Path, name: str, text: str) -> None:
    """Put a text between the existing marks of a page."""
    before, _, rest = page.read_text().partition(f"<!-- {name} -->")
    _, _, after = rest.partition(f"<!-- /{name} -->")
    page.write_text(before + block(name, text) + after)


def put_all(page: Path, texts: Mapping[str, str]) -> None:
    """Put texts, given by the names of their marks, into a page."""
    for name, text in texts.items():
        put(page, name, text)


def bullet(note: str) -> str:
    """Return a note as an item of a list, in lines of at most 118 characters."""
    return fill(note, 118, initial_indent="- ", subsequent_indent="  ", break_on_hyphens=False)


def to_store(words: Sequence[str] | None, about: str | None, option: str, what: str) -> Path | None:
    """Return the path that a script's only option gives; None without the option."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(option, dest="path", type=Path, metavar="PATH", help=f"{what} to store first")
    return parser.parse_args(words).path
