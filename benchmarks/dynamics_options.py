"""Which options of the training-dynamics score rank specifications as MIG does, on runs that are reported nowhere else.

    python benchmarks/dynamics_options.py train FOLDER        32 small runs with traces, and their MIG
    python benchmarks/dynamics_options.py score FOLDER CSV    each option in turn; docs/results/dynamics-options.csv

Eight specifications (beta 0.5, 1, 2, 4 times 4 or 10 latents) of four seeds each, from 100 up, which no study of ours
uses; fully connected nets of 60 units, 32 x 32 pixels. The figure is Spearman's correlation, over specifications, of
minus the score with the mean MIG of the seeds. `low` and `high` are the 5th and the 95th percentile of the correlation
over draws of the four seeds with replacement (twins left out of the pairs); with eight specifications a correlation
without any relation has a standard error of 0.38: the table can rule an option out, not choose between neighbours.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import warnings
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import polars

SEEDS = range(100, 104)
BETAS = (0.5, 1.0, 2.0, 4.0)
LATENTS = (4, 10)
STEPS, EVERY, SAMPLES = 1_500, 150, 100
DRAWS = 200

CHANGES: dict[str, tuple[Any, ...]] = {
    "layers": ("first", "middle", "last", "all"),
    "alpha": (1.0, 2.0, 5.0, 10.0),
    "neighbours": (2, 5, 10, 20),
    "bandwidth": ("adaptive", "moment"),
    "moment_neighbours": (1, 3, 5, 10),
    "epsilon": (0.5, 1.0, 2.0),
    "normalise": ("none", "moment", "length", "units"),
    "steps": (1, 2, 4, 8, 16, 32),
    "dimension": (2, 4, 8, 16, 32),
    "trivial": (False, True),
    "scaled": (False, True),
}
"""What is changed, one option at a time, from the defaults."""


def specifications() -> list[tuple[float, int]]:
    return list(product(BETAS, LATENTS))


def path(folder: Path, beta: float, latents: int, seed: int) -> Path:
    return folder / f"beta{beta:g}-latents{latents}-seed{seed}"


def train(folder: Path) -> None:
    """Train all runs, one after the other; those that are finished stay as they are."""
    import unweave
    from unweave.methods import BetaVAE

    for (beta, latents), seed in product(specifications(), SEEDS):
        out = path(folder, beta, latents, seed)
        start = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            run = unweave.train(
                BetaVAE(beta=beta),
                data="shapes2d:size=32",
                net="mlp",
                width=0.05,
                latents=latents,
                steps=STEPS,
                seed=seed,
                out=out,
                trace_every=EVERY,
                trace_samples=SAMPLES,
            )
            scores = run.evaluate(["mig", "active-units"])
        found = dict(zip(scores["metric"], scores["value"], strict=True))
        (out / "label-scores.json").write_text(json.dumps({"mig": found["mig"], "active": found["active-units"]}))
        seconds = time.process_time() - start
        print(f"{out.name}: MIG {found['mig']:.3f}, {found['active-units']:.0f} active ({seconds:.0f} s)", flush=True)


def settings() -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield the option that is changed, its value and all options; the defaults first."""
    yield "default", "", {}
    for option, values in CHANGES.items():
        for value in values:
            yield option, str(value), {option: value}


class Traces:
    """The traces of a specification's seeds, by layer."""

    def __init__(self, folder: Path) -> None:
        from unweave.runs import Run

        self.runs = {spec: [Run.open(path(folder, *spec, seed)) for seed in SEEDS] for spec in specifications()}
        self.mig = np.array(
            [
                [json.loads((run.path / "label-scores.json").read_text())["mig"] for run in runs]
                for runs in self.runs.values()
            ]
        )

    def pairs(self, options: dict[str, Any], seed: int = 0) -> np.ndarray:
        """Return the discrepancies (specifications, R, R)."""
        from unweave.selection import dynamics_pairs

        options = dict(options)
        place = {"first": 0, "middle": 1, "last": -1, "all": None}[options.pop("layers", "all")]
        found = []
        for runs in self.runs.values():
            layers = [run.trace_layers if place is None else run.trace_layers[place] for run in runs]
            traces = [run.traces(layer) for run, layer in zip(runs, layers, strict=True)]
            found.append(dynamics_pairs(traces, seed=seed, threads=1, **options))
        return np.stack(found)


def correlation(first: np.ndarray, second: np.ndarray) -> float:
    from scipy.stats import spearmanr

    if len(np.unique(first)) < 2:
        return float("nan")
    return float(np.asarray(spearmanr(first, second))[0])


def resampled(pairs: np.ndarray, mig: np.ndarray) -> np.ndarray:
    """Return the correlation over draws of seeds; a seed that is drawn twice makes no pair with itself."""
    rng = np.random.default_rng(0)
    found = []
    while len(found) < DRAWS:
        drawn = rng.integers(len(SEEDS), size=len(SEEDS))
        if len(np.unique(drawn)) > 1:
            chosen = pairs[:, drawn][:, :, drawn]
            found.append(correlation(-np.nanmean(chosen, axis=(1, 2)), mig[:, drawn].mean(axis=1)))
    return np.array(found)


def score(folder: Path, table: Path) -> None:
    """Write a row for each setting."""
    traces, rows = Traces(folder), []
    for option, value, options in settings():
        start = time.process_time()
        pairs = traces.pairs(options)
        seconds = time.process_time() - start
        rho = correlation(-np.nanmean(pairs, axis=(1, 2)), traces.mig.mean(axis=1))
        low, high = np.nanpercentile(resampled(pairs, traces.mig), [5, 95])
        row = {
            "option": option,
            "value": value,
            "spearman": rho,
            "low": low,
            "high": high,
            "smallest": np.nanmean(pairs, axis=(1, 2)).min(),
            "largest": np.nanmean(pairs, axis=(1, 2)).max(),
            "seconds": seconds,
        }
        rows.append({key: round(cell, 6) if isinstance(cell, float) else cell for key, cell in row.items()})
        print(row, flush=True)
    polars.DataFrame(rows).write_csv(table)


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("train", "score"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("csv", type=Path, nargs="?", default=Path("docs/results/dynamics-options.csv"))
    given = parser.parse_args(arguments)
    if given.what == "train":
        train(given.folder)
    else:
        score(given.folder, given.csv)


if __name__ == "__main__":
    main(sys.argv[1:])
