"""Which options of the training-dynamics score rank specifications as MIG does, on runs that are reported nowhere else.

    python benchmarks/dynamics_options.py train FOLDER        24 small runs with traces, and their MIG
    python benchmarks/dynamics_options.py score FOLDER CSV    each option in turn; docs/results/dynamics-options.csv

Six specifications (beta 0.25, 1, 4 times 4 or 10 latents) of four seeds each, from 100 up, which no study of ours uses;
fully connected nets of 60 units on shapes2d at 32 x 32 pixels, 1,000 steps: four minutes of one core in all. The figure
is Spearman's correlation, over specifications, of minus the score with the mean MIG of the seeds. `low` and `high` are
the 5th and the 95th percentile of it over draws of the four seeds with replacement (a seed makes no pair with itself).
With six specifications a correlation without any relation has a standard deviation of 0.45: the table can rule an
option out, not choose between neighbours. `noise` is a second referee, which needs no labels: the score of the same
traces after the samples of each realisation were shuffled on their own, over the score. Realisations then share nothing
but the course of time; an option under which that is not well above 1 does not see samples at all.
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
BETAS = (0.25, 1.0, 4.0)
LATENTS = (4, 10)
STEPS, EVERY, SAMPLES, ROWS = 1_000, 100, 100, 2_000
DRAWS = 200

CHANGES: dict[str, tuple[Any, ...]] = {
    "layers": ("first", "last"),
    "alpha": (1.0, 2.0, 5.0, 10.0),
    "neighbours": (2, 5, 10),
    "bandwidth": ("moment",),
    "moment_neighbours": (1, 3),
    "epsilon": (0.5, 2.0),
    "normalise": ("none", "moment", "length", "units"),
    "steps": (1, 2, 4, 8, 16, 32),
    "dimension": (2, 4, 8, 16),
    "trivial": (True,),
    "scaled": (True,),
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
    from unweave.metrics import active_units, mig

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
        rows = np.random.default_rng(0).integers(len(run.data), size=ROWS)
        codes = run.encode(run.data.images(rows))
        found = {"mig": mig(codes, run.data.factors.from_index(rows)), "active": active_units(codes)}
        (out / "label-scores.json").write_text(json.dumps(found))
        seconds = time.process_time() - start
        print(f"{out.name}: MIG {found['mig']:.3f}, {found['active']:.0f} active ({seconds:.0f} s)", flush=True)


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

    def pairs(self, options: dict[str, Any], *, shuffled: bool = False) -> np.ndarray:
        """Return the discrepancies (specifications, R, R); `shuffled`: of traces whose samples do not correspond."""
        from unweave.selection import dynamics_pairs

        options = dict(options)
        place = {"first": 0, "middle": 1, "last": -1, "all": None}[options.pop("layers", "all")]
        found = []
        for runs in self.runs.values():
            layers = [run.trace_layers if place is None else run.trace_layers[place] for run in runs]
            traces = [run.traces(layer) for run, layer in zip(runs, layers, strict=True)]
            if shuffled:
                orders = np.random.default_rng(0).permuted(np.tile(np.arange(SAMPLES), (len(traces), 1)), axis=1)
                traces = [trace[:, order] for trace, order in zip(traces, orders, strict=True)]
            found.append(dynamics_pairs(traces, threads=1, **options))
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
            "noise": np.nanmean(traces.pairs(options, shuffled=True)) / np.nanmean(pairs),
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
