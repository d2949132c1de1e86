"""How often `compare` finds a difference if there is none, and if there is one.

`python benchmarks/compare.py --out docs/results/compare.csv` measures everything (some forty minutes of CPU time);
`--cases`, `--worlds`, `--metrics` and `--trials` select parts. `--show docs/results/compare.csv` prints the tables of
docs/compare.md.

- `equal`: two encoders with the same rule and independent noise, on the same 2,000 rows. Any difference is a false
  alarm.
- `paired`, `unpaired`: encoder b of the world "good", and encoder a, which leaks a little of each factor into the next
  factor's latent; their noise is the same, has correlation 0.7, or is independent. Paired is the interval of `compare`.
  Unpaired combines the intervals of the two scores: its half-width is the root of the sum of their squared half-widths.

Columns: `difference` and `deviation` are the mean and standard deviation of the difference over trials, `reach` is the
mean half-width of the interval, `seen` the share of trials in which the interval excludes 0.
"""

from __future__ import annotations

import argparse
import csv
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import unweave
from unweave.metrics import METRICS
from unweave.metrics.compare import MARGIN
from unweave.metrics.inputs import INTERVAL, generator
from unweave.metrics.resampling import halves, spread

SIZES = np.array([4, 8, 10])
ROWS = 2_000
WORLDS = ("good", "mixed", "twice")
CHEAP = (
    "mig",
    "mig-sup",
    "jemmig",
    "dcimig",
    "modularity",
    "med",
    "sap-correlation",
    "mcc",
    "r2",
    "irs",
    "total-correlation",
)
REFITTED = ("sap", "explicitness", "dci", "info-mec", "factor-vae-score")
TRIALS = {**dict.fromkeys(CHEAP, 200), **dict.fromkeys(REFITTED, 60), "dci": 100, "factor-vae-score": 40}
TRIALS["modularity"] = 1_000  # without the margin it had most false alarms: 9 % of 3,000
SETTLED = {("good", "factor-vae-score")}
"""Left out: both encoders score 1 in any sample."""
LEAK = 0.125
"""How much of the next factor leaks into a latent of encoder a: D is lower by about 0.046."""
NOISES = {"same noise": 1.0, "correlated noise": 0.7, "independent noise": 0.0}
"""The correlation of the noise of two encoders that differ."""
FIRST_SEED = 10_000
"""The tests use other seeds."""
HEAD: tuple[str, ...] = ("case", "world", "metric", "rows", "trials", "difference", "deviation", "reach", "seen")
Found = tuple[str, float, float]
"""A score's name, its difference, and half the width of the interval."""


def encode(world: str, place: np.ndarray, noise: np.ndarray) -> np.ndarray:
    """Return codes (n, 6) of factors (n, 3) in [0, 1] and of noise (n, 6) of deviation 1."""
    k = place.shape[1]
    if world == "good":  # a latent for each factor, and as many noise latents
        return np.hstack([place + 0.15 * noise[:, :k], noise[:, k:]])
    if world == "mixed":  # every latent is a mixture of all factors
        return place @ np.random.default_rng(5).normal(size=(k, 2 * k)) + 0.2 * noise
    if world == "twice":  # two latents for each factor
        return np.tile(place, 2) + np.repeat([0.1, 0.2], k) * noise
    raise ValueError(world)


def draw_noise(rng: np.random.Generator) -> np.ndarray:
    return rng.normal(size=(ROWS, 2 * len(SIZES))).clip(-3, 3)


