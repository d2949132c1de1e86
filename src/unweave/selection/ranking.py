"""Choosing among runs without labels: one interface over all label-free scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars
from scipy.stats import rankdata

from unweave.errors import UsageError, unknown
from unweave.metrics.inputs import whole_number
from unweave.progress import OnProgress, reporting
from unweave.selection.correlation import LEAST, agreement_rows
from unweave.selection.estimates import FEW_SEEDS, Estimate, chances, ends
from unweave.selection.measured import PARTNERS, Measured, Options, Partners, known_options
from unweave.selection.result import AGAINST, RUNS, SPECIFICATIONS, Selection
from unweave.selection.saved import rows_of
from unweave.selection.specifications import opened, run_folders, specifications, without_copies
from unweave.selection.table import DEFAULT, SCORES, scores_named
from unweave.selection.udr import Averaging, check_choice

if TYPE_CHECKING:
    from unweave.data import Data
    from unweave.runs import Run

SAMPLES = 2_000
"""Number of images that every run encodes."""
Row = dict[str, Any]


def select(
    runs: str | Path | Sequence[Run | str | Path],
    scores: str | Sequence[str] = DEFAULT,
    *,
    against: str | Sequence[str] = (),
    partners: Partners = "specification",
    samples: int = SAMPLES,
    seed: int = 0,
    options: Options | None = None,
    data: Data | None = None,
    progress: bool | None = None,
    on_progress: OnProgress | None = None,
) -> Selection:
    """Rank specifications, and the seeds within them, by scores that need no labels.

    A specification is everything that decides a run except its seed. Data sets are ranked separately.

    Parameters
    ----------
    runs
        A folder with runs below it, such as a study's; or runs, or their folders.
    scores
        Names of `unweave.selection.SCORES`, or "all": all that these runs allow.
    against
        Supervised metrics, such as "mig", to correlate the scores with, if the data set has labels.
    partners
        The runs with which scores of pairs compare a run: "specification" (seeds of the same settings), or "all" runs
        on the data set, as in UDR's "all to all". The dynamics score always compares within specifications.
    samples
        Number of images that every run encodes, the same for all runs on a data set. Scores that are metrics are taken
        from a run's saved scores; missing ones are computed on this many images and saved.
    seed
        Seed of these images, of the scores and of the resampling.
    options
        Options of scores by name: {"dynamics": {"steps": 4, "layers": ["1"]}, "udr-lasso": {"averaging": "dlib"}}.
    data
        The data set, if it has moved.
    progress, on_progress
        Whether to show a progress bar, and a function to call instead.

    Returns
    -------
    Selection
        Tables of specifications, of runs and of correlations, and the choices as sentences.

    Examples
    --------
    >>> from unweave.selection import select
    >>> found = select("runs", "elbo", samples=200)
    >>> found.specifications.select("score", "rank", "seeds").rows()
    [('elbo', 1, 2)]
    """
    names = scores_named(scores)
    by_name = [scores] if isinstance(scores, str) else list(scores)
    supervised = rows_of([against] if isinstance(against, str) else list(against))
    chosen = _checked_options(options or {}, names)
    if partners not in PARTNERS:
        raise unknown("kind of partners", str(partners), PARTNERS)
    samples, seed = whole_number(samples, "samples", 10), whole_number(seed, "seed", 0)
    found, notes = _gathered(runs, data)
    before, groups = tuple(notes), specifications(found)
    refused: dict[str, str] = {}
    ranked: set[str] = set()
    tables: list[list[Row]] = [[], [], []]
    with reporting(on_progress, progress) as told:
        for group in groups.values():
            measured = Measured(group, samples, seed, partners, chosen, told, notes)
            scored = {name: measured.score(name) for name in names}
            known = {name: each for name, each in scored.items() if isinstance(each, Estimate)}
            missing = {name: each for name, each in scored.items() if isinstance(each, str)}
            for name, reason in missing.items():
                refused.setdefault(name, reason)
                where = f" on {group[0].data}" if len(groups) > 1 else ""
                notes.append(f"left out{where}: {reason if reason.startswith(name) else f'{name}: {reason}'}")
            ranked.update(known)
            labels = measured.metrics(supervised, "supervised scores") if supervised else {}
            for name, estimate in known.items():
                for table, rows in zip(tables, _rows(measured, name, estimate, labels, seed), strict=True):
                    table.extend(rows)
            if supervised and len(group) < LEAST:
                notes.append(f"{group[0].data}: a rank correlation over specifications needs at least {LEAST} of them")
    if lost := [name for name in by_name if name in refused and name not in ranked]:
        raise UsageError("; ".join([refused[lost[0]], *before[:1]]))
    if not tables[0]:
        raise UsageError(
            f"none of the scores can be computed for these runs: {notes[-1] if notes else ', '.join(names)}"
        )
    frames = [
        polars.DataFrame(rows, schema=schema)
        for rows, schema in zip(tables, (SPECIFICATIONS, RUNS, AGAINST), strict=True)
    ]
    return Selection(*frames, notes=tuple(dict.fromkeys(notes)))


def _checked_options(options: Options, names: Sequence[str]) -> dict[str, Mapping[str, Any]]:
    for name, given in options.items():
        if name not in names:
            raise UsageError(f"there are options for '{name}', which is not a requested score")
        if not SCORES[name].compares_pairs:
            raise UsageError(f"the score '{name}' takes no options here, because it is a metric")
        if not isinstance(given, Mapping):
            raise UsageError(f"options of {name} must be a mapping, not {given!r}")
        for option in given:
            if option not in known_options(name):
                raise unknown(f"option of {name}", option, known_options(name))
            if option == "averaging":
                check_choice(option, given[option], Averaging)
    return dict(options)


def _gathered(runs: str | Path | Sequence[Run | str | Path], data: Data | None) -> tuple[list[Run], list[str]]:
    """Return the finished runs, each once, and notes on what is left out."""
    where = "" if not isinstance(runs, str | Path) else f" below '{runs}'"
    found, notes = opened(run_folders(Path(runs)) if isinstance(runs, str | Path) else runs, data)
    if not found:
        raise UsageError(f"there is no finished run{where}{': ' + notes[0] if notes else ''}")
    found, copies = without_copies(found)
    return found, [*notes, *copies]


def _rows(
    measured: Measured, name: str, estimate: Estimate, labels: Mapping[str, np.ndarray], seed: int
) -> tuple[list[Row], list[Row], list[Row]]:
    """Return the rows of one score: specifications, runs, and correlations with supervised scores."""
    drawn = estimate.drawn(seed)
    resampled = estimate.resampled(drawn)
    return (
        _of_specifications(measured, name, estimate, resampled),
        _of_runs(measured, name, estimate, seed),
        agreement_rows(measured, name, estimate, drawn, resampled, labels),
    )


def _of_specifications(measured: Measured, name: str, estimate: Estimate, resampled: np.ndarray) -> list[Row]:
    higher, values, seeds = SCORES[name].higher_is_better, estimate.specifications, estimate.seeds
    often, places = chances(resampled, values, seeds, higher), ranks(values, higher)
    rows = []
    for number, each in enumerate(measured.specifications):
        latents = each.runs[0].settings.net.latents
        value, low, high = float(values[number]), np.nan, np.nan
        if np.isfinite(value) and seeds[number] >= FEW_SEEDS:
            low, high = ends(resampled[:, number], value, int(seeds[number]), SCORES[name].limits(latents))
        row = {"value": value, "low": low, "high": high, "chance": float(often[number])}
        known = {key: number if np.isfinite(number) else None for key, number in row.items()}
        told = {"data": each.data, "specification": each.label, "score": name}
        rows.append({**told, **known, "seeds": int(seeds[number]), "rank": places[number]})
    return rows


def _of_runs(measured: Measured, name: str, estimate: Estimate, seed: int) -> list[Row]:
    higher, intervals = SCORES[name].higher_is_better, estimate.run_intervals(seed, SCORES[name].bounds)
    rows = []
    for each, part in zip(measured.specifications, estimate.parts, strict=True):
        places = ranks(estimate.values[part], higher)
        for run, numbers, rank in zip(each.runs, intervals[part], places, strict=True):
            known = {
                key: each_number if np.isfinite(each_number) else None
                for key, each_number in zip(("value", "low", "high"), numbers, strict=True)
            }
            told = {"data": each.data, "specification": each.label, "run": str(run.path), "score": name}
            rows.append({**told, **known, "seed": run.settings.training.seed, "rank": rank})
    return rows


def ranks(values: np.ndarray, higher_is_better: bool) -> list[int | None]:
    """Return the ranks of values: 1 is the best, equal values share a rank, NaN has None.

    >>> ranks(np.array([0.2, np.nan, 0.9, 0.2]), higher_is_better=True)
    [2, None, 1, 2]
    """
    known = np.isfinite(values)
    places = np.zeros(len(values), dtype=int)
    places[known] = rankdata(-values[known] if higher_is_better else values[known], method="min")
    return [int(place) if there else None for place, there in zip(places, known, strict=True)]
