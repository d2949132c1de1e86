"""How often an interval holds the score of a very large sample: `python benchmarks/intervals.py --metric mig`.

Five worlds of codes with known factors; noise is cut at three deviations, so that bins have a limit. The large sample
is a million rows, with these exceptions:

- modularity, which of codes of noise stays random however many rows there are: the mean over 20 samples of 100,000;
- sap and dci, which go on moving with the number of rows: 100,000, of which two thirds are fitted and a third judged
  (the mean over 8 and 2 samples); a row of the table with n rows has n to fit and n / 2 to judge on;
- factor-vae-score, where the codes of the grid are given: 400,000 votes.

The last column is the bootstrap of rows, centred on the score, on a fifth of the samples. Rules were chosen on seeds
from 30,000 up; the tests take those from 20,000 up.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import cache

import numpy as np

from unweave.metrics import METRICS, Codebook
from unweave.metrics.inputs import INTERVAL, generator
from unweave.metrics.resampling import LARGE, Sampled, interval

GRIDS = {"4 8 10": (4, 8, 10), "3 6 40 32 32": (3, 6, 40, 32, 32)}
WORLDS = ("perfect", "good", "twice", "mixed", "noise")
REPLICATES = 200
ROWS = {"mig", "modularity", "sap-correlation", "total-correlation"}
"""Metrics of rows alone, which a bootstrap can resample."""
FITTED = 2 * LARGE // 3
"""Of a large sample, these rows are fitted; half as many are judged."""


def encode(world: str, factors: np.ndarray, sizes: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
    """Return codes (n, 2k); the second half of them is noise unless the world says more."""
    n, k = factors.shape
    place, codes = factors / (np.array(sizes) - 1), np.clip(rng.normal(size=(n, 2 * k)), -3, 3)
    if world == "perfect":
        codes[:, :k] = place
    elif world == "good":
        codes[:, :k] = place + 0.15 * codes[:, :k]
    elif world == "twice":
        codes = np.tile(place, 2) + np.repeat([0.1, 0.2], k) * codes
    elif world == "mixed":
        codes = place @ np.random.default_rng(5).normal(size=(k, 2 * k)) + 0.2 * codes
    return codes


def draw(world: str, sizes: tuple[int, ...], n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    factors = rng.integers(sizes, size=(n, len(sizes)))
    return encode(world, factors, sizes, rng), factors


@cache
def codebook(world: str, sizes: tuple[int, ...]) -> Codebook:
    """Return one code for each cell of the grid: noise too belongs to its cell."""
    cells = np.stack(np.unravel_index(np.arange(np.prod(sizes)), sizes), axis=1)
    return Codebook.of_grid(encode(world, cells, sizes, np.random.default_rng(7)), sizes)


def sample(metric: str, world: str, sizes: tuple[int, ...], n: int, seed: int, judged: int = 0) -> Sampled:
    """Return a metric of one fresh sample: of n rows, or of n votes, and half as many to judge on."""
    rng, options = np.random.default_rng(seed), dict(METRICS[metric].options)
    inputs: dict[str, object] = {"seed": seed, "test": None}
    if "encode" in METRICS[metric].needs:
        inputs["encode"] = codebook(world, sizes)
        options |= {"votes": n, "test_votes": judged or n // 2}
    else:
        inputs["codes"], inputs["factors"] = draw(world, sizes, n, rng)
        inputs["test"] = draw(world, sizes, judged or n // 2, rng)
    return METRICS[metric].sampled(inputs, options)


@cache
def target(metric: str, world: str, sizes: tuple[int, ...]) -> np.ndarray:
    """Return the score of a very large sample, (parts,)."""
    several = {"modularity": (100_000, 20), "sap": (FITTED, 8), "dci": (FITTED, 2)}
    if metric in several:
        rows, samples = several[metric]
        seeds = range(1_000_000, 1_000_000 + samples)
        return np.mean([np.atleast_1d(sample(metric, world, sizes, rows, s).score) for s in seeds], axis=0)
    large = 400_000 if metric == "factor-vae-score" else 1_000_000
    return np.atleast_1d(sample(metric, world, sizes, large, 0, min(large, 100_000)).score)


def intervals(metric: str, world: str, sizes: tuple[int, ...], n: int, seeds: range) -> np.ndarray:
    """Return low, score and high of fresh samples, (3, samples, parts)."""
    found = []
    for seed in seeds:
        sampled = sample(metric, world, sizes, n, seed)
        low, high = np.transpose(interval(sampled, METRICS[metric].range, None, generator(seed, INTERVAL)) or [])
        found.append((low, np.atleast_1d(sampled.score), high))
    return np.moveaxis(np.array(found), 0, 1)


def held(metric: str, world: str, sizes: tuple[int, ...], n: int, seeds: range) -> np.ndarray:
    """Return how often the intervals of fresh samples hold the large sample's score, (parts,)."""
    low, _, high = intervals(metric, world, sizes, n, seeds)
    return share_held(low, target(metric, world, sizes), high)


