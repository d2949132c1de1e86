"""`unweave data export`: a data set as Parquet files."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from tyro.conf import Positional, arg

from unweave.cli.mistakes import writing
from unweave.cli.parsing import Flag, Plugins, parse, refuse_below
from unweave.data import DATASETS, load
from unweave.fields import OneOf
from unweave.progress import Bar
from unweave.text import memory, to_json


@dataclass(frozen=True)
class Export:
    """Write a data set as Parquet files in the layout of Hugging Face: PNG images, and one column for each factor."""

    name: Annotated[Positional[str], OneOf(DATASETS, listed=False), arg(metavar="NAME")]
    """The data set, with options after a colon: xysquares:spacing=1"""
    out: Annotated[Path, arg(metavar="FOLDER")]
    """The folder to write into, new or empty."""
    rows: Annotated[int | None, arg(metavar="N", help_behavior_hint="(default: all)")] = None
    """Write this many random images, without repeats."""
    shard: int = 10_000
    """Images per file."""
    seed: int = 0
    """Seed of the random images."""
    plugin: Plugins = ()
    """Load methods, nets, metrics and data sets from a Python file or module."""
    json: Flag = False
    """Print one JSON object instead of text."""

    def __post_init__(self) -> None:
        refuse_below(0, seed=self.seed)


def export(words: list[str]) -> None:
    """Run `unweave data export`."""
    options = parse(Export, words, "data export")
    from unweave.data.parquet import export_parquet

    with writing(options.out), Bar(f"loading {options.name}", unit=" images") as bar:
        data = load(options.name)
        files = export_parquet(
            data, options.out, rows=options.rows, shard=options.shard, seed=options.seed, on_progress=bar
        )
    weight = sum(file.stat().st_size for file in files)
    if options.json:
        return print(to_json({"out": str(options.out), "files": len(files), "bytes": weight}))
    count = "1 file" if len(files) == 1 else f"{len(files):,} files"
    print(
        f"wrote {count}, {memory(weight)}, into {options.out}",
        f"\nnext: unweave data info parquet:path={shlex.quote(str(options.out))}",
        sep="\n",
    )
