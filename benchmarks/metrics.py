"""The cost of metrics at the sizes of published studies on dSprites, and compared with plain implementations.

    python benchmarks/metrics.py                     CPU seconds of every score, its floor and ceiling, its interval
    python benchmarks/metrics.py --rows --no-intervals   … only of scores of rows
    python benchmarks/metrics.py --metrics mig dci   … of these
    python benchmarks/metrics.py --out docs/results/costs.csv     (with --no-intervals those in the file are kept)
    python benchmarks/metrics.py --write-docs        the table of docs/metrics/README.md from docs/results/costs.csv
    python benchmarks/metrics.py --plain             scores compared with plain implementations (20 minutes)
    python benchmarks/metrics.py --memory            the largest memory of each score at n = 100,000, d = 64, k = 10
    python benchmarks/metrics.py --first 5           CPU seconds of the first DCI of an installation, five times
    python benchmarks/metrics.py --quick             unfairness with quick trees compared with thorough ones

Factors have 3, 6, 40, 32 and 32 values; there are 10 latents, 10,000 train and 5,000 test rows; one thread. "Plain" is
scikit-learn called as in disentanglement_lib. Each comparison alternates ours and the plain one on the same arrays.
"""

from __future__ import annotations

import os

os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1"}

import argparse
import resource
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any

import numpy as np
import polars
from pages import put
from plain import IMPORTANCES, PLAIN

from unweave.data.dataset import Dataset, Images
from unweave.data.factors import FactorSpace, Integers
from unweave.metrics import GROUPS, METRICS, BoostedTrees, Codebook, importance_matrix, unfairness
from unweave.metrics.floors import bounds
from unweave.metrics.inputs import INTERVAL, generator
from unweave.metrics.resampling import interval

DOCS = Path(__file__).parents[1] / "docs"
STORED, PAGE = DOCS / "results" / "costs.csv", DOCS / "metrics" / "README.md"
SUMS = {
    "all of rows": [name for name in GROUPS["all"] if not {"encode", "jacobians"} & {*METRICS[name].needs}],
    "all": list(GROUPS["all"]),
}
"""Metrics whose costs are summed: the group `all`, and those of it that need neither a codebook nor a decoder."""
SIZES = np.array([3, 6, 40, 32, 32])
ROWS, TEST_ROWS = 10_000, 5_000


class Patterns(Dataset):
    """Grey images as large as those of dSprites, each the sum of one pattern per factor, which is fast to draw."""

    name, shape, binary, options = "patterns", (64, 64, 1), False, {}

    def __init__(self) -> None:
        self.factors = FactorSpace(("shape", "scale", "orientation", "x", "y"), tuple(SIZES.tolist()))
        rng = np.random.default_rng(2)
        self.patterns = [rng.integers(52, size=(size, *self.shape)).astype(np.uint8) for size in SIZES]

    def _draw(self, indices: Integers) -> Images:
        images = np.zeros((len(indices), *self.shape), dtype=np.uint8)
        for patterns, values in zip(self.patterns, self.values(indices).T, strict=True):
            images += patterns[values]
        return images


def grid() -> Codebook:
    """Return 10 latents for every cell: five good ones with noise, three mixtures of factors, two of pure noise."""
    rng = np.random.default_rng(0)
    cells = np.stack(np.unravel_index(np.arange(SIZES.prod()), SIZES), axis=1)
    place = cells / (SIZES - 1)
    codes = rng.normal(size=(len(cells), 10)).astype(np.float32)
    codes[:, :5] = place + 0.1 * codes[:, :5]
    codes[:, 5:8] = place @ rng.normal(size=(5, 3)) + 0.1 * codes[:, 5:8]
    book = Codebook(lambda images: images[:, 0, :10, 0], Patterns())
    book.add(np.arange(len(cells)), codes)  # everything that the metrics would encode
    return book


def inputs_of(book: Codebook) -> dict[str, Any]:
    """Return everything that a metric may need."""
    rng = np.random.default_rng(1)
    cells = rng.integers(SIZES.prod(), size=ROWS + TEST_ROWS)
    codes, factors = book.codes(cells), np.stack(np.unravel_index(cells, SIZES), axis=1)
    noise = rng.normal(size=codes.shape)
    return {
        "codes": codes[:ROWS],
        "means": codes[:ROWS],
        "factors": factors[:ROWS],
        "test": (codes[ROWS:], factors[ROWS:]),
        "seed": 0,
        "encode": book,
        "source": book,
        "log_variances": np.full((ROWS, 10), -4.0),
        "sampled": codes[:ROWS] + 0.1 * noise[:ROWS],
        "reconstruction": rng.uniform(50, 100, size=ROWS),
        "jacobians": rng.normal(size=(64, 4096, 10)),
    }


