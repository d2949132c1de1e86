"""Chapter 3: a data set without overlap, overlap by spacing, and overlap by the loss."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import polars

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
    setting_of_best,
    trend,
)
from unweave.reproduce.thesis.experiment import FIVE_SETS, Experiment, snapshots_every
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

if TYPE_CHECKING:
    from matplotlib.figure import Figure

HARD = "xysquares"
EIGHT_BETAS = [0.000316, 0.001, 0.00316, 0.01, 0.0316, 0.1, 0.316, 1.0]
SPACINGS = (8, 7, 6, 5, 4, 3, 2, 1)


class Adversarial(ThesisFigure):
    """Figure 3.7."""

    source: ClassVar[str] = "[Michlo2022]_, figure 3.7 (section 3.3.3)"
    summary: ClassVar[str] = "xysquares, whose places do not overlap, is harder for β-VAE and Ada-GVAE than other data."
    presets: ClassVar[Mapping[str, Experiment]] = {
        "smoke": Experiment(
            data=("xysquares:size=16", "xyobject:size=32"),
            methods=vaes(0.001),
            seeds=2,
            options=SMOKE,
            evaluate=SMOKE_SCORING,
        ),
        "small": Experiment(
            data=(SQUARES, "shapes2d:size=32", "rooms3d:size=32", "xyobject:size=32"),
            methods=vaes([0.0001, 0.001]),
            seeds=5,
            options=SMALL,
            evaluate=SMALL_SCORING,
        ),
        "paper": Experiment(
            data=FIVE_SETS,
            methods=published_vaes("thesis-3.3.3", beta=EIGHT_BETAS, latents=[9, 25]),
            snapshots=snapshots_every(EVERY, 115_200),
        ),
    }

    def claims(self, table: polars.DataFrame) -> list[Claim]:
        """Compare the best scores on xysquares with those on every other data set."""
        others = [name for name in levels(table, "data") if name != HARD]
        scores, betas = [], []
        for method in levels(table, "method"):
            for other in others:
                for metric in present(table, DISENTANGLEMENT):
                    there, here = (by_seed(table, metric, np.max, data=data, method=method) for data in (other, HARD))
                    what = f"best {TITLES[metric]} of {METHODS[method]}, {other} less {HARD}"
                    scores.append(difference(what, there, here))
                if len(levels(table, "beta")) > 1:
                    there, here = (
                        setting_of_best(table, "mig", "beta", np.log10, data=data, method=method)
                        for data in (other, HARD)
                    )
                    what = f"log₁₀ β of the best MIG of {METHODS[method]}, {other} less {HARD}"
                    betas.append(difference(what, there, here))
        return [
            *claim(f"{HARD} is hard: the best MIG and DCI D of both methods are lower there than elsewhere", scores),
            *claim(f"{HARD} needs a smaller β than other data", betas),
        ]

    def drawing(self, table: polars.DataFrame) -> Figure:
        """Draw the scores by data set."""
        from unweave.reproduce.thesis.drawings import grouped

        return grouped(table, "data", "method")


class Spacing(ThesisFigure):
    """Figure 3.10."""

    source: ClassVar[str] = "[Michlo2022]_, figure 3.10 (section 3.3.4)"
    summary: ClassVar[str] = "The closer the places of xysquares, and the more they overlap, the better the scores."
    presets: ClassVar[Mapping[str, Experiment]] = {
        "smoke": Experiment(
            data=("xysquares:spacing=8,size=16", "xysquares:spacing=1,size=16"),
            methods=vaes(0.001),
            seeds=2,
            options=SMOKE,
            evaluate=SMOKE_SCORING,
        ),
        "small": Experiment(
            data=tuple(f"xysquares:spacing={spacing},size=16" for spacing in (8, 6, 4, 2, 1)),
            methods=vaes(0.001),
            seeds=5,
            options=SMALL,
            evaluate=SMALL_SCORING,
        ),
        "paper": Experiment(
            data=tuple(f"xysquares:spacing={spacing}" for spacing in SPACINGS),
            methods=published_vaes("thesis-3.3.4", beta=[0.001, 0.00316]),
            seeds=5,
            snapshots=snapshots_every(EVERY, 57_600),
        ),
    }

    def plotted(self, table: polars.DataFrame) -> tuple[polars.DataFrame, list[str]]:
        """Leave out the runs of β that the thesis did not choose for a method and spacing."""
        if not {0.001, 0.00316} <= {*levels(table, "beta")}:
            return table, []
        narrow = (polars.col("method") == "beta-vae") & (polars.col("spacing") < 3)
        chosen = polars.when(narrow).then(0.00316).otherwise(0.001)
        note = "As in the thesis, runs are those of β 0.00316 for β-VAE at spacings 1 and 2, and of β 0.001 elsewhere."
        return table.filter(polars.col("beta") == chosen), [note]

    def claims(self, table: polars.DataFrame) -> list[Claim]:
        """Measure how scores move with the spacing."""
        trends, ends = [], []
        spacings = levels(table, "spacing")
        near, far = [each for each in spacings if each <= 2] or spacings[:1], spacings[-1]
        for method in levels(table, "method"):
            for metric in present(table, DISENTANGLEMENT):
                name = f"{TITLES[metric]} of {METHODS[method]}"
                what = f"rank correlation of spacing and {name}"
                trends.append(trend(what, table, metric, "spacing", falls=True, method=method))
                close, apart = (by_seed(table, metric, method=method, spacing=each) for each in (near, far))
                told = " and ".join(f"{each:g}" for each in near)
                ends.append(difference(f"{name}, spacing {told} less {far:g}", close, apart))
        return [
            *claim("MIG and DCI D rise as the spacing falls", trends),
            *claim("they are higher at the smallest spacings than at the largest", ends),
        ]

    def drawing(self, table: polars.DataFrame) -> Figure:
        """Draw the scores over the spacing."""
        from unweave.reproduce.thesis.drawings import against

        return against(table, "spacing")


class BoxBlur(ThesisFigure):
    """Figure 3.12."""

    source: ClassVar[str] = "[Michlo2022]_, figure 3.12 (section 3.4.1)"
    summary: ClassVar[str] = "A reconstruction loss that blurs images helps β-VAE and Ada-GVAE on xysquares."
    presets: ClassVar[Mapping[str, Experiment]] = {
        "smoke": Experiment(
            data=(SQUARES,), methods=vaes(0.001, loss=["mse", BOX]), seeds=2, options=SMOKE, evaluate=SMOKE_SCORING
        ),
        "small": Experiment(
            data=(SQUARES,), methods=vaes(0.001, loss=["mse", BOX]), seeds=5, options=SMALL, evaluate=SMALL_SCORING
        ),
        "paper": Experiment(
            data=(HARD,),
            methods=published_vaes("thesis-3.4.1", beta=[0.0001, 0.0316], loss=["mse", "mse-box:radius=31"]),
            seeds=5,
            snapshots=snapshots_every(EVERY, 57_600),
        ),
    }

    def claims(self, table: polars.DataFrame) -> list[Claim]:
        """Compare both losses, all β together."""
        cases = []
        for method in levels(table, "method"):
            for metric in present(table, DISENTANGLEMENT):
                box, mse = (by_seed(table, metric, method=method, loss=loss) for loss in ("mse-box", "mse"))
                cases.append(difference(f"{TITLES[metric]} of {METHODS[method]}, mse-box less mse", box, mse))
        return claim("the box blur raises MIG and DCI D of both methods", cases)

    def drawing(self, table: polars.DataFrame) -> Figure:
        """Draw the scores by loss."""
        from unweave.reproduce.thesis.drawings import grouped

        return grouped(table, "method", "loss")
