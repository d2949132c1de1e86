"""Chapter 4: distances between codes follow distances between images."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

import polars

from unweave.reproduce.thesis.claims import Case, Claim, claim
from unweave.reproduce.thesis.comparisons import (
    ALIGNMENT,
    FACTORS,
    IMAGES,
    LINEARITY,
    by_seed,
    difference,
    differences,
    label,
    levels,
    means,
)
from unweave.reproduce.thesis.experiment import FIVE_SETS, SIX_SCORES, Experiment
from unweave.reproduce.thesis.figure import ThesisFigure
from unweave.reproduce.thesis.scores import without_collapsed
from unweave.reproduce.thesis.sizes import SQUARES, paper, published_vaes, small, small_vaes, smoke, vaes

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NEAR_ONE = 0.9
"""The bound for "almost perfect"."""
ALIKE = 0.1
"""The largest difference of "almost identical" scores."""
NINE_BETAS = [0.0001, 0.000316, 0.001, 0.00316, 0.01, 0.0316, 0.1, 0.316, 1.0]


class LatentDistances(ThesisFigure):
    """Figure 4.4."""

    source: ClassVar[str] = "[Michlo2022]_, figure 4.4 (section 4.3)"
    summary: ClassVar[str] = "Distances between codes follow those between images, not factors, for every method."
    presets: ClassVar[Mapping[str, Experiment]] = {
        "smoke": smoke((SQUARES, "xyobject:size=32"), vaes(0.001), metrics=SIX_SCORES),
        "small": small((SQUARES, "shapes2d:size=32", "rooms3d:size=32"), small_vaes(0.001)),
        "paper": paper(
            FIVE_SETS,
            published_vaes("thesis-4.3", beta=NINE_BETAS, lr=[1e-3, 1e-4]),
            steps=57_600,
            metrics=SIX_SCORES,
        ),
    }

    def plotted(self, table: polars.DataFrame) -> tuple[polars.DataFrame, list[str]]:
        """Leave out runs whose codes do not move."""
        return left_out(table)

    def claims(self, table: polars.DataFrame) -> list[Claim]:
        """Compare the two correlations with each other, and the two methods."""
        vaes_of = {"column": "method", "one": "ada-gvae", "other": "beta-vae", "over": ("data",)}
        alike = differences(table, (FACTORS, IMAGES), **vaes_of, above=-ALIKE, below=ALIKE)
        return [
            *claim(
                f"distances of codes follow those of images almost perfectly (above {NEAR_ONE})",
                means(table, (IMAGES,), above=NEAR_ONE, over=("method", "data")),
            ),
            *claim("distances of codes follow those of images more than those of factors", _rather_images(table)),
            *claim(f"both correlations hardly differ between the methods (by less than {ALIKE})", alike),
            *claim(
                "codes of Ada-GVAE are more linear and better aligned with the axes than those of β-VAE",
                differences(table, (LINEARITY, ALIGNMENT), **vaes_of),
            ),
        ]

    def drawing(self, table: polars.DataFrame) -> Figure:
        """Draw the scores by data set."""
        from unweave.reproduce.thesis.drawings import grouped

        return grouped(table, "data", "method")


def _rather_images(table: polars.DataFrame) -> list[Case]:
    """Return how much more codes follow images than factors."""
    found = []
    for data in levels(table, "data"):
        for method in levels(table, "method"):
            images, factors = (by_seed(table, metric, data=data, method=method) for metric in (IMAGES, FACTORS))
            what = f"rank correlation of codes of {label(method)} on {data}: with images less with factors"
            found += difference(what, images, factors)
    return found


def left_out(table: polars.DataFrame) -> tuple[polars.DataFrame, list[str]]:
    """Return the table without runs whose codes do not change, and a note if there were any."""
    kept, gone = without_collapsed(table)
    told = f"{gone} of {table['run'].n_unique()} runs are left out, as in the thesis: no factor changes their codes."
    return kept, [told] if gone else []
