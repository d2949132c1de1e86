"""Chapter 5, without labels: triplets of images that are ordered by their pixels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import polars

from unweave.reproduce.frame import Findings
from unweave.reproduce.thesis.beside_vaes import BesideVAEs
from unweave.reproduce.thesis.claims import Claim, claim
from unweave.reproduce.thesis.comparisons import DISENTANGLEMENT, VAES, differences, trends
from unweave.reproduce.thesis.experiment import FIVE_SETS, SIX_SCORES, Entry, Experiment
from unweave.reproduce.thesis.scores import prepared
from unweave.reproduce.thesis.sizes import BOX, SQUARES, paper, published, small, small_vaes, smoke
from unweave.study import Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure

METHOD = "ada-tvae-unsupervised"
OWN = "correlation_of_data"
"""How well the perceived distances of a data set follow its factors: the mean rank correlation over factors."""


def by_pixels(triplets: int, *others: str) -> tuple[Entry, ...]:
    """Return the method on xysquares with the box blur, and on other data sets with plain pixels."""
    common: Mapping[str, Any] = {"name": METHOD, "beta": 0.01, "normalise_beta": True, "triplets": triplets}
    return {**common, "data": [SQUARES], "loss": BOX}, {**common, "data": list(others)}


class Unsupervised(BesideVAEs):
    """Figure 5.7."""

    source: ClassVar[str] = "[Michlo2022]_, figure 5.7 (section 5.5.2)"
    summary: ClassVar[str] = "Triplets ordered by pixels help where distances between images follow factors."
    presets: ClassVar[Mapping[str, Experiment]] = {
        "smoke": smoke((SQUARES, "xyobject:size=32"), by_pixels(16, "xyobject:size=32"), metrics=SIX_SCORES),
        "small": small(
            (SQUARES, "shapes2d:size=32", "rooms3d:size=32"),
            (*by_pixels(64, "shapes2d:size=32", "rooms3d:size=32"), *small_vaes(0.001)),
        ),
        "paper": paper(
            FIVE_SETS,
            published("thesis-5.5", METHOD, triplets=[512, 1024]),
            steps=86_400,
            seeds=2,
            metrics=SIX_SCORES,
        ),
    }

    def findings(self, settings: Experiment, study: Study) -> Findings:
        """Measure how well the distances of each data set follow its factors, and read the scores of the study."""
        self._of_data = correlations_of_data(study)
        return super().findings(settings, study)

    def read(self, table: polars.DataFrame) -> Findings:
        """Return the findings of a table of scores; a prepared one already has the correlations of the data sets."""
        table = prepared(table)
        if OWN not in table.columns:
            own = polars.col("data").replace_strict(self._of_data, default=None, return_dtype=polars.Float64)
            table = table.with_columns(own.alias(OWN))
        return super().read(table)

    def claims(self, table: polars.DataFrame) -> list[Claim]:
        """Compare data sets by their correlation, and the method with methods without triplets."""
        rising = trends(table, DISENTANGLEMENT, OWN, falls=False, over=(), method=METHOD)
        lower = [
            case
            for other in VAES
            for case in differences(table, DISENTANGLEMENT, "method", other, METHOD, over=("data",))
        ]
        return [
            *claim("scores are better on data whose distances follow those of factors more", rising),
            *claim("scores are below those of VAEs without triplets", lower),
        ]

    def drawing(self, table: polars.DataFrame) -> Figure:
        """Draw the scores by data set."""
        from unweave.reproduce.thesis.drawings import grouped

        return grouped(table, "data", "method")


def correlations_of_data(study: Study, pairs: int = 16_384) -> dict[str, float]:
    """Return for each data set how well its perceived distances, under the loss of its runs, follow its factors."""
    from unweave.data import load
    from unweave.perception import correlations

    found: dict[str, float] = {}
    for task in study.plan.tasks:
        data, method = task.config["data"], task.config["method"]
        if data["name"] not in found and method["name"] == METHOD:
            table = correlations(load(**data), method["loss"], pairs=pairs, progress=False)
            found[data["name"]] = float(table.filter(polars.col("factor") != "random")["rank"].to_numpy().mean())
    return found
