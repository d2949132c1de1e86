"""The scores of codes of known quality by every metric: docs/guides/which-metric.md.

    python benchmarks/metric_guide.py              score all worlds (four minutes of CPU time), draw and write the page
    python benchmarks/metric_guide.py --write      draw and write the page from the stored scores

Scores are in docs/results/metric-guide.csv, the worlds in benchmarks/metric_worlds.py.
"""

from __future__ import annotations

import os

os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1"}

import argparse
import warnings
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pages
import polars
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from metric_worlds import FACTORS, WORLDS, World, draw

import unweave
from unweave.report import normalised_information
from unweave.report.style import LIGHT

DOCS = Path(__file__).parents[1] / "docs"
STORE, PAGE = DOCS / "results" / "metric-guide.csv", DOCS / "guides" / "which-metric.md"
MAP, PICTURES = DOCS / "images" / "guide-metrics.png", DOCS / "images" / "guide-worlds.png"
ROWS = 5_000
FAMILIES = {
    "Does each latent encode one factor?": {
        "dci-disentanglement": "DCI: D",
        "info-mec-modularity": "InfoMEC: M",
        "modularity": "modularity",
        "mig-sup": "MIG-sup",
        "irs": "IRS",
        "beta-vae-score": "β-VAE score",
        "factor-vae-score": "FactorVAE score",
    },
    "Is each factor in one latent?": {
        "mig": "MIG",
        "jemmig": "JEMMIG",
        "dcimig": "DCIMIG",
        "sap": "SAP",
        "dci-completeness": "DCI: C",
        "info-mec-compactness": "InfoMEC: C",
        "mcc": "MCC",
        "mcc-rank": "MCC by ranks",
    },
    "Encoded at all?": {
        "dci-informativeness": "DCI: I",
        "info-mec-explicitness": "InfoMEC: E",
        "explicitness": "explicitness",
        "r2": "R²",
    },
    "For many latents": {
        "dci-matched-disentanglement": "matched DCI: D",
        "dci-matched-completeness": "matched DCI: C",
        "dci-matched-informativeness": "matched DCI: I",
    },
}
TITLES = {name: title for family in FAMILIES.values() for name, title in family.items()}
HIGH, LOW = 0.8, 0.4
BLUES = LinearSegmentedColormap.from_list("share", ["#ffffff", "#9cc4ea", "#1f66b0"])


