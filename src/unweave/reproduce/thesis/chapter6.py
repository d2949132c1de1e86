"""Chapter 6: a loss that is learnt on the data set."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import polars

from unweave.progress import OnProgress, silent
from unweave.reproduce.frame import Findings
from unweave.reproduce.parts import Kept, compute_always
from unweave.reproduce.thesis.claims import Case, Claim, claim
from unweave.reproduce.thesis.comparisons import DISENTANGLEMENT, differences, levels
from unweave.reproduce.thesis.experiment import LEARNT, Experiment
from unweave.reproduce.thesis.figure import ThesisFigure
from unweave.reproduce.thesis.sizes import BOX, GAUSS, SQUARES, paper, published_vaes, small, small_vaes, smoke, vaes
from unweave.study import Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FILE = "learnt.loss"
"""The kernel's file: next to the study, or in its folder if it was copied with the study."""
ORDER = ("mse", "mse-gauss", "mse-box", LEARNT)
"""Losses, from the worst to the best in the thesis."""
CHOSEN = {
    "mse": [0.0001, 0.000316], "mse-gauss": [0.001, 0.00316], "mse-box": [0.01, 0.0316], LEARNT: [0.01, 0.0316]
}  # fmt: skip
"""The β that are plotted for each loss (below table A.6): those whose reconstruction loss is low."""
SIX_BETAS = [0.0001, 0.000316, 0.001, 0.00316, 0.01, 0.0316]
PUBLISHED_KERNEL = {"steps": 28_800, "lr": 1e-3, "decay": "constant", "scaled": False}
"""How the thesis learns kernels: table A.6 and, for unscaled distances, the author's script."""


class LearntLoss(ThesisFigure):
    """Figure 6.4."""

    source: ClassVar[str] = "[Michlo2022]_, figure 6.4 (section 6.1)"
    summary: ClassVar[str] = "A loss learnt for xysquares helps more than hand-made blurs, and these more than mse."
    groups: ClassVar[tuple[str, ...]] = ("method", "loss")
    presets: ClassVar[Mapping[str, Experiment]] = {
        "smoke": smoke(
            (SQUARES,),
            vaes(0.001, loss=["mse", BOX, LEARNT]),
            kernel={"radius": 7, "steps": 3, "batch": 64, "pairs": 256},
        ),
        "small": small(
            (SQUARES,),
            (*small_vaes(0.001, loss="mse"), *small_vaes(0.01, loss=[GAUSS, BOX, LEARNT])),
            kernel={"radius": 7},
        ),
        "paper": paper(
            ("xysquares",),
            published_vaes(
                "thesis-6.1",
                beta=SIX_BETAS,
                loss=["mse", "mse-gauss:radius=31", "mse-box:radius=31", LEARNT],
            ),
            steps=57_600,
            seeds=5,
            kernel={"radius": 31, **PUBLISHED_KERNEL},
        ),
    }

    def __init__(self, folder: Path | None = None, workers: int | None = None) -> None:
        super().__init__(folder, workers)
        self._on_progress = silent

    def run(self, settings: Any, *, seed: int, on_progress: OnProgress, kept: Kept = compute_always) -> Findings:
        """Learn the kernel, run the missing runs of the study, and analyse its table."""
        self._on_progress = on_progress
        return super().run(settings, seed=seed, on_progress=on_progress, kept=kept)

    def study(self, settings: Experiment, *, seed: int, out: Path) -> Study:
        """Return the study of these settings; learn its kernel if it is missing."""
        kernel = out / FILE if (out / FILE).is_file() else out.with_name(FILE)
        if not kernel.is_file():
            from unweave.perception import learn_loss

            kernel.parent.mkdir(parents=True, exist_ok=True)
            learn_loss(settings.data[0], out=kernel, seed=seed, on_progress=self._on_progress, **settings.kernel)
        return settings.study(seed, out, learnt=kernel)

    def plotted(self, table: polars.DataFrame) -> tuple[polars.DataFrame, list[str]]:
        """Leave out the runs of β that the thesis did not choose for a loss."""
        if not {beta for betas in CHOSEN.values() for beta in betas} <= {*levels(table, "beta")}:
            return table, []
        wanted = [(polars.col("loss") == loss) & polars.col("beta").is_in(betas) for loss, betas in CHOSEN.items()]
        listed = ", ".join(f"{' and '.join(map(str, betas))} for {loss}" for loss, betas in CHOSEN.items())
        return table.filter(polars.any_horizontal(wanted)), [f"As in the thesis, runs have β {listed}."]

    def claims(self, table: polars.DataFrame) -> list[Claim]:
        """Compare the losses, all β together."""
        made = [loss for loss in ORDER if loss in levels(table, "loss") and loss != LEARNT]
        return [
            *claim(
                "the learnt loss does better than mse and than hand-made blurs",
                [case for loss in made for case in _less(table, LEARNT, loss)],
            ),
            *claim(
                "of the hand-made losses the box blur does best, and mse worst",
                [case for worse, better in pairwise(made) for case in _less(table, better, worse)],
            ),
        ]

    def drawing(self, table: polars.DataFrame) -> Figure:
        """Draw the scores by loss."""
        from unweave.reproduce.thesis.drawings import grouped

        return grouped(table, "loss", "method", order=ORDER)


def _less(table: polars.DataFrame, better: str, worse: str) -> list[Case]:
    return differences(table, DISENTANGLEMENT, "loss", better, worse)
