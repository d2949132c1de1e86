"""Update the rows that the pages of docs/documents quote from those of docs/reproduce.

    python benchmarks/documents_docs.py

A table row with a number, or a line that counts slopes, is a quotation. It must be a line of a page in docs/reproduce,
which other scripts write from stored scores; an outdated quotation is replaced by the nearest line.
"""

from __future__ import annotations

import re
from difflib import get_close_matches
from functools import cache
from pathlib import Path

DOCS = Path(__file__).parents[1] / "docs"
QUOTED = re.compile(r"^(?:\| (?!\[|figure|scenario).*\d.*\|$|- .*: slopes above 0 )")


def pages() -> list[Path]:
    return sorted((DOCS / "documents").glob("*.md"))


def written(page: Path) -> str:
    """Return the text of a page with up-to-date quotations."""
    return "\n".join(_current(line) for line in page.read_text(encoding="utf-8").split("\n"))


@cache
def results() -> dict[str, None]:
    """Return the lines of all results, as keys."""
    texts = (page.read_text(encoding="utf-8") for page in sorted((DOCS / "reproduce").glob("*.md")))
    return dict.fromkeys(line for text in texts for line in text.splitlines())


def _current(line: str) -> str:
    if not QUOTED.match(line) or line in results():
        return line
    same = [known for known in results() if QUOTED.match(known)]
    return get_close_matches(line, same, n=1, cutoff=0)[0]


if __name__ == "__main__":
    for page in pages():
        page.write_text(written(page), encoding="utf-8")
