"""Chapter 6: a loss that was learnt for the data set."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import polars

from unweave.progress import OnProgress, silent
from unweave.reproduce.frame import Findings
from unweave.reproduce.parts import Kept, compute_always
from unweave.reproduce.thesis.claims import (
    DISENTANGLEMENT,
    METHODS,
    TITLES,
    Claim,
    by_seed,
    claim,
    difference,
    levels,
    present,
)
from unweave.reproduce.thesis.experiment import LEARNT, Experiment, snapshots_every
from unweave.reproduce.thesis.figure import ThesisFigure
from unweave.reproduce.thesis.sizes import (
    BOX,
    EVERY,
    SMALL,
    SMALL_SCORING,
    SMOKE,
    SMOKE_SCORING,
    SQUARES,
    published_vaes,
    vaes,
)
from unweave.study import Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure

GAUSS = "mse-gauss:radius=7"
ORDER = ("mse", "mse-gauss", "mse-box", LEARNT)
"""Losses, from the worst to the best in the thesis."""
CHOSEN = {
    "mse": [0.0001, 0.000316], "mse-gauss": [0.001, 0.00316], "mse-box": [0.01, 0.0316], LEARNT: [0.01, 0.0316]
}  # fmt: skip
"""The β that are plotted of each loss (below table A.6): those whose reconstruction loss is low."""


@dataclass(frozen=True)
class WithKernel(Experiment):
    """An experiment in which a kernel is learnt first."""

    kernel: Mapping[str, Any] | None = None
    """How: settings of `unweave.perception.learn_loss`."""


class LearntLoss(ThesisFigure):
    """Figure 6.4."""

    source: ClassVar[str] = "[Michlo2022]_, figure 6.4 (section 6.1)"
    summary: ClassVar[str] = "A loss that is learnt for xysquares helps more than hand-made blurs, and these more than mse."
    presets: ClassVar[Mapping[str, WithKernel]] = {}

    def __init__(self, folder: Path | None = None, workers: int | None = None) -> None:
        super().__init__(folder, workers)
        self._on_progress = silent

    def run(self, settings: Any, *, seed: int, on_progress: OnProgress, kept: Kept = compute_always) -> Findings:
        """Learn the kernel, run what is missing of the study, and analyse its table."""
        self._on_progress = on_progress
        return super().run(settings, seed=seed, on_progress=on_progress, kept=kept)
