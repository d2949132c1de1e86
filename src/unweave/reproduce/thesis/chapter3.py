"""Chapter 3: a data set without overlap, overlap by spacing, and overlap by the loss."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import polars

from unweave.reproduce.thesis.claims import Case, Claim, claim
from unweave.reproduce.thesis.comparisons import (
    DISENTANGLEMENT,
    difference,
    differences,
    label,
    levels,
    setting_of_best,
    trends,
)
from unweave.reproduce.thesis.experiment import FIVE_SETS, Experiment
from unweave.reproduce.thesis.figure import ThesisFigure
from unweave.reproduce.thesis.sizes import BOX, DENSE, SQUARES, paper, published_vaes, small, small_vaes, smoke, vaes

if TYPE_CHECKING:
    from matplotlib.figure import Figure

HARD = "xysquares"
EIGHT_BETAS = [0.000316, 0.001, 0.00316, 0.01, 0.0316, 0.1, 0.316, 1.0]


class Adversarial(ThesisFigure):
    """Figure 3.7."""

    source: ClassVar[str] = "[Michlo2022]_, figure 3.7 (section 3.3.3)"
    summary: ClassVar[str] = "xysquares, without overlapping positions, is hard for β-VAE and Ada-GVAE."
    best: ClassVar[bool] = True
    presets: ClassVar[Mapping[str, Experiment]] = {
        "smoke": smoke((SQUARES, "xyobject:size=32"), vaes([0.001, 0.01])),
        "small": small((SQUARES, "shapes2d:size=32", "rooms3d:size=32"), small_vaes([0.001, 0.01]), options=DENSE),
        "paper": paper(FIVE_SETS, published_vaes("thesis-3.3.3", beta=EIGHT_BETAS, latents=[9, 25]), steps=115_200),
    }

    def claims(self, table: polars.DataFrame) -> list[Claim]:
        """Compare the best scores on xysquares with those on every other data set, and the β that give them."""
        others = [name for name in levels(table, "data") if name != HARD]
        scores = [
            case for other in others for case in differences(table, DISENTANGLEMENT, "data", other, HARD, reduce=np.max)
        ]
        return [
            *claim(f"{HARD} is hard: the best MIG and DCI D of both methods are lower there than elsewhere", scores),
            *claim(f"{HARD} needs a smaller β than other data", _betas(table, others)),
        ]

    def drawing(self, table: polars.DataFrame) -> Figure:
        """Draw the scores by data set."""
        from unweave.reproduce.thesis.drawings import grouped

        return grouped(table, "data", "method")


def _betas(table: polars.DataFrame, others: list[str]) -> list[Case]:
    """Return by how many powers of ten the β with the best MIG is larger on other data sets."""
    if len(levels(table, "beta")) < 2:
        return []
    scaled = table.with_columns(beta=polars.col("beta").log10())
    found = []
    for method in levels(table, "method"):
        here = setting_of_best(scaled, "mig", "beta", method=method, data=HARD)
        for other in others:
            there = setting_of_best(scaled, "mig", "beta", method=method, data=other)
            found += difference(f"log₁₀ β of the best MIG of {label(method)}: {other} less {HARD}", there, here)
    return found


class Spacing(ThesisFigure):
    """Figure 3.10."""

    source: ClassVar[str] = "[Michlo2022]_, figure 3.10 (section 3.3.4)"
    summary: ClassVar[str] = "The closer the positions of xysquares, and the more they overlap, the better the scores."
    groups: ClassVar[tuple[str, ...]] = ("method", "spacing")
    presets: ClassVar[Mapping[str, Experiment]] = {
        "smoke": smoke(tuple(f"xysquares:spacing={spacing},size=16" for spacing in (8, 1)), vaes(0.001)),
        "small": small(tuple(f"xysquares:spacing={spacing},size=16" for spacing in (8, 4, 2, 1)), small_vaes(0.001)),
        "paper": paper(
            tuple(f"xysquares:spacing={spacing}" for spacing in range(8, 0, -1)),
            published_vaes("thesis-3.3.4", beta=[0.001, 0.00316]),
            steps=57_600,
            seeds=5,
        ),
    }

    def plotted(self, table: polars.DataFrame) -> tuple[polars.DataFrame, list[str]]:
        """Leave out the runs of β that the thesis did not choose for a method and spacing."""
        if not {0.001, 0.00316} <= {*levels(table, "beta")}:
            return table, []
        narrow = (polars.col("method") == "beta-vae") & (polars.col("spacing") < 3)
        chosen = polars.when(narrow).then(0.00316).otherwise(0.001)
        note = "As in the thesis, runs have β 0.00316 for β-VAE at spacings 1 and 2, and β 0.001 elsewhere."
        return table.filter(polars.col("beta") == chosen), [note]

    def claims(self, table: polars.DataFrame) -> list[Claim]:
        """Measure how scores change with the spacing."""
        spacings = levels(table, "spacing")
        near, far = [each for each in spacings if each <= 2], spacings[-1]
        ends = differences(table, DISENTANGLEMENT, "spacing", near, far)
        return [
            *claim("MIG and DCI D rise as the spacing falls", trends(table, DISENTANGLEMENT, "spacing", falls=True)),
            *claim("MIG and DCI D are higher at the smallest spacings than at the largest", ends),
        ]

    def drawing(self, table: polars.DataFrame) -> Figure:
        """Draw the scores over the spacing."""
        from unweave.reproduce.thesis.drawings import against

        return against(table, "spacing")


class BoxBlur(ThesisFigure):
    """Figure 3.12."""

    source: ClassVar[str] = "[Michlo2022]_, figure 3.12 (section 3.4.1)"
    summary: ClassVar[str] = "A reconstruction loss that blurs images helps β-VAE and Ada-GVAE on xysquares."
    groups: ClassVar[tuple[str, ...]] = ("method", "loss", "beta")
    presets: ClassVar[Mapping[str, Experiment]] = {
        "smoke": smoke((SQUARES,), vaes(0.001, loss=["mse", BOX])),
        "small": small((SQUARES,), small_vaes([0.001, 0.01], loss=["mse", BOX])),
        "paper": paper(
            (HARD,),
            published_vaes("thesis-3.4.1", beta=[0.0001, 0.0316], loss=["mse", "mse-box:radius=31"]),
            steps=57_600,
            seeds=5,
        ),
    }

    def claims(self, table: polars.DataFrame) -> list[Claim]:
        """Compare both losses, all β together as the thesis does, and each at its best β."""
        says = "the box blur raises MIG and DCI D of both methods"
        found = claim(says, differences(table, DISENTANGLEMENT, "loss", "mse-box", "mse"))
        if len(levels(table, "beta")) > 1:
            best = differences(table, DISENTANGLEMENT, "loss", "mse-box", "mse", reduce=np.max)
            found += claim(f"{says}, each loss at its best β", best)
        return found

    def drawing(self, table: polars.DataFrame) -> Figure:
        """Draw the scores by loss."""
        from unweave.reproduce.thesis.drawings import grouped

        return grouped(table, "method", "loss")