def equal_encoders(world: str, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the codes of two equally good encoders for the same rows, and the factors."""
    rng = np.random.default_rng(seed)
    factors = rng.integers(SIZES, size=(ROWS, len(SIZES)))
    place = factors / (SIZES - 1)
    return encode(world, place, draw_noise(rng)), encode(world, place, draw_noise(rng)), factors


def unequal_encoders(seed: int, rho: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the codes of an encoder with leaks and of one without, and the factors."""
    rng = np.random.default_rng(seed)
    factors = rng.integers(SIZES, size=(ROWS, len(SIZES)))
    place = factors / (SIZES - 1)
    noise, other = draw_noise(rng), draw_noise(rng)
    leaking = encode("good", place + LEAK * np.roll(place, 1, axis=1), noise)
    return leaking, encode("good", place, rho * noise + np.sqrt(1 - rho**2) * other), factors


def alarms(world: str, metric: str, seeds: Iterable[int]) -> list[list[Found]]:
    """Return the results of `compare` on equal encoders, in each trial."""
    found = []
    for seed in seeds:
        a, b, factors = equal_encoders(world, seed)
        table = unweave.compare(a, b, factors, metric, seed=seed)
        found.append([(r["metric"], r["difference"], (r["high"] - r["low"]) / 2) for r in table.iter_rows(named=True)])
    return found


def power(metric: str, rho: float, seeds: Iterable[int]) -> tuple[list[list[Found]], list[list[Found]]]:
    """Return differences with the paired and with the unpaired interval, in each trial."""
    paired, unpaired = [], []
    for seed in seeds:
        a, b, factors = unequal_encoders(seed, rho)
        inputs: list[dict[str, Any]] = [{"codes": codes, "factors": factors, "test": None} for codes in (a, b)]
        first, second = (METRICS[metric].sampled({**own, "seed": seed}) for own in inputs)
        subsets = halves(first.units, first.replicates, generator(seed, INTERVAL))
        of_first, of_second = (each.rescore(subsets).reshape(len(subsets), -1) for each in (first, second))
        names = METRICS[metric].names(metric)
        differences = (np.atleast_1d(second.score) - np.atleast_1d(first.score)).tolist()
        own = np.hypot(spread(of_first), spread(of_second)).tolist()
        reach = (MARGIN * spread(of_second - of_first)).tolist()
        paired.append(list(zip(names, differences, reach, strict=True)))
        unpaired.append(list(zip(names, differences, own, strict=True)))
    return paired, unpaired


def summarise(case: str, world: str, trials: Sequence[Sequence[Found]]) -> list[dict[str, object]]:
    """Return the rows of the table for one metric: one for each of its parts."""
    rows = []
    for part in zip(*trials, strict=True):
        difference, reach = np.array([numbers[1:] for numbers in part]).T
        measured = (difference.mean(), difference.std(ddof=1), reach.mean(), (np.abs(difference) > reach).mean())
        numbers = [f"{number:.4f}" for number in measured]
        rows.append(dict(zip(HEAD, (case, world, part[0][0], ROWS, len(part), *numbers), strict=True)))
    return rows


def tables(path: Path) -> tuple[str, str]:
    """Return the two tables of docs/compare.md: false alarms, and differences seen."""
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    equal = [row for row in rows if row["case"] == "equal"]
    worlds = list(dict.fromkeys(row["world"] for row in equal))
    shares = {(row["metric"], row["world"]): _percent(row["seen"]) for row in equal}
    trials = {row["metric"]: row["trials"] for row in equal}
    alarmed = [[name, count, *(shares.get((name, world), "–") for world in worlds)] for name, count in trials.items()]
    found = {(row["world"], row["metric"], row["case"]): row for row in rows if row["case"] != "equal"}
    seen = []
    for noise, metric in dict.fromkeys(key[:2] for key in found):
        paired, unpaired = (found[noise, metric, case] for case in ("paired", "unpaired"))
        reaches = [f"±{float(row['reach']):.3f}" for row in (paired, unpaired)]
        counts = [_percent(row["seen"]) for row in (paired, unpaired)]
        seen.append([noise, metric, f"{float(paired['difference']):.3f}", *reaches, *counts, paired["trials"]])
    heads = ["noise", "score", "difference", "paired", "unpaired", "seen paired", "seen unpaired", "trials"]
    return _markdown(["score", "trials", *worlds], alarmed), _markdown(heads, seen)


def _markdown(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (heads, ["---"] * len(heads), *rows)) + "\n"


def _percent(share: str) -> str:
    return f"{100 * float(share):.1f} %"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", nargs="+", choices=("equal", "power"), default=["equal", "power"])
    parser.add_argument("--worlds", nargs="+", choices=WORLDS, default=["good", "mixed"])
    parser.add_argument("--metrics", nargs="+", choices=TRIALS, default=list(TRIALS))
    parser.add_argument("--trials", type=int, help="instead of 200, or 40 to 100 where each half is another fit")
    parser.add_argument("--noises", nargs="+", choices=NOISES, default=list(NOISES))
    parser.add_argument("--power-trials", type=int, default=100)
    parser.add_argument("--seed", type=int, default=FIRST_SEED, help="of the first trial; the next ones follow")
    parser.add_argument("--out", type=Path, help="a CSV file")
    parser.add_argument("--show", type=Path, metavar="CSV", help="print the tables of what was measured, and stop")
    options = parser.parse_args()
    if options.show:
        return print(*tables(options.show), sep="\n")
    with options.out.open("w", newline="") if options.out else sys.stdout as file:
        writer = csv.DictWriter(file, HEAD, lineterminator="\n")
        writer.writeheader()
        for world in options.worlds if "equal" in options.cases else ():
            for metric in (name for name in options.metrics if (world, name) not in SETTLED):
                seeds = range(options.seed, options.seed + (options.trials or TRIALS[metric]))
                writer.writerows(summarise("equal", world, alarms(world, metric, seeds)))
                file.flush()
        if "power" in options.cases:
            seeds = range(options.seed, options.seed + options.power_trials)
            for name in options.noises:
                for case, found in zip(("paired", "unpaired"), power("dci", NOISES[name], seeds), strict=True):
                    writer.writerows(summarise(case, name, found))
                file.flush()


if __name__ == "__main__":
    main()
