"""`unweave evaluate`: scores of a run, or of codes and factors in files."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from tyro.conf import Positional, arg

from unweave.cli.arrays import read_array
from unweave.cli.manners import writing
from unweave.cli.parsing import Flag, parse, refuse_below
from unweave.errors import UsageError
from unweave.text import table, to_json

if TYPE_CHECKING:
    import polars

File = Annotated[Path | None, arg(metavar="FILE", help_behavior_hint="")]
Count = Annotated[int | None, arg(metavar="INT", help_behavior_hint="")]
Keep = Callable[["polars.DataFrame"], None]
"""Takes a metric's scores as soon as they are there."""
NUMBERS = ("value", "low", "high", "seconds")


@dataclass(frozen=True)
class Evaluate:
    """Score a run on random images of its data set, or score codes and factors of your own.

    Each score comes with its 95 % interval. Those of a run are saved in its folder too.
    """

    run: Annotated[Positional[Path | None], arg(metavar="RUN", help_behavior_hint="")] = None
    """The run's folder."""
    metrics: Annotated[tuple[str, ...], arg(metavar="NAME ...", help_behavior_hint="(default: all)")] = ()
    """The metrics to compute, or a group of them: all, study; unweave metrics list names them."""
    preset: str = "paper"
    """Sample counts: paper (those of the published studies) or fast."""
    samples: Count = None
    """Random images to score a run on, instead of the preset's."""
    test_samples: Count = None
    """Random images to judge on what was fitted, instead of the preset's."""
    set: Annotated[tuple[str, ...], arg(metavar="METRIC.OPTION=VALUE ...", help_behavior_hint="")] = ()
    """Options of metrics by hand, such as mig.bins=30."""
    label_noise: Count = None
    """A regime, 1 to 3, of noise on the factors before they are used."""
    seed: int = 0
    """Seed of the random images and of the metrics."""
    intervals: Flag = True
    """Leave out the intervals, which is quicker."""
    codes: File = None
    """Codes (n, d) in a .npy or .csv file, instead of a run."""
    factors: File = None
    """Their factors (n, k), whole numbers; without them, only what needs no labels is scored."""
    test_codes: File = None
    """Codes to test on, for the metrics that train a classifier."""
    test_factors: File = None
    """Their factors."""
    json: Flag = False
    """Print one JSON object instead of a table."""

    def __post_init__(self) -> None:
        refuse_below(0, seed=self.seed)
        refuse_below(2, samples=self.samples, test_samples=self.test_samples)
        if self.label_noise not in (None, 1, 2, 3):
            raise UsageError(f"--label-noise must be 1, 2 or 3, not {self.label_noise}")
        if any("," in name for name in self.metrics):
            names = " ".join(self.metrics).replace(",", " ").split()
            raise UsageError(f"names of metrics have spaces between them, not commas: --metrics {' '.join(names)}")


def evaluate(words: list[str]) -> None:
    """Run `unweave evaluate`."""
    options = parse(Evaluate, words, "evaluate")
    finished: list[dict[str, Any]] = []

    def keep(scores: polars.DataFrame) -> None:
        finished.extend(scores.iter_rows(named=True))

    try:
        _score_run(options, options.run, keep) if options.run else _score_files(options, keep)
    except BaseException:  # an interrupt too: what is finished is not lost
        if finished:
            print(_shown(options, finished))
        raise
    print(_shown(options, finished))
    if not options.json:
        following = f"unweave report {shlex.quote(str(options.run))}" if options.run else "unweave metrics list"
        print(f"\nnext: {following}")


def _shown(options: Evaluate, scores: Sequence[dict[str, Any]]) -> str:
    """Return the scores as a table, or as JSON."""
    if options.json:
        rows = [{**row, "options": json.loads(row["options"])} for row in scores]
        return to_json({"run": options.run and str(options.run), "scores": rows})
    texts = [{"metric": row["metric"], **{name: _decimals(row[name]) for name in NUMBERS}} for row in scores]
    return table(texts, NUMBERS)


