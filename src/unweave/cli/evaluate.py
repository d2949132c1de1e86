"""`unweave evaluate`: score a run, or codes and factors in files."""

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
"""Takes a metric's scores as soon as they are computed."""
NUMBERS = ("value", "low", "high", "floor", "ceiling", "adjusted", "seconds")
MEANING = "low, high: would another draw of this many rows change the score (95 %)? Training seeds are not counted."
BOUNDS = "floor: factors shuffled; ceiling: the factors as codes; adjusted: 0 at the floor, 1 at the ceiling."
NOTES = {"low": MEANING, "floor": BOUNDS}
"""The line printed for columns that have numbers."""

SETTING = "METRIC.OPTION=VALUE, such as mig.bins=30"
"""What --set takes."""


@dataclass(frozen=True)
class Evaluate(Request):
    """Score a run on random images of its data set, or your own codes and factors.

    Each score has a 95 % interval over images, a floor (factors shuffled) and a ceiling (the factors themselves as
    codes). The scores of a run are also saved in its folder.
    """

    runs: Annotated[Positional[tuple[Path, ...]], arg(metavar="RUN|FILE.npz ...", help_behavior_hint="")] = ()
    """The run's folder; or .npz files of codes and factors, several only of the same samples."""
    metrics: Metrics = ("all",)
    """Metrics to compute, or groups: all, study, overcomplete; see unweave metrics list."""
    options: Suppress[Any] = None
    set: Annotated[tuple[str, ...], arg(metavar="METRIC.OPTION=VALUE ...", help_behavior_hint="")] = ()
    """Options of metrics, such as mig.bins=30."""
    label_noise: Count = None
    """Add label noise to the factors first: regime 1, 2 or 3."""
    bin_factors: Count = None
    """Bin continuous factors into this many classes of equal counts, for metrics that need classes."""
    categorical: Annotated[tuple[int, ...], arg(metavar="COLUMN ...", help_behavior_hint="")] = ()
    """Columns of --codes, counted from 0, that hold categories rather than numbers; a run knows its own."""
    seed: int = 0
    """Seed of the random images and of the metrics."""
    replicates: Count = None
    """Half-samples for an interval; by default 200, or 5 to 10 for metrics that fit a predictor on each."""
    intervals: Flag = True
    """Leave out intervals, which is faster."""
    floors: Flag = True
    """Leave out floors and ceilings, which is faster."""
    details: Flag = False
    """Add a row for each factor, if a metric has values for single factors."""
    data: Annotated[str | None, arg(metavar="PATH", help_behavior_hint="")] = None
    """The run's data set, if it has moved; it must be the one that training used."""
    step: Annotated[int | None, arg(metavar="STEP", help_behavior_hint="(default: the last)")] = None
    """Score the run's snapshot after this step."""
    samples: Count = None
    """Random images to score a run on, instead of the preset's number."""
    test_samples: Count = None
    """Random images for the test rows, instead of the preset's number."""
    codes: File = None
    """Codes (n, d) in a .npy, .csv, .parquet or .npz file, instead of a run; an .npz may hold codes and factors."""
    factors: File = None
    """Their factors (n, k); without them, only metrics that need no labels are computed."""
    test_codes: File = None
    """Codes of test rows, for metrics that fit a predictor."""
    test_factors: File = None
    """Their factors."""
    out: File = None
    """Also write the scores to a .csv, .parquet or .json file."""
    plugin: Plugins = ()
    """Load methods, nets, metrics and data sets from a Python file or module."""
    json: Flag = False
    """Print one JSON object instead of a table."""

    def __post_init__(self) -> None:
        refuse_below(0, seed=self.seed)
        refuse_below(2, samples=self.samples, test_samples=self.test_samples, replicates=self.replicates)
        refuse_below(2, bin_factors=self.bin_factors)
        if self.label_noise not in (None, 1, 2, 3):
            raise UsageError(f"--label-noise must be 1, 2 or 3, not {self.label_noise}")
        refuse_commas(self.metrics)
        object.__setattr__(self, "options", read_settings(self.set))
        super().__post_init__()
        _check_places(self.runs, self.files)
        if self.out:
            check_scores_path(self.out)

    @property
    def files(self) -> tuple[Path, ...]:
        """The files of codes that are given in place of a run."""
        return tuple(path for path in self.runs if path.suffix.lower() == ".npz" and not path.is_dir())

    @property
    def run(self) -> Path | None:
        """The folder of the run, unless files are scored."""
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
        raise UsageError("give codes once: either the files, or --codes (with --test-codes and --test-factors)")
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
    """Raise a `UsageError` for several runs, and for runs together with files."""
    if len(runs) < 2 or len(files) == len(runs):
        return
    if files:
        raise UsageError(
            f"score either a run or .npz files: '{files[0]}' is a file, but not all of the others are .npz files"
        )
    refuse_file(*runs)
    words = " ".join(shlex.quote(str(run)) for run in runs)
    raise UsageError(f"score one run at a time; to compare several: unweave compare {words}")


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


def refuse_commas(metrics: Sequence[str]) -> None:
    """Raise a `UsageError` for names of metrics that are separated by commas."""
    if any("," in name for name in metrics):
        names = " ".join(metrics).replace(",", " ").split()
        raise UsageError(f"separate the names of metrics by spaces, not commas: --metrics {' '.join(names)}")


def read_settings(words: Sequence[str], form: str = SETTING) -> dict[str, dict[str, Any]]:
    """Return METRIC.OPTION=VALUE words as options of metrics; a value is JSON, or otherwise text.

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
