"""`unweave compare`: compare runs on one data set, or codes of the same samples in files, score by score."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from tyro.conf import Positional, arg

from unweave.cli.arrays import check_scores_path, refuse_file, write_scores
from unweave.cli.compare_files import EXAMPLE, compare_files, refuse_twice
from unweave.cli.evaluate import Metrics, read_settings, refuse_commas
from unweave.cli.mistakes import writing
from unweave.cli.parsing import Flag, Plugins, parse, refuse_below
from unweave.cli.plugins import run_words
from unweave.errors import UsageError
from unweave.fields import OneOf
from unweave.metrics.presets import PRESETS
from unweave.text import table, to_json

if TYPE_CHECKING:
    import polars

    from unweave.runs import Run

File = Annotated[Path | None, arg(metavar="FILE", help_behavior_hint="")]
Files = Annotated[tuple[Path, ...], arg(metavar="FILE FILE ...", help_behavior_hint="")]
Count = Annotated[int | None, arg(metavar="INT", help_behavior_hint="")]
TABLES = (".csv", ".parquet")
NUMBERS = ("difference", "low", "high")
SEEDS = (
    "intervals are over images and exclude training seeds: two seeds of one method may differ as much, so compare "
    "methods over several seeds"
)


@dataclass(frozen=True)
class Compare:
    """Compare runs on one data set, or codes of the same samples in files: each with the first, score by score.

    All are scored on the same images and on the same half-samples, so that the interval is that of the difference.
    """

    runs: Annotated[Positional[tuple[Path, ...]], arg(metavar="RUN RUN ...", help_behavior_hint="")] = ()
    """The folders of the runs."""
    metrics: Metrics = ()
    """Metrics to compute, or groups: all, study, overcomplete; see unweave metrics list."""
    preset: Annotated[str, OneOf(PRESETS)] = "paper"
    """Sample counts: paper (those of the published studies) or fast."""
    data: Annotated[str | None, arg(metavar="PATH", help_behavior_hint="")] = None
    """The runs' data set, if it has moved; it must be the one that training used."""
    samples: Count = None
    """Random images to score runs on, instead of the preset's number."""
    test_samples: Count = None
    """Random images for the test rows, instead of the preset's number."""
    set: Annotated[tuple[str, ...], arg(metavar="METRIC.OPTION=VALUE ...", help_behavior_hint="")] = ()
    """Options of metrics, such as mig.bins=30."""
    bin_factors: Count = None
    """Bin continuous factors into this many classes of equal counts, for metrics that need classes."""
    seed: int = 0
    """Seed of the random images and of the metrics."""
    replicates: Count = None
    """Half-samples for an interval, instead of each metric's default."""
    codes: Files = ()
    """Codes (n, d) in two or more .npy, .csv, .parquet or .npz files, instead of runs; the same samples in order."""
    factors: File = None
    """Their factors (n, k); without them, only metrics that need no labels are compared."""
    test_codes: Files = ()
    """Codes of test rows, for metrics that fit a predictor: one file for each of --codes, in the same order."""
    test_factors: File = None
    """Their factors."""
    out: File = None
    """Write a page with plots of all differences (.html), or the table (.csv or .parquet)."""
    plugin: Plugins = ()
    """Load methods, nets, metrics and data sets from a Python file or module."""
    json: Flag = False
    """Print one JSON object instead of a table."""

    def __post_init__(self) -> None:
        refuse_below(0, seed=self.seed)
        refuse_below(2, samples=self.samples, test_samples=self.test_samples, replicates=self.replicates)
        refuse_below(2, bin_factors=self.bin_factors)
        refuse_commas(self.metrics)
        if self.out is not None and self.out.is_dir():
            raise UsageError(f"'{self.out}' is a folder; name a page, such as {self.out / 'compare.html'}")
        if self.out is not None and not self.draws:
            if self.out.suffix.lower() not in TABLES:
                raise UsageError(f"write a comparison to a .html, .csv or .parquet file, not to '{self.out}'")
            check_scores_path(self.out)

    @property
    def draws(self) -> bool:
        """Whether to draw a page."""
        return self.out is not None and self.out.suffix.lower() == ".html"

    @property
    def settings(self) -> dict[str, Any]:
        """The settings of the comparison, as arguments of `unweave.compare`."""
        return {
            "metrics": self.metrics or "all",
            "preset": self.preset,
            "options": read_settings(self.set),
            "bin_factors": self.bin_factors,
            "seed": self.seed,
            "replicates": self.replicates,
        }