def _score_run(options: Evaluate, folder: Path, keep: Keep) -> None:
    if options.codes or options.factors or options.test_codes or options.test_factors:
        raise UsageError("score either a run or files: leave out the folder, or --codes and --factors")
    from unweave.runs import Run

    run = Run.open(folder)
    with _watching() as watch, writing(folder):
        run.evaluate(
            options.metrics or "all",
            preset=options.preset,
            samples=options.samples,
            test_samples=options.test_samples,
            options=read_settings(options.set),
            label_noise=options.label_noise,
            seed=options.seed,
            intervals=options.intervals,
            watch=watch,
            keep=keep,
        )


def _score_files(options: Evaluate, keep: Keep) -> None:
    if not options.codes:
        raise UsageError("name a run first, or give --codes and --factors; for example: unweave evaluate runs/first")
    _refuse_without_effect(options)
    _refuse_beyond_files(options.metrics)
    from unweave import metrics

    codes = read_array(options.codes)
    factors = read_array(options.factors) if options.factors else None
    test = None
    if options.test_codes and options.test_factors:
        test = read_array(options.test_codes), read_array(options.test_factors)
    with _watching() as watch:
        metrics.evaluate(
            codes,
            factors,
            options.metrics or "all",
            test=test,
            preset=options.preset,
            options=read_settings(options.set),
            label_noise=options.label_noise,
            seed=options.seed,
            intervals=options.intervals,
            watch=watch,
            keep=keep,
        )


def _refuse_without_effect(options: Evaluate) -> None:
    """Refuse options that would change nothing in the scores of files."""
    if options.samples or options.test_samples:
        raise UsageError("--samples and --test-samples are for a run; of files, all rows are scored")
    if not options.factors and (options.label_noise or options.test_codes or options.test_factors):
        raise UsageError("--label-noise, --test-codes and --test-factors mean nothing without --factors")
    if bool(options.test_codes) != bool(options.test_factors):
        raise UsageError("--test-codes and --test-factors come together")


def _refuse_beyond_files(names: Sequence[str]) -> None:
    """Refuse metrics that need more than codes and factors, which is all that files hold."""
    from unweave.metrics import METRICS

    for name in names:
        if name in METRICS and (lacking := METRICS[name].missing({"codes": True, "means": True, "factors": True})):
            needs = " and ".join(dict.fromkeys(lacking))
            raise UsageError(f"the metric '{name}' needs {needs}; score a run instead: unweave evaluate RUN")


@contextmanager
def _watching() -> Iterator[Callable[[str, int, int], None]]:
    """Show on a terminal what is being done: images that are encoded, then one metric after another."""
    from tqdm import tqdm

    with tqdm(leave=False, disable=None) as bar:

        def watch(what: str, done: int, total: int) -> None:
            bar.total, bar.n = total, done
            bar.set_description(what)

        yield watch


def read_settings(words: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Return METRIC.OPTION=VALUE words as options of metrics; a value is JSON, or else a text.

    >>> read_settings(["mig.bins=30", "dci.learner=lasso"])
    {'mig': {'bins': 30}, 'dci': {'learner': 'lasso'}}
    """
    settings: dict[str, dict[str, Any]] = {}
    for word in words:
        name, _, value = word.partition("=")
        metric, _, option = name.partition(".")
        if not (metric and option and value):
            raise UsageError(f"--set takes METRIC.OPTION=VALUE, such as mig.bins=30, not '{word}'")
        chosen = settings.setdefault(metric, {})
        if option in chosen:
            raise UsageError(f"--set: {name} is given twice")
        try:
            chosen[option] = json.loads(value)
        except ValueError:
            chosen[option] = value
    return settings


def _decimals(value: float | None) -> str:
    return f"{value:.3f}" if value is not None and isfinite(value) else "–"
