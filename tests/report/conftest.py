"""A data set of moving squares and a run that has learnt it, both small enough to check by hand."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import polars
import pytest
from numpy.typing import NDArray

from unweave.data import Dataset, FactorSpace
from unweave.report import render

SIDE = 64
SQUARE = 12
GRID = FactorSpace(("x", "y", "shade"), (14, 8, 3))


class Squares(Dataset):
    """A square at (x, y) on black, in a shade of grey or of orange."""

    binary = False

    def __init__(self, channels: int = 3, name: str = "squares", factors: FactorSpace = GRID) -> None:
        self.channels, self.name, self.factors = channels, name, factors
        self.shape = (SIDE, SIDE, channels)
        self.options = {}

    def _draw(self, indices: NDArray[np.int64]) -> NDArray[np.uint8]:
        return self.render(self.factors.from_index(indices) / (np.array(self.factors.sizes) - 1))

    def render(self, places: NDArray[np.floating[Any]]) -> NDArray[np.uint8]:
        """Draw squares at x, y and shade in [0, 1], anti-aliased, (n, 3) -> (n, H, W, C)."""
        x, y, shade = places.clip(0, 1).T
        across, down = (_cover(value * (SIDE - SQUARE)) for value in (x, y))
        light = 255 * (0.4 + 0.6 * shade)[:, None, None] * down[:, :, None] * across[:, None, :]
        tint = np.array([1.0, 0.7, 0.3]) if self.channels == 3 else np.ones(1)
        return (light[..., None] * tint).round().astype(np.uint8)


def _cover(left: NDArray[np.floating[Any]]) -> NDArray[np.floating[Any]]:
    """Return how much of each pixel a square that begins at `left` covers."""
    pixel = np.arange(SIDE)
    return (np.minimum(pixel + 1, left[:, None] + SQUARE) - np.maximum(pixel, left[:, None])).clip(0, 1)


@dataclass(frozen=True)
class SquaresRun:
    """A run whose latents 3, 1 and 4 are x, y and shade, by falling KL; the others are unused."""

    path: Path
    data: Squares = field(default_factory=Squares)
    table: polars.DataFrame | None = None
    method: str = "beta-vae"
    latents: int = 6
    history: polars.DataFrame = field(default_factory=lambda: falling_log())
    state: str = "finished"
    step: int = 3000
    id: str = "0123456789abcdef"
    places: tuple[int, ...] = (3, 1, 4)
    deviations: tuple[float, ...] = (0.05, 0.1, 0.3)
    collapsed: bool = False
    """Whether the posterior is the prior, whatever the image."""
    has_decoder: bool = True
    point: bool = False
    """Whether codes are points, without variances, and take as many values as there are places and shades."""

    @property
    def config(self) -> dict[str, Any]:
        return {
            "method": {"name": self.method, "loss": "bce", "beta": 4.0},
            "data": {"name": self.data.name, "size": SIDE},
            "net": {"body": "conv", "latents": self.latents},
            "training": {"steps": 3000, "batch": 64, "lr": 1e-3, "seed": 7},
            "labels": {"count": 100, "kind": "noisy"},
        }

    @property
    def categories(self) -> tuple[int, ...]:
        return (0,) * self.latents

    def log(self) -> polars.DataFrame:
        return self.history

    def scores(self) -> polars.DataFrame | None:
        """Return the table, its scores current unless it says otherwise."""
        if self.table is None:
            return None
        usual = {"low": None, "high": None, "floor": None, "step": self.step, "current": True}
        lacking = {name: value for name, value in usual.items() if name not in self.table.columns}
        return self.table.with_columns(polars.lit(value).alias(name) for name, value in lacking.items())

    def posterior(self, images: NDArray[np.uint8], /) -> tuple[NDArray[np.float32], NDArray[np.float32] | None]:
        means, logs = self._posterior(images)
        return means, None if self.point else logs

    def _posterior(self, images: NDArray[np.uint8]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        light = images.max(axis=3).astype(float)
        total = light.sum(axis=(1, 2))
        grid = np.arange(SIDE) + 0.5
        x, y = (light.sum(axis=axis) @ grid / total for axis in (1, 2))
        shade = (total / SQUARE**2 / 255 - 0.4) / 0.6
        span = SIDE - SQUARE
        found = np.stack([(x - SQUARE / 2) / span, (y - SQUARE / 2) / span, shade], axis=1)
        found = found.round(2) if self.point else found
        means = np.zeros((len(images), self.latents), np.float32)
        logs = np.zeros_like(means)
        if self.collapsed:
            return means, logs
        means[:, self.places] = 4 * found - 2
        logs[:, self.places] = 2 * np.log(self.deviations)
        return means, logs

    def decode(self, codes: NDArray[np.floating[Any]], /) -> NDArray[np.uint8]:
        return self.data.render((codes[:, self.places] + 2) / 4)

    def reconstruct(self, images: NDArray[np.uint8], /) -> NDArray[np.uint8]:
        return self.decode(self.posterior(images)[0])


def falling_log(rows: int = 300) -> polars.DataFrame:
    rng = np.random.default_rng(0)
    step = np.arange(1, rows + 1) * 10
    reconstruction = (700 * np.exp(-step / 300) + 25) * rng.lognormal(sigma=0.05, size=rows)
    kl = 12 * (1 - np.exp(-step / 500)) + rng.normal(scale=0.3, size=rows)
    columns = {"step": step, "seconds": step / 50, "loss": reconstruction + kl}
    return polars.DataFrame({**columns, "reconstruction": reconstruction, "kl": kl})


@pytest.fixture(scope="session")
def squares() -> Squares:
    return Squares()


@pytest.fixture(scope="session")
def grey_squares() -> Squares:
    return Squares(channels=1)


@pytest.fixture(scope="session")
def run(tmp_path_factory: pytest.TempPathFactory) -> SquaresRun:
    scores = {
        "metric": ["mig", "sap"],
        "value": [0.421, 0.112],
        "low": [0.38, 0.09],
        "high": [0.47, 0.13],
        "seconds": [0.2, 1.5],
        "options": ['{"bins": 20}', '{"kind": "classifier", "test": 5000}'],
    }
    return SquaresRun(tmp_path_factory.mktemp("run"), table=polars.DataFrame(scores))


@pytest.fixture(scope="session")
def page(run: SquaresRun) -> str:
    """The page of the run, drawn once for the tests that only read it."""
    return render(run)
