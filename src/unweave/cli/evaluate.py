"""`unweave evaluate`: scores of a run, or of codes and factors in files."""

from __future__ import annotations

import json
import shlex
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from tyro.conf import Positional, arg

from unweave.cli.arrays import read_array
from unweave.cli.manners import waiting, writing
from unweave.cli.parsing import Flag, parse, refuse_negative
from unweave.errors import UsageError
from unweave.text import table, to_json

if TYPE_CHECKING:
    import polars

File = Annotated[Path | None, arg(metavar="FILE", help_behavior_hint="")]


@dataclass(frozen=True)
class Evaluate:
    """Score a run on random images of its data set, or score codes and factors of your own.

    Each score comes with its 95 % interval. Those of a run are saved in its folder too.
    """

    run: Annotated[Positional[Path | None], arg(metavar="RUN", help_behavior_hint="")] = None
    """The run's folder."""
    metrics: Annotated[tuple[str, ...], arg(metavar="NAME ...", help_behavior_hint="(default: all)")] = ()
    """The metrics to compute; unweave metrics list names them."""
    samples: int = 10_000
    """Random images to score a run on."""
    seed: int = 0
    """Seed of the random images and of the metrics."""
    intervals: Flag = True
    """Leave out the intervals, which is quicker."""
    codes: File = None
    """Codes (n, d) in a .npy or .csv file, instead of a run."""
    factors: File = None
    """Their factors (n, k), whole numbers."""
    test_codes: File = None
    """Codes to test on, for the metrics that train a classifier."""
    test_factors: File = None
    """Their factors."""
    json: Flag = False
    """Print one JSON object instead of a table."""

    def __post_init__(self) -> None:
        refuse_negative(seed=self.seed, samples=self.samples)


def evaluate(words: list[str]) -> None:
    """Run `unweave evaluate`."""
    options = parse(Evaluate, words, "evaluate")
    scores = _of_run(options, options.run) if options.run else _of_files(options)
    rows = [{**row, "options": json.loads(row["options"])} for row in scores.iter_rows(named=True)]
    if options.json:
        return print(to_json({"run": options.run and str(options.run), "scores": rows}))
    following = f"unweave report {shlex.quote(str(options.run))}" if options.run else "unweave metrics list"
    numbers = ("value", "low", "high", "seconds")
    texts = [{"metric": row["metric"], **{name: _decimals(row[name]) for name in numbers}} for row in rows]
    print(table(texts, numbers), f"\nnext: {following}", sep="\n")


def _of_run(options: Evaluate, folder: Path) -> polars.DataFrame:
    if options.codes or options.factors or options.test_codes or options.test_factors:
        raise UsageError("score either a run or files: leave out the folder, or --codes and --factors")
    from tqdm import tqdm

    from unweave.runs import Run

    run = Run.open(folder)
    with tqdm(unit=" images", leave=False, disable=None) as bar, writing(folder):

        def watch(done: int, total: int) -> None:
            bar.total = total
            bar.update(done - bar.n)
            bar.set_description("scoring" if done == total else "encoding")

        return run.evaluate(
            options.metrics or "all",
            samples=options.samples,
            seed=options.seed,
            intervals=options.intervals,
            watch=watch,
        )


def _of_files(options: Evaluate) -> polars.DataFrame:
    if not (options.codes and options.factors):
        raise UsageError("name a run first, or give --codes and --factors; for example: unweave evaluate runs/first")
    if bool(options.test_codes) != bool(options.test_factors):
        raise UsageError("--test-codes and --test-factors come together")
    from unweave import metrics

    codes, factors = read_array(options.codes), read_array(options.factors)
    test = None
    if options.test_codes and options.test_factors:
        test = read_array(options.test_codes), read_array(options.test_factors)
    with waiting("scoring"):
        return metrics.evaluate(
            codes, factors, options.metrics or "all", test=test, seed=options.seed, intervals=options.intervals
        )


def _decimals(value: float | None) -> str:
    return f"{value:.3f}" if value is not None and isfinite(value) else "–"
