"""`unweave reproduce …`: published results, computed again."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from tyro.conf import Positional, arg

from unweave.cli.mistakes import writing
from unweave.cli.parsing import Flag, parse, refuse_below
from unweave.fields import OneOf
from unweave.progress import Bar
from unweave.reproduce import RESULTS, Outcome, find, preset_of, reproduce
from unweave.reproduce.by_study import FOLDER as STUDY
from unweave.reproduce.parts import FOLDER
from unweave.text import table, to_json

PRESETS = ("smoke", "small", "paper")


@dataclass(frozen=True)
class List:
    """List the published results that can be reproduced."""

    json: Flag = False
    """Print one JSON object instead of a table."""


def list_all(words: list[str]) -> None:
    """Run `unweave reproduce list`."""
    options = parse(List, words, "reproduce list")
    kinds = {name: find(name) for name in RESULTS}
    rows = [
        {"name": name, "source": kind.source.replace("]_", "]"), "about": kind.summary} for name, kind in kinds.items()
    ]
    if options.json:
        presets = [list(kind.presets) for kind in kinds.values()]
        return print(to_json({"results": [row | {"presets": each} for row, each in zip(rows, presets, strict=True)]}))
    print(table(rows), f"\nnext: unweave reproduce {next(iter(RESULTS))} --preset smoke", sep="\n")


@dataclass(frozen=True)
class Reproduce:
    """Reproduce a published result, and show the published numbers next to ours.

    The outcome is saved as result.json and result.md, together with the figures. The same command continues after an
    interruption.
    """

    name: Annotated[Positional[str], OneOf(RESULTS), arg(metavar="NAME")]
    """The result; see unweave reproduce list."""
    preset: Annotated[str, OneOf(PRESETS)] = "small"
    """Scale: smoke (seconds), small, or paper (as published)."""
    setting: Annotated[str | None, arg(metavar="NAME", help_behavior_hint="")] = None
    """Which experiment, if a result has several: linear-gaussian has authors and clean."""
    seed: int = 0
    """Seed of everything random."""
    out: Annotated[
        Path | None, arg(metavar="FOLDER", help_behavior_hint="(default: runs/reproduce/NAME-[SETTING-]PRESET-SEED)")
    ] = None
    """The folder for the outcome."""
    workers: Annotated[int | None, arg(metavar="N", help_behavior_hint="(default: the number of cores)")] = None
    """Number of runs at a time, for a result that is a study."""
    dry_run: Flag = False
    """Print how many runs a study has and how long they would take, from a short measurement; run none."""
    json: Flag = False
    """Print one JSON object instead of a table."""

    def __post_init__(self) -> None:
        refuse_below(0, seed=self.seed)
        refuse_below(1, workers=self.workers)


def run(words: list[str]) -> None:
    """Run `unweave reproduce NAME`."""
    if {"-h", "--help"} & {*words} and words[0] in RESULTS:
        print(_about(words[0]))
    options = parse(Reproduce, words or ["--help"], "reproduce")
    if options.dry_run:
        kind = find(options.name)
        return print(kind().cost(preset_of(kind, options.preset)))
    chosen = f"{options.name}-{options.setting}" if options.setting else options.name
    folder = options.out or Path("runs", "reproduce", f"{chosen}-{options.preset}-{options.seed}")
    with Bar(options.name) as bar, writing(folder), _going_on(folder):
        outcome = reproduce(
            options.name,
            preset=options.preset,
            setting=options.setting,
            seed=options.seed,
            out=folder,
            workers=options.workers,
            on_progress=bar,
        )
    if options.json:
        return print(to_json({"folder": str(folder)} | outcome.record()))
    print(
        f"{outcome.name}: {outcome.summary} {outcome.source}",
        outcome.table(),
        "\n".join(outcome.findings.notes),
        f"saved in {shlex.quote(str(folder))}, after {outcome.seconds:,.1f} s",
        f"next: {_following(outcome)}",
        sep="\n\n",
    )


def _about(name: str) -> str:
    """Return the description of one result, shown above the common help."""
    kind = find(name)
    settings = f"\nsettings: {', '.join(kind.variants)}" if kind.variants else ""
    return f"{name}: {kind.summary} {kind.source.replace(']_', ']')}\npresets: {', '.join(kind.presets)}{settings}\n"


def _following(outcome: Outcome) -> str:
    """Return the command of the next larger preset, or the command that lists results."""
    presets = list(find(outcome.name).presets)
    larger = presets[presets.index(outcome.preset) + 1 :]
    if not larger:
        return "unweave reproduce list"
    chosen = f" --setting {outcome.settings['setting']}" if find(outcome.name).variants else ""
    return f"unweave reproduce {outcome.name}{chosen} --preset {larger[0]}"


@contextmanager
def _going_on(folder: Path) -> Iterator[None]:
    """On an interrupt, say that the same command continues if finished parts are saved."""
    try:
        yield
    except KeyboardInterrupt:
        if not (folder / FOLDER).is_dir() and not (folder / STUDY).is_dir():
            raise
        saved = f"finished parts are saved in '{folder}'; the same command continues from there"
        raise KeyboardInterrupt(f"interrupted; {saved}") from None
