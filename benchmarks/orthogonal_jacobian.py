"""Does an orthogonal Jacobian find the factors of a map that has one?

    python benchmarks/orthogonal_jacobian.py           docs/results/orthogonal-jacobian.csv, and its table in the docs
    python benchmarks/orthogonal_jacobian.py --write   the table alone, from the file

Three independent uniform factors are mapped to vectors by a nonlinear map whose Jacobian has orthogonal columns
everywhere, and the vectors are rotated into eight dimensions. A beta-VAE with three latents learns them, with and
without the Jacobian term. The table has, over training seeds, MCC by ranks, the orthogonality of the learnt decoder (a
metric that does not use the term), and the share of the variance that is not reconstructed.
"""

from __future__ import annotations

import argparse
import itertools
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars
from numpy.typing import NDArray
from pages import put

import unweave
from unweave.methods import BetaVAE, OrthogonalJacobian
from unweave.metrics import jacobian_orthogonality, mcc

TOP = Path(__file__).parents[1]
STORE = TOP / "docs" / "results" / "orthogonal-jacobian.csv"
PAGE = TOP / "docs" / "methods" / "orthogonal-jacobian.md"
SCORES = ("mcc", "orthogonality")
Floats = NDArray[np.float64]


def arcs(v: Floats) -> Floats:
    """Half circles of equal length, each in its own plane: the sum of a function of each factor."""
    return np.concatenate([np.cos(np.pi / 2 * v), np.sin(np.pi / 2 * v)], axis=1)


def sphere(v: Floats) -> Floats:
    """Spherical coordinates, which are orthogonal, but not a sum."""
    radius, latitude, longitude = 1.5 + v[:, 0], v[:, 1], v[:, 2]
    flat = radius * np.cos(latitude)
    return np.stack([flat * np.cos(longitude), flat * np.sin(longitude), radius * np.sin(latitude)], 1)


WORLDS: dict[str, Callable[[Floats], Floats]] = {"arcs": arcs, "sphere": sphere}
NAMES = {"arcs": "half circles in separate planes", "sphere": "spherical coordinates"}


def drawn(world: str, seed: int, rows: int) -> tuple[NDArray[np.float32], Floats]:
    """Return vectors (rows, 8) and their factors (rows, 3)."""
    v = np.random.default_rng(seed).uniform(-1, 1, size=(rows, 3))
    y = WORLDS[world](v)
    turn = np.linalg.qr(np.random.default_rng(7).normal(size=(8, 8)))[0][:, : y.shape[1]]
    return (y @ turn.T).astype(np.float32), v


def scores(world: str, beta: float, weight: float, seed: int, steps: int) -> tuple[float, float, float]:
    """Train one model; return its MCC by ranks, the orthogonality of its decoder, and the share that it loses."""
    x, _ = drawn(world, 0, 20_000)
    rows, factors = drawn(world, 1, 2_000)
    with tempfile.TemporaryDirectory() as folder:
        run = unweave.train(
            BetaVAE(beta=beta),
            data=x,
            out=folder,
            net="mlp",
            width=0.05,
            latents=3,
            steps=steps,
            lr=2e-3,
            seed=seed,
            jacobian=OrthogonalJacobian(weight=weight) if weight else None,
            device="cpu",
            threads=1,
        )
        codes = run.encode(rows)
        lost = float(((run.decode(codes) - rows) ** 2).mean() / rows.var())
        return mcc(codes, factors, kind="rank"), jacobian_orthogonality(run.jacobians(codes[:64])), lost


def summary(world: str, weight: float, found: NDArray[np.float64]) -> dict[str, str | float]:
    """Return a row of the file, from the scores (seeds, 3): means, standard errors, and the MCC of each seed."""
    means, errors = found.mean(0).round(2), (found.std(0, ddof=1) / len(found) ** 0.5).round(2)
    row: dict[str, str | float] = {"world": world, "weight": weight}
    for name, mean, error in zip(SCORES, means, errors, strict=False):
        row |= {name: mean, f"{name}_error": error}
    return row | {"mcc_of_seeds": " ".join(f"{value:.2f}" for value in found[:, 0])}


def text() -> str:
    """Return the table of the page from the stored file."""
    lines = ["| world | weight | MCC (ranks) | orthogonality of the decoder | MCC of each seed |"]
    lines.append("|---|--:|--:|--:|---|")
    for row in polars.read_csv(STORE).iter_rows(named=True):
        scores = " | ".join(f"{row[name]:.2f} ± {row[f'{name}_error']:.2f}" for name in SCORES)
        seeds = row["mcc_of_seeds"].replace(" ", ", ")
        lines.append(f"| {row['world']}: {NAMES[row['world']]} | {row['weight']:g} | {scores} | {seeds} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--weights", nargs="+", type=float, default=[0.0, 10.0])
    parser.add_argument("--beta", type=float, default=0.05)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--write", action="store_true", help="only write the page from the file")
    asked = parser.parse_args()
    if not asked.write:
        rows = []
        weights: list[float] = asked.weights
        for world, weight in itertools.product(WORLDS, weights):
            found = np.array([scores(world, asked.beta, weight, seed, asked.steps) for seed in range(asked.seeds)])
            rows.append(summary(world, weight, found))
            print(rows[-1], f"share of the variance lost: {found[:, 2].max():.4f} at most", flush=True)
        polars.DataFrame(rows).write_csv(STORE)
    put(PAGE, "worlds", text())


if __name__ == "__main__":
    main()
