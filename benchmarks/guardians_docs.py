"""The page of metric by metric results, the counts and the pictures of the guardians, from the stored scores.

    unweave reproduce guardians --preset small
    python benchmarks/guardians_docs.py --scores runs/reproduce/guardians-small-0/scores.csv

Without the option, the script draws and writes from the scores that are stored.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

import pages

from unweave.reproduce.guardians_figures import map_figure, sizes_figure
from unweave.reproduce.guardians_page import as_list, conclusions, from_csv, page, sizes_of

DOCS = Path(__file__).parents[1] / "docs"
STORED = DOCS / "results" / "guardians.csv"
PAGE = DOCS / "results" / "guardians.md"
CLAIMS = DOCS / "reproduce" / "guardians.md"


def main(words: Sequence[str] | None = None) -> None:
    if given := pages.to_store(words, __doc__, "--scores", "the scores"):
        shutil.copyfile(given, STORED)
    scores = from_csv(STORED.read_text(encoding="utf-8"))
    PAGE.write_text(page(scores), encoding="utf-8")
    pages.put(CLAIMS, "claims", as_list(conclusions(scores)))
    for name, figure in {"map": map_figure(scores, sizes_of(scores)[-1]), "sizes": sizes_figure(scores)}.items():
        path = DOCS / "images" / f"guardians-{name}.png"
        figure.savefig(path, dpi=120, facecolor="white", metadata={"Software": None})


if __name__ == "__main__":
    main()
