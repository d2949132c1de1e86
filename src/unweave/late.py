"""Late imports of slow modules, with a record of the time they took."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter

_seconds = 0.0


def seconds() -> float:
    """Return the time of late imports in this process so far."""
    return _seconds


@contextmanager
def importing() -> Iterator[None]:
    """Record the time of the imports within this context."""
    global _seconds
    start, before = perf_counter(), _seconds
    try:
        yield
    finally:
        _seconds = before + perf_counter() - start
