"""The speed of the linear-Gaussian laboratory: `python benchmarks/gaussian.py`.

CPU seconds on one thread: for solving and scoring cells (gamma, lambda, start), and for the exact I_m score of many
factors, with the slowest of several kinds of covariance.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from time import process_time

import numpy as np
from threadpoolctl import threadpool_limits

from unweave.gaussian import SCENARIOS, im_bounds, im_score
from unweave.gaussian.study import study
from unweave.text import table

Covariances = tuple[np.ndarray, np.ndarray, np.ndarray]


def kinds(m: int, s: int) -> Iterator[Covariances]:
    rng = np.random.default_rng(0)
    for shared, own in ((m + s, 0.0), (2, 0.3), (4, 0.3)):  # dense, and dependent through a few common causes
        loadings = rng.normal(size=(m + s, shared))
        joint = loadings @ loadings.T + own * np.eye(m + s)
        yield joint[:m, :m], joint[:m, m:], joint[m:, m:]
    for weights in (rng.normal(size=(m, s)), 3 * np.eye(m, s), np.zeros((m, s))):  # entangled, clean, useless codes
        yield weights @ weights.T + np.eye(m), weights, np.eye(s)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cells", type=int, default=10_000)
    options = parser.parse_args()
    im_score(np.eye(2), np.zeros((2, 9)), np.eye(9))  # imports on first use
    rows = []

    def add(what: str, seconds: float) -> None:
        rows.append({"what": what, "seconds": f"{seconds:.2f}"})

    with threadpool_limits(1):
        for name in ("3-in-2", "5-in-2"):
            start = process_time()
            study(SCENARIOS[name].world(), repeats=options.cells // 25)
            add(f"{name}, {options.cells:,} cells", process_time() - start)
        exact, bounded = ((10, 8), (12, 8), (12, 12)), ((20, 8), (30, 10))
        for what, score, sizes in (("exact I_m", im_score, exact), ("bounds of I_m", im_bounds, bounded)):
            for s, m in sizes:
                taken = []
                for covariances in kinds(m, s):
                    start = process_time()
                    score(*covariances)
                    taken.append(process_time() - start)
                add(f"{what}, {s} factors, {m} codes", max(taken))
    print(table(rows, ["seconds"]))


if __name__ == "__main__":
    main()
