"""How often an interval holds the score of a million rows: `python benchmarks/coverage.py`.

Five worlds of codes with known factors; noise is cut at three deviations, so that MIG's bins have a limit. The last
column is the bootstrap of rows, centred on the score, on a fifth of the samples.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import numpy as np

from unweave.metrics import mig, sap
from unweave.metrics.inputs import INTERVAL, generator
from unweave.metrics.mig import sample_mig
from unweave.metrics.resampling import interval
from unweave.metrics.sap import sample_sap

GRIDS = {"4 8 10": np.array([4, 8, 10]), "3 6 40 32 32": np.array([3, 6, 40, 32, 32])}
WORLDS = ("perfect", "good", "twice", "mixed", "noise")
MILLION = 1_000_000
REPLICATES = 200


def draw(world: str, sizes: np.ndarray, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return codes (n, 2k) and factors (n, k); the second half of the codes is noise unless the world says more."""
    k = len(sizes)
    factors = rng.integers(sizes, size=(n, k))
    place, codes = factors / (sizes - 1), np.clip(rng.normal(size=(n, 2 * k)), -3, 3)
    if world == "perfect":
        codes[:, :k] = place
    elif world == "good":
        codes[:, :k] = place + 0.15 * codes[:, :k]
    elif world == "twice":
        codes = np.tile(place, 2) + np.repeat([0.1, 0.2], k) * codes
    elif world == "mixed":
        codes = place @ np.random.default_rng(5).normal(size=(k, 2 * k)) + 0.2 * codes
    return codes, factors


def correlation(codes: np.ndarray, factors: np.ndarray) -> float:
    return sap(codes, factors, kind="correlation")


def bootstrap(score: Callable[..., float], codes: np.ndarray, factors: np.ndarray, rng: np.random.Generator):
    value = score(codes, factors)
    rows = rng.integers(len(codes), size=(REPLICATES, len(codes)))
    again = np.array([score(codes[chosen], factors[chosen]) for chosen in rows])
    return value + np.quantile(again - again.mean(), [0.025, 0.975])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--metric", choices=("mig", "sap-correlation"), default="mig")
    parser.add_argument("--grid", choices=GRIDS, default="4 8 10")
    parser.add_argument("--rows", type=int, nargs="+", default=[500, 2000])
    parser.add_argument("--samples", type=int, default=200)
    parser.add_argument("--seed", type=int, default=10_000, help="of the first sample; the next ones follow")
    options = parser.parse_args()
    score = mig if options.metric == "mig" else correlation
    sizes = GRIDS[options.grid]
    print(f"{options.metric}, factor sizes {options.grid}, {options.samples} samples from seed {options.seed}")
    print(
        f"{'codes':8} {'rows':>6} {'million':>8} {'mean':>7} {'deviation':>9} {'held':>6} {'bootstrap':>9}", flush=True
    )
    for world in WORLDS:
        target = score(*draw(world, sizes, MILLION, np.random.default_rng(0)))
        for n in options.rows:
            values, held, plain = [], [], []
            for seed in range(options.seed, options.seed + options.samples):
                codes, factors = draw(world, sizes, n, np.random.default_rng(seed))
                if options.metric == "mig":
                    sampled = sample_mig(codes, factors)
                else:
                    sampled = sample_sap(codes, factors, kind="correlation")
                low, high = interval(sampled, (0, 1), REPLICATES, generator(seed, INTERVAL)) or (0, 1)
                values.append(sampled.score)
                held.append(low <= target <= high)
                if len(plain) < options.samples // 5:
                    low, high = bootstrap(score, codes, factors, np.random.default_rng(seed))
                    plain.append(low <= target <= high)
            print(
                f"{world:8} {n:>6} {target:>9.4f} {np.mean(values):>9.4f} {np.std(values):>9.4f} "
                f"{np.mean(held):>9.0%} {np.mean(plain):>9.0%}",
                flush=True,
            )


if __name__ == "__main__":
    main()
