"""Does an orthogonal Jacobian find the factors of a map that has one? `python benchmarks/orthogonal_jacobian.py`.

Three independent uniform factors are mapped to vectors by a nonlinear map whose Jacobian has orthogonal columns
everywhere, and the vectors are rotated into eight dimensions. A beta-VAE with three latents learns them, with and
without the Jacobian term. The table has, over training seeds, MCC by ranks, the orthogonality of the learnt decoder (a
metric that does not use the term), and the share of the variance that is not reconstructed.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

import unweave
from unweave.methods import BetaVAE, OrthogonalJacobian
from unweave.metrics import jacobian_orthogonality, mcc
from unweave.text import table

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


def drawn(world: str, seed: int, rows: int) -> tuple[NDArray[np.float32], Floats]:
    """Return vectors (rows, 8) and their factors (rows, 3)."""
    v = np.random.default_rng(seed).uniform(-1, 1, size=(rows, 3))
    y = WORLDS[world](v)
    turn = np.linalg.qr(np.random.default_rng(7).normal(size=(8, 8)))[0][:, : y.shape[1]]
    return (y @ turn.T).astype(np.float32), v


def scores(world: str, beta: float, weight: float, seed: int, steps: int) -> tuple[float, float, float]:
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


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--worlds", nargs="+", default=[*WORLDS], choices=WORLDS)
    parser.add_argument("--weights", nargs="+", type=float, default=[0, 10])
    parser.add_argument("--beta", type=float, default=0.05)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=1000)
    asked = parser.parse_args()
    lines = []
    for world in asked.worlds:
        for weight in asked.weights:
            found = np.array([scores(world, asked.beta, weight, seed, asked.steps) for seed in range(asked.seeds)])
            means, errors = found.mean(0), found.std(0, ddof=1) / np.sqrt(len(found))
            named = zip(("MCC", "orthogonality", "lost"), means, errors, strict=True)
            cells = {name: f"{mean:.2f} ± {error:.2f}" for name, mean, error in named}
            seeds = " ".join(f"{value:.2f}" for value in found[:, 0])
            lines.append({"world": world, "weight": f"{weight:g}", **cells, "MCC of each seed": seeds})
    print(table(lines))
