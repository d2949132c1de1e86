"""The comparison of all methods, in parts: `python benchmarks/comparison.py run --part 1/4`.

    python benchmarks/comparison.py cost
    python benchmarks/comparison.py run --part 1/4 --out studies/comparison-1
    python benchmarks/comparison.py store studies/comparison-1 others.parquet

examples/studies/comparison.toml defines every run. A part is every fourth run, so each machine can take another one.
After an interruption the same command continues from the checkpoints. Runs whose scores are in
docs/results/comparison.parquet are not run again. `store` merges the scores of finished runs into that file, from
folders of studies and from such files of other machines, in any order, and writes docs/choose-a-method.md and
docs/results/comparison.md (`comparison_docs.py`). Stored runs do not change; those that the plan no longer has are
dropped. `cost` estimates the training time here from a few steps of each method.
"""

from __future__ import annotations

import argparse
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import comparison_docs
import polars

from unweave.errors import UsageError
from unweave.study import Study
from unweave.study.folder import StudyFolder, read_scored
from unweave.study.grid import read_grid
from unweave.study.plan import Plan
from unweave.study.table import read_records
from unweave.tables import read_table, write_table

TOP = Path(__file__).parents[1]
FILE = TOP / "examples" / "studies" / "comparison.toml"
STORE = TOP / "docs" / "results" / "comparison.parquet"
COLUMNS = {
    "run": polars.String,
    "metric": polars.String,
    "value": polars.Float64,
    "seconds": polars.Float64,
    "machine": polars.String,
    "versions": polars.String,
}
"""One row per score: the name of its run, which ends in the identity, and the time, machine and versions."""


@cache
def plan_of(file: Path = FILE) -> Plan:
    """Return every run of the comparison."""
    return read_grid(file).plan()


def part_of(plan: Plan, part: str, stored: Iterable[str] = ()) -> Plan:
    """Return the runs of a part, such as "2/4", without those that are stored.

    Parts take turns, and with each seed another one begins: a part would otherwise get the same cells for every seed.
    """
    number, _, parts = part.partition("/")
    if not (number.isdigit() and parts.isdigit() and 1 <= int(number) <= int(parts)):
        raise SystemExit(f"a part is written 1/4, not {part!r}")
    known = set(stored)
    ours = [task for place, task in enumerate(plan.tasks) if (place + task.seed) % int(parts) == int(number) - 1]
    return replace(plan, tasks=tuple(task for task in ours if task.name not in known))


def read(path: Path = STORE) -> polars.DataFrame:
    """Return the stored scores."""
    return read_table(path) if path.is_file() else polars.DataFrame(schema=COLUMNS)


def scores_of(folder: Path, plan: Plan, wanted: Collection[str] = tuple(comparison_docs.TITLES)) -> polars.DataFrame:
    """Return the wanted scores of the runs that a study has scored; null if a score does not apply to a run."""
    keys = plan.wanted().items()
    scored = [
        task.name
        for task in plan.tasks
        if keys <= read_scored(folder / "runs" / task.name).get(str(task.config["training"]["steps"]), {}).items()
    ]
    records = read_records(folder / "runs", cache=False)
    runs = records.runs.filter(polars.col("run").is_in(scored))
    if not len(runs) or not len(records.scores):
        return polars.DataFrame(schema=COLUMNS)
    every = runs.join(polars.DataFrame({"metric": list(wanted)}), how="cross")
    scores = records.scores.unique(["run", "metric"], keep="last", maintain_order=True)
    found = every.join(scores.select("run", "metric", "value"), on=["run", "metric"], how="left")
    return found.select(polars.col(name).cast(kind) for name, kind in COLUMNS.items())


def read_scores(path: Path) -> polars.DataFrame:
    """Return the scores in a file that `store` wrote elsewhere, without runs that lack some."""
    table = read_table(path)
    if absent := COLUMNS.keys() - set(table.columns):
        raise SystemExit(f"'{path}' has no column {', '.join(sorted(absent))}; it is not a file of stored scores")
    try:
        table = table.select(polars.col(name).cast(kind) for name, kind in COLUMNS.items())
    except polars.exceptions.PolarsError:
        raise SystemExit(f"the columns of '{path}' are not those of stored scores") from None
    table = table.filter(polars.col("metric").is_in(list(comparison_docs.TITLES)))
    table = table.unique(["run", "metric"], keep="first", maintain_order=True)
    return table.filter(polars.col("metric").n_unique().over("run") == len(comparison_docs.TITLES))


