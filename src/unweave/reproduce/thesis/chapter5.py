"""Chapter 5: triplets of images, ordered by factors or by pixels, teach codes their distances."""

from __future__ import annotations

import re
from abc import ABC
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import polars

from unweave.reproduce.frame import Findings
from unweave.reproduce.thesis.chapter4 import FACTORS, NEAR_ONE, left_out
from unweave.reproduce.thesis.claims import (
    DISENTANGLEMENT,
    METHODS,
    TITLES,
    Case,
    Claim,
    by_seed,
    claim,
    difference,
    level,
    levels,
    present,
    trend,
)
from unweave.reproduce.thesis.experiment import FIVE_SETS, SIX_SCORES, Entry, Experiment, snapshots_every
from unweave.reproduce.thesis.figure import ThesisFigure
from unweave.reproduce.thesis.scores import SCHEDULES, WEAK, prepared
from unweave.reproduce.thesis.sizes import (
    BOX,
    EVERY,
    SMALL,
    SMALL_SCORING,
    SMOKE,
    SMOKE_SCORING,
    SQUARES,
    published,
    vaes,
)
from unweave.study import Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ALIGNMENT = "axis-alignment"
COMPARED = (*DISENTANGLEMENT, FACTORS, "linearity", ALIGNMENT)
"""Scores of which more is better in this chapter."""
ROUTES: dict[str, dict[str, Any]] = {
    "threshold": {"omega": 1.0, "eta": "0:0.5@100%"},
    "weight (weak)": {"omega": "1:0.5@100%", "eta": 0.5},
    "weight (strong)": {"omega": "1:0@100%", "eta": 0.5},
    "both (weak)": {"omega": "1:0.5@100%", "eta": "0:0.5@100%"},
    "both (strong)": {"omega": "1:0@100%", "eta": "0:0.5@100%"},
}
"""The schedules of ω and η of table 5.2."""
SMALL_25 = {**SMALL, "latents": 25}


def triplets(name: str, **settings: Any) -> Entry:
    """Return a method of triplets with the thesis' β."""
    return {"name": name, "beta": 0.01, "normalise_beta": True, **settings}


def adaptive(schedules: tuple[str, ...], **settings: Any) -> tuple[Entry, ...]:
    """Return Ada-TVAE with each of some schedules."""
    return tuple(triplets("ada-tvae", **ROUTES[name], **settings) for name in schedules)


class TripletFigure(ThesisFigure, ABC):
    """A figure that compares with the β-VAEs and Ada-GVAEs of figure 4.4: of its own study, or of that figure's."""

    def findings(self, settings: Experiment, study: Study) -> Findings:
        """Read the scores of the study, beside those of figure 4.4 where it was run in the same place."""
        table = prepared(study.scores())
        if "beta-vae" in levels(table, "method"):
            return self.read(table)
        found = self.figure_4_4()
        if found is not None:
            return self.read(polars.concat([table, found], how="diagonal_relaxed"))
        told = "β-VAE and Ada-GVAE are those of figure 4.4: run thesis-4.4 too, then this command again compares them."
        alone = self.read(table)
        return Findings(alone.rows, (*alone.notes, told), alone.figures, alone.tables)

    def figure_4_4(self) -> polars.DataFrame | None:
        """Return the scores of thesis-4.4, of the same preset and seed, where its folder is beside this one."""
        beside = self.folder and self.folder.with_name(re.sub(r"thesis-5\.\d", "thesis-4.4", self.folder.name))
        if beside is None or beside == self.folder or not (beside / "scores.csv").is_file():
            return None
        return polars.read_csv(beside / "scores.csv", infer_schema_length=None)

    def plotted(self, table: polars.DataFrame) -> tuple[polars.DataFrame, list[str]]:
        """Leave out runs whose codes do not move."""
        return left_out(table)


def only(table: polars.DataFrame, method: str, **where: Any) -> polars.DataFrame:
    """Return the table without those runs of a method that have another value of a setting, if they differ in it."""
    for column, value in where.items():
        if column in table.columns:
            wanted = polars.col(column).is_in(value) if isinstance(value, tuple) else polars.col(column) == value
            table = table.filter((polars.col("method") != method) | wanted)
    return table


def above_vaes(table: polars.DataFrame, method: str, metrics: tuple[str, ...]) -> list[Case | None]:
    """Return by how much a method exceeds β-VAE and Ada-GVAE, on every data set."""
    return [
        difference(
            f"{TITLES[metric]}, {METHODS[method]} less {METHODS[other]} on {data}",
            by_seed(table, metric, data=data, method=method),
            by_seed(table, metric, data=data, method=other),
        )
        for data in levels(table, "data")
        for other in ("beta-vae", "ada-gvae")
        for metric in present(table, metrics)
    ]


