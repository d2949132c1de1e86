"""The design of the audit: the models to train, and how often each is scored."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from unweave.metrics.table import GROUPS, METRICS

COSTLY = ("downstream-logistic", "downstream-gbt", "unfairness")
"""Left out: they take half of the time of all metrics, with the same learners as DCI."""
MODERATE = tuple(name for name in GROUPS["all"] if name not in COSTLY)
OWN_DRAWS = frozenset({"encode", "source", "jacobians"})
"""Inputs of metrics that draw their own samples, so that more rows do not reduce their noise."""


@dataclass(frozen=True)
class Settings:
    """How much is trained and scored."""

    data: tuple[str, ...]
    strengths: tuple[float, ...]
    """Two or three β, weakest first. Snapshots of the second are compared."""
    seeds: int
    steps: int
    snapshot: int
    """An earlier step that is compared with the last."""
    metrics: tuple[str, ...] = MODERATE
    rows: tuple[int, int] = (1_000, 5_000)
    """Numbers of train rows at which noise is measured; test rows are half as many."""
    rescorings: int = 5
    """Number of draws of rows that each run is scored on."""
    worlds: tuple[int, int] = (500, 4)
    """Rows and factors of the worlds of known truth."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """Settings of training."""

    @property
    def middle(self) -> float:
        """The strength whose snapshots are compared."""
        return self.strengths[1]

    def count(self) -> int:
        """Return the number of runs."""
        return len(self.data) * len(self.strengths) * self.seeds


PRESETS = {
    "smoke": Settings(
        data=("xysquares:size=32",),
        strengths=(1.0, 8.0),
        seeds=2,
        steps=20,
        snapshot=10,
        metrics=("mig", "modularity", "sap-correlation", "linearity", "total-correlation"),
        rows=(100, 300),
        rescorings=3,
        worlds=(100, 4),
        options={"net": "mlp", "width": 0.05, "batch": 16, "loss": "mse"},
    ),
    "small": Settings(
        data=("rooms3d:size=32",),
        strengths=(1.0, 4.0, 16.0),
        seeds=10,
        steps=1200,
        snapshot=600,
        options={"width": 0.5, "batch": 64, "loss": "mse"},
    ),
    "paper": Settings(
        data=("rooms3d", "shapes2d", "xyobject"),
        strengths=(1.0, 4.0, 16.0),
        seeds=50,
        steps=100_000,
        snapshot=50_000,
        rows=(1_000, 10_000),
        rescorings=10,
        worlds=(2_000, 8),
        options={"loss": "mse"},
    ),
}
"""This table has no published counterpart; the preset `paper` is large enough for a publication."""


def metric_of_part(metrics: tuple[str, ...]) -> dict[str, str]:
    """Return the metric of each score, which is the metric itself or one of its parts."""
    return {part: name for name in metrics for part in METRICS[name].names(name)}


def scores_rows(metric: str) -> bool:
    """Return whether more rows reduce a metric's noise: not if it draws its own samples."""
    return OWN_DRAWS.isdisjoint(METRICS[metric].needs)