def compare(words: list[str]) -> None:
    """Run `unweave compare`."""
    options = parse(Compare, words, "compare")
    finished: list[polars.DataFrame] = []
    try:
        with _noted() as notes:
            facts = _compare_runs(options, finished) if options.runs else compare_files(options, finished)
    except BaseException:  # an interrupt too: what is finished is not lost
        if finished:
            print(_shown(options, _rows(finished)))
        raise
    if options.out is not None:
        _write(options, options.out, finished, facts, notes)
    print(_shown(options, _rows(finished)))
    if not options.json:
        print(f"\n{SEEDS}\n\nnext: {_next(options)}")


def _write(
    options: Compare,
    out: Path,
    finished: Sequence[polars.DataFrame],
    facts: Mapping[str, Mapping[str, object]],
    notes: Sequence[str],
) -> None:
    """Write the page or the table, depending on the file's suffix."""
    import polars

    from unweave.report.compare import write_comparison

    with writing(out):
        if options.draws:
            write_comparison(polars.concat(finished), out, facts, notes)
        else:
            write_scores(polars.concat(finished), out)


@contextmanager
def _noted() -> Iterator[list[str]]:
    """Show warnings, and also keep them for the page."""
    notes: list[str] = []
    show = warnings.showwarning

    def keep(message: Warning | str, *where: Any, **more: Any) -> None:
        notes.append(str(message))
        show(message, *where, **more)

    warnings.showwarning = keep
    try:
        yield notes
    finally:
        warnings.showwarning = show


def _compare_runs(options: Compare, finished: list[polars.DataFrame]) -> dict[str, dict[str, object]]:
    """Compare runs, and return what the page says about each."""
    if options.codes or options.factors or options.test_codes or options.test_factors:
        raise UsageError("compare either runs or files: leave out the folders, or --codes and --factors")
    refuse_file(*options.runs)
    if len(options.runs) < 2:
        raise UsageError(f"one run is not enough: name two or more; {EXAMPLE}")
    from unweave import metrics
    from unweave.metrics.compare import short_names
    from unweave.runs import Run

    refuse_twice(options.runs)
    opened = [Run.open(options.runs[0], data=options.data)]
    shared = opened[0].data if options.data else None  # read once
    opened += [Run.open(folder, data=shared) for folder in options.runs[1:]]
    runs = dict(zip(short_names(options.runs), opened, strict=True))
    metrics.compare(
        runs,
        **options.settings,
        samples=options.samples,
        test_samples=options.test_samples,
        on_result=finished.append,
    )
    return {name: _facts(run) for name, run in runs.items()}


def _facts(run: Run) -> dict[str, object]:
    """Return what the page says about a run."""
    method, data = run.config["method"], run.config["data"]
    training = run.settings.training
    step = f"{run.step:,}" if run.step == training.steps else f"{run.step:,} of {training.steps:,}"
    options = {f"data {key}": value for key, value in data.items() if key != "name"}
    fields = {key: value for key, value in method.items() if key != "name"}
    known = {"method": method["name"], **fields, "data": data["name"], **options}
    found = {**known, "steps": step, "seed": training.seed, "state": run.state, "run": run.id}
    said = {True: "yes", False: "no"}
    return {key: said[value] if isinstance(value, bool) else value for key, value in found.items()}


def _rows(finished: Sequence[polars.DataFrame]) -> list[dict[str, Any]]:
    return [row for part in finished for row in part.iter_rows(named=True)]


def _shown(options: Compare, rows: Sequence[Mapping[str, Any]]) -> str:
    """Return the differences as a table for each pair, or as JSON."""
    if options.json:
        compared = [str(path) for path in options.runs or options.codes]
        plain = [{**row, "options": json.loads(row["options"])} for row in rows]
        return to_json({"compared": compared, "differences": plain})
    pairs = dict.fromkeys((row["a"], row["b"]) for row in rows)
    return "\n\n".join(
        table([_line(row) for row in rows if (row["a"], row["b"]) == pair], [*map(_heading, pair), *NUMBERS])
        for pair in pairs
    )


def _line(row: Mapping[str, Any]) -> dict[str, str]:
    """Return a row of the table, with the values in columns named after the runs."""
    values = {_heading(row[name]): _decimals(row[f"value_{name}"]) for name in ("a", "b")}
    numbers = {name: _decimals(row[name], sign="+") for name in NUMBERS}
    verdict = (row["better"] or "differs") if row["differs"] else "–"
    return {"metric": row["metric"], **values, **numbers, "better": verdict}


def _heading(name: str) -> str:
    """Return the column heading for a run, in quotes if its name is that of another column."""
    return f"'{name}'" if name in ("metric", *NUMBERS, "better") else name


def _decimals(value: float | None, sign: str = "") -> str:
    return f"{value:{sign}.3f}" if value is not None and isfinite(value) else "–"


def _next(options: Compare) -> str:
    if options.draws:
        return f"open {options.out} in a browser"
    return f"unweave report {run_words(options.runs[-1], options.data)}" if options.runs else "unweave metrics list"
