"""The page about identifiability, written from its stored table: `python benchmarks/identifiability_docs.py`.

    unweave reproduce identifiability --preset small
    python benchmarks/identifiability_docs.py --trials runs/reproduce/identifiability-small-0/identifiability.csv

The second command stores the table as docs/results/identifiability.csv, draws its figure and writes the page.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pages

from unweave.reproduce.identifiability_figures import recovery_figure
from unweave.reproduce.identifiability_table import Trial, by_case, conclusions, mean, read_csv

DOCS = Path(__file__).parents[1] / "docs"
STORED = DOCS / "results" / "identifiability.csv"
PAGE = DOCS / "identifiability.md"
FIGURE = DOCS / "images" / "identifiability.png"


def stored() -> list[Trial]:
    """Return the stored table; empty before the first run."""
    return read_csv(STORED.read_text(encoding="utf-8")) if STORED.is_file() else []


def blocks(trials: Sequence[Trial]) -> dict[str, str]:
    """Return the texts between the marks of the page, by name."""
    if not trials:
        return {"notes": "No run is stored.", "table": "No run is stored."}
    notes = "\n".join(map(pages.bullet, conclusions(trials)))
    picture = f"![How much of the latents is found in each world, a dot for each seed](images/{FIGURE.name})"
    source = f"Every trial is in [{STORED.name}](results/{STORED.name})."
    return {"notes": f"{notes}\n\n{picture}", "table": f"{table(trials)}\n\n{source}"}


def table(trials: Sequence[Trial]) -> str:
    """Return a row for each method and world: means and standard deviations over seeds."""
    heads = [
        "method",
        "world",
        "theorem",
        "R²",
        "R² expected",
        "MCC after a linear map",
        "MCC",
        "R², MCC of the mixture",
    ]
    lines = [f"| {' | '.join(heads)} |", "|---|---|---|--:|--:|--:|--:|--:|"]
    for (method, world), each in by_case(trials).items():
        expected = "–" if each[0].expected is None else f"{mean(each, 'expected'):.3f}"
        scores = [_spread(each, name) for name in ("r2", "mapped", "mcc")]
        mixture = f"{mean(each, 'observed_r2'):.3f}, {mean(each, 'observed_mcc'):.3f}"
        holds = "holds" if each[0].holds else "fails"
        lines.append(
            f"| {method} | {world} | {holds} | {scores[0]} | {expected} | {' | '.join(scores[1:])} | {mixture} |"
        )
    return "\n".join(lines)


def _spread(trials: Sequence[Trial], score: str) -> str:
    values = [getattr(trial, score) for trial in trials]
    return f"{np.mean(values):.3f} ± {np.std(values, ddof=1):.3f}"


def main(words: Sequence[str] | None = None) -> None:
    if given := pages.to_store(words, __doc__, "--trials", "identifiability.csv of a reproduction"):
        STORED.write_bytes(given.read_bytes())
    trials = stored()
    pages.put_all(PAGE, blocks(trials))
    if trials:
        recovery_figure(trials).savefig(FIGURE, dpi=110, facecolor="white")


if __name__ == "__main__":
    main()
