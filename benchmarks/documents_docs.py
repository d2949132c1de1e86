"""Update the rows that the pages of docs/documents quote from those of docs/reproduce.

    python benchmarks/documents_docs.py

A table row with a number, or an item of a list that counts rising scores, is a quotation. It must be on a page in
docs/reproduce, which other scripts write from stored scores; an outdated quotation is replaced by the nearest one.
"""

from __future__ import annotations

import re
from difflib import get_close_matches
from functools import cache
from pathlib import Path

DOCS = Path(__file__).parents[1] / "docs"
PART = re.compile(r"^- .*(?:\n  .*)*|^.*$", re.MULTILINE)
"""A line, or an item of a list with all its lines."""
QUOTED = re.compile(r"(?:\| (?!\[|figure|scenario).*\d.*\|$|- .*: \d+ of \d+ scores rise)")


def pages() -> list[Path]:
    return sorted((DOCS / "documents").glob("*.md"))


def written(page: Path) -> str:
    """Return the text of a page with up-to-date quotations."""
    return PART.sub(lambda part: _current(part[0]), page.read_text(encoding="utf-8"))


@cache
def results() -> dict[str, None]:
    """Return the lines and items of all results, as keys."""
    texts = (page.read_text(encoding="utf-8") for page in sorted((DOCS / "reproduce").glob("*.md")))
    return dict.fromkeys(part for text in texts for part in PART.findall(text))


def _current(part: str) -> str:
    if not QUOTED.match(part) or part in results():
        return part
    quotable = [known for known in results() if QUOTED.match(known)]
    same = [known for known in quotable if known.partition(":")[0] == part.partition(":")[0]]
    return get_close_matches(part, same or quotable, n=1, cutoff=0)[0]


if __name__ == "__main__":
    for page in pages():
        page.write_text(written(page), encoding="utf-8")