def less(
    table: polars.DataFrame, method: str, metrics: tuple[str, ...], column: str, one: Any, other: Any
) -> list[Case | None]:
    """Return by how much runs of a method with one value of a setting exceed those with another, on every data set."""
    if not {one, other} <= {*levels(table, column)}:
        return []
    return [
        difference(
            f"{TITLES[metric]} of {METHODS[method]}, {one} less {other} on {data}",
            by_seed(table, metric, data=data, method=method, **{column: one}),
            by_seed(table, metric, data=data, method=method, **{column: other}),
        )
        for data in levels(table, "data")
        for metric in present(table, metrics)
    ]


class TripletVAE(TripletFigure):
    """Figure 5.1."""

    source: ClassVar[str] = "[Michlo2022]_, figure 5.1 (section 5.3.3)"
    summary: ClassVar[str] = "Triplets ordered by factors give a β-VAE their distances, in straight lines; ℓ1 does best."
    presets: ClassVar[Mapping[str, Experiment]] = {
        "smoke": Experiment(
            data=(SQUARES,),
            methods=(triplets("beta-tvae", norm=["l1", "l2"]), *vaes(0.01)),
            seeds=2,
            metrics=SIX_SCORES,
            options=SMOKE,
            evaluate=SMOKE_SCORING,
        ),
        "small": Experiment(
            data=(SQUARES, "shapes2d:size=32"),
            methods=(
                triplets("beta-tvae", norm=["l1", "l2"], soft_margin=[False, True], by="distance-scaled"),
                *vaes(0.001),
            ),
            seeds=5,
            metrics=SIX_SCORES,
            options=SMALL_25,
            evaluate=SMALL_SCORING,
        ),
        "paper": Experiment(
            data=FIVE_SETS,
            methods=published(
                "thesis-5.3",
                "beta-tvae",
                margin=[1.0, 10.0],
                scale=[1.0, 10.0],
                norm=["l1", "l2"],
                soft_margin=[True, False],
                decoder_gradient=[True, False],
                by=["distance", "distance-scaled"],
            ),
            metrics=SIX_SCORES,
            snapshots=snapshots_every(EVERY, 57_600),
        ),
    }

    def plotted(self, table: polars.DataFrame) -> tuple[polars.DataFrame, list[str]]:
        """Leave out runs whose encoder learnt from triplets alone, which figure 5.3 is of."""
        return super().plotted(only(table, "beta-tvae", decoder_gradient=True))

    def claims(self, table: polars.DataFrame) -> list[Claim]:
        """Compare with β-VAE and Ada-GVAE, and the two distances of codes."""
        return [
            *claim(
                "the β-TVAE improves the correlation of factors and codes over β-VAE and Ada-GVAE",
                above_vaes(table, "beta-tvae", (FACTORS,)),
            ),
            *claim("it improves the linearity of codes", above_vaes(table, "beta-tvae", ("linearity",))),
            *claim("ℓ1 distances of codes do better than ℓ2", less(table, "beta-tvae", COMPARED, "norm", "l1", "l2")),
        ]

    def drawing(self, table: polars.DataFrame) -> Figure:
        """Draw the scores by data set and distance, β-VAE and Ada-GVAE as lines."""
        from unweave.reproduce.thesis.drawings import grouped

        return grouped(table, "data", "norm")


AXIS_ALIGNED = Experiment(
    data=FIVE_SETS,
    methods=tuple(
        entry
        for route in ROUTES.values()
        for entry in published(
            "thesis-5.4",
            "ada-tvae",
            **route,
            by=["distance", "distance-scaled"],
            difference=["absolute", "symmetric-kl"],
        )
    ),
    metrics=SIX_SCORES,
    snapshots=snapshots_every(EVERY, 86_400),
)
"""The 100 runs that figures 5.4 and 5.5 are both drawn from."""