def seconds(function: Callable[[], Any]) -> tuple[float, Any]:
    start = process_time()
    result = function()
    return process_time() - start, result


def costs(names: list[str], inputs: dict[str, Any], intervals: bool) -> polars.DataFrame:
    """Print and return the CPU seconds of scores, of their floors and ceilings, and of intervals."""
    print(f"{'metric':32} {'score':>8} {'floors':>8} {'interval':>9}   value")
    rows = []
    for name in names:
        metric = METRICS[name]
        spent, sampled = seconds(lambda metric=metric: metric.sampled(inputs))
        around, _ = seconds(lambda metric=metric: bounds(metric, inputs, metric.options))
        ends = (lambda m, s: interval(s, m.range, None, generator(0, INTERVAL))) if intervals else (lambda m, s: None)
        more, _ = seconds(lambda m=metric, s=sampled, ends=ends: ends(m, s))
        rows.append({"metric": name, "score": spent, "floors": around, "interval": more})
        values = " ".join(f"{value:.3f}" for value in np.atleast_1d(sampled.score))
        print(f"{name:32} {spent:8.2f} {around:8.2f} {more:9.2f}   {values}", flush=True)
    table = polars.DataFrame(rows)
    total = table.select("score", "floors", "interval").sum().row(0)
    print(f"{'sum':32} {total[0]:8.2f} {total[1]:8.2f} {total[2]:9.2f}   CPU seconds")
    return table.with_columns(polars.col("score", "floors", "interval").round(3))


def store(table: polars.DataFrame, path: Path, keep_intervals: bool) -> None:
    """Write costs to a file; if intervals were not measured, those in the file are kept."""
    if keep_intervals and path.is_file():
        before = polars.read_csv(path).select("metric", "interval")
        table = table.drop("interval").join(before, on="metric", how="left", maintain_order="left")
    table.write_csv(path)


def render(stored: Path = STORED) -> str:
    """Return the table of the docs, with its sums."""
    table = polars.read_csv(stored)
    lines = ["| metric | score | floor and ceiling | interval |", "|---|---|---|---|"]
    kinds = {name: polars.col("metric").is_in(some) for name, some in SUMS.items()}
    sums = [
        {"metric": f"**{name}**"} | table.filter(kind).select("score", "floors", "interval").sum().row(0, named=True)
        for name, kind in kinds.items()
    ]
    for row in [*table.iter_rows(named=True), *sums]:
        cells = " | ".join(f"{row[part]:.2f}" for part in ("score", "floors", "interval"))
        lines.append(f"| {row['metric']} | {cells} |")
    return "\n".join(lines)


def compare(names: list[str], inputs: dict[str, Any]) -> None:
    print(f"{'metric':32} {'ours':>8} {'plain':>8} {'faster':>7}   values")
    total = np.zeros(2)
    for name, plain in PLAIN.items():
        if name not in names:
            continue
        ours, sampled = seconds(lambda name=name: METRICS[name].sampled(inputs))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            theirs, expected = seconds(lambda plain=plain: plain(inputs))
        total += ours, theirs
        values = " ".join(f"{a:.4f}/{b:.4f}" for a, b in zip(np.atleast_1d(sampled.score), expected, strict=True))
        print(f"{name:32} {ours:8.2f} {theirs:8.2f} {theirs / ours:7.1f}   {values}", flush=True)
    print(f"{'sum':32} {total[0]:8.2f} {total[1]:8.2f} {total[1] / total[0]:7.1f}   CPU seconds")
    if IMPORTANCES:
        apart = np.abs(importance_matrix(inputs["codes"], inputs["factors"]) - IMPORTANCES[-1])
        print(f"largest difference of an importance: {apart.max():.4f}")


