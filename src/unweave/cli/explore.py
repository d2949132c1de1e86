"""`unweave explore`: open a page in the browser with runs, studies and codes."""

from __future__ import annotations

import gc
import sys
import threading
import webbrowser
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from tyro.conf import Positional, arg

from unweave.cli.mistakes import writing
from unweave.cli.parsing import Flag, Plugins, parse, refuse_below
from unweave.errors import UsageError
from unweave.progress import Bar
from unweave.text import memory, to_json

LAST_PORT = 65_535
LOOPBACK = ("127.0.0.1", "localhost", "::1")
MANY_OBJECTS = 50_000
"""New objects between two garbage collections: a table of many runs is many objects, and none of them is garbage."""


@dataclass(frozen=True)
class Explore:
    """Open a page in the browser that shows a folder of runs, studies and codes. It changes nothing in the folder."""

    folder: Annotated[Positional[Path], arg(metavar="DIR")]
    """A folder of runs and studies, at any depth; or one run, or one study."""
    port: Annotated[int, arg(help_behavior_hint="(default: any free one)")] = 0
    """The port to listen at."""
    host: Annotated[str, arg(metavar="ADDRESS")] = "127.0.0.1"
    """The address to listen at; any other than 127.0.0.1 lets other machines see everything in the folder."""
    open: Flag = False
    """Open the page in a browser."""
    samples: int = 2_000
    """Random images of each run to encode."""
    export: Annotated[Path | None, arg(metavar="DIR", help_behavior_hint="(default: serve, and write nothing)")] = None
    """Instead, write a folder that opens from disk without a server, with precomputed traversals."""
    export_runs: Annotated[int, arg(metavar="N")] = 20
    """Runs with working sliders in the export, one of each setting before a second of any; tables hold all runs."""
    plugin: Plugins = ()
    """Load methods, nets, metrics and data sets from a Python file or module."""
    json: Flag = False
    """Print the address as one JSON object instead of text."""

    def __post_init__(self) -> None:
        refuse_below(0, port=self.port)
        refuse_below(2, samples=self.samples)
        refuse_below(0, export_runs=self.export_runs)
        if self.port > LAST_PORT:
            raise UsageError(f"--port must be {LAST_PORT} or less, not {self.port}")


def explore(words: list[str]) -> None:
    """Run `unweave explore`."""
    options = parse(Explore, words, "explore")
    from unweave.explorer.served import existing, require_extra

    require_extra()
    folder = existing(options.folder)
    return _export(options) if options.export is not None else _serve(options, folder)


def _serve(options: Explore, folder: Path) -> None:
    """Answer requests until Ctrl-C."""
    from unweave.explorer.serve import address_of, listening, serve
    from unweave.explorer.state import Explorer

    listener = listening(options.host, options.port)
    url = address_of(listener, options.host)
    if options.host not in LOOPBACK:
        print(f"unweave: warning: other machines can open {url} and see everything in '{folder}'", file=sys.stderr)
    explorer = Explorer(folder, samples=options.samples)
    gc.set_threshold(MANY_OBJECTS)
    _meanwhile(explorer.warm)  # before a browser starts, which takes the processor

    from unweave.explorer.app import create_app

    app = create_app(explorer, host=options.host)

    def started() -> None:
        if options.json:
            print(to_json({"url": url, "folder": str(folder)}), flush=True)
        else:
            print(f"{folder} is at {url}\n\nnext: open {url} in a browser; Ctrl-C ends it", flush=True)
        if options.open:
            _meanwhile(webbrowser.open, url)

    with listener, suppress(KeyboardInterrupt):  # Ctrl-C ends it
        serve(app, listener, started)


def _meanwhile(do: Callable[..., object], *given: str) -> None:
    """Call a function in the background, so that the page need not wait."""
    threading.Thread(target=do, args=given, daemon=True).start()


def _export(options: Explore) -> None:
    """Write the folder that needs no server."""
    from unweave.explorer.export import write_export

    out = options.export
    assert out is not None
    with Bar("exporting", unit=" runs") as bar, writing(out):
        done = write_export(options.folder, out, runs=options.export_runs, samples=options.samples, on_progress=bar)
    if options.json:
        return print(to_json({"out": str(out), "page": str(done.page), "bytes": done.bytes, "runs": done.runs}))
    size = f"{memory(done.bytes)}; {done.runs} of {done.of} runs have sliders"
    print(f"{done.page} ({size})\n\nnext: open {done.page} in a browser")
