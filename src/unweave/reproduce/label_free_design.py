"""The runs on which label-free scores are compared: β-VAEs of several strengths and numbers of latents, over seeds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import comb
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from unweave.study import Study

SUPERVISED = ("beta-vae-score", "factor-vae-score", "mig", "dci-disentanglement")
"""Supervised scores, with which label-free ones should agree."""
METRICS = ("mig", "dci", "beta-vae-score", "factor-vae-score")
BASELINES = ("elbo", "total-correlation", "active-units", "jacobian-orthogonality")
"""Metrics that need no labels."""


@dataclass(frozen=True)
class Scenes:
    """Encoders of the clustering task, as in table 4: β-VAEs of small β."""

    data: str = "scenes2d:size=32"
    strengths: tuple[float, ...] = (0.0, 0.01, 0.1, 1.0)
    latents: tuple[int, ...] = (8,)
    steps: int = 2_000
    task: Mapping[str, Any] = field(default_factory=dict)
    """Options of `unweave.tasks.sample_efficiency`."""


@dataclass(frozen=True)
class Settings:
    """What is trained, traced and scored."""

    data: tuple[str, ...]
    strengths: tuple[float, ...]
    latents: tuple[int, ...]
    seeds: int
    steps: int
    moments: int
    """Number of traces during training, besides that of the untrained model."""
    trace_samples: int
    sizes: tuple[int, ...]
    """Numbers of seeds for which agreement is reported; table 1 has 5, 10 and 25."""
    evaluate: Mapping[str, Any] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    """Settings of training."""
    shorter: Mapping[str, int] = field(default_factory=dict)
    """Steps on slow data sets."""
    scenes: Scenes | None = None
    """The encoders of the clustering task; None: no such task."""

    def count(self) -> int:
        """Return the number of runs."""
        grid = len(self.data) * len(self.strengths) * len(self.latents)
        scenes = len(self.scenes.strengths) * len(self.scenes.latents) if self.scenes else 0
        return (grid + scenes) * self.seeds

    def pairs(self) -> dict[str, int]:
        """Return the number of pairs of specifications with the same number of latents, and with the same β."""
        latents, strengths = len(self.latents), len(self.strengths)
        same = {"same_latents": latents * comb(strengths, 2), "same_beta": strengths * comb(latents, 2)}
        return {name: len(self.data) * pairs for name, pairs in same.items()}

    def study(self, *, seed: int, out: Path) -> Study:
        """Return the study, whose training seeds start at `seed`."""
        from unweave.study import Study

        grid = {"name": "beta-vae", "beta": list(self.strengths), "latents": list(self.latents)}
        methods = [{**grid, "data": [data], "steps": self.shorter.get(data, self.steps)} for data in self.data]
        data = self.data
        if self.scenes is not None:
            used = self.scenes
            encoders = {"beta": list(used.strengths), "latents": list(used.latents), "steps": used.steps}
            methods.append({"name": "beta-vae", **encoders, "data": [used.data]})
            data = (*data, used.data)
        return Study(
            data=data,
            methods=methods,
            seeds=range(seed, seed + self.seeds),
            metrics=(*METRICS, *BASELINES),
            trace_every=self.steps // self.moments,
            trace_samples=self.trace_samples,
            evaluate={"intervals": False, "floors": False, **self.evaluate},
            out=out,
            **self.options,
        )


PRESETS = {
    "smoke": Settings(
        data=("shapes2d:size=32",),
        strengths=(0.25, 4.0),
        latents=(2, 4),
        seeds=2,
        steps=30,
        moments=5,
        trace_samples=20,
        sizes=(2,),
        evaluate={"preset": "fast", "samples": 400, "test_samples": 200},
        options={"net": "mlp", "width": 0.05, "batch": 16},
    ),
    "small": Settings(
        data=("shapes2d:size=32", "rooms3d:size=32"),
        strengths=(0.25, 1.0, 4.0),
        latents=(2, 4, 8, 16),
        seeds=5,
        steps=6_000,
        moments=60,
        trace_samples=100,
        sizes=(5,),
        evaluate={"preset": "fast"},
        options={"net": "mlp", "width": 0.25, "batch": 64},
        shorter={"rooms3d:size=32": 2_000},
    ),
    "paper": Settings(
        data=("dsprites",),
        strengths=(1.0, 2.0, 4.0, 8.0, 16.0),
        latents=(2, 4, 8, 16, 32),
        seeds=25,
        steps=100_000,
        moments=50,
        trace_samples=500,
        sizes=(5, 10, 25),
        options={"batch": 64, "lr": 1e-4},
    ),
}
"""`small` has a quarter of dSprites' pixels, so it uses a quarter of the paper's β: the loss is a sum over pixels."""
