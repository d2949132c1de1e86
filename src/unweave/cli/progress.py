"""The progress bars of training and of scoring, for a terminal only."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import TracebackType

from tqdm import tqdm

from unweave.compiled import on_compile


class Progress:
    """A bar on stderr that shows every row of the log: how far, how fast, and the loss terms."""

    def __init__(self, steps: int) -> None:
        self.rows = 0
        self._bar = tqdm(total=steps, unit=" steps", leave=False, dynamic_ncols=True, disable=None)

    def __call__(self, row: dict[str, float]) -> None:
        """Move the bar to a row of the log."""
        step, first = int(row["step"]), not self.rows
        self.rows += 1
        if first:  # neither loading nor the steps before a resumption say how fast the next ones are
            self._bar.initial = self._bar.n = self._bar.last_print_n = step
            self._bar.unpause()
        terms = {name: f"{value:.4g}" for name, value in row.items() if name not in ("step", "seconds")}
        self._bar.set_postfix(terms, refresh=first)
        self._bar.update(step - self._bar.n)

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *error: type[BaseException] | BaseException | TracebackType | None) -> None:
        self._bar.close()


@contextmanager
def showing() -> Iterator[Callable[[str, int, int], None]]:
    """Show what is being done, how much of it, and of how much: images that are encoded, then one metric at a time."""
    with tqdm(leave=False, disable=None) as bar, _telling_of_compilation(bar):

        def on_progress(what: str, done: int, total: int) -> None:
            bar.total, bar.n = total, done
            bar.set_description(what)

        yield on_progress


@contextmanager
def _telling_of_compilation(bar: tqdm) -> Iterator[None]:
    """Say on the bar when kernels are compiled, which takes seconds at their first use."""

    def tell() -> None:
        bar.set_description("compiling, once")

    on_compile.append(tell)
    try:
        yield
    finally:
        on_compile.remove(tell)
