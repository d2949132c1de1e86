"""`unweave evaluate`: scores of a run, or of codes and factors in files."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from tyro.conf import Positional, Suppress, arg

from unweave.cli.arrays import check_scores_path, refuse_file, write_scores
from unweave.cli.evaluate_files import score_files, score_several
from unweave.cli.mistakes import writing
from unweave.cli.parsing import Flag, Plugins, parse, refuse_below
from unweave.cli.plugins import run_words
from unweave.errors import UsageError
from unweave.fields import OneOf
from unweave.metrics import GROUPS, METRICS
from unweave.metrics.request import Request
from unweave.options import read_value
from unweave.text import table, to_json

if TYPE_CHECKING:
    import polars

File = Annotated[Path | None, arg(metavar="FILE", help_behavior_hint="")]
Count = Annotated[int | None, arg(metavar="INT", help_behavior_hint="")]
Metrics = Annotated[
    tuple[str, ...],
    OneOf(METRICS, GROUPS, listed=False),
    arg(metavar="NAME ...", help_behavior_hint="(default: all)"),
]
OnScores = Callable[["polars.DataFrame"], None]
"""Takes a metric's scores as soon as they are there."""
NUMBERS = ("value", "low", "high", "floor", "ceiling", "adjusted", "seconds")
MEANING = "low, high: would another draw of this many rows change the score (95 %)? Training seeds are not counted."
BOUNDS = "floor: factors shuffled; ceiling: the factors as codes; adjusted: 0 at the floor, 1 at the ceiling."
NOTES = {"low": MEANING, "floor": BOUNDS}
"""What is said of a column that has numbers."""

SETTING = "METRIC.OPTION=VALUE, such as mig.bins=30"
"""What --set takes."""


@dataclass(frozen=True)
class Evaluate(Request):
    """Score a run on random images of its data set, or score codes and factors of your own.

    Each score comes with its 95 % interval over images, its floor (factors shuffled) and its ceiling (the factors
    themselves as codes). The scores of a run are saved in its folder too.
    """

    runs: Annotated[Positional[tuple[Path, ...]], arg(metavar="RUN|FILE.npz ...", help_behavior_hint="")] = ()
    """The run's folder; or .npz files of codes and factors, of the same samples where there are several."""
    metrics: Metrics = ("all",)
    """The metrics to compute, or a group of them: all, study, overcomplete; unweave metrics list names them."""
    options: Suppress[Any] = None
    set: Annotated[tuple[str, ...], arg(metavar="METRIC.OPTION=VALUE ...", help_behavior_hint="")] = ()
    """Options of metrics by hand, such as mig.bins=30."""
    label_noise: Count = None
    """A regime, 1 to 3, of noise on the factors before they are used."""
    bin_factors: Count = None
    """Cut continuous factors into this many groups of equal counts, for the metrics that need classes."""
    categorical: Annotated[tuple[int, ...], arg(metavar="COLUMN ...", help_behavior_hint="")] = ()
    """Columns of --codes, counted from 0, that hold categories, whose numbers are names; a run knows its own."""
    seed: int = 0
    """Seed of the random images and of the metrics."""
    replicates: Count = None
    """Half-samples behind an interval; by default 200 where that is cheap, 5 to 10 where each is another fit."""
    intervals: Flag = True
    """Leave out the intervals, which is quicker."""
    floors: Flag = True
    """Leave out floors and ceilings, which is quicker."""
    details: Flag = False
    """Add the value of each factor, where a metric has them."""
    data: Annotated[str | None, arg(metavar="PATH", help_behavior_hint="")] = None
    """The run's data set, where it has moved: it is checked to be the one trained on."""
    step: Annotated[int | None, arg(metavar="STEP", help_behavior_hint="(default: the last)")] = None
    """Score the run as it was after this step: one of its snapshots."""
    samples: Count = None
    """Random images to score a run on, instead of the preset's."""
    test_samples: Count = None
    """Random images to test on what was fitted, instead of the preset's."""
    codes: File = None
    """Codes (n, d) in a .npy, .csv, .parquet or .npz file, instead of a run; an .npz may hold codes and factors."""
    factors: File = None
    """Their factors (n, k); without them, only what needs no labels is scored."""
    test_codes: File = None
    """Codes to test on, for the metrics that train a predictor."""
    test_factors: File = None
    """Their factors."""
    out: File = None
    """Also write the scores to a .csv, .parquet or .json file."""
    plugin: Plugins = ()
    """Also know the methods, nets, metrics and data sets that a Python file or module defines."""
    json: Flag = False
    """Print one JSON object instead of a table."""

    def __post_init__(self) -> None:
        refuse_below(0, seed=self.seed)
        refuse_below(2, samples=self.samples, test_samples=self.test_samples, replicates=self.replicates)
        refuse_below(2, bin_factors=self.bin_factors)
        if self.label_noise not in (None, 1, 2, 3):
            raise UsageError(f"--label-noise must be 1, 2 or 3, not {self.label_noise}")
        if any("," in name for name in self.metrics):
            names = " ".join(self.metrics).replace(",", " ").split()
            raise UsageError(f"names of metrics have spaces between them, not commas: --metrics {' '.join(names)}")
        object.__setattr__(self, "options", read_settings(self.set))
        super().__post_init__()
        _check_places(self.runs, self.files)
        if self.out:
            check_scores_path(self.out)

    @property
    def files(self) -> tuple[Path, ...]:
        """The files of codes that are named like runs."""
        return tuple(path for path in self.runs if path.suffix.lower() == ".npz" and not path.is_dir())

    @property
    def run(self) -> Path | None:
        """The folder of the run, if it is one that is scored."""
        return self.runs[0] if self.runs and not self.files else None

    @property
    def settings(self) -> dict[str, Any]:
        """The fields of the request."""
        return {item.name: getattr(self, item.name) for item in fields(Request)}


