"""The estimated cost of the runs on which label-free scores are compared."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from unweave.reproduce.label_free_design import Settings
from unweave.reproduce.study_cost import training_seconds


def cost_of_runs(settings: Settings) -> str:
    """Return the number of runs and the estimated training time here, from a few steps of each."""
    one = replace(settings, seeds=1)
    hours = sum(training_seconds(one.study(seed=0, out=Path("unused")).plan).values()) * settings.seeds / 3600
    told = (
        f"{len(settings.data)} data sets × {len(settings.strengths)} β × {len(settings.latents)} numbers of latents × "
        f"{settings.seeds} seeds"
    )
    return (
        f"{settings.count():,} runs: {told}.\n"
        f"Training them would take about {hours:,.1f} hours on one core of this machine; scoring comes on top."
    )
