"""Imports that wait until they are needed, since they take long: how long they took is noted."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter

_seconds = 0.0


def seconds() -> float:
    """Return how long late imports have taken in this process so far."""
    return _seconds


@contextmanager
def importing() -> Iterator[None]:
    """Note the time of the imports within; next to nothing where they were imported before."""
    global _seconds
    start, before = perf_counter(), _seconds
    try:
        yield
    finally:
        _seconds = before + perf_counter() - start