class Schedules(TripletFigure):
    """Figure 5.4."""

    source: ClassVar[str] = "[Michlo2022]_, figure 5.4 (section 5.4.6)"
    summary: ClassVar[str] = "Ada-TVAE aligns codes with axes; scaled distances and weak schedules do best."
    presets: ClassVar[Mapping[str, Experiment]] = {
        "smoke": Experiment(
            data=("xyobject:size=32",),
            methods=adaptive(("weight (weak)", "both (strong)"), by=["distance", "distance-scaled"]),
            seeds=2,
            metrics=SIX_SCORES,
            options=SMOKE,
            evaluate=SMOKE_SCORING,
        ),
        "small": Experiment(
            data=(SQUARES, "xyobject:size=32"),
            methods=(
                *adaptive(tuple(ROUTES), by=["distance", "distance-scaled"]),
                triplets("beta-tvae", by="distance-scaled"),
                *vaes(0.001),
            ),
            seeds=5,
            metrics=SIX_SCORES,
            options=SMALL_25,
            evaluate=SMALL_SCORING,
        ),
        "paper": AXIS_ALIGNED,
    }

    def plotted(self, table: polars.DataFrame) -> tuple[polars.DataFrame, list[str]]:
        """Leave out runs that compare posteriors by their KL divergence, which figure 5.5 is of."""
        return super().plotted(only(table, "ada-tvae", difference="absolute"))

    def claims(self, table: polars.DataFrame) -> list[Claim]:
        """Look at the alignment, and compare samplers and schedules."""
        near = [
            level(
                f"axis alignment of Ada-TVAE, {route}, on {data}",
                by_seed(table, ALIGNMENT, data=data, method="ada-tvae", schedule=route),
                above=NEAR_ONE,
            )
            for data in levels(table, "data")
            for route in levels(table, "schedule")
        ]
        triplet = [
            difference(
                f"axis alignment, Ada-TVAE less β-TVAE on {data}",
                by_seed(table, ALIGNMENT, data=data, method="ada-tvae"),
                by_seed(table, ALIGNMENT, data=data, method="beta-tvae"),
            )
            for data in levels(table, "data")
        ]
        metrics = (*DISENTANGLEMENT, ALIGNMENT)
        scaled = less(table, "ada-tvae", metrics, "by", "distance-scaled", "distance")
        weak = [
            case
            for kind in ("weight", "both")
            for case in less(table, "ada-tvae", DISENTANGLEMENT, "schedule", f"{kind} (weak)", f"{kind} (strong)")
        ]
        return [
            *claim(f"Ada-TVAE is almost perfectly aligned with the axes (above {NEAR_ONE})", near),
            *claim("it is better aligned than the β-TVAE", triplet),
            *claim("triplets ordered by scaled distances do better", scaled),
            *claim("at the end of training weak schedules do better than strong ones", weak),
        ]

    def drawing(self, table: polars.DataFrame) -> Figure:
        """Draw the scores by schedule and sampler."""
        from unweave.reproduce.thesis.drawings import grouped

        colour = "by" if len(levels(table, "by")) > 1 else "data"
        return grouped(table, "schedule", colour, order=list(SCHEDULES.values()))


class AdaTVAE(TripletFigure):
    """Figure 5.5."""

    source: ClassVar[str] = "[Michlo2022]_, figure 5.5 (section 5.4.6)"
    summary: ClassVar[str] = "Ada-TVAE beats β-VAE and Ada-GVAE; absolute differences of codes do better than KL."
    presets: ClassVar[Mapping[str, Experiment]] = {
        "smoke": Experiment(
            data=(SQUARES,),
            methods=(
                *adaptive(("weight (weak)",), by="distance-scaled", difference=["absolute", "symmetric-kl"]),
                *vaes(0.001),
            ),
            seeds=2,
            metrics=SIX_SCORES,
            options=SMOKE,
            evaluate=SMOKE_SCORING,
        ),
        "small": Experiment(
            data=(SQUARES,),
            methods=(
                *adaptive(WEAK, by="distance-scaled", difference=["absolute", "symmetric-kl"]),
                *vaes(0.001),
            ),
            seeds=5,
            metrics=SIX_SCORES,
            options=SMALL_25,
            evaluate=SMALL_SCORING,
        ),
        "paper": AXIS_ALIGNED,
    }

    def plotted(self, table: polars.DataFrame) -> tuple[polars.DataFrame, list[str]]:
        """Leave out unscaled distances and strong schedules, which figure 5.4 rules out."""
        table = only(table, "ada-tvae", by="distance-scaled")
        table = only(table, "ada-tvae", schedule=WEAK) if len(levels(table, "schedule")) > 1 else table
        return super().plotted(table)

    def claims(self, table: polars.DataFrame) -> list[Claim]:
        """Look at the alignment, and compare with other methods, with KL, and the schedules."""
        absolute = only(table, "ada-tvae", difference="absolute")
        near = [
            level(
                f"axis alignment of Ada-TVAE on {data}",
                by_seed(absolute, ALIGNMENT, data=data, method="ada-tvae"),
                above=NEAR_ONE,
            )
            for data in levels(table, "data")
        ]
        best = [
            case
            for other in ("threshold", "both (weak)")
            for case in less(absolute, "ada-tvae", (*DISENTANGLEMENT, ALIGNMENT), "schedule", "weight (weak)", other)
        ]
        kl = less(table, "ada-tvae", COMPARED, "difference", "absolute", "symmetric-kl")
        return [
            *claim(f"Ada-TVAE is almost perfectly aligned with the axes (above {NEAR_ONE})", near),
            *claim("Ada-TVAE beats β-VAE and Ada-GVAE", above_vaes(absolute, "ada-tvae", COMPARED)),
            *claim("absolute differences of codes do better than the KL divergence of posteriors", kl),
            *claim("the weak schedule of the weight does best", best),
        ]

    def drawing(self, table: polars.DataFrame) -> Figure:
        """Draw the scores by schedule and difference, β-VAE and Ada-GVAE as lines."""
        from unweave.reproduce.thesis.drawings import grouped

        group = "schedule" if len(levels(table, "schedule")) > 1 else "data"
        return grouped(table, group, "difference", order=list(SCHEDULES.values()))