def names_of(plan: Plan) -> list[str]:
    """Return the names of a plan's runs."""
    return [task.name for task in plan.tasks]


def merged(old: polars.DataFrame, *more: polars.DataFrame) -> polars.DataFrame:
    """Return tables of scores as one, sorted; if two tables have the same run, the first counts."""
    for table in more:
        old = polars.concat([old, table.select(old.columns).join(old, on="run", how="anti")])
    return old.sort("run", "metric")


def store(sources: Iterable[Path], path: Path = STORE) -> polars.DataFrame:
    """Merge the scores of studies, and of files that `store` wrote elsewhere, into the stored ones; return all."""
    plan = plan_of()
    sources = list(sources)
    if absent := [str(source) for source in sources if not source.exists()]:
        raise SystemExit(f"there is no file or folder {', '.join(absent)}")
    tables = [read_scores(source) if source.is_file() else scores_of(source, plan) for source in sources]
    table = merged(read(path), *tables).filter(polars.col("run").is_in(names_of(plan)))
    if wrong := table.filter(~polars.col("value").is_finite())["run"].unique().sort().to_list():
        raise SystemExit(f"a score of {wrong[0]} is not finite; nothing is stored")
    write_table(path, table)
    return table


def run(part: str, out: Path, workers: int | None) -> None:
    """Run the missing runs of a part."""
    todo = part_of(plan_of(), part, read()["run"])
    if not todo.tasks:
        return print(f"all runs of part {part} are stored")
    StudyFolder(out).write_plan(todo)
    study = Study.open(out)
    print(f"{len(todo.tasks)} runs of part {part} are not stored: {study.status().counts}", flush=True)
    print(
        study.run(
            workers=workers, on_result=lambda outcome: print(outcome.name, outcome.kind, outcome.summary, flush=True)
        ).counts
    )
    return None


def cost() -> None:
    """Print how long the training of all runs would take here on one core."""
    from unweave.reproduce.study_cost import training_seconds

    plan = plan_of()
    first = replace(plan, tasks=tuple(task for task in plan.tasks if task.seed == 0))
    seconds = training_seconds(first)
    seeds = len(plan.tasks) / len(first.tasks)
    for data in dict.fromkeys(task.config["data"]["name"] for task in first.tasks):
        hours = sum(seconds[task.name] for task in first.tasks if task.config["data"]["name"] == data) / 3600
        print(f"{data}: {hours:.1f} hours per seed")
    total = sum(seconds.values()) * seeds / 3600
    print(f"{len(plan.tasks)} runs: training takes about {total:.0f} hours on one core; scoring comes on top")


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("cost", help="how long training would take here")
    some = commands.add_parser("run", help="run the missing runs of a part")
    some.add_argument("--part", default="1/1", help="which part of how many, such as 1/4")
    some.add_argument("--out", type=Path, default=Path("studies/comparison"), help="the folder of this part")
    some.add_argument("--workers", type=int, help="runs at a time; by default the number of cores")
    more = commands.add_parser("store", help="merge scores into the stored ones, and write the pages")
    more.add_argument("sources", nargs="*", type=Path, help="folders of studies, and files of scores")
    options = parser.parse_args(words)
    if options.command == "cost":
        return cost()
    if options.command == "run":
        return run(options.part, options.out, options.workers)
    before = read()["run"].n_unique()
    table = store(options.sources)
    comparison_docs.write(table, plan_of())
    after = table["run"].n_unique()
    print(f"{after} runs are stored, of {len(plan_of().tasks)}; {after - before:+} by this command")
    return None


if __name__ == "__main__":
    try:
        main()
    except UsageError as error:
        raise SystemExit(str(error)) from None
