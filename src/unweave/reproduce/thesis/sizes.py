"""The three sizes of every experiment: how runs are trained and scored in each."""

from __future__ import annotations

from typing import Any

from unweave.reproduce.thesis.experiment import SCORING, SIX_SCORES, Entry, Experiment

SMOKE: dict[str, Any] = {
    "net": "mlp", "width": 0.05, "latents": 6, "batch": 16, "steps": 20, "loss": "mse", "standardise": True
}  # fmt: skip
SMOKE_SCORING: dict[str, Any] = {**SCORING, "preset": "fast", "samples": 300, "test_samples": 150}
SMALL: dict[str, Any] = {
    "net": "conv", "width": 0.5, "latents": 9, "batch": 64, "steps": 2_500, "loss": "mse", "standardise": True
}  # fmt: skip
DENSE: dict[str, Any] = {**SMALL, "net": "mlp", "width": 0.25, "steps": 3_000}
"""Small studies with dense layers, which learn small images faster than convolutions do."""
SMALL_SCORING: dict[str, Any] = {**SCORING, "preset": "fast"}
PAIRS = 32
"""The batch size of small studies of pairs: a step uses 64 images, like a step of a β-VAE."""
SQUARES = "xysquares:size=16"
"""The squares at a quarter of their size: each has 2 × 2 pixels, and at spacing 8 positions still do not overlap."""
BOX, GAUSS = "mse-box:radius=7", "mse-gauss:radius=7"
"""The blurs of the thesis, whose radius is 31 at 64 pixels."""
EVERY = 7_200
"""Steps between the scores during training, as for DCI in the thesis."""


def smoke(data: tuple[str, ...], methods: tuple[Entry, ...], **more: Any) -> Experiment:
    """Return settings with a few steps of small nets, to test that everything runs."""
    return Experiment(data, methods, **{"seeds": 2, "options": SMOKE, "evaluate": SMOKE_SCORING, **more})


def small(data: tuple[str, ...], methods: tuple[Entry, ...], **more: Any) -> Experiment:
    """Return settings with small images, nets of half the width, a few thousand steps, and five seeds."""
    common = {"seeds": 5, "metrics": SIX_SCORES, "options": SMALL, "evaluate": SMALL_SCORING}
    return Experiment(data, methods, **{**common, **more})


def paper(data: tuple[str, ...], methods: tuple[Entry, ...], *, steps: int, **more: Any) -> Experiment:
    """Return the thesis' settings, with the steps of its presets, also scored during training."""
    return Experiment(data, methods, snapshots=tuple(range(EVERY, steps, EVERY)), **more)


def vaes(beta: float | list[float], **settings: Any) -> tuple[Entry, ...]:
    """Return the two methods that most experiments compare, with the thesis' β, for means over pixels and latents."""
    common = {"beta": beta, "normalise_beta": True, **settings}
    return {"name": "beta-vae", **common}, {"name": "ada-gvae", "rule": "dlib", **common}


def small_vaes(beta: float | list[float], **settings: Any) -> tuple[Entry, ...]:
    """Return the two methods for a small study."""
    single, paired = vaes(beta, **settings)
    return single, {**paired, "batch": PAIRS}


def published(preset: str, *names: str, **settings: Any) -> tuple[Entry, ...]:
    """Return methods with the settings of a preset, and what the experiment sweeps."""
    return tuple({"name": name, "preset": preset, **settings} for name in names)


def published_vaes(preset: str, **settings: Any) -> tuple[Entry, ...]:
    """Return the two methods with the settings of a preset, and what the experiment sweeps."""
    return published(preset, "beta-vae", "ada-gvae", **settings)
