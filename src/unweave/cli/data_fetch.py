"""`unweave data fetch`: the files of the published data sets."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Annotated

from tqdm import tqdm
from tyro.conf import Positional, arg

from unweave.cli.parsing import Flag, parse
from unweave.data import files
from unweave.text import memory, table, to_json


@dataclass(frozen=True)
class Fetch:
    """Fetch the files of a published data set, and check that they are whole.

    The same command continues what was cut off. The files go below the folder UNWEAVE_DATA, or else
    into the user's cache.
    """

    name: Annotated[Positional[str], arg(metavar="NAME")]
    """The data set."""
    from_file: Annotated[tuple[Path, ...], arg(metavar="PATH ...", help_behavior_hint="")] = ()
    """Copy files that are on this machine instead; each is recognised by its checksum."""
    url: Annotated[str | None, arg(metavar="URL", help_behavior_hint="")] = None
    """Another place of the file, or of the folder of the files when it ends in "/"."""
    json: Flag = False
    """Print one JSON object instead of text."""


def fetch(words: list[str]) -> None:
    """Run `unweave data fetch`."""
    options = parse(Fetch, words, "data fetch")
    before = files.status(options.name)
    with Bar(options.name) as bar:
        paths = files.fetch(options.name, url=options.url, from_file=options.from_file, watch=bar)
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


class Bar:
    """A bar on stderr, on a terminal only; each file has its own."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._bar: tqdm | None = None

    def __call__(self, done: int, total: int | None) -> None:
        """Show that `done` of `total` bytes are here."""
        if self._bar is None or total != self._bar.total or done < self._bar.n:
            self.close()
            # What was here before says nothing about the speed.
            self._bar = tqdm(
                desc=self._name,
                initial=done,
                total=total,
                unit="B",
                unit_scale=True,
                leave=False,
                dynamic_ncols=True,
                disable=None,
            )
        self._bar.update(done - self._bar.n)

    def close(self) -> None:
        """Take the bar away."""
        if self._bar is not None:
            self._bar.close()

    def __enter__(self) -> Bar:
        return self

    def __exit__(self, *error: type[BaseException] | BaseException | TracebackType | None) -> None:
        self.close()