class Unsupervised(TripletFigure):
    """Figure 5.7."""

    source: ClassVar[str] = "[Michlo2022]_, figure 5.7 (section 5.5.2)"
    summary: ClassVar[str] = "Triplets ordered by pixels help where distances of images follow those of factors."
    presets: ClassVar[Mapping[str, Experiment]] = {
        "smoke": Experiment(
            data=(SQUARES, "xyobject:size=32"),
            methods=(
                triplets("ada-tvae-unsupervised", triplets=16, data=[SQUARES], loss=BOX),
                triplets("ada-tvae-unsupervised", triplets=16, data=["xyobject:size=32"]),
            ),
            seeds=2,
            metrics=SIX_SCORES,
            options=SMOKE,
            evaluate=SMOKE_SCORING,
        ),
        "small": Experiment(
            data=(SQUARES, "shapes2d:size=32", "rooms3d:size=32"),
            methods=(
                triplets("ada-tvae-unsupervised", triplets=128, data=[SQUARES], loss=BOX),
                triplets("ada-tvae-unsupervised", triplets=128, data=["shapes2d:size=32", "rooms3d:size=32"]),
                *vaes(0.001),
            ),
            seeds=5,
            metrics=SIX_SCORES,
            options=SMALL_25,
            evaluate=SMALL_SCORING,
        ),
        "paper": Experiment(
            data=FIVE_SETS,
            methods=published("thesis-5.5", "ada-tvae-unsupervised", triplets=[512, 1024]),
            seeds=2,
            metrics=SIX_SCORES,
            snapshots=snapshots_every(EVERY, 86_400),
        ),
    }

    def findings(self, settings: Experiment, study: Study) -> Findings:
        """Measure each data set's own correlation, and read the scores of the study."""
        self._of_data = correlations_of_data(study)
        return super().findings(settings, study)

    def read(self, table: polars.DataFrame) -> Findings:
        """Return what a table of scores says, prepared or not."""
        table = prepared(table)
        if "data_correlation" not in table.columns:
            known = polars.col("data").replace_strict(self._of_data, default=None, return_dtype=polars.Float64)
            table = table.with_columns(data_correlation=known)
        return super().read(table)

    def claims(self, table: polars.DataFrame) -> list[Claim]:
        """Compare data sets by their own correlation, and the method with others."""
        own = [
            trend(
                f"rank correlation, over data sets, of their own correlation and {TITLES[metric]}",
                table,
                metric,
                "data_correlation",
                falls=False,
                method="ada-tvae-unsupervised",
            )
            for metric in present(table, DISENTANGLEMENT)
        ]
        lower = [
            difference(
                f"{TITLES[metric]}, {METHODS[other]} less {METHODS['ada-tvae-unsupervised']} on {data}",
                by_seed(table, metric, data=data, method=other),
                by_seed(table, metric, data=data, method="ada-tvae-unsupervised"),
            )
            for data in levels(table, "data")
            for other in ("beta-vae", "ada-gvae")
            for metric in present(table, DISENTANGLEMENT)
        ]
        return [
            *claim("scores are better on data whose distances follow those of factors more", own),
            *claim("scores are below those of VAEs without triplets", lower),
        ]

    def drawing(self, table: polars.DataFrame) -> Figure:
        """Draw the scores by data set."""
        from unweave.reproduce.thesis.drawings import grouped

        return grouped(table, "data", "method")


def correlations_of_data(study: Study, pairs: int = 16_384) -> dict[str, float]:
    """Return for each data set how its perceived distances, under the loss of its runs, follow those of factors."""
    from unweave.data import load
    from unweave.perception import correlations

    found = {}
    for task in study.plan.tasks:
        name = task.config["data"]["name"]
        if name not in found and task.config["method"]["name"] == "ada-tvae-unsupervised":
            data = load(**task.config["data"])
            table = correlations(data, task.config["method"]["loss"], pairs=pairs, progress=False)
            found[name] = float(table.filter(polars.col("factor") != "random")["rank"].to_numpy().mean())
    return found
