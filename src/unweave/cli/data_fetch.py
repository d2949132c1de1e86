"""`unweave data fetch`: the files of the published data sets."""

from __future__ import annotations

import re
import shlex
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from tyro.conf import Positional, arg

from unweave.cli.parsing import Flag, parse
from unweave.data import DATASETS, files
from unweave.fields import OneOf
from unweave.progress import Bar, OnProgress, print_above
from unweave.text import memory, table, to_json

PART = re.compile(r"\.(.+)\.part$")
"""The name of a file while it is downloaded."""


@dataclass(frozen=True)
class Fetch:
    """Fetch the files of a published data set, and check that they are complete.

    The same command resumes an interrupted download. Files go into the folder UNWEAVE_DATA, or else into the user's
    cache.
    """

    name: Annotated[Positional[str], OneOf(DATASETS, listed=False), arg(metavar="NAME")]
    """The data set."""
    from_file: Annotated[tuple[Path, ...], arg(metavar="PATH ...", help_behavior_hint="")] = ()
    """Copy files that are on this machine instead; each is recognised by its checksum."""
    url: Annotated[str | None, arg(metavar="URL", help_behavior_hint="")] = None
    """Another address of the file, or of the folder of the files if it ends in "/"."""
    json: Flag = False
    """Print one JSON object instead of text."""


def fetch(words: list[str]) -> None:
    """Run `unweave data fetch`."""
    options = parse(Fetch, words, "data fetch")
    before = files.status(options.name)
    with Bar(options.name, unit="B") as bar:
        told = _announced(options.name, bar)
        paths = files.fetch(options.name, url=options.url, from_file=options.from_file, on_progress=told)
    missing = files.missing(options.name)
    if options.json:
        listed = [{"file": path.name, "path": str(path), "bytes": path.stat().st_size} for path in paths]
        result = {"name": options.name, "status": files.status(options.name), "files": listed, "missing": missing}
        return print(to_json(result))
    if before == "drawn on demand":
        print(f"{options.name} is drawn when needed; there is nothing to fetch")
    else:
        unchanged = before != "not here" and not options.from_file
        state = "is not complete" if missing else "is here already" if unchanged else "is here now"
        rows = [{"file": path.name, "size": memory(path.stat().st_size)} for path in paths]
        rows += [{"file": file, "size": "missing"} for file in missing]
        print(f"{options.name} {state}, in {files.folder_of(options.name)}", table(rows, ["size"]), sep="\n\n")
    print(f"\nnext: unweave data {'fetch' if missing else 'info'} {shlex.quote(options.name)}")


def _announced(name: str, bar: Bar) -> OnProgress:
    """Return a callback that shows a download on the bar, after printing its size."""
    before = ""

    def on_progress(what: str, done: float, total: float | None) -> None:
        nonlocal before
        if what != before and (part := PART.match(what)):
            print_above(f"fetching {part[1]}: {_extent(done, total)}", sys.stderr)
        before = what
        bar(name, done, total)

    return on_progress


def _extent(done: float, total: float | None) -> str:
    """Return the size of a file, and how much of it is already here."""
    size = "of unknown size" if total is None else memory(int(total))
    return f"{size}, {memory(int(done))} of which are already here" if done else size
