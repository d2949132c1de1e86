"""How often a 95 % interval contains the expected score at that number of rows, and how wide it is.

    python benchmarks/intervals.py                               a quick look: 40 samples, 10 if each needs refits
    python benchmarks/intervals.py --samples 200 --refits 40 --out docs/results/intervals.csv
    python benchmarks/intervals.py --metrics mig dci --worlds good
    python benchmarks/intervals.py --write-docs      the table of docs/metrics/README.md from docs/results/intervals.csv

Three worlds have 2,000 rows to score or fit and 1,000 test rows, with factors of 4, 8 and 10 values and six latents;
noise is cut at three standard deviations. Each sample is drawn independently and has its own interval. The expected
score is the mean over these samples. For metrics that intervene on factors, the codes of the whole grid are given, and
a sample is another draw of votes or traversals. `width` is the mean width relative to 3.92 standard deviations.
"""

from __future__ import annotations

import os

os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1"}

import argparse
import warnings
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import polars
from pages import put

from unweave.metrics import METRICS, Codebook, Pool
from unweave.metrics.inputs import INTERVAL, generator
from unweave.metrics.resampling import interval

DOCS = Path(__file__).parents[1] / "docs"
STORED, PAGE = DOCS / "results" / "intervals.csv", DOCS / "metrics" / "README.md"
SIZES = (4, 8, 10)
ROWS, TEST_ROWS = 2_000, 1_000
WORLDS = ("good", "twice", "mixed")
CHEAP = 50
"""Metrics with at least this many half-samples are cheap."""
FEWER = {
    "beta-vae-score": {"points": 1_000, "test_points": 500},
    "factor-vae-score": {"votes": 1_000, "test_votes": 500, "variance_rows": 2_000},
    "z-max-variance": {"votes": 1_000, "test_votes": 500, "variance_rows": 2_000},
    "unfairness": {"rows": 2_000},
    "distance-correlation": {"pairs": 16_384},
    **{name: {"traversals": 128} for name in ("linearity", "axis-alignment", "axis-orientation")},
    "factor-distance-correlation": {"traversals": 128, "pairs": 32},
}
NOT_HERE = ("perceived-correlation", "jacobian-orthogonality", "ima-contrast", "elbo", "dci-random-forest")
"""Left out: they need images, a decoder or posteriors, or minutes per sample."""