def evaluate(words: list[str]) -> None:
    """Run `unweave evaluate`."""
    options = parse(Evaluate, words, "evaluate")
    finished: list[polars.DataFrame] = []
    if options.files and (options.codes or options.test_codes or options.test_factors):
        raise UsageError("codes are given once: name the files, or give --codes (with --test-codes and --test-factors)")
    if len(options.files) == 1:
        options = replace(options, runs=(), codes=options.files[0])
    try:
        scores = (
            _score_run(options, options.run, finished.append)
            if options.run
            else score_several(options, finished)
            if options.files
            else score_files(options, finished)
        )
    except BaseException:  # an interrupt too: what is finished is not lost
        if finished:
            print(_shown(options, finished))
        raise
    if options.out:
        write_scores(scores, options.out)
    print(_shown(options, [scores]))
    if not options.json:
        following = _following(options)
        notes = [note for column, note in NOTES.items() if scores[column].is_not_null().any()]
        print(*(["", *notes] if notes else []), f"\nnext: {following}", sep="\n")


def _following(options: Evaluate) -> str:
    """Return the next useful command."""
    if options.run:
        return f"unweave report {run_words(options.run, options.data)}"
    if options.files:
        return f"unweave compare --codes {' '.join(shlex.quote(str(path)) for path in options.files)}"
    return "unweave metrics list"


def _check_places(runs: Sequence[Path], files: Sequence[Path]) -> None:
    """Refuse several runs, and runs beside files."""
    if len(runs) < 2 or len(files) == len(runs):
        return
    if files:
        raise UsageError(
            f"score either a run or files: '{files[0]}' is a file, and not all of the others are .npz files"
        )
    refuse_file(*runs)
    words = " ".join(shlex.quote(str(run)) for run in runs)
    raise UsageError(f"one run is scored at a time; to compare several: unweave compare {words}")


def _shown(options: Evaluate, tables: Sequence[polars.DataFrame]) -> str:
    """Return the scores as a table, or as JSON."""
    scores = [row for scores in tables for row in scores.iter_rows(named=True)]
    if options.json:
        rows = [{**row, "options": json.loads(row["options"])} for row in scores]
        return to_json({"run": options.run and str(options.run), "scores": rows})
    columns = [name for name in NUMBERS if any(row[name] is not None for row in scores)]
    texts = [
        {
            **({"key": row["key"]} if "key" in row else {}),
            "metric": row["metric"],
            **({"factor": row["factor"] or ""} if options.details else {}),
            **{name: _decimals(row[name]) for name in columns},
        }
        for row in scores
    ]
    return table(texts, columns)


def _score_run(options: Evaluate, folder: Path, on_result: OnScores) -> polars.DataFrame:
    if options.codes or options.factors or options.test_codes or options.test_factors:
        raise UsageError("score either a run or files: leave out the folder, or --codes and --factors")
    refuse_file(folder)
    from unweave.runs import Run

    run = Run.open(folder, data=options.data)
    run = run if options.step is None else run.at(options.step)
    with writing(folder):
        return run.evaluate(
            **options.settings,
            samples=options.samples,
            test_samples=options.test_samples,
            on_result=on_result,
        )


def read_settings(words: Sequence[str], form: str = SETTING) -> dict[str, dict[str, Any]]:
    """Return METRIC.OPTION=VALUE words as options of metrics; a value is JSON, or else a text.

    >>> read_settings(["mig.bins=30", "dci.learner=lasso"])
    {'mig': {'bins': 30}, 'dci': {'learner': 'lasso'}}
    """
    settings: dict[str, dict[str, Any]] = {}
    for word in words:
        name, _, value = word.partition("=")
        metric, _, option = name.partition(".")
        if not (metric and option and value):
            raise UsageError(f"--set takes {form}, not '{word}'")
        chosen = settings.setdefault(metric, {})
        if option in chosen:
            raise UsageError(f"--set: {name} is given twice")
        chosen[option] = read_value(value)
    return settings


def _decimals(value: float | None) -> str:
    return f"{value:.3f}" if value is not None and isfinite(value) else "–"
