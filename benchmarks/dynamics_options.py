"""Which options of the training-dynamics score rank specifications as MIG does, on runs that are reported nowhere else.

    python benchmarks/dynamics_options.py train FOLDER        24 small runs with traces, and their MIG
    python benchmarks/dynamics_options.py score FOLDER CSV    one option at a time; docs/results/dynamics-options.csv

There are six specifications (beta 0.25, 1 or 4; 4 or 10 latents) with four seeds each, from 100 up, which none of our
studies uses. Nets are fully connected with 300 units, on rooms3d at 32 x 32 pixels, for 1,500 steps: 25 minutes of one
core in all. `correlation` is Spearman's, over specifications, of minus the score with the mean MIG of the seeds. `low`
and `high` are its 5th and 95th percentiles over draws of the four seeds with replacement (a seed makes no pair with
itself). With six specifications, unrelated rankings have a correlation of standard deviation 0.45: the table can rule
out an option, but not choose between similar ones. The other columns are for drawn traces with known answers (8
moments, 60 samples, 24 units, 3 realisations): `jitter`, one trace with a little noise; `weights`, layers with other
weights on the same samples; `samples`, layers that see other samples; `noise`, random walks without any structure.
They should rise in this order, from 0.
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
STEPS, EVERY, SAMPLES, ROWS = 1_500, 100, 100, 2_000
DRAWS = 200
FEATURES = 512
"""Number of random features for the MMD of runs: enough for ranks, and fast."""

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
"""The values that are tried, one option at a time."""


def specifications() -> list[tuple[float, int]]:
    return list(product(BETAS, LATENTS))


def path(folder: Path, beta: float, latents: int, seed: int) -> Path:
    return folder / f"beta{beta:g}-latents{latents}-seed{seed}"


def train(folder: Path) -> None:
    """Train all runs, one after another; finished ones are kept."""
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
                data="rooms3d:size=32",
                net="mlp",
                width=0.25,
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
    """Yield the changed option, its value and all options; the defaults come first."""
    yield "default", "", {}
    for option, values in CHANGES.items():
        for value in values:
            yield option, str(value), {option: value}


class Traces:
    """The traces of a specification's seeds, by layer."""

    def __init__(self, folder: Path) -> None:
        from unweave.runs import Run

        self.runs = {spec: [Run.open(path(folder, *spec, seed)) for seed in SEEDS] for spec in specifications()}
        self._read: dict[tuple[Any, ...], np.ndarray] = {}
        self.mig = np.array(
            [
                [json.loads((run.path / "label-scores.json").read_text())["mig"] for run in runs]
                for runs in self.runs.values()
            ]
        )

    def pairs(self, options: dict[str, Any]) -> np.ndarray:
        """Return the discrepancies (specifications, R, R)."""
        from unweave.selection import dynamics_pairs

        options = {"features": FEATURES, **options}
        place = {"first": 0, "last": -1, "all": None}[options.pop("layers", "all")]
        return np.stack([dynamics_pairs(self._traces(runs, place), **options) for runs in self.runs.values()])

    def _traces(self, runs: list[Any], place: int | None) -> list[np.ndarray]:
        for run in runs:
            if (run.path, place) not in self._read:
                layers = run.trace_layers if place is None else run.trace_layers[place]
                self._read[run.path, place] = run.traces(layers)
        return [self._read[run.path, place] for run in runs]


def known() -> dict[str, list[np.ndarray]]:
    """Return drawn traces, from nearly equal ones to unrelated ones."""
    z = np.random.default_rng(0).uniform(-1, 1, size=(60, 4))

    def layer(samples: np.ndarray, seed: int) -> np.ndarray:
        start, end = np.random.default_rng(seed).normal(size=(2, 4, 24))
        return np.stack([np.tanh(samples @ ((1 - a) * 0.3 * start + a * end)) for a in np.linspace(0, 1, 8)])

    rngs = [np.random.default_rng(seed) for seed in (1, 2, 3)]
    return {
        "jitter": [layer(z, 0) + 0.02 * rng.normal(size=(8, 60, 24)) for rng in rngs],
        "weights": [layer(z, seed) for seed in (1, 2, 3)],
        "samples": [layer(rng.uniform(-1, 1, size=z.shape), seed) for seed, rng in enumerate(rngs)],
        "noise": [rng.normal(size=(8, 60, 24)).cumsum(axis=0) for rng in rngs],
    }


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
    from unweave.selection import dynamics

    traces, rows = Traces(folder), []
    for option, value, options in settings():
        start = time.process_time()
        pairs = traces.pairs(options)
        seconds = time.process_time() - start
        rho = correlation(-np.nanmean(pairs, axis=(1, 2)), traces.mig.mean(axis=1))
        without_layers = {name: choice for name, choice in options.items() if name != "layers"}
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
            **{name: dynamics(each, **without_layers) for name, each in known().items()},
        }
        rows.append({key: float(f"{cell:.4g}") if isinstance(cell, float) else cell for key, cell in row.items()})
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
