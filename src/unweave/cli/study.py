"""`unweave study …`: train and score many runs from one file."""

from __future__ import annotations

import shlex
import time
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any, Literal

from tyro.conf import Positional, arg

from unweave.cli.mistakes import writing
from unweave.cli.parsing import Flag, Plugins, parse, refuse_below
from unweave.errors import UsageError
from unweave.origins import plugin_words
from unweave.progress import Bar, print_above
from unweave.study import Outcome, Status, Study
from unweave.study.engines.table import ENGINES
from unweave.study.integrity import is_trained
from unweave.text import to_json

SIGNS = {"done": "█", "running": "▒", "failed": "×", "todo": "·"}
"""A run in the picture of `study status`."""
MANY = 10
"""Up to this number, new and removed cells are named."""


@dataclass(frozen=True)
class Run:
    """Run a study: train and score every combination of data set, method, settings and seed that the file names.

    The same command continues an interrupted study; finished runs are not repeated.
    """

    file: Annotated[Positional[Path], arg(metavar="FILE")]
    """The study as a TOML file."""
    out: Annotated[Path | None, arg(metavar="FOLDER", help_behavior_hint="(default: studies/ and the file's name)")] = (
        None
    )
    """The study's folder."""
    engine: Literal["local", "ray", "slurm"] = "local"
    """Where to run: local processes, tasks on a Ray cluster, or arrays of Slurm jobs."""
    workers: Annotated[int | None, arg(metavar="N", help_behavior_hint="(default: the number of cores)")] = None
    """Number of runs at a time, each with one thread; on a cluster by default as many as fit."""
    redo: Annotated[tuple[str, ...], arg(metavar="WHAT ...", help_behavior_hint="(default: nothing)")] = ()
    """Run again: failed, stale (made by another version), or cells and runs by name. Old runs are moved aside."""
    stop_on_failure: Flag = False
    """Start no further run after one has failed."""
    device: str = "auto"
    """auto, cpu, cuda or mps."""
    cpus: Annotated[float | None, arg(metavar="N", help_behavior_hint="(default: 1)")] = None
    """ray, slurm: CPUs per run; a run uses as many threads."""
    gpus: Annotated[float | None, arg(metavar="N", help_behavior_hint="(default: 0)")] = None
    """ray, slurm: GPUs per run; with ray also a fraction of one."""
    address: Annotated[
        str | None, arg(metavar="HOST:PORT", help_behavior_hint="(default: a cluster is started here)")
    ] = None
    """ray: address of the cluster; auto: the cluster on this machine."""
    shared: Flag = True
    """ray: nodes do not see the study's folder; runs are returned through Ray's object store."""
    partition: Annotated[str | None, arg(metavar="NAME", help_behavior_hint="(default: Slurm's own)")] = None
    """slurm: the partition."""
    account: Annotated[str | None, arg(metavar="NAME", help_behavior_hint="(default: your own)")] = None
    """slurm: the account."""
    time: Annotated[int | None, arg(metavar="MINUTES", help_behavior_hint="(default: 60)")] = None
    """slurm: time limit of a job; a run that needs longer continues in another job."""
    memory: Annotated[float | None, arg(metavar="GB", help_behavior_hint="(default: Slurm's own)")] = None
    """slurm: memory per run."""
    sbatch: Annotated[tuple[str, ...], arg(metavar="NAME=VALUE ...", help_behavior_hint="(default: none)")] = ()
    """slurm: further options of sbatch."""
    executor: Annotated[str | None, arg(metavar="slurm|local", help_behavior_hint="(default: slurm)")] = None
    """slurm: local starts the jobs as local processes, to try a study out."""
    plugin: Plugins = ()
    """Load methods, nets, metrics and data sets from a Python file or module."""
    json: Flag = False
    """Print one JSON object instead of text."""

    def __post_init__(self) -> None:
        refuse_below(1, workers=self.workers)

    def engine_options(self) -> dict[str, Any]:
        """Return the engine options that are given."""
        names = {spec.name for kind in ENGINES.values() for spec in fields(kind)}
        given = {spec.name: getattr(self, spec.name) for spec in fields(self) if spec.name in names}
        return {name: value for name, value in given.items() if value != getattr(Run, name)}


