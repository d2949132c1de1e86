"""The comparison of methods in the docs, from studies that were run: `python benchmarks/methods.py FOLDER …`.

    unweave study run examples/studies/methods-compared.toml --out studies/methods-compared
    unweave study run examples/studies/methods-others.toml --out studies/methods-others
    python benchmarks/methods.py studies/methods-compared studies/methods-others --write-docs

Means ± standard deviations over the seeds go to the screen; with `--write-docs` every run goes to
docs/results/methods.csv, and from there into the pages (`methods_docs.py`).
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import methods_docs
import polars

from unweave.study import Study
from unweave.study.table import read_records
from unweave.study.task import settings_of

NAMES = {
    "beta-vae": "β-VAE",
    "annealed-vae": "AnnealedVAE",
    "factor-vae": "FactorVAE",
    "dip-vae": "DIP-VAE",
    "beta-tcvae": "β-TCVAE",
    "ada-gvae": "Ada-GVAE",
    "beta-tvae": "β-TVAE",
    "ada-tvae": "Ada-TVAE",
    "qlae": "QLAE",
    "vae": "VAE",
    "info-vae": "InfoVAE",
    "ae": "AE",
    "ada-ml-vae": "Ada-ML-VAE",
    "slow-vae": "SlowVAE",
    "ada-tvae-unsupervised": "unsupervised Ada-TVAE",
    "tae": "TAE",
    "ada-tae": "Ada-TAE",
    "hfs": "HFS",
    "tripod": "Tripod",
}


def label(settings: Mapping[str, Any]) -> str:
    """Return a run's name in the tables, from its flat settings: the method, and how it differs from the usual one."""
    name = NAMES[settings["method"]]
    if settings["method"] == "dip-vae":
        return f"{name}-{settings['kind']}"
    if settings["loss"].startswith("mse-box"):
        return f"{name}, box blur"
    if settings.get("count"):
        return f"{name}, {settings['count']} labels"
    return f"{name}, β = 1" if settings["method"] in ("beta-vae", "ada-gvae") and settings["beta"] == 1 else name


def rows_of(folder: Path) -> Iterator[dict[str, Any]]:
    """Yield the finished runs of a study as rows of docs/results/methods.csv, in the order of the study."""
    records = read_records(folder / "runs")
    runs = {row["run"]: row for row in records.runs.filter(polars.col("state") == "finished").to_dicts()}
    for task in Study.open(folder).plan.tasks:
        if task.name in runs:
            scores = records.scores.filter(polars.col("run") == task.name).drop_nulls("value")
            yield _row(runs[task.name], dict(scores.select("metric", "value").iter_rows()))


def _row(run: Mapping[str, Any], scores: Mapping[str, float]) -> dict[str, Any]:
    settings = settings_of(json.loads(run["config"]))
    name = label(settings)
    table = "others" if name in methods_docs.OTHERS.values() else "compared"
    key = {"table": table, "data": settings["data"].partition(":")[0], "method": name, "seed": settings["seed"]}
    return {**key, **{metric: scores[metric] for metric in methods_docs.TITLES}, methods_docs.SECONDS: run["seconds"]}


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("studies", nargs="+", type=Path, metavar="FOLDER", help="studies that were run")
    parser.add_argument("--write-docs", action="store_true", help="store all runs, and write the docs' tables")
    options = parser.parse_args(words)
    rows = polars.DataFrame([row for folder in options.studies for row in rows_of(folder)])
    for (data,), runs in rows.group_by("data", maintain_order=True):
        print(f"### {data}", methods_docs.table(runs, seconds=True), sep="\n\n")
    if options.write_docs:
        methods_docs.store(rows.to_dicts())
        methods_docs.write()


if __name__ == "__main__":
    main()
