"""Soft ranks and their correlation, forwards and backwards: `python benchmarks/soft_rank.py`.

A cell is the shortest of the rounds, in milliseconds, on one thread. `sort` is the sorting alone, for comparison;
`isotonic (scipy)` the same projection by `scipy.optimize.isotonic_regression`, without gradients.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np
import torch
from scipy.optimize import isotonic_regression

from unweave.perception import soft_rank, soft_spearman
from unweave.text import table


def ways(size: int, strength: float) -> dict[str, Callable[[], object]]:
    values = torch.randn(size, generator=torch.Generator().manual_seed(0), requires_grad=True)
    target = torch.randint(42, (size,), generator=torch.Generator().manual_seed(1)).double()
    plain = values.detach().double().numpy()
    return {
        "sort": lambda: np.argsort(plain),
        "isotonic (scipy)": lambda: isotonic_regression(np.sort(plain) / strength - np.arange(1, size + 1)),
        "soft rank": lambda: soft_rank(values, strength).sum().backward(),
        "soft Spearman": lambda: soft_spearman(values, target, strength).backward(),
    }


def milliseconds(work: Callable[[], object], rounds: int) -> float:
    taken = []
    for _ in range(rounds + 1):
        start = time.perf_counter()
        work()
        taken.append(1000 * (time.perf_counter() - start))
    return min(taken[1:])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[512, 4096, 32768, 262144])
    parser.add_argument("--strengths", type=float, nargs="+", default=[1e-6, 0.01, 1.0])
    parser.add_argument("--rounds", type=int, default=20)
    options = parser.parse_args()
    torch.set_num_threads(1)
    rows = []
    for size in options.sizes:
        for strength in options.strengths:
            cells = {name: f"{milliseconds(work, options.rounds):.2f}" for name, work in ways(size, strength).items()}
            rows.append({"n": f"{size:,}", "strength": f"{strength:g}", **cells})
    print(table(rows, numbers=list(rows[0])))


if __name__ == "__main__":
    main()