def run(words: list[str]) -> None:
    """Run `unweave study run`."""
    options = parse(Run, words, "study run")
    study = Study.read(options.file, options.out)
    if not options.json:
        print(*opening(study, options.redo), sep="\n", flush=True)
    failures: list[Outcome] = []

    def on_result(outcome: Outcome) -> None:
        if outcome.kind == "failed":
            if not failures and not options.json:
                print_above(f"{outcome.name} failed: {outcome.summary}")
            failures.append(outcome)

    start = time.perf_counter()
    try:
        with Bar("runs", unit=" runs") as bar, writing(study.path):
            status = study.run(
                engine=options.engine,
                workers=options.workers,
                redo=options.redo,
                stop_on_failure=options.stop_on_failure,
                device=options.device,
                on_progress=bar,
                on_result=on_result,
                **options.engine_options(),
            )
    except KeyboardInterrupt as stop:
        counts = study.status().counts
        left = f"{counts['done']} done, {counts['failed']} failed, {counts['todo']} to do"
        raise KeyboardInterrupt(f"stopped: {left}; the same command continues from the last checkpoints") from stop
    if options.json:
        return print(to_json(_facts(study, status)))
    print(*_closing(study, status, time.perf_counter() - start), sep="\n")


def opening(study: Study, redo: Sequence[str]) -> list[str]:
    """Return the numbers of runs, and which cells were added or removed since the last time."""
    lines = []
    status = study.status()
    counts = status.counts
    if (found := study.changes()) is not None:
        lines += _listed("new in the file: ", found.added, study.labels())
        if found.removed:
            lines += _listed("no longer in the file: ", found.removed, Study.open(study.path).labels())
            lines.append(f"runs that are no longer in the file stay in '{study.path}'")
    left = "" if counts["todo"] or counts["running"] or redo else "; nothing to do"
    lines.append(f"{len(study.plan.tasks):,} runs: {_counted(counts)}{_reused(study, status)}{left}")
    return lines


def _reused(study: Study, status: Status) -> str:
    """Return how many of the runs to do are already trained and lack only scores."""
    todo = [task for task in study.plan.tasks if status.states[task.name] == "todo"]
    trained = sum(is_trained(study.folder.run_of(task)) for task in todo)
    return f" ({trained:,} of them need only scores)" if trained else ""


def _listed(what: str, cells: Sequence[str], labels: dict[str, str]) -> list[str]:
    """Return a line for each of the first cells, and how many more there are."""
    lines = [f"{what}{labels[cell]}" for cell in cells[:MANY]]
    return [*lines, f"{what}{len(cells) - MANY:,} more"] if len(cells) > MANY else lines


def _counted(counts: dict[str, int]) -> str:
    names = {"done": "done", "running": "running", "failed": "failed", "todo": "to do"}
    return ", ".join(
        f"{counts[state]:,} {name}" for state, name in names.items() if counts[state] or state != "running"
    )


def _closing(study: Study, status: Status, seconds: float) -> list[str]:
    """Return what was done, and the next command."""
    words = shlex.quote(str(study.path)) + plugin_words(study.plan.plugins)
    lines = [f"{_counted(status.counts)}, after {seconds:,.1f} s"]
    if failed := [task for task in study.plan.tasks if status.states[task.name] == "failed"]:
        first = study.folder.failure_of(failed[0])
        lines.append(f"{len(failed)} failed; the first one: {study.folder.failure(failed[0])} (see {first})")
        lines.append(f"try them again: unweave study run … --redo failed, or see: unweave study status {words}")
    if left := status.counts["todo"]:
        lines.append(f"{left} stopped or were cancelled; the same command continues them")
    following = "report" if status.counts["done"] else "status"
    return [*lines, "", f"next: unweave study {following} {words}"]


@dataclass(frozen=True)
class Show:
    """Show which runs of a study are done, running, failed or to do, the rate and the time left."""

    study: Annotated[Positional[Path], arg(metavar="FOLDER")]
    """The study's folder."""
    watch: Flag = False
    """Refresh every two seconds until all is done."""
    plugin: Plugins = ()
    """Load methods, nets, metrics and data sets from a Python file or module."""
    json: Flag = False
    """Print one JSON object instead of text."""


def status(words: list[str]) -> None:
    """Run `unweave study status`."""
    options = parse(Show, words, "study status")
    study = Study.open(options.study)
    while True:
        found = study.status()
        text = to_json(_facts(study, found)) if options.json else "\n".join(_picture(study, found))
        print(f"\033[H\033[J{text}" if options.watch and not options.json else text, flush=True)
        if not options.watch or not (found.counts["todo"] or found.counts["running"]):
            return
        time.sleep(2)


