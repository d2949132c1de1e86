"""The runs that show how scores grow: with training steps, with images, and with parameters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from unweave.study import Study

METRICS = ("mig", "sap", "dci", "factor-vae-score", "elbo", "active-units")
SCORES = ("mig", "sap", "dci-disentanglement", "dci-informativeness", "factor-vae-score", "elbo-bound")
"""The scores that are reported."""
WIDTH, DEPTH, LATENTS = "width", "depth", "latents"


@dataclass(frozen=True)
class Settings:
    """What is trained and scored."""

    data: str
    strengths: tuple[float, ...]
    seeds: int
    steps: int
    snapshots: tuple[int, ...] = ()
    """Steps that are scored besides the last."""
    images: tuple[int, ...] = ()
    """Numbers of training images, besides all."""
    sizes: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    """Values of width, depth and latents, changed one at a time."""
    long: int = 0
    """Steps of one longer run of each strength; 0: none."""
    long_snapshots: tuple[int, ...] = ()
    evaluate: Mapping[str, Any] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    """Settings of training."""

    def study(self, *, seed: int, out: Path) -> Study:
        """Return the study, whose training seeds start at `seed`."""
        methods = [self._method()]
        methods += [self._method(**{name: list(values)}) for name, values in self.sizes.items()]
        return self._study(self._data(), methods, range(seed, seed + self.seeds), self.steps, self.snapshots, out)

    def long_study(self, *, seed: int, out: Path) -> Study:
        """Return the study of the long runs, one seed of each strength."""
        return self._study((self.data,), [self._method()], [seed], self.long, self.long_snapshots, out)

    def _data(self) -> tuple[str, ...]:
        name, colon, options = self.data.partition(":")
        given = f",{options}" if colon else ""
        return (*(f"{name}-subset:images={count}{given}" for count in self.images), self.data)

    def _method(self, **settings: Any) -> dict[str, Any]:
        return {"name": "beta-vae", "beta": list(self.strengths), **settings}

    def _study(self, data: Any, methods: Any, seeds: Any, steps: int, snapshots: tuple[int, ...], out: Path) -> Study:
        from unweave.study import Study

        return Study(
            data=data,
            methods=methods,
            seeds=seeds,
            metrics=METRICS,
            snapshots=snapshots,
            evaluate={"intervals": False, "floors": False, **self.evaluate},
            out=out,
            steps=steps,
            **self.options,
        )


SMOKE: dict[str, Any] = {
    "data": "shapes2d:size=32",
    "seeds": 2,
    "steps": 40,
    "evaluate": {"preset": "fast", "samples": 400, "test_samples": 200},
    "options": {"net": "mlp", "width": 0.05, "batch": 16},
}
SMALL: dict[str, Any] = {
    "data": "shapes2d:size=32",
    "seeds": 5,
    "evaluate": {"preset": "fast"},
    "options": {"net": "mlp", "width": 0.25, "batch": 64},
}
PAPER: dict[str, Any] = {"data": "dsprites", "seeds": 5, "steps": 20_000}
"""For figures 6 and 7 only data set, β and steps are known: net, batch size and learning rate are the usual ones."""
DECADES = (100, 200, 500, 1_000, 2_000, 5_000)

COMPUTE = {
    "smoke": Settings(**SMOKE, strengths=(1.0, 4.0), snapshots=(10, 20), long=60, long_snapshots=(20,)),
    "small": Settings(
        **SMALL,
        strengths=(1.0, 4.0),
        steps=20_000,
        snapshots=(200, 500, 1_000, 2_000, 5_000, 10_000),
        long=150_000,
        long_snapshots=(1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000),
    ),
    "paper": Settings(**PAPER, strengths=(1.0, 4.0), snapshots=(1_000, 5_000, 10_000)),
}
DATA = {
    "smoke": Settings(**SMOKE, strengths=(4.0,), images=(50, 500)),
    "small": Settings(**SMALL, strengths=(4.0,), steps=5_000, images=(500, 5_000, 50_000)),
    "paper": Settings(**PAPER, strengths=(1.0, 4.0), images=(1_000, 10_000, 100_000)),
}
PARAMETERS = {
    "smoke": Settings(**SMOKE, strengths=(4.0,), snapshots=(20,), sizes={WIDTH: (0.02,), DEPTH: (2,), LATENTS: (4,)}),
    "small": Settings(
        **SMALL,
        strengths=(4.0,),
        steps=10_000,
        snapshots=DECADES,
        sizes={WIDTH: (0.0625, 0.125, 0.5), DEPTH: (2,), LATENTS: (5, 20)},
    ),
    "paper": Settings(
        **PAPER,
        strengths=(1.0, 4.0),
        snapshots=(200, 1_000, 5_000, 10_000),
        sizes={WIDTH: (0.25, 0.5, 2.0), DEPTH: (2, 3), LATENTS: (5, 20, 40)},
    ),
}
