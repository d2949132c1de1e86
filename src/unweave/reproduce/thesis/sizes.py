"""What the presets of all figures have in common: how a smoke test and a small study are trained and scored."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from unweave.reproduce.thesis.experiment import SCORING, Entry

SMOKE: dict[str, Any] = {
    "net": "mlp", "width": 0.05, "latents": 6, "batch": 16, "steps": 20, "loss": "mse", "standardise": True
}  # fmt: skip
SMOKE_SCORING: dict[str, Any] = {**SCORING, "preset": "fast", "samples": 300, "test_samples": 150}
SMALL: dict[str, Any] = {
    "net": "conv", "width": 0.5, "latents": 9, "batch": 64, "steps": 10_000, "loss": "mse", "standardise": True
}  # fmt: skip
SMALL_SCORING: dict[str, Any] = dict(SCORING)
SQUARES = "xysquares:size=16"
"""The squares at a quarter of their size: one is 2 × 2 pixels, and places still do not overlap."""
BOX = "mse-box:radius=7"
"""The box blur of the thesis, whose radius is 31 at 64 pixels."""
EVERY = 7_200
"""Steps between the scores during training, as the thesis has them for DCI."""


def vaes(beta: float | list[float], **settings: Any) -> tuple[Entry, ...]:
    """Return the two methods that most experiments compare, with the thesis' β: a mean over pixels and latents."""
    common: Mapping[str, Any] = {"beta": beta, "normalise_beta": True, **settings}
    return {"name": "beta-vae", **common}, {"name": "ada-gvae", "rule": "dlib", **common}


def published(preset: str, *names: str, **settings: Any) -> tuple[Entry, ...]:
    """Return methods with the settings of a preset, and what the experiment sweeps."""
    return tuple({"name": name, "preset": preset, **settings} for name in names)


def published_vaes(preset: str, **settings: Any) -> tuple[Entry, ...]:
    """Return the two methods with the settings of a preset, and what the experiment sweeps."""
    return published(preset, "beta-vae", "ada-gvae", **settings)