def score(world: World) -> polars.DataFrame:
    """Return all scores of one world."""
    parts = {name: name.rsplit("-", 1)[0] for name in TITLES if name not in unweave.metrics.METRICS}
    metrics = list(dict.fromkeys(parts.get(name, name) for name in TITLES))
    table = unweave.evaluate(
        *draw(world, ROWS, 0), metrics, test=draw(world, ROWS // 2, 1), intervals=False, preset="fast", progress=False
    )
    columns = polars.col("value", "floor", "ceiling", "adjusted").round(4)
    return polars.DataFrame(table).filter(polars.col("metric").is_in(list(TITLES))).select("metric", columns)


def measure() -> polars.DataFrame:
    """Return the scores of all worlds."""
    found = []
    for name, world in WORLDS.items():
        found.append(score(world).select(polars.lit(name).alias("world"), polars.all()))
        print(name, flush=True)
    return polars.concat(found)


def stored() -> polars.DataFrame:
    return polars.read_csv(STORE, schema_overrides=dict.fromkeys(("floor", "ceiling", "adjusted"), polars.Float64))


def grid(table: polars.DataFrame, column: str) -> np.ndarray:
    """Return one column as (worlds, metrics), NaN if there is no number."""
    cells = {(row["world"], row["metric"]): row[column] for row in table.iter_rows(named=True)}
    rows = [[cells.get((world, metric)) for metric in TITLES] for world in WORLDS]
    return np.array(rows, dtype=float)


def places(table: polars.DataFrame) -> np.ndarray:
    """Return the position of each score between floor and ceiling, or the score itself if it has neither."""
    adjusted = grid(table, "adjusted")
    return np.clip(np.where(np.isnan(adjusted), grid(table, "value"), adjusted), 0, 1)


def metric_map(table: polars.DataFrame) -> Figure:
    """Return the heat map of worlds × metrics; before each row, a small picture shows which latent has which factor."""
    values, shades = grid(table, "value"), places(table)
    figure = Figure(figsize=(13.5, 8.6), layout="constrained")
    widths = [3.4, *map(len, FAMILIES.values())]
    panels = figure.subplots(len(WORLDS), len(widths), width_ratios=widths, squeeze=False)
    for row, (name, world) in enumerate(WORLDS.items()):
        _small_picture(panels[row, 0], name, world)
        end = 0
        for column, (family, metrics) in enumerate(FAMILIES.items(), start=1):
            start, end = end, end + len(metrics)
            axes = _bare(panels[row, column])
            axes.imshow(shades[row : row + 1, start:end], cmap=BLUES, vmin=0, vmax=1, aspect="auto")
            for place, (value, shade) in enumerate(zip(values[row, start:end], shades[row, start:end], strict=True)):
                colour = "white" if shade > 0.7 else LIGHT["ink"]
                axes.text(place, 0, decimals(value), ha="center", va="center", fontsize=8.5, color=colour)
            if not row:
                axes.xaxis.tick_top()
                titles = list(metrics.values())
                axes.set_xticks(range(len(titles)), titles, rotation=40, ha="left", fontsize=9, color=LIGHT["ink"])
                axes.tick_params(length=0)
                axes.set_title(family, fontsize=10, color=LIGHT["muted"], loc="left", y=3.6)
    return figure


def _bare(axes: Axes) -> Axes:
    axes.set_xticks([])
    axes.set_yticks([])
    for spine in axes.spines.values():
        spine.set_visible(False)
    return axes


def _small_picture(axes: Axes, name: str, world: World) -> None:
    """Draw which latent (across) has which factor (down), with the world's name before it."""
    _bare(axes)
    codes, factors = draw(world, 2_000, 0)
    axes.imshow(normalised_information(codes, factors).T, cmap=BLUES, vmin=0, vmax=1, aspect="auto")
    axes.set_ylabel(world.title, rotation=0, ha="right", va="center", fontsize=10, color=LIGHT["ink"], labelpad=6)
    for spine in axes.spines.values():
        spine.set(visible=True, color=LIGHT["line"])


def pictures() -> Figure:
    """Return two latents of each world against each other, coloured by the first factor."""
    columns = 5
    figure = Figure(figsize=(11, 2.55 * -(-len(WORLDS) // columns)), layout="constrained")
    panels = figure.subplots(-(-len(WORLDS) // columns), columns).ravel()
    for axes, (name, world) in zip(panels, WORLDS.items(), strict=True):
        codes, factors = draw(world, 1_500, 0)
        first, second = shown(name, codes.shape[1])
        jitter = (
            0.025 * np.random.default_rng(0).normal(size=(len(codes), 2)) * np.ptp(codes[:, [first, second]], axis=0)
        )
        x, y = (codes[:, [first, second]] + jitter).T
        axes.scatter(x, y, c=factors[:, 0], cmap="viridis", s=5, linewidths=0, alpha=0.8)
        _bare(axes)
        for spine in axes.spines.values():
            spine.set(visible=True, color=LIGHT["line"])
        axes.set_title(world.title, fontsize=10.5, color=LIGHT["ink"])
        axes.set_xlabel(f"latent {first + 1}", fontsize=8, color=LIGHT["muted"])
        axes.set_ylabel(f"latent {second + 1}", fontsize=8, color=LIGHT["muted"])
    return figure


def shown(name: str, latents: int) -> tuple[int, int]:
    """Return the two latents that show best what a world does: those of the first factor, or the first two."""
    per_factor = latents // FACTORS
    second = {"copies": 4, "circle": 4, "split": 4, "rotated": 2, "scrambled": 2, "bumps": per_factor // 2}
    return 3 if name == "bumps" else 0, second.get(name, 1)


def score_table(table: polars.DataFrame) -> str:
    """Return all scores as Markdown: a row for each metric, a column for each world."""
    values = grid(table, "value")
    heads = " | ".join(world.title for world in WORLDS.values())
    lines = [f"| metric | {heads} |", f"|---|{'--:|' * len(WORLDS)}"]
    for place, name in enumerate(TITLES):
        lines.append(f"| `{name}` | {' | '.join(map(decimals, values[:, place]))} |")
    return "\n".join(lines)


def decimals(value: float) -> str:
    """Return a score with two decimals, without a negative zero."""
    return f"{round(value, 2) + 0.0:.2f}"


def world_list(table: polars.DataFrame) -> str:
    """Return the metrics that score each world high and low, by their place between floor and ceiling."""
    shades = places(table)
    lines = ["| world | codes | high | low |", "|---|---|---|---|"]
    for row, world in enumerate(WORLDS.values()):
        high = [title for title, shade in zip(TITLES.values(), shades[row], strict=True) if shade >= HIGH]
        low = [title for title, shade in zip(TITLES.values(), shades[row], strict=True) if shade <= LOW]
        lines.append(f"| {world.title} | {world.says} | {named(high)} | {named(low)} |")
    return "\n".join(lines)


def named(titles: Sequence[str]) -> str:
    everything = len(TITLES)
    if len(titles) > 0.75 * everything:
        others = [title for title in TITLES.values() if title not in titles]
        return "all" if not others else f"all but {', '.join(others)}"
    return ", ".join(titles) or "none"


def blocks(table: polars.DataFrame) -> dict[str, str]:
    """Return the texts between the marks of the page."""
    return {"worlds": world_list(table), "scores": score_table(table)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="use the stored scores")
    if not parser.parse_args().write:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", unweave.metrics.FewSamples)
            measure().write_csv(STORE)
    table = stored()
    for figure, path in ((metric_map(table), MAP), (pictures(), PICTURES)):
        figure.savefig(path, dpi=110, facecolor="white", metadata={"Software": None})
    pages.put_all(PAGE, blocks(table))


if __name__ == "__main__":
    main()
