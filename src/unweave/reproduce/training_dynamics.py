"""Label-free model selection by training dynamics: tables 1, 3 and 4 of [Holtz2022]_, on our runs."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

import polars

from unweave.reproduce.by_study import StudyReproduction
from unweave.reproduce.frame import Findings
from unweave.reproduce.label_free_cost import cost_of_runs
from unweave.reproduce.label_free_design import PRESETS, Scenes, Settings
from unweave.reproduce.training_dynamics_tables import agreement_rows, noise_rows, task_rows
from unweave.selection import select
from unweave.study import Study

SCENES = {
    "smoke": Scenes(strengths=(0.0, 0.1, 1.0), latents=(4,), steps=30, task={"max_steps": 500, "test_scenes": 200}),
    "small": Scenes(),
    "paper": Scenes(data="scenes2d", steps=100_000, latents=(32,)),
}
NOTES = (
    "Table 1: Spearman's correlation over specifications; a lower dynamics score counts as better. The paper does not "
    "say what its ± is over; ours are 95 % intervals over resampled seeds.",
    "Table 3: Pearson's correlation over specifications of a score under label noise with the clean one. The dynamics "
    "score uses no labels, so noise cannot change it.",
    "Table 4: Spearman's correlation over specifications of scores with unfairness (mean total variation), and with "
    "the steps and the last error of reward predictors in the clustering task: negative if better scores mean fairer "
    "or faster. Steps carry no information if no predictor reaches 90 % accuracy.",
)


class TrainingDynamics(StudyReproduction):
    """β-VAEs of several strengths and numbers of latents, ranked by how similar their training is over seeds."""

    source: ClassVar[str] = "[Holtz2022]_, tables 1, 3 and 4"
    summary: ClassVar[str] = "Models with similar training over seeds are disentangled; no labels are needed to see it."
    presets: ClassVar[Mapping[str, Settings]] = {
        name: replace(settings, scenes=SCENES[name]) for name, settings in PRESETS.items()
    }

    def study(self, settings: Settings, *, seed: int, out: Path) -> Study:
        """Return the study of these settings."""
        return settings.study(seed=seed, out=out)

    def findings(self, settings: Settings, study: Study) -> Findings:
        """Rank the runs by their traces, and compare with supervised scores."""
        from unweave.reproduce.training_dynamics_figures import dynamics_figure

        scores = self._dynamics(study)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about collapsed models and few rows, which are part of the comparison
            rows = (
                *agreement_rows(settings, study, self.seed, self.on_progress),
                *noise_rows(settings, study, self.on_progress),
                *task_rows(settings, study, scores, self.seed, self.on_progress),
            )
        figures = {"dynamics": dynamics_figure(scores)}
        return Findings(rows, NOTES, figures, {"dynamics.csv": scores.write_csv()})

    def cost(self, settings: Settings) -> str:
        """Return the number of runs, and the estimated training time here."""
        return cost_of_runs(settings)

    def _dynamics(self, study: Study) -> polars.DataFrame:
        """Return the dynamics score of every run, its mean over partners: run, specification, value."""
        chosen = select(study.path / "runs", "dynamics", seed=self.seed, on_progress=self.on_progress)
        name = polars.col("run").str.split("/").list.last()
        return chosen.runs.select("data", "specification", "seed", run=name, dynamics="value")
