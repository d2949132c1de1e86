"""How sure scores are over seeds and over rows: docs/guides/how-many-seeds-and-rows.md.

    python benchmarks/seeds_and_rows.py             compute the two tables, draw the figure and write the page
    python benchmarks/seeds_and_rows.py --write     draw and write from the stored tables

The spread over seeds comes from the stored tables of studies in docs/results. docs/results/seeds.csv has the spread of
each metric over seeds, docs/results/rows.csv scores of the same codes at several numbers of rows; DCI at more of them
is in docs/results/dci-rows.csv (benchmarks/dci_rows.py).
"""

from __future__ import annotations

import os

os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1"}

import argparse
from math import sqrt
from pathlib import Path

import numpy as np
import pages
import polars
from intervals import draw
from matplotlib.figure import Figure
from scipy import stats

from unweave.metrics import METRICS
from unweave.report.style import LIGHT, plain
from unweave.study.analysis import power_of
from unweave.study.analysis.power import pooled_deviation

DOCS = Path(__file__).parents[1] / "docs"
RESULTS, PAGE = DOCS / "results", DOCS / "guides" / "how-many-seeds-and-rows.md"
SEEDS_STORE, ROWS_STORE, FIGURE = RESULTS / "seeds.csv", RESULTS / "rows.csv", DOCS / "images" / "guide-seeds.png"
STUDIES = {
    "challenging-assumptions": ["challenging-assumptions"],
    "thesis": ["thesis-3.7", "thesis-3.10", "thesis-3.12", "thesis-5.5", "thesis-6.4"],
}
OF_A_ROW = ("run", "seed", "metric", "value")
SCORES = (
    "mig", "sap", "dci-disentanglement", "dci-completeness", "dci-informativeness", "modularity", "explicitness",
    "beta-vae-score", "factor-vae-score", "axis-alignment", "linearity",
)  # fmt: skip
COUNTS = (5, 10, 20, 50)
OF_ROWS = ("mig", "mig-sup", "sap-correlation", "modularity", "mcc", "irs", "r2", "explicitness")
ROWS = (200, 500, 1_000, 2_000, 5_000, 10_000)
SAMPLES = 8


def spreads() -> polars.DataFrame:
    """Return the deviation over seeds within a cell, pooled over the cells of each study."""
    found = []
    for study, files in STUDIES.items():
        cells = [cell for file in files for cell in cells_of(RESULTS / f"{file}.parquet")]
        for metric in SCORES:
            scores = [values for name, values in cells if name == metric]
            if scores:
                seeds = sum(map(len, scores)) // len(scores)
                spread = round(pooled_deviation(scores), 4)
                found.append({"study": study, "metric": metric, "cells": len(scores), "seeds": seeds, "spread": spread})
    return polars.DataFrame(found)


def cells_of(path: Path) -> list[tuple[str, np.ndarray]]:
    """Return the scores over seeds of each cell of a stored study: the name of the metric, and one score a seed."""
    table = polars.read_parquet(path)
    settings = [name for name in table.columns if name not in OF_A_ROW]
    groups = table.group_by("metric", *settings, maintain_order=True)
    return [(str(key[0]), rows["value"].to_numpy()) for key, rows in groups if rows["value"].is_not_nan().all()]


def half_width(spread: float, seeds: int) -> float:
    """Return the half of the 95 % interval of a mean over seeds whose deviation is the spread."""
    return float(stats.t.ppf(0.975, seeds - 1)) * spread / sqrt(seeds)


def smallest_effect(seeds: int, power: float = 0.8) -> float:
    """Return the difference of two cells, in deviations, that a t test finds with this power."""
    low, high = 0.0, 10.0
    while high - low > 1e-4:
        middle = (low + high) / 2
        low, high = (low, middle) if power_of(middle, seeds) >= power else (middle, high)
    return high


def over_rows() -> polars.DataFrame:
    """Return scores of fresh samples of the same world at each number of rows: their mean and deviation."""
    found = []
    for rows in ROWS:
        samples = [draw("good", rows, np.random.default_rng([rows, seed])) for seed in range(SAMPLES)]
        for name in OF_ROWS:
            scores = [float(METRICS[name](*sample)) for sample in samples]
            mean, deviation = round(float(np.mean(scores)), 4), round(float(np.std(scores, ddof=1)), 4)
            found.append({"metric": name, "rows": rows, "mean": mean, "deviation": deviation})
    return polars.DataFrame(found)


