"""Runs that take a fraction of a second: three specifications of five seeds, with traces."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import pytest

import unweave

QUICK: dict[str, Any] = {
    "data": "xysquares:size=32",
    "steps": 24,
    "batch": 8,
    "net": "mlp",
    "latents": 3,
    "width": 0.02,
    "device": "cpu",
    "threads": 1,
    "progress": False,
}


def train_many(folder: Path, betas: tuple[int, ...] = (1, 4, 16), seeds: int = 5, **options: Any) -> Path:
    """Train β-VAEs below a folder, and return it."""
    traced = {"trace_every": 8, "trace_samples": 12}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for beta in betas:
            for seed in range(seeds):
                out = folder / f"beta{beta}" / f"seed{seed}"
                unweave.train("beta-vae", beta=beta, seed=seed, out=out, **{**QUICK, **traced, **options})
    return folder


@pytest.fixture(scope="session")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with 15 runs below it, which tests leave as they are."""
    return train_many(tmp_path_factory.mktemp("selection") / "runs")
