"""Published results, computed again, with the printed numbers beside ours.

Notes
-----
To add one, write a file with a subclass of `Reproduction`, and add a line to `RESULTS`. `frame` is the interface of all
results, `by_study` a result that is a study; `parts` keeps finished parts of a long computation.
"""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from os import PathLike
from pathlib import Path
from time import perf_counter
from typing import Any

from unweave.errors import UsageError, unknown
from unweave.progress import OnProgress, silent
from unweave.reproduce.frame import Findings, Reproduction, Row
from unweave.reproduce.parts import Parts, compute_always
from unweave.reproduce.save import Outcome, refuse_folder, save, versions

__all__ = ["RESULTS", "Findings", "Outcome", "Reproduction", "Row", "find", "preset_of", "reproduce"]

RESULTS = {
    "linear-gaussian": "unweave.reproduce.linear_gaussian:LinearGaussian",
    "impossibility": "unweave.reproduce.impossibility:Impossibility",
    "identifiability": "unweave.reproduce.identifiability:Identifiability",
    "guardians": "unweave.reproduce.guardians:Guardians",
    "geomancer": "unweave.reproduce.geomancer:Geomancer",
    "challenging-assumptions": "unweave.reproduce.challenging_assumptions:ChallengingAssumptions",
    "metric-audit": "unweave.reproduce.metric_audit:MetricAudit",
    "training-dynamics": "unweave.reproduce.training_dynamics:TrainingDynamics",
    "label-free-bakeoff": "unweave.reproduce.label_free_bakeoff:LabelFreeBakeoff",
    "scale-compute": "unweave.reproduce.scale:ScaleCompute",
    "scale-data": "unweave.reproduce.scale:ScaleData",
    "scale-parameters": "unweave.reproduce.scale:ScaleParameters",
    "scale-encoders": "unweave.reproduce.scale_encoders:ScaleEncoders",
    "thesis-3.1": "unweave.reproduce.thesis.tables:Importance",
    "thesis-3.7": "unweave.reproduce.thesis.chapter3:Adversarial",
    "thesis-3.10": "unweave.reproduce.thesis.chapter3:Spacing",
    "thesis-3.12": "unweave.reproduce.thesis.chapter3:BoxBlur",
    "thesis-4.1": "unweave.reproduce.thesis.tables:Correlations",
    "thesis-4.2": "unweave.reproduce.thesis.tables:OverlapCorrelations",
    "thesis-4.4": "unweave.reproduce.thesis.chapter4:LatentDistances",
    "thesis-5.1": "unweave.reproduce.thesis.chapter5:TripletVAE",
    "thesis-5.4": "unweave.reproduce.thesis.chapter5:Schedules",
    "thesis-5.5": "unweave.reproduce.thesis.chapter5:AdaTVAE",
    "thesis-5.7": "unweave.reproduce.thesis.unsupervised:Unsupervised",
    "thesis-6.1": "unweave.reproduce.thesis.table_losses:LossCorrelations",
    "thesis-6.4": "unweave.reproduce.thesis.chapter6:LearntLoss",
    "thesis-7.3": "unweave.reproduce.thesis.chapter7:ChoiceOfFactors",
    "thesis-7.6": "unweave.reproduce.thesis.chapter7:ExternalNoise",
}
"""Module and class of each result, imported on first use."""


def find(name: str) -> type[Reproduction]:
    """Return the class of a published result.

    Parameters
    ----------
    name
        A name of `RESULTS`.

    Returns
    -------
    type
        A subclass of `Reproduction`.

    Examples
    --------
    >>> find("impossibility").__name__
    'Impossibility'
    """
    if name not in RESULTS:
        raise unknown("published result", name, RESULTS)
    module, kind = RESULTS[name].split(":")
    return getattr(import_module(module), kind)


def preset_of(kind: type[Reproduction], preset: str) -> Any:
    """Return the settings of a preset.

    Parameters
    ----------
    kind
        The class of the result.
    preset
        "smoke", "small" or "paper".

    Returns
    -------
    object
        The settings, a dataclass.

    Examples
    --------
    >>> preset_of(find("impossibility"), "smoke").samples
    800
    """
    if preset not in kind.presets:
        raise unknown("preset", preset, kind.presets)
    return kind.presets[preset]


def reproduce(
    name: str,
    *,
    preset: str = "small",
    setting: str | None = None,
    seed: int = 0,
    out: str | PathLike[str] | None = None,
    workers: int | None = None,
    on_progress: OnProgress | None = None,
) -> Outcome:
    """Reproduce a published result.

    Parameters
    ----------
    name
        A name of `RESULTS`.
    preset
        How much to compute: "smoke" (seconds), "small" or "paper" (as published).
    setting
        The experiment, if a result has several; by default the first in `variants`.
    seed
        Seed of everything random; the same seed gives the same numbers.
    out
        A folder to save the outcome in: `result.json`, `result.md`, a PNG for each figure, and tables. They are written
        when everything is computed. Until then the folder keeps finished parts, and the same call continues from them.
    workers
        Number of processes for a result that is a study; by default the number of cores.
    on_progress
        Called as `on_progress(what, done, total)`.

    Returns
    -------
    Outcome
        Published and reproduced numbers, notes, figures and tables.

    Examples
    --------
    >>> outcome = reproduce("impossibility", preset="smoke")
    >>> outcome.findings.rows[0].difference
    0.0
    """
    kind = find(name)
    settings = preset_of(kind, preset)
    if kind.variants:
        setting = setting or kind.variants[0]
        settings = replace(settings, setting=setting)
    if setting and setting not in kind.variants:
        if not kind.variants:
            raise UsageError(f"{name} has no settings to choose from; leave --setting out")
        raise unknown("setting", setting, kind.variants)
    if seed < 0:
        raise UsageError(f"the seed must be 0 or more, not {seed}")
    folder = None if out is None else Path(out)
    if folder:
        refuse_folder(folder, name, preset, seed, setting)
    start = perf_counter()
    # Another version may give other numbers, so each version has its own parts.
    parts = folder and Parts(folder, {"name": name, "settings": settings, "seed": seed, "versions": versions()})
    result = kind(folder, workers)
    findings = result.run(settings, seed=seed, on_progress=on_progress or silent, kept=parts or compute_always)
    seconds = perf_counter() - start + (parts.seconds if parts else 0.0)
    outcome = Outcome.of(name, kind, preset, seed, findings, seconds=seconds, setting=setting)
    if folder and parts:
        save(outcome, folder)
        parts.remove()
    return outcome
