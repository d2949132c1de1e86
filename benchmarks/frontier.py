"""Results over five seeds on the pages of the newer methods: `python benchmarks/frontier.py studies/frontier-*`.

    unweave study run examples/studies/frontier-discrete.toml --out studies/frontier-discrete
    python benchmarks/frontier.py studies/frontier-discrete

The studies are examples/studies/frontier-*.toml, their folders are given in any order. Scores of finished runs are
added to docs/results/frontier.csv. The tables between the marks `<!-- result -->` of the pages are written from that
file, without a folder too.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import comparison
import pages
import polars
from comparison_cells import Cell, cells_of
from comparison_docs import UNDEFINED, row, shown
from methods_docs import TITLES

from unweave.study.grid import read_grid
from unweave.study.plan import Plan

TOP = Path(__file__).parents[1]
DOCS = TOP / "docs"
STORE = DOCS / "results" / "frontier.csv"
COLUMNS = {"study": polars.String, "run": polars.String, "metric": polars.String, "value": polars.Float64}
DIGITS = 6
"""Decimals of a score in the file."""

NAMES = {
    "decoders": ["conv", "additive", "broadcast"],
    "discrete": ["JointVAE, γ_c = 0", "JointVAE, γ_c = 30", "VQ-VAE", "FSQ", "FactorQVAE"],
    "identifiable": [
        "iVAE, u is the shape",
        "iVAE, u is the floor's hue, with means",
        "PCL, network",
        "PCL, absolute",
        "LeJEPA, walk",
        "LeJEPA, one factor changes",
    ],
    "supervision": [
        "GVAE, pairs",
        "GVAE, groups of 4",
        "Ada-GVAE, pairs",
        "Ada-GVAE, groups of 4",
        "SlowVAE, changes of any size",
        "SlowVAE, small steps",
        "l2",
        "cross-entropy",
        "cov",
        "embed",
        "l2, permuted",
        "embed, permuted",
    ],
    "tc": ["β-VAE, β = 4", "α-TCVAE", "HFS", "HFS, soft extremes", "HFS on a β-TCVAE"],
}
"""The cells of each study on the pages, in the order of its file."""
METRICS = {
    **TITLES,
    "info-mec-modularity": "InfoM",
    "info-mec-explicitness": "InfoE",
    "info-mec-compactness": "InfoC",
    "mcc": "MCC",
    "r2": "R²",
    "jacobian-orthogonality": "Jacobian orthogonality",
    "active-units": "active units",
}
"""Scores and their titles; a table has those of its study."""
BASELINE = ("tc", "β-VAE, β = 4")
"""A row of every table, except of the study with other nets."""


class Shown(NamedTuple):
    """What a page shows: a study, and which of its cells."""

    study: str
    cells: slice = slice(None)


PAGES = {
    "nets": Shown("decoders"),
    "methods/joint-vae": Shown("discrete"),
    "methods/vq-vae": Shown("discrete"),
    "methods/fsq": Shown("discrete"),
    "methods/factor-qvae": Shown("discrete"),
    "methods/ivae": Shown("identifiable"),
    "methods/pcl": Shown("identifiable"),
    "methods/lejepa": Shown("identifiable"),
    "methods/gvae": Shown("supervision", slice(0, 4)),
    "methods/ada-gvae": Shown("supervision", slice(0, 4)),
    "methods/slow-vae": Shown("supervision", slice(4, 6)),
    "methods/semi-supervised": Shown("supervision", slice(6, None)),
    "methods/alpha-tcvae": Shown("tc"),
    "methods/hfs": Shown("tc"),
}
"""The pages with a table, without their ending."""


@cache
def plan_of(study: str) -> Plan:
    """Return the runs of a study."""
    return read_grid(TOP / "examples" / "studies" / f"frontier-{study}.toml").plan()


@cache
def cells_by_name(study: str) -> dict[str, Cell]:
    """Return the cells of a study by their names on the pages."""
    return dict(zip(NAMES[study], cells_of(plan_of(study)), strict=True))


def scores_in(study: str) -> list[str]:
    """Return the scores of a study; the parts of DCI and InfoMEC have its name before theirs."""
    asked = plan_of(study).scoring.metrics
    return [name for name in METRICS if any(name == metric or name.startswith(f"{metric}-") for metric in asked)]


def read(path: Path = STORE) -> polars.DataFrame:
    """Return the stored scores."""
    return polars.read_csv(path, schema=COLUMNS) if path.is_file() else polars.DataFrame(schema=COLUMNS)


def store(folders: Iterable[Path], path: Path = STORE) -> polars.DataFrame:
    """Add the scores of finished runs to the stored ones, and return those of runs that the studies still have."""
    tables = [
        comparison.scores_of(folder, plan_of(study), scores_in(study))
        .with_columns(polars.lit(study).alias("study"), polars.col("value").round(DIGITS))
        .select(*COLUMNS)
        for folder in folders
        for study in NAMES
    ]
    current = [task.name for study in NAMES for task in plan_of(study).tasks]
    table = comparison.merged(read(path), *tables).filter(polars.col("run").is_in(current))
    table = table.sort("study", "run", "metric")
    table.write_csv(path)
    return table


def text_of(table: polars.DataFrame, page: str) -> str:
    """Return the table of a page: one line per cell, with the mean of each score over seeds and its interval."""
    study = PAGES[page].study
    names = NAMES[study][PAGES[page].cells]
    cells = {name: (study, cells_by_name(study)[name]) for name in names}
    if study != "decoders" and len(table.filter(study=BASELINE[0])):
        cells = {BASELINE[1]: (BASELINE[0], cells_by_name(BASELINE[0])[BASELINE[1]]), **cells}
    if not len(table.filter(study=study)):
        return "No run is stored."
    metrics = scores_in(study)
    lines = [row(["", *(METRICS[name] for name in metrics)]), "|---" * (len(metrics) + 1) + "|"]
    for name, (source, cell) in cells.items():
        scores, measured = table.filter(study=source), scores_in(source)
        shows = (shown(scores, cell, metric) if metric in measured else UNDEFINED for metric in metrics)
        lines.append(row([name, *shows]))
    return "\n".join(lines)


def write(table: polars.DataFrame, docs: Path = DOCS) -> None:
    """Write the table of every page."""
    for page in PAGES:
        pages.put(docs / f"{page}.md", "result", text_of(table, page))


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="*", type=Path, help="folders of the studies")
    table = store(parser.parse_args(words).folders)
    write(table)
    for study in NAMES:
        done = table.filter(study=study)["run"].n_unique()
        print(f"frontier-{study}: {done} of {len(plan_of(study).tasks)} runs are stored")


if __name__ == "__main__":
    main()