def encode(world: str, factors: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return codes (n, 2k): the second half is noise or a second copy, or all latents are mixtures."""
    n, k = factors.shape
    place, codes = factors / (np.array(SIZES) - 1), np.clip(rng.normal(size=(n, 2 * k)), -3, 3)
    if world == "good":
        codes[:, :k] = place + 0.15 * codes[:, :k]
    elif world == "twice":
        codes = np.tile(place, 2) + np.repeat([0.1, 0.2], k) * codes
    elif world == "mixed":
        codes = place @ np.random.default_rng(5).normal(size=(k, 2 * k)) + 0.2 * codes
    return codes


def draw(world: str, rows: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    factors = rng.integers(SIZES, size=(rows, len(SIZES)))
    return encode(world, factors, rng), factors


@cache
def codebook(world: str) -> Codebook:
    """Return one code for each cell of the grid; its noise is fixed too."""
    cells = np.stack(np.unravel_index(np.arange(np.prod(SIZES)), SIZES), axis=1)
    return Codebook.of_grid(encode(world, cells, np.random.default_rng(7)), SIZES)


def inputs(world: str, seed: int, pool: bool, draws: bool = True) -> dict[str, Any]:
    """Return one sample: its own rows, test rows and draws."""
    rng = np.random.default_rng(seed)
    codes, factors = draw(world, ROWS, rng)
    source = Pool(codes, factors) if pool else codebook(world)
    sampled = codes + 0.3 * rng.normal(size=codes.shape)
    return {
        "codes": codes,
        "sampled": sampled,
        "factors": factors,
        "test": draw(world, TEST_ROWS, rng),
        "seed": seed if pool or draws else 0,  # of votes and traversals; of rows, the interval is about the rows alone
        "encode": codebook(world),
        "source": source,
    }


def one(metric: str, world: str, seed: int, pool: bool = False) -> np.ndarray:
    """Return low, score and high, (3, parts), of one sample."""
    options = METRICS[metric].options | FEWER.get(metric, {})
    draws = not {"encode", "source"}.isdisjoint(METRICS[metric].needs)
    sampled = METRICS[metric].sampled(inputs(world, seed, pool, draws), options)
    ends = interval(sampled, METRICS[metric].range, None, generator(seed, INTERVAL)) or []
    low, high = np.transpose(ends)
    return np.array([low, np.atleast_1d(sampled.score), high])


def coverage(metric: str, world: str, seeds: range, pool: bool = False) -> list[dict[str, Any]]:
    """Return how often the intervals of new samples contain the mean score, for each part of a metric."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = np.array([one(metric, world, seed, pool) for seed in seeds])  # (samples, 3, parts)
    low, score, high = np.moveaxis(found, 1, 0)
    mean, deviation = score.mean(axis=0), score.std(axis=0, ddof=1)
    held = ((low <= mean + 1e-12) & (mean - 1e-12 <= high)).mean(axis=0)
    wide = np.divide((high - low).mean(axis=0), 3.92 * deviation, out=np.ones_like(mean), where=deviation > 1e-12)
    rows = zip(METRICS[metric].names(metric), mean, deviation, held, wide, strict=True)
    return [
        {
            "metric": f"{name} (rows)" if pool else name,
            "world": world,
            "samples": len(seeds),
            "mean": round(float(m), 4),
            "sd": round(float(s), 5),
            "held": round(float(h), 3),
            "width": round(float(w), 2),
        }
        for name, m, s, h, w in rows
        if np.isfinite(m)
    ]


def render(stored: Path = STORED) -> str:
    """Return the table of the docs: how often the interval contains the expected score, and its width, by world."""
    table = polars.read_csv(stored)
    lines = ["| metric | samples | " + " | ".join(WORLDS) + " |", "|---|---|" + "---|" * len(WORLDS)]
    for (metric, samples), rows in table.group_by(["metric", "samples"], maintain_order=True):
        cells = {row["world"]: f"{row['held']:.1%}; {row['width']:.2f}" for row in rows.iter_rows(named=True)}
        lines.append(f"| {metric} | {samples} | " + " | ".join(cells.get(world, "–") for world in WORLDS) + " |")
    return "\n".join(lines)


def is_cheap(metric: str) -> bool:
    options = METRICS[metric].options | FEWER.get(metric, {})
    return METRICS[metric].sampled(inputs("good", 0, False), options).replicates >= CHEAP


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--metrics", nargs="+", default=[name for name in METRICS if name not in NOT_HERE])
    parser.add_argument("--worlds", nargs="+", default=list(WORLDS))
    parser.add_argument("--samples", type=int, default=40, help="samples for cheap metrics")
    parser.add_argument("--refits", type=int, default=10, help="samples where each half-sample is another fit")
    parser.add_argument("--seed", type=int, default=20_000)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--write-docs", action="store_true")
    options = parser.parse_args()
    if options.write_docs:
        return put(PAGE, "coverage", render())
    table: list[dict[str, Any]] = []
    for metric in options.metrics:
        count = options.samples if is_cheap(metric) else options.refits
        pools = (False, True) if "source" in METRICS[metric].needs else (False,)
        for world in options.worlds:
            for pool in pools:
                for row in coverage(metric, world, range(options.seed, options.seed + count), pool):
                    table.append(row)
                    print(*(f"{value!s:>10}" for value in row.values()), flush=True)
        if options.out:
            polars.DataFrame(table).write_csv(options.out)
    return None


if __name__ == "__main__":
    main()
