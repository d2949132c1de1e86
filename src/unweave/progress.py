"""How long work reports its progress: one signature for every `on_progress`, and one progress bar."""

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
"""Called as `on_progress(what, done, total)`: what is being done, how much of it is done, and of how much, if known."""

PATIENCE = 2.0
"""Seconds of work before a bar is shown."""
WAITING = "{desc} … {elapsed}"
SHARE = "{desc}: {percentage:3.0f} % [{elapsed}]"


def silent(what: str, done: float, total: float | None) -> None:
    """Report nothing."""


class Bar:
    """A progress bar, which is itself an `on_progress`: `with Bar() as bar: work(on_progress=bar)`.

    It is shown on a terminal (on stderr) and in a notebook, once the work has taken two seconds, and is gone when the
    work is done. Of several bars that are open at once only the first is shown: a function with a bar of its own may
    call another.

    Parameters
    ----------
    what
        What is being done, until the first call says so.
    unit
        What is counted, such as " steps"; "B" are bytes, shown in kB, MB and GB.
    shown
        False: never shown. True: shown wherever stderr goes. None: on a terminal and in a notebook.
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
            self._timer.join()  # it may be drawing the bar just now
        on_compile.remove(self._compiling)
        Bar._open = None
        if self._drawn is not None:
            self._drawn.close()

    def __call__(self, what: str, done: float, total: float | None) -> None:
        """Show what is being done, how much of it is done, and of how much."""
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
        """Show numbers behind the bar: the terms of a loss."""
        self._terms = ", ".join(f"{name}={value:.4g}" for name, value in values.items())
        if self._drawn is not None:
            self._drawn.set_postfix_str(self._terms, refresh=False)

    def _draw(self) -> None:
        bytes_ = self._unit == "B"
        kind = _notebook_bar() if _in_notebook() else import_module("tqdm").tqdm
        # What was done before, in another stage or by an earlier process, says nothing about the speed.
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
        """Begin again at another stage: with its own total, and its own speed."""
        drawn = self._drawn
        drawn.reset(self._total)
        drawn.total = self._total  # which reset() keeps when the next one is not known
        drawn.initial = drawn.n = drawn.last_print_n = self._done
        drawn.bar_format = self._format()
        drawn.set_description_str(self._description())

    def _format(self) -> str | None:
        """Return how the bar is written, where it is not tqdm's own way: there is no count yet, or only a share."""
        if self._total is None:
            return None if self._done else WAITING
        return SHARE if self._total == 1 else None

    def _description(self) -> str:
        return f"{self._what}: " if self._what and self._format() is None else self._what

    def _compiling(self) -> None:
        """Say that kernels are compiled, which takes seconds at their first use; the next call takes its place."""
        self._what = "compiling, once"
        if self._drawn is not None:
            self._drawn.set_description_str(self._description())


def print_above(line: str, file: TextIO | None = None) -> None:
    """Print a line, to stdout or another file; a bar that is shown stays below it."""
    import_module("tqdm").tqdm.write(line, file=file)


@contextmanager
def reporting(on_progress: OnProgress | None, progress: bool | None, what: str = "") -> Iterator[OnProgress]:
    """Give what progress is reported to: `on_progress`, if any, and else a bar, unless `progress` is False."""
    if on_progress is not None:
        yield on_progress
        return
    with Bar(what, shown=progress) as bar:
        yield bar


def _is_seen() -> bool:
    """Tell whether anybody would see a bar."""
    return _in_notebook() or (sys.stderr is not None and sys.stderr.isatty())


def _in_notebook() -> bool:
    """Tell whether this process is the kernel of a notebook."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    return shell is not None and "IPKernelApp" in shell.config


def _notebook_bar() -> Any:
    """Return tqdm's bar for notebooks where ipywidgets can show it, and else its plain text."""
    return import_module("tqdm.notebook" if find_spec("ipywidgets") else "tqdm").tqdm