def quick() -> None:
    """Print unfairness by thorough trees, the error of quick trees, and the effect of a tiny change of codes."""
    module, fitted = sys.modules["unweave.metrics.unfairness"], BoostedTrees
    place = np.stack(np.unravel_index(np.arange(SIZES.prod()), SIZES), axis=1) / (SIZES - 1)
    kinds = [(kind, noise) for kind in ("good", "mixed", "bent") for noise in (0.003, 0.03, 0.1, 0.5)]
    apart = np.empty((len(kinds), 2, 2))
    for row, (kind, noise) in enumerate(kinds):
        rng = np.random.default_rng(row)
        weights = np.eye(5, 10) if kind == "good" else rng.normal(size=(5, 10))
        codes = place @ weights if kind != "bent" else np.sin(3 * place @ weights)
        codes = codes + noise * rng.normal(size=codes.shape)
        moved = codes + 0.001 * codes.std(axis=0) * rng.normal(size=codes.shape)
        found = unfairness(Codebook.of_grid(codes, SIZES.tolist()))
        module.BoostedTrees = lambda **_: fitted()  # pyright: ignore[reportAttributeAccessIssue]
        thorough, again = (np.array(unfairness(Codebook.of_grid(some, SIZES.tolist()))) for some in (codes, moved))
        module.BoostedTrees = fitted  # pyright: ignore[reportAttributeAccessIssue]
        apart[row] = found - thorough, again - thorough
        print(f"{kind:6} noise {noise:5}  mean, max {thorough.round(3)}  quick {apart[row, 0].round(4)}", end="  ")
        print(f"codes moved by a thousandth {apart[row, 1].round(4)}", flush=True)
    for name, some in zip(("quick", "moved"), apart.swapaxes(0, 1), strict=True):
        size = np.sqrt((some**2).mean(axis=0))
        print(f"{name}: on average {some.mean(axis=0).round(4)}, root mean square {size.round(4)}")


def peak(name: str) -> None:
    """Score 100,000 rows of 64 codes and 10 factors, with the interval, and print the process's largest memory."""
    rng, sizes = np.random.default_rng(0), np.array([2, 3, 4, 6, 8, 10, 15, 20, 32, 40])
    labels = rng.integers(sizes, size=(100_000, 10))
    codes = rng.normal(size=(100_000, 64))
    codes[:, :10] += 5 * labels / sizes
    test = (codes[:20_000], labels[:20_000])
    inputs = {"codes": codes, "means": codes, "factors": labels, "test": test, "seed": 0, "sampled": codes}
    inputs |= {"log_variances": np.zeros_like(codes), "reconstruction": codes[:, 0] ** 2}
    # Three rounds need as much memory as a hundred, and minutes less.
    BoostedTrees.__init__.__defaults__ = (3, 0.1, 3, 256, True)
    sampled = METRICS[name].sampled(inputs)
    # Subsets scored together add up their memory; refits come one after another, so two need as much as ten.
    interval(sampled, METRICS[name].range, None if sampled.replicates == 200 else 2, generator(0, INTERVAL))
    print(f"{name:32} {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6:6.2f} GB {process_time():8.1f} CPU s")


FIRST = """
import numpy as np
from unweave.metrics import dci
factors = np.random.default_rng(0).integers(4, size=(1_000, 3))
dci(factors + np.random.default_rng(1).normal(0, 0.1, factors.shape), factors)
"""


def first(times: int) -> None:
    """Print the cost of a process that computes DCI for the first time, with nothing compiled before."""
    for _ in range(times):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        with TemporaryDirectory() as empty:
            subprocess.run([sys.executable, "-c", FIRST], env=os.environ | {"NUMBA_CACHE_DIR": empty}, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cost = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        print(f"first DCI, with the start of Python: {cost:.2f} CPU s")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--metrics", nargs="+", default=["all"])
    parser.add_argument("--plain", action="store_true")
    parser.add_argument("--memory", action="store_true")
    parser.add_argument("--rows", action="store_true", help="only metrics of rows: no codebook, no decoder")
    parser.add_argument("--no-intervals", action="store_true")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--write-docs", action="store_true")
    parser.add_argument("--first", type=int, metavar="TIMES")
    parser.add_argument("--peak", help=argparse.SUPPRESS)
    options = parser.parse_args()
    names = [metric for name in options.metrics for metric in GROUPS.get(name, (name,))]
    if options.rows:
        names = [name for name in names if name in SUMS["all of rows"]]
    if options.write_docs:
        return put(PAGE, "costs", render())
    if options.peak:
        return peak(options.peak)
    if options.first:
        return first(options.first)
    if options.quick:
        return quick()
    if options.memory:  # each in its own process, to measure its peak memory
        for name in names:
            if not {"encode", "source", "jacobians"} & set(METRICS[name].needs):
                subprocess.run([sys.executable, __file__, "--peak", name], check=True)
        return None
    inputs = inputs_of(grid())
    few = {**inputs, "codes": inputs["codes"][:200], "factors": inputs["factors"][:200]}
    METRICS["dci"].sampled(few)  # compiles the trees, and does late imports
    if options.plain:
        return compare(names, inputs)
    table = costs(names, inputs, not options.no_intervals)
    if options.out:
        store(table, options.out, keep_intervals=options.no_intervals)
    return None


if __name__ == "__main__":
    main()
