"""Chapter 4: distances of codes follow distances of images."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

import polars

from unweave.reproduce.thesis.claims import METHODS, TITLES, Claim, by_seed, claim, difference, level, levels
from unweave.reproduce.thesis.experiment import FIVE_SETS, SIX_SCORES, Experiment, snapshots_every
from unweave.reproduce.thesis.figure import ThesisFigure
from unweave.reproduce.thesis.scores import without_collapsed
from unweave.reproduce.thesis.sizes import (
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

FACTORS, IMAGES = "factor-distance-correlation", "perceived-correlation"
NEAR_ONE = 0.9
"""What "almost perfect" is taken for."""
ALIKE = 0.1
"""How far apart scores are that are taken for "almost identical"."""


class LatentDistances(ThesisFigure):
    """Figure 4.4."""

    source: ClassVar[str] = "[Michlo2022]_, figure 4.4 (section 4.3)"
    summary: ClassVar[str] = "Distances of codes follow those of images, and not those of factors, whatever the method."
    presets: ClassVar[Mapping[str, Experiment]] = {
        "smoke": Experiment(
            data=(SQUARES, "xyobject:size=32"),
            methods=vaes(0.001),
            seeds=2,
            metrics=SIX_SCORES,
            options=SMOKE,
            evaluate=SMOKE_SCORING,
        ),
        "small": Experiment(
            data=(SQUARES, "shapes2d:size=32", "rooms3d:size=32"),
            methods=vaes([0.0001, 0.001]),
            seeds=5,
            metrics=SIX_SCORES,
            options={**SMALL, "latents": 25},
            evaluate=SMALL_SCORING,
        ),
        "paper": Experiment(
            data=FIVE_SETS,
            methods=published_vaes(
                "thesis-4.3",
                beta=[0.0001, 0.000316, 0.001, 0.00316, 0.01, 0.0316, 0.1, 0.316, 1.0],
                lr=[1e-3, 1e-4],
            ),
            metrics=SIX_SCORES,
            snapshots=snapshots_every(EVERY, 57_600),
        ),
    }

    def plotted(self, table: polars.DataFrame) -> tuple[polars.DataFrame, list[str]]:
        """Leave out runs whose codes do not move."""
        return left_out(table)

    def claims(self, table: polars.DataFrame) -> list[Claim]:
        """Compare the two correlations with each other, and the two methods."""
        perfect, rather, alike, better = [], [], [], []
        for data in levels(table, "data"):
            for method in levels(table, "method"):
                where = {"data": data, "method": method}
                factors, images = (by_seed(table, metric, **where) for metric in (FACTORS, IMAGES))
                name = f"{METHODS[method]} on {data}"
                perfect.append(level(f"{TITLES[IMAGES]}, {name}", images, above=NEAR_ONE))
                rather.append(difference(f"correlation with images less that with factors, {name}", images, factors))
            for metric in (FACTORS, IMAGES, "linearity", "axis-alignment"):
                ada, beta = (by_seed(table, metric, data=data, method=each) for each in ("ada-gvae", "beta-vae"))
                what = f"{TITLES[metric]}, Ada-GVAE less β-VAE on {data}"
                if metric in (FACTORS, IMAGES):
                    alike.append(difference(what, ada, beta, above=-ALIKE, below=ALIKE))
                else:
                    better.append(difference(what, ada, beta))
        return [
            *claim(f"distances of codes follow those of images almost perfectly (above {NEAR_ONE})", perfect),
            *claim("distances of codes follow those of images more than those of factors", rather),
            *claim(f"these correlations hardly differ between the methods (by less than {ALIKE})", alike),
            *claim("codes of Ada-GVAE are more linear and better aligned with the axes than those of β-VAE", better),
        ]

    def drawing(self, table: polars.DataFrame) -> Figure:
        """Draw the scores by data set."""
        from unweave.reproduce.thesis.drawings import grouped

        return grouped(table, "data", "method")


def left_out(table: polars.DataFrame) -> tuple[polars.DataFrame, list[str]]:
    """Return the table without runs whose codes do not move, and a note where there were any."""
    kept, gone = without_collapsed(table)
    told = f"{gone} of {table['run'].n_unique()} runs are left out, as in the thesis: no factor moves their codes."
    return kept, [told] if gone else []