def seeds_table(table: polars.DataFrame) -> str:
    """Return spreads, half-widths and differences that are found, as Markdown."""
    heads = [f"± at {seeds} seeds" for seeds in COUNTS] + [f"difference found at {seeds}" for seeds in COUNTS[:3]]
    lines = [f"| study | metric | spread | {' | '.join(heads)} |", f"|---|---|{'--:|' * (1 + len(heads))}"]
    for row in table.iter_rows(named=True):
        widths = [half_width(row["spread"], seeds) for seeds in COUNTS]
        found = [smallest_effect(seeds) * row["spread"] for seeds in COUNTS[:3]]
        cells = " | ".join(f"{value:.3f}" for value in (row["spread"], *widths, *found))
        lines.append(f"| {row['study']} | `{row['metric']}` | {cells} |")
    return "\n".join(lines)


def rows_table(table: polars.DataFrame, trees: polars.DataFrame) -> str:
    """Return scores over rows as Markdown, with those of DCI."""
    lines = [f"| metric | {' | '.join(f'{rows:,} rows' for rows in ROWS)} |", f"|---|{'--:|' * len(ROWS)}"]
    cells: dict[tuple[str, int], str] = {}
    for row in table.iter_rows(named=True):
        cells[row["metric"], row["rows"]] = f"{row['mean']:.3f} ± {row['deviation']:.3f}"
    for (rows,), group in trees.group_by("rows"):
        for part in ("disentanglement", "completeness", "informativeness"):
            values = group[part].to_numpy()
            cells[f"dci-{part}", int(str(rows))] = f"{values.mean():.3f} ± {values.std(ddof=1):.3f}"
    for name in dict.fromkeys(metric for metric, _ in cells):
        lines.append(f"| `{name}` | {' | '.join(cells.get((name, rows), '–') for rows in ROWS)} |")
    return "\n".join(lines)


def effects_table() -> str:
    """Return the smallest effect found with 80 % power, by the number of seeds, as Markdown."""
    counts = (3, 5, 10, 20, 50)
    cells = " | ".join(f"{smallest_effect(seeds):.2f}" for seeds in counts)
    heads = " | ".join(f"{seeds} seeds" for seeds in counts)
    return f"| of each cell | {heads} |\n|---|{'--:|' * len(counts)}\n| smallest effect (Cohen's d) | {cells} |"


def noise_table() -> str:
    """Return the standard deviations over seeds and over rows, from the stored audit of metrics, as Markdown."""
    audit = {row["metric"]: row for row in polars.read_csv(RESULTS / "metric-audit.csv").iter_rows(named=True)}
    lines = [
        "| metric | over seeds | over 1,000 rows | over 5,000 rows | seeds / 5,000 rows |",
        "|---|--:|--:|--:|--:|",
    ]
    for name in (metric for metric in SCORES if metric in audit):
        row = audit[name]
        cells = [row["spread"], row["few_noise"], row["many_noise"]]
        ratio = row["spread"] / row["many_noise"]
        lines.append(f"| `{name}` | {' | '.join(f'{cell:.4f}' for cell in cells)} | {ratio:.0f} × |")
    return "\n".join(lines)


def picture(table: polars.DataFrame) -> Figure:
    """Return the half-width of the interval over seeds against their number, a line for each metric."""
    figure = Figure(figsize=(6.8, 3.6), layout="constrained")
    axes = plain(figure.subplots())
    seeds = np.arange(3, 51)
    looks = {
        "factor-vae-score": (LIGHT["alert"], "-"),
        "mig": (LIGHT["accent"], "-"),
        "dci-disentanglement": ("#2f7d4f", "--"),
        "sap": ("#7a4fa3", "-"),
    }
    for name, (colour, line) in looks.items():
        (spread,) = table.filter(study="challenging-assumptions", metric=name)["spread"]
        axes.plot(
            seeds, [half_width(spread, int(count)) for count in seeds], color=colour, linewidth=1.8, label=name, ls=line
        )
    axes.set(xlabel="training seeds of a cell", ylabel="half of the 95 % interval", ylim=(0, None), xlim=(3, 50))
    axes.set_xticks([3, 5, 10, 20, 30, 40, 50])
    axes.axvline(5, color=LIGHT["line"], linewidth=1)
    axes.legend(frameon=False, fontsize=9)
    return figure


def blocks() -> dict[str, str]:
    """Return the texts between the marks of the page."""
    spread = polars.read_csv(SEEDS_STORE)
    rows = rows_table(polars.read_csv(ROWS_STORE), polars.read_csv(RESULTS / "dci-rows.csv"))
    return {"seeds": seeds_table(spread), "effects": effects_table(), "noise": noise_table(), "rows": rows}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="use the stored tables")
    if not parser.parse_args().write:
        spreads().write_csv(SEEDS_STORE)
        over_rows().write_csv(ROWS_STORE)
    picture(polars.read_csv(SEEDS_STORE)).savefig(FIGURE, dpi=120, facecolor="white", metadata={"Software": None})
    pages.put_all(PAGE, blocks())


if __name__ == "__main__":
    main()