def _facts(study: Study, status: Status) -> dict[str, Any]:
    """Return the state of a study, for JSON."""
    failures = {
        task.name: study.folder.failure(task) for task in study.plan.tasks if status.states[task.name] == "failed"
    }
    return {
        "study": str(study.path),
        "runs": len(study.plan.tasks),
        **status.counts,
        "driver": status.driver or None,
        "runs_per_hour": status.rate,
        "hours_left": status.hours_left,
        "failures": failures,
    }


def _picture(study: Study, status: Status) -> list[str]:
    """Return cells × seeds: one line per cell, one sign per seed."""
    labels = study.labels()
    width = max(map(len, labels.values()))
    lines = [
        f"{labels[cell].ljust(width)}  {''.join(SIGNS[status.states[task.name]] for task in tasks)}"
        for cell, tasks in study.plan.cells().items()
    ]
    legend = "  ".join(f"{sign} {name}" for name, sign in SIGNS.items()).replace("todo", "to do")
    lines += ["", legend, f"{len(study.plan.tasks):,} runs: {_counted(status.counts)}"]
    if status.driver:
        workers = f"{status.driver['workers']} workers" if status.driver["workers"] else status.driver["engine"]
        who = f"process {status.driver['pid']} on {status.driver['host']}, {workers}"
        lines.append(f"being run by {who}, since {status.driver['since']}")
    if status.rate and status.hours_left is not None:
        lines.append(f"{status.rate:,.0f} runs per hour; {_time(status.hours_left)} left")
    return lines + _failures(study, status)


def _failures(study: Study, status: Status) -> list[str]:
    failed = [task for task in study.plan.tasks if status.states[task.name] == "failed"]
    lines = [f"{task.name}: {study.folder.failure(task)}" for task in failed[:5]]
    if len(failed) > 5:
        lines.append(f"… and {len(failed) - 5} more, in {study.path / 'failures'}")
    return ["", *lines] if lines else []


def _time(hours: float) -> str:
    return f"{hours:.1f} hours" if hours >= 1.5 else f"{60 * hours:.0f} minutes" if hours > 1 / 60 else "a minute"


@dataclass(frozen=True)
class Write:
    """Write all scores of a study as one table: run, data, method, differing settings, seed, step, metric, value …"""

    study: Annotated[Positional[Path], arg(metavar="FOLDER")]
    """The study's folder."""
    out: Annotated[Path, arg(metavar="FILE")]
    """The table to write: .csv or .parquet."""


def table(words: list[str]) -> None:
    """Run `unweave study table`."""
    options = parse(Write, words, "study table")
    if options.out.suffix not in (".csv", ".parquet"):
        raise UsageError(f"--out must be a .csv or .parquet file, not '{options.out}'")
    from unweave.files import write_atomically
    from unweave.tables import write_table

    scores = Study.open(options.study).scores()
    with writing(options.out):
        if options.out.suffix == ".csv":
            write_atomically(options.out, scores.write_csv().encode())
        else:
            write_table(options.out, scores)
    print(f"{options.out}: {len(scores):,} scores of {scores['run'].n_unique():,} runs")


@dataclass(frozen=True)
class Draw:
    """Draw the page of a study: plots, means over seeds, which cells differ, runs. One file, with all plots inside."""

    study: Annotated[Positional[Path], arg(metavar="FOLDER")]
    """The study's folder."""
    out: Annotated[Path | None, arg(metavar="FILE", help_behavior_hint="(default: report.html in the folder)")] = None
    """The page to write."""
    plugin: Plugins = ()
    """Load methods, nets, metrics and data sets from a Python file or module."""


def report(words: list[str]) -> None:
    """Run `unweave study report`."""
    options = parse(Draw, words, "study report")
    study = Study.open(options.study)
    with Bar("drawing the page"), writing(options.out or options.study):
        page = study.report(options.out)
    counts = study.status().counts
    left = counts["todo"] + counts["running"] + counts["failed"]
    notes = [f"{len(study.plan.tasks):,} runs: {_counted(counts)}"] if left else []
    following = f"next: open {page.path} in a browser; all scores as a table: unweave study table"
    print(page.path, *notes, f"\n{following} {shlex.quote(str(study.path))} --out scores.csv", sep="\n")
