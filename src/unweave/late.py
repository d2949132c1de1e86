"""Late imports: a package's public names on first use, and slow modules with a record of the time they took."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from time import perf_counter

_seconds = 0.0


def public_name(package: str, modules: Mapping[str, str], name: str) -> object:
    """Return a public name of a package, for its `__getattr__`; `modules` says which module defines each name."""
    if name not in modules:
        raise AttributeError(f"module '{package}' has no attribute '{name}'")
    return getattr(import_module(f"{package}.{modules[name]}"), name)


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
