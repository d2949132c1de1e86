"""The study behind a figure of the thesis, in the form of a TOML file."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from math import prod
from pathlib import Path
from typing import Any

from unweave.data.sources import SOURCES
from unweave.study import Study
from unweave.study.plan import Plan

Entry = Mapping[str, Any]
"""A method with its settings, as in a study: a list is a dimension of the grid."""
Part = tuple[Entry, str, int]
"""A method with one value of each setting, a data set, and the number of runs that take equally long."""
FIVE_SETS = ("dsprites", "shapes3d", "cars3d", "smallnorb", "xysquares")
"""Those of most experiments of the thesis."""
FEW_SCORES = ("mig", "dci")
"""Of chapter 3."""
SIX_SCORES = (*FEW_SCORES, "factor-distance-correlation", "perceived-correlation", "linearity", "axis-alignment")
"""From chapter 4 on."""
SCORING = {"samples": 10_000, "test_samples": 5_000, "intervals": False, "floors": False}
"""As in the thesis: 10,000 train and 5,000 test rows. Intervals are over training seeds, not over images."""
STAND_IN = "xysquares"
"""A drawn data set, 64 × 64 pixels in colour, to measure the time of a step without the published files."""
LEARNT = "learnt"
"""Stands for the kernel that was learnt for this study."""


@dataclass(frozen=True)
class Experiment:
    """How much of an experiment is run."""

    data: tuple[str, ...]
    methods: tuple[Entry, ...]
    seeds: int = 1
    metrics: tuple[str, ...] = FEW_SCORES
    options: Mapping[str, Any] = field(default_factory=dict)
    """Of training, for all methods."""
    evaluate: Mapping[str, Any] = field(default_factory=lambda: dict(SCORING))
    snapshots: tuple[int, ...] = ()
    """Steps that are scored in addition to the last, for the largest score during training."""
    kernel: Mapping[str, Any] = field(default_factory=dict)
    """Settings of `unweave.perception.learn_loss`, if a loss is learnt."""
    pictures: int = 0
    """Number of pictures that replace Tiny ImageNet, if images have pictures; 0 uses Tiny ImageNet."""

    def study(self, seed: int, out: Path, learnt: Path | None = None) -> Study:
        """Return the study in the folder `out`, its training seeds from `seed` on; `learnt` is the learnt loss."""
        return Study(
            data=self.data,
            methods=[_with_loss(entry, learnt) for entry in self.methods],
            seeds=range(seed, seed + self.seeds),
            metrics=self.metrics,
            snapshots=self.snapshots,
            evaluate=dict(self.evaluate),
            out=out,
            **self.options,
        )

    def count(self) -> int:
        """Return the number of runs, without loading the data."""
        return sum(runs for _, _, runs in self.parts())

    def parts(self) -> Iterator[Part]:
        """Yield the runs grouped by what determines their time: method, loss and data set."""
        for entry in self.methods:
            full = {**self.options, **entry}
            losses = _listed(full.get("loss", ""))
            repeats = self.seeds * prod(len(_listed(value)) for name, value in full.items() if name not in NO_DIMENSION)
            first = {name: value if name == "data" else _listed(value)[0] for name, value in entry.items()}
            for data in _listed(full.get("data", list(self.data))):
                for loss in losses:
                    yield {**first, **({"loss": loss} if loss else {})}, data, repeats

    def plan_of(self, entry: Entry, data: str) -> Plan:
        """Return the plan of one run of a method, on a data set that needs no files."""
        plain = {name: value for name, value in entry.items() if name != "data"}
        if plain.get("loss") == LEARNT:
            plain["loss"] = "mse-box"  # the kernel does not exist yet
        options = {name: _listed(value)[0] for name, value in self.options.items()}
        return Study(data=drawn(data), methods=[plain], out="unused", **options).plan


NO_DIMENSION = ("loss", "data", "labels")


def drawn(data: str) -> str:
    """Return a data set that needs no files and takes as long to train on as `data`.

    >>> drawn("xysquares:spacing=3,size=16"), drawn("cars3d"), drawn("dsprites-images-bg:visibility=0.5")
    ('xysquares:size=16', 'xysquares', 'xysquares')
    """
    name = data.partition(":")[0]
    if name.partition("-")[0] in SOURCES or "-images-" in name:
        return STAND_IN
    return re.sub(r"spacing=[^,]*,?", "", data).rstrip(":,")


def _with_loss(entry: Entry, learnt: Path | None) -> dict[str, Any]:
    """Return an entry with the path of the learnt loss, if it uses one."""
    if learnt is None or LEARNT not in _listed(entry.get("loss", "")):
        return dict(entry)
    losses = [str(learnt) if loss == LEARNT else loss for loss in _listed(entry["loss"])]
    return {**entry, "loss": losses}


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [value]