def share_held(low: np.ndarray, truth: np.ndarray, high: np.ndarray) -> np.ndarray:
    return ((low - 1e-9 <= truth) & (truth <= high + 1e-9)).mean(axis=0)


def bootstrap(metric: str, world: str, sizes: tuple[int, ...], n: int, seeds: range) -> float:
    """Return how often a bootstrap of rows, centred on the score, holds the large sample's score."""
    truth, hits = target(metric, world, sizes)[0], []
    score: Callable[..., float] = METRICS[metric].function  # type: ignore[assignment]
    for seed in seeds:
        arrays = draw(world, sizes, n, np.random.default_rng(seed))[: len(METRICS[metric].needs)]
        rows = np.random.default_rng(seed).integers(n, size=(REPLICATES, n))
        again = [score(*(array[chosen] for array in arrays), **METRICS[metric].options) for chosen in rows]
        low, high = np.quantile(np.array(again) - np.mean(again), [0.025, 0.975]) + score(
            *arrays, **METRICS[metric].options
        )
        hits.append(low <= truth <= high)
    return float(np.mean(hits))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--metric", choices=(*ROWS, "sap", "dci", "factor-vae-score"), default="mig")
    parser.add_argument("--grid", choices=GRIDS, default="4 8 10")
    parser.add_argument("--worlds", nargs="+", choices=WORLDS, default=WORLDS)
    parser.add_argument("--rows", type=int, nargs="+", default=[500, 2000])
    parser.add_argument("--samples", type=int, default=200)
    parser.add_argument("--seed", type=int, default=10_000, help="of the first sample; the next ones follow")
    options = parser.parse_args()
    metric, sizes = options.metric, GRIDS[options.grid]
    print(f"{metric}, factor sizes {options.grid}, {options.samples} samples from seed {options.seed}")
    columns = f"{'large':>8} {'mean':>8} {'deviation':>9} {'low':>8} {'high':>8} {'held':>6} {'bootstrap':>9}"
    print(f"{'codes':8} {'rows':>6} {'score':>33} {columns}   (mean ends of the intervals)")
    for world in options.worlds:
        for n in options.rows:
            truth = target(metric, world, sizes)
            seeds = range(options.seed, options.seed + options.samples)
            low, scores, high = intervals(metric, world, sizes, n, seeds)
            hits = share_held(low, truth, high)
            plain = "–"
            if metric in ROWS:
                plain = f"{bootstrap(metric, world, sizes, n, seeds[: max(len(seeds) // 5, 1)]):.0%}"
            for part, name in enumerate(METRICS[metric].names(metric)):
                print(
                    f"{world:8} {n:>6} {name:>33} {truth[part]:>8.4f} {scores[:, part].mean():>8.4f} "
                    f"{scores[:, part].std():>9.4f} {low[:, part].mean():>8.4f} {high[:, part].mean():>8.4f} "
                    f"{hits[part]:>6.0%} {plain:>9}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
