"""How often I_m and SAP find the groups of factors in the linear-Gaussian beta-VAE."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from unweave.progress import OnProgress
from unweave.reproduce.frame import Findings, Reproduction, Row
from unweave.reproduce.linear_gaussian_figures import VARIED, draw_rates, draw_sensitivity
from unweave.reproduce.linear_gaussian_rates import PUBLISHED, Rate, binomial, rates, to_csv
from unweave.reproduce.linear_gaussian_settings import AUTHORS, SETTINGS, Setting
from unweave.reproduce.parts import Kept, compute_always

NOTES = {
    "authors": "The authors' experiment, from their public notebooks: their factors, diagonal decoder noise, a start "
    "from the encoder, iterations until nothing changes, the best of 6 (3 factors) or 2 starts by the misfit of the "
    "covariance, and codes scored as if they had variance 1. The error of 5 % is only reported and fails no cell.",
    "clean": "The laboratory's choices: factors of variance 1, α = β = 1, noise 0.1 of a child and 0.01 of Y; full "
    "decoder noise, one start from principal axes, the true covariance of codes. A cell fails if it diverges or never "
    "has an error within 5 %.",
}


@dataclass(frozen=True)
class Settings:
    """How much is computed, and for which experiment."""

    runs: int
    """Number of runs of the 25 cells of every scenario."""
    varied: int
    """The same for every value in the second figure, in the authors' setting; 0 leaves the figure out."""
    setting: str = "authors"


class LinearGaussian(Reproduction):
    """Success rates of I_m and SAP in six scenarios of dependent factors."""

    source: ClassVar[str] = "[Vu2024]_, both tables"
    summary: ClassVar[str] = "I_m finds groups of dependent factors where SAP does not, and the other way round."
    presets: ClassVar[Mapping[str, Settings]] = {
        "smoke": Settings(runs=1, varied=0),
        "small": Settings(runs=4, varied=0),
        "paper": Settings(runs=16, varied=2),
    }
    variants: ClassVar[tuple[str, ...]] = tuple(SETTINGS)

    def run(self, settings: Settings, *, seed: int, on_progress: OnProgress, kept: Kept = compute_always) -> Findings:
        """Compute the rates of one setting; then vary the authors' choices one at a time."""
        found: list[Rate] = []
        for done, name in enumerate(PUBLISHED):
            on_progress(name, done, len(PUBLISHED))
            chosen = SETTINGS[settings.setting]
            found += kept(name, partial(_rates, settings.setting, name, chosen, settings.runs, seed))
        figures = {"rates": draw_rates(found)}
        if settings.varied and settings.setting == "authors":
            figures["sensitivity"] = draw_sensitivity(AUTHORS, VARIED, settings.varied, seed, on_progress, kept)
        return Findings(tuple(_rows(found)), _notes(settings.setting, found), figures, {"rates.csv": to_csv(found)})


def _rates(label: str, name: str, setting: Setting, runs: int, seed: int) -> tuple[Rate, Rate]:
    return rates(label, name, setting.studies(name, runs, seed))


def _rows(found: list[Rate]) -> list[Row]:
    """Return our rates with those of the talk, then with those of the saved notebook."""
    talk = [(rate, rate.published, "talk") for rate in found]
    notebook = [(rate, rate.notebook, "notebook") for rate in found if rate.notebook is not None]
    return [
        Row(f"{rate.scenario}, success of {rate.score}, %, {where}", float(printed), *rate.ours, binomial(printed)[1:])
        for rate, printed, where in (*talk, *notebook)
    ]


def _notes(setting: str, found: list[Rate]) -> tuple[str, ...]:
    inside = sum(rate.inside for rate in found)
    failed, tied = (max(getattr(rate, name) for rate in found) for name in ("failed", "tied"))
    return (
        NOTES[setting],
        "Success in per cent of cells, 25 pairs (γ, λ) per run. A published rate is one run without a seed; its exact "
        "95 % interval follows it.",
        f"{inside} of {len(found)} rates of the talk are within the central 95 % of runs of 25 cells at our rates.",
        f"Up to {failed:.0f} % of the cells of a scenario diverge or miss the tolerance; in up to {tied:.0f} % less "
        "than 1e-9 nats decide between the groups of I_m and fewer groups.",
        "SAP succeeds if the latents that correlate best with each factor group the factors by their dependence.",
    )
