"""Progress of long work: one signature for every `on_progress`, and one progress bar."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from threading import Timer
from typing import Any, ClassVar, TextIO

from unweave.compiled import on_compile

OnProgress = Callable[[str, float, float | None], object]
"""Called as `on_progress(what, done, total)`: the current stage, how much is done, and the total, if known."""

PATIENCE = 2.0
"""Seconds of work before a bar is shown."""
WAITING = "{desc} … {elapsed}"
SHARE = "{desc}: {percentage:3.0f} % [{elapsed}]"


def silent(what: str, done: float, total: float | None) -> None:
    """Report nothing."""


class Bar:
    """A progress bar, which is itself an `on_progress`: `with Bar() as bar: work(on_progress=bar)`.

    It appears on a terminal (on stderr) or in a notebook once the work has taken two seconds, and disappears when the
    work is done. If several bars are open, only the first is shown, so a function with a bar may call another.

    Parameters
    ----------
    what
        The stage to show until the first call names one.
    unit
        The unit of the counts, such as " steps"; "B" means bytes, shown in kB, MB and GB.
    shown
        False: never show it. True: always show it. None: show it on a terminal and in a notebook.
    """

    _open: ClassVar[Bar | None] = None

    def __init__(self, what: str = "", *, unit: str = "", shown: bool | None = None) -> None:
        self._what, self._unit, self._shown = what, unit, shown
        self._done, self._total = 0.0, None
        self._terms = ""
        self._drawn: Any = None
        self._timer = Timer(PATIENCE, self._draw)
        self._timer.daemon = True

    def __enter__(self) -> Bar:
        if Bar._open is None and (_is_seen() if self._shown is None else self._shown):
            Bar._open = self
            on_compile.append(self._compiling)
            self._timer.start()
        return self

    def __exit__(self, *error: object) -> None:
        if Bar._open is not self:
            return
        self._timer.cancel()
        if self._timer.is_alive():
            self._timer.join()  # it may be drawing the bar
        on_compile.remove(self._compiling)
        Bar._open = None
        if self._drawn is not None:
            self._drawn.close()

    def __call__(self, what: str, done: float, total: float | None) -> None:
        """Show the current stage, how much is done, and the total."""
        stage = total != self._total or done < self._done
        self._what, self._done, self._total = what, done, total
        if self._drawn is None:
            return
        if stage:
            self._restart()
        else:
            self._drawn.set_description_str(self._description(), refresh=False)
            self._drawn.update(done - self._drawn.n)

    def terms(self, values: Mapping[str, float]) -> None:
        """Show numbers after the bar, such as the terms of a loss."""
        self._terms = ", ".join(f"{name}={value:.4g}" for name, value in values.items())
        if self._drawn is not None:
            self._drawn.set_postfix_str(self._terms, refresh=False)

    def _draw(self) -> None:
        bytes_ = self._unit == "B"
        kind = _notebook_bar() if _in_notebook() else import_module("tqdm").tqdm
        # Work done before, in another stage or by an earlier process, does not count for the speed.
        drawn = kind(
            initial=self._done,
            total=self._total,
            desc=self._description(),
            unit=self._unit or "it",
            unit_scale=bytes_,
            bar_format=self._format(),
            leave=False,
            dynamic_ncols=True,
        )
        drawn.set_postfix_str(self._terms)
        self._drawn = drawn

    def _restart(self) -> None:
        """Start a new stage, with its own total and speed."""
        drawn = self._drawn
        drawn.reset(self._total)
        drawn.total = self._total  # reset() would keep the old total if the new one is unknown
        drawn.initial = drawn.n = drawn.last_print_n = self._done
        drawn.bar_format = self._format()
        drawn.set_description_str(self._description())

    def _format(self) -> str | None:
        """Return the bar's format, if not tqdm's default: without a count yet, or with only a percentage."""
        if self._total is None:
            return None if self._done else WAITING
        return SHARE if self._total == 1 else None

    def _description(self) -> str:
        return f"{self._what}: " if self._what and self._format() is None else self._what

    def _compiling(self) -> None:
        """Show that kernels are being compiled, which takes seconds at their first use, until the next call."""
        self._what = "compiling, once"
        if self._drawn is not None:
            self._drawn.set_description_str(self._description())


def print_above(line: str, file: TextIO | None = None) -> None:
    """Print a line to stdout or another file, above the bar, if it is shown."""
    import_module("tqdm").tqdm.write(line, file=file)


@contextmanager
def reporting(on_progress: OnProgress | None, progress: bool | None, what: str = "") -> Iterator[OnProgress]:
    """Return the function to report to: `on_progress`, if given, otherwise a bar, unless `progress` is False."""
    if on_progress is not None:
        yield on_progress
        return
    with Bar(what, shown=progress) as bar:
        yield bar


def _is_seen() -> bool:
    """Return whether a bar would be visible."""
    return _in_notebook() or (sys.stderr is not None and sys.stderr.isatty())


def _in_notebook() -> bool:
    """Return whether this process is the kernel of a notebook."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    return shell is not None and "IPKernelApp" in shell.config


def _notebook_bar() -> Any:
    """Return tqdm's notebook bar if ipywidgets is available, otherwise the text bar."""
    return import_module("tqdm.notebook" if find_spec("ipywidgets") else "tqdm").tqdm
