"""Metrics against their plain definitions, interleaved in one run: `python benchmarks/metrics.py`.

The sizes are those of the published studies on dSprites: 10,000 rows to fit, 5,000 to judge, 10 codes.
"""

from __future__ import annotations

from collections.abc import Callable
from time import process_time

import numpy as np
from sklearn.metrics import mutual_info_score

from unweave.metrics import evaluate, mig

SIZES = np.array([3, 6, 40, 32, 32])


def draw(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    factors = rng.integers(SIZES, size=(n, len(SIZES)))
    codes = rng.normal(size=(n, 10))
    codes[:, : len(SIZES)] = factors / SIZES + 0.1 * codes[:, : len(SIZES)]
    return codes, factors


def plain_mig(codes: np.ndarray, factors: np.ndarray) -> float:
    binned = [np.digitize(code, np.histogram(code, 20)[1][:-1]) for code in codes.T]
    known = np.array([[mutual_info_score(factor, code) for factor in factors.T] for code in binned])
    known.sort(axis=0)
    return float(np.mean((known[-1] - known[-2]) / [mutual_info_score(factor, factor) for factor in factors.T]))


def seconds(function: Callable[[], object]) -> float:
    start = process_time()
    function()
    return process_time() - start


def main() -> None:
    rng = np.random.default_rng(0)
    codes, factors = draw(10_000, rng)
    test = draw(5_000, rng)
    assert abs(mig(codes, factors) - plain_mig(codes, factors)) < 1e-12
    times = [(seconds(lambda: mig(codes, factors)), seconds(lambda: plain_mig(codes, factors))) for _ in range(15)]
    ours, plain = np.median(times, axis=0)
    print(f"mig: {1e3 * ours:.1f} ms, plain {1e3 * plain:.1f} ms, {plain / ours:.0f} times faster (CPU)")
    evaluate(codes[:100], factors[:100])  # imports what is imported late
    print(f"evaluate, all with intervals: {seconds(lambda: evaluate(codes, factors, test=test)):.2f} CPU s")
    print(evaluate(codes, factors, test=test))


if __name__ == "__main__":
    main()
