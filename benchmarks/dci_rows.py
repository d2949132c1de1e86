"""How DCI of the same codes grows with the number of rows.

    python benchmarks/dci_rows.py              compute docs/results/dci-rows.csv (minutes) and draw the figure
    python benchmarks/dci_rows.py --figure     draw docs/images/dci-rows.png from the stored numbers

Codes are those of the world "good" in benchmarks/intervals.py: factors of 4, 8 and 10 values, each in one latent with
noise of standard deviation 0.15 of its range, and three noise latents. There are n train rows and n / 2 test rows.
"""

from __future__ import annotations

import os

os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1"}

import argparse
from pathlib import Path

import numpy as np
import polars
from intervals import draw
from matplotlib.figure import Figure

from unweave.metrics import DCI, dci
from unweave.report.style import LIGHT, plain

DOCS = Path(__file__).parents[1] / "docs"
TABLE, FIGURE = DOCS / "results" / "dci-rows.csv", DOCS / "images" / "dci-rows.png"
ROWS = (500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000)
SAMPLES = 8
LOOKS = dict(zip(DCI._fields, ((LIGHT["accent"], 7), ("#c2571a", -7), ("#2f7d4f", 0)), strict=True))
"""The colour of each part, and how far above the end of its line its name is written."""


def measure() -> polars.DataFrame:
    """Return the three parts for fresh samples of each number of rows."""
    table = []
    for rows in ROWS:
        for seed in range(SAMPLES):
            rng = np.random.default_rng([rows, seed])
            codes, factors = draw("good", rows, rng)
            score = dci(codes, factors, test=draw("good", rows // 2, rng))
            table.append({"rows": rows, "sample": seed, **{k: round(v, 4) for k, v in score._asdict().items()}})
            print(*table[-1].values(), flush=True)
    return polars.DataFrame(table)


def picture(table: polars.DataFrame) -> Figure:
    """Return the means over samples, with two standard deviations to either side."""
    figure = Figure(figsize=(6.4, 3.2), layout="constrained")
    axes = plain(figure.subplots())
    groups = table.group_by("rows", maintain_order=True)
    means, deviations = groups.mean(), groups.agg(polars.col(DCI._fields).std())
    for part, (colour, above) in LOOKS.items():
        value, spread = means[part].to_numpy(), 2 * deviations[part].to_numpy()
        axes.fill_between(means["rows"], value - spread, value + spread, color=colour, alpha=0.2, linewidth=0)
        axes.plot(means["rows"], value, color=colour, marker="o", markersize=3.5, linewidth=1.6)
        end = means["rows"][-1], value[-1]
        axes.annotate(part, end, (6, above), textcoords="offset points", va="center", color=colour)
    axes.set(xscale="log", ylim=(0, 1), xlim=(ROWS[0] * 0.9, ROWS[-1] * 1.1), xlabel="train rows")
    axes.set_xticks(ROWS, [f"{rows:,}" for rows in ROWS])
    axes.minorticks_off()
    axes.xaxis.label.set_color(LIGHT["muted"])
    return figure


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--figure", action="store_true")
    if not parser.parse_args().figure:
        measure().write_csv(TABLE)
    picture(polars.read_csv(TABLE)).savefig(FIGURE, dpi=120, facecolor="white", metadata={"Software": None})


if __name__ == "__main__":
    main()
