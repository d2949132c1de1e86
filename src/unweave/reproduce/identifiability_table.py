"""How much of the latents was found in each trial, as a table with conclusions."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass, fields
from io import StringIO

import numpy as np

SCORES = {"r2": "R²", "mapped": "MCC after a linear map", "mcc": "MCC"}


@dataclass(frozen=True)
class Trial:
    """The scores of the codes of one run."""

    method: str
    world: str
    holds: bool
    """Whether the assumptions of the method's theorem hold."""
    seed: int
    r2: float
    mapped: float
    mcc: float
    observed_r2: float
    observed_mcc: float
    expected: float | None
    """The best R² of Gaussian codes, if it is known."""
    agreement: float
    """Mean correlation of neighbouring rows' codes, whitened."""
    closed_form: float | None
    """The largest possible agreement, if it is known."""


def as_csv(trials: Sequence[Trial]) -> str:
    """Return the trials as a table."""
    text = StringIO()
    names = [spec.name for spec in fields(Trial)]
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(names)
    for trial in trials:
        writer.writerow([_text(getattr(trial, name)) for name in names])
    return text.getvalue()


def read_csv(text: str) -> list[Trial]:
    """Return the trials that `as_csv` wrote."""
    return [_trial(row) for row in csv.DictReader(StringIO(text))]


def _trial(row: dict[str, str]) -> Trial:
    texts = {"method": row["method"], "world": row["world"]}
    known = {"holds": row["holds"] == "yes", "seed": int(row["seed"])}
    rest = [spec.name for spec in fields(Trial) if spec.name not in (*texts, *known)]
    numbers = {name: float(row[name]) if row[name] else None for name in rest}
    return Trial(**texts, **known, **numbers)  # pyright: ignore[reportArgumentType]


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "" if value is None else f"{value:.6f}" if isinstance(value, float) else str(value)


def by_case(trials: Sequence[Trial]) -> dict[tuple[str, str], list[Trial]]:
    """Return the trials of each method and world, in their order."""
    found: dict[tuple[str, str], list[Trial]] = {}
    for trial in trials:
        found.setdefault((trial.method, trial.world), []).append(trial)
    return found


def mean(trials: Sequence[Trial], score: str) -> float:
    """Return the mean of a score over trials."""
    return float(np.mean([getattr(trial, score) for trial in trials]))


def conclusions(trials: Sequence[Trial]) -> list[str]:
    """Return the conclusions from the trials, as sentences."""
    cases = by_case(trials)
    found = []
    for method, score, of in (("LeJEPA", "r2", "R²"), ("PCL", "mcc", "MCC"), ("iVAE", "mcc", "MCC")):
        own = {world: each for (name, world), each in cases.items() if name == method and not each[0].closed_form}
        if not own:
            continue
        good = [f"{mean(each, score):.3f} ({world})" for world, each in own.items() if each[0].holds]
        bad = [f"{mean(each, score):.3f} ({world})" for world, each in own.items() if not each[0].holds]
        found.append(f"{method}, {of}: {', '.join(good) or '–'} if its theorem holds, else {', '.join(bad) or '–'}.")
    for (method, world), each in cases.items():
        if each[0].closed_form is not None:
            best, ours = mean(each, "closed_form"), mean(each, "agreement")
            share = 100 * ours / best
            found.append(
                f"{method}, {world}: neighbours' codes agree by {ours:.3f}, the closed-form optimum is {best:.3f} "
                f"({share:.1f} % of it)."
            )
    return found
