"""Sparse autoencoders: `python benchmarks/sparse.py recovery` and `python benchmarks/sparse.py time`.

recovery: features in superposition through a random dictionary, found by sparse autoencoders, PCA and ICA.
time: CPU seconds per step of fitting, and for a whole fit.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
import torch
from sklearn.decomposition import PCA, FastICA

from unweave.encoders.sparse import fit_sparse
from unweave.metrics import mcc


def superposed(
    rows: int, features: int, width: int, active: int, seed: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return codes, the features behind them, `active` in each row, from 0.5 to 1.5, and their dictionary."""
    rng = np.random.default_rng(seed)
    dictionary = rng.normal(size=(features, width))
    dictionary /= np.linalg.norm(dictionary, axis=1, keepdims=True)
    draws = rng.random((rows, features))
    truth = (draws < np.sort(draws, axis=1)[:, [active]]) * rng.uniform(0.5, 1.5, size=draws.shape)
    return truth @ dictionary + 0.01 * rng.normal(size=(rows, width)), truth, dictionary


def cosine(dictionary: np.ndarray, directions: np.ndarray) -> float:
    """Return the mean over true directions of the largest |cosine| with a direction that was found."""
    unit = directions / np.linalg.norm(directions, axis=1, keepdims=True)
    return float(np.abs(dictionary @ unit.T).max(axis=1).mean())


def recovery(options: argparse.Namespace) -> None:
    """Print how well each method finds the features, scored on test rows."""
    rows, width = options.rows, options.width
    codes, truth, dictionary = superposed(2 * rows, options.truth, width, options.active, options.seed)
    train, test, known = codes[:rows], codes[rows:], truth[rows:]
    print("| method | cosine | MCC | unexplained | active | dead | CPU seconds |\n|---|---:|---:|---:|---:|---:|---:|")
    for kind in ("topk", "batch-topk"):
        start = time.process_time()
        found = fit_sparse(
            train, features=options.features, k=options.active, kind=kind, steps=options.steps, seed=options.seed
        )
        seconds, left = time.process_time() - start, found.statistics(test)
        scores = f"{cosine(dictionary, found.decoder):.3f} | {mcc(found.encode(test), known):.3f}"
        print(
            f"| {kind} | {scores} | {left.unexplained:.3f} | {left.l0:.2f} | {left.dead:.1%} | {seconds:.0f} |",
            flush=True,
        )
    for name, model in (
        ("PCA", PCA(width)),
        ("ICA", FastICA(width, random_state=options.seed, max_iter=1000, tol=1e-3)),
    ):
        start = time.process_time()
        model.fit(train)
        seconds, directions = time.process_time() - start, np.asarray(model.components_)
        if name == "ICA":
            directions = np.asarray(model.mixing_).T  # type: ignore[union-attr]
        scores = f"{cosine(dictionary, directions):.3f} | {mcc(np.asarray(model.transform(test)), known):.3f}"
        print(f"| {name} | {scores} | 0.000 | {width} | 0.0% | {seconds:.0f} |", flush=True)


def fitting_time(options: argparse.Namespace) -> None:
    """Print the seconds per step, without the first steps."""
    codes = np.random.default_rng(0).normal(size=(options.rows, options.width)).astype(np.float32)
    settings = {"features": options.features, "k": options.active, "kind": options.kind, "dead_after": 10**9}
    moments: list[tuple[float, float]] = []

    def told(what: str, done: float, total: float | None) -> None:
        moments.append((time.process_time(), time.perf_counter()))

    fit_sparse(codes, steps=options.steps, on_progress=told, **settings)
    (cpu, wall), (cpu_end, wall_end) = moments[1], moments[-1]
    step = (cpu_end - cpu) / (len(moments) - 2)
    print(f"{options.rows:,} x {options.width:,} codes, {options.features:,} features, k = {options.active}, batch 256")
    print(f"{options.kind}, {torch.get_num_threads()} threads: {step:.3f} s of CPU time per step", end=", ")
    print(
        f"{(wall_end - wall) / (len(moments) - 2):.3f} s elapsed; 5,000 steps: {5000 * step / 60:.1f} min of CPU time"
    )


def main() -> None:
    """Read the command and run it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    one = commands.add_parser("recovery")
    two = commands.add_parser("time")
    for command, run, numbers in (
        (
            one,
            recovery,
            {"rows": 10_000, "width": 24, "truth": 64, "features": 96, "active": 3, "steps": 3000, "seed": 0},
        ),
        (two, fitting_time, {"rows": 10_000, "width": 1280, "features": 4096, "active": 32, "steps": 22}),
    ):
        command.set_defaults(run=run)
        for name, default in numbers.items():
            command.add_argument(f"--{name}", type=int, default=default)
    two.add_argument("--kind", default="topk")
    options = parser.parse_args()
    options.run(options)


if __name__ == "__main__":
    main()
