"""The sentences of a study's page: what was run, how long it took, on which machine."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import polars

from unweave.origins import plugin_words
from unweave.report.study.cells import setting
from unweave.report.study.seen import Seen
from unweave.report.style import number
from unweave.study.analysis import FEW_SEEDS
from unweave.text import memory, pairs

LISTED = 8
"""With more values than this, only their number is given."""


def what_was_run(seen: Seen) -> str:
    """Return the paragraph at the top: how many runs of what."""
    cells = seen.runs.select("data", ".cell").n_unique()
    steps = sorted(set(seen.runs[".steps"]))
    trained = f"{number(steps[0])} steps" if len(steps) == 1 else f"{number(steps[0])} to {number(steps[-1])} steps"
    asked = seen.study.plan.scoring.metrics
    scored = f"and scored by {listed(asked, 'metrics')}" if asked else "and not scored: the study names no metrics"
    kept = (
        f" after {listed(map(number, seen.study.plan.snapshots))} steps and at the end"
        if seen.study.plan.snapshots
        else ""
    )
    return (
        f"{counted(len(seen.runs), 'run')} of {counted(cells, 'cell')} on {listed(seen.data, 'data sets')}: "
        f"{'; '.join(_method(seen, name) for name in seen.methods)}. "
        f"{_replicates(seen)}, each trained for {trained} {scored}{kept}."
    )


def _method(seen: Seen, method: str) -> str:
    """Return a method with the values of its settings that differ."""
    rows = seen.runs.filter(method=method)
    told = []
    for name in seen.settings:
        values = rows[name].drop_nulls().unique(maintain_order=True).to_list()
        if len(values) > 1:
            told.append(f"{name} {listed(map(setting, values))}")
    return f"{method} with {' and '.join(told)}" if told else method


def _replicates(seen: Seen) -> str:
    """Return how many seeds cells have, and which ones."""
    counts = sorted(set(seen.runs.group_by("data", ".cell").len()["len"]))
    many = counted(counts[0], "seed") if len(counts) == 1 else f"{counts[0]} to {counts[-1]} seeds"
    return f"Every cell has {many} ({seeds(seen.runs['seed'].to_list())})"


def seeds(values: Iterable[int]) -> str:
    """Return seeds as text, with consecutive ones as a range.

    >>> seeds([0, 1, 2, 3, 7]), seeds([4, 5])
    ('0–3, 7', '4, 5')
    """
    ordered = sorted(set(values))
    groups: list[list[int]] = [[ordered[0]]]
    for before, value in pairwise(ordered):
        if value == before + 1:
            groups[-1].append(value)
        else:
            groups.append([value])
    texts = [f"{group[0]}–{group[-1]}" if len(group) > 2 else ", ".join(map(str, group)) for group in groups]
    return ", ".join(texts)


def state(seen: Seen) -> str:
    """Return what is not done yet, or an empty text."""
    counts = seen.runs[".state"].value_counts()
    found = dict(counts.iter_rows())
    parts = [
        f"{number(found[name])} {'is' if found[name] == 1 else 'are'} {word}"
        for name, word in (("running", "running"), ("todo", "to do"))
        if found.get(name)
    ]
    if failed := found.get("failed", 0):
        parts.append(f"{number(failed)} failed")
    if not parts:
        return ""
    done = found.get("done", 0)
    return f"{number(done)} of {counted(len(seen.runs), 'run')} {'is' if done == 1 else 'are'} done; {listed(parts)}."


def few_seeds(seen: Seen) -> str:
    """Return a note if a study has too few seeds for intervals, or an empty text."""
    most = seen.runs.group_by("data", ".cell").len()["len"].max()
    if not isinstance(most, int) or most >= FEW_SEEDS:
        return ""
    return f"Cells have fewer than {FEW_SEEDS} seeds: there are points and means, but no intervals and no comparison."


def how_it_was_made(seen: Seen) -> list[tuple[str, str]]:
    """Return names and values: command, time, versions, machines, seeds, scoring."""
    scoring = seen.study.plan.scoring
    counts = {"samples": scoring.samples, "test_samples": scoring.test_samples, **scoring.settings}
    settings = {name: value for name, value in counts.items() if value is not None}
    return [
        ("command", command(seen)),
        ("training", f"{duration(seen.seconds)}, summed over runs" if seen.seconds else "no time recorded"),
        *([("wall time", _wall(seen.sessions))] if seen.sessions else []),
        ("hardware", _all_of(seen, "machine", _machine)),
        (
            "versions",
            _all_of(seen, "versions", lambda found: ", ".join(f"{name} {value}" for name, value in found.items())),
        ),
        ("seeds", seeds(seen.runs["seed"].to_list())),
        ("metrics", ", ".join(scoring.metrics) or "none"),
        *([("scoring", pairs(settings))] if settings else []),
    ]


def command(seen: Seen) -> str:
    """Return the command that runs the study again, or does what is missing."""
    files = [session["file"] for session in seen.sessions if session.get("file")]
    if not files:
        return f"unweave.Study.open({str(seen.study.path)!r}).run()"
    workers = seen.sessions[-1].get("workers")
    words = ["unweave", "study", "run", str(files[-1]), "--out", str(seen.study.path)]
    words += ["--workers", str(workers)] if workers else []
    return shlex.join(words) + plugin_words(seen.study.plan.plugins)


def _wall(sessions: Sequence[Mapping[str, Any]]) -> str:
    seconds = sum(float(session.get("seconds", 0)) for session in sessions)
    last = sessions[-1]
    workers = f", {counted(int(last['workers']), 'worker')}" if last.get("workers") else ""  # clusters have their own
    how = f"{last.get('engine', 'local')}{workers}"
    several = f" in {len(sessions)} sessions" if len(sessions) > 1 else ""
    return f"{duration(seconds)}{several} ({how})"


def _machine(found: Mapping[str, Any]) -> str:
    machine = found.get("machine") or {}
    parts = [str(machine["cpu"])] if "cpu" in machine else []
    parts += [counted(int(machine["cores"]), "core")] if "cores" in machine else []
    parts += [memory(int(machine["memory"]))] if "memory" in machine else []
    parts += [str(found["device"])] if found.get("device") not in (None, "cpu") else []
    parts += [f"{counted(int(found['threads']), 'thread')} per run"] if found.get("threads") else []
    return ", ".join(parts)


def _all_of(seen: Seen, column: str, text: Any) -> str:
    """Return what the runs recorded, with the number of runs if they differ."""
    found = [(text(value), count) for value, count in seen.recorded(column)]
    found = [(value, count) for value, count in found if value]
    if len(found) < 2:
        return found[0][0] if found else "not recorded"
    return "; ".join(f"{value} ({counted(count, 'run')})" for value, count in found)


def duration(seconds: float) -> str:
    """Return a duration as text.

    >>> duration(42), duration(600), duration(9000)
    ('42 s', '10 min', '2.5 h')
    """
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:,.1f} h"


def counted(count: int, noun: str) -> str:
    """Return a number with its noun.

    >>> counted(1, "run"), counted(2000, "run")
    ('1 run', '2,000 runs')
    """
    return f"{number(count)} {noun}{'' if count == 1 else 's'}"


def listed(texts: Iterable[str], noun: str = "values") -> str:
    """Return texts as a list in a sentence, or only their number if there are many.

    >>> listed(["a"]), listed("ab"), listed("abc"), listed("abcdefghi", "letters")
    ('a', 'a and b', 'a, b and c', '9 letters')
    """
    found = list(texts)
    if len(found) > LISTED:
        return f"{len(found)} {noun}"
    return " and ".join(filter(None, [", ".join(found[:-1]), found[-1]])) if found else ""


def of_one_data_set(table: polars.DataFrame, data: str) -> polars.DataFrame:
    """Return the rows of a data set."""
    return table.filter(polars.col("data") == data)
