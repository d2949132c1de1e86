"""The exception for a user's mistake, suggestions for misspelt names, and warnings at the user's line."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from difflib import get_close_matches

SIMILAR = 0.65
"""The least similarity of a suggestion, of 1: one wrong letter in three gives 0.67."""


class UsageError(ValueError):
    """A mistake of the user. Its message is one line that says what is wrong and what to do.

    The command line prints that line and exits with code 2; it never shows a traceback for it.
    """


class UnknownName(UsageError):
    """A name that is not in a table of names; `kind` is what it should name: "method", "net", "data set" …"""

    def __init__(self, message: str, kind: str) -> None:
        super().__init__(message)
        self.kind = kind


def unknown(kind: str, name: str, known: Iterable[str]) -> UnknownName:
    """Return the error for a name that is not in a table, with the nearest match if there is one.

    >>> str(unknown("data set", "shape2d", ["shapes2d", "xysquares"]))
    "no data set is called 'shape2d'; did you mean 'shapes2d'? (known: shapes2d, xysquares)"
    """
    names = list(known)
    near = nearest(name, names)
    hint = f"; did you mean '{near}'?" if near else ""
    return UnknownName(f"no {kind} is called '{name}'{hint} (known: {', '.join(names)})", kind)


def nearest(name: str, known: Iterable[str]) -> str | None:
    """Return the first name that begins with this one, or else the most similar one; None if none is similar.

    >>> nearest("shape2d", ["shapes2d", "xysquares"]), nearest("9-in", ["5-in-3"])
    ('shapes2d', None)
    """
    names, name = list(known), name.lower()
    longer = [known for known in names if name and known.startswith(name)]
    return next(iter(longer or get_close_matches(name, names, n=1, cutoff=SIMILAR)), None)


class MissingPackage(UsageError, ModuleNotFoundError):
    """A package that an extra of unweave installs is missing."""

    def __init__(self, package: str, extra: str) -> None:
        super().__init__(f"this needs {package}, which is not installed; run: pip install 'unweave[{extra}]'")
        self.name = package


@contextmanager
def called(name: str) -> Iterator[None]:
    """Prefix the message of a mistake with a name, to say whose inputs are wrong."""
    try:
        yield
    except UsageError as error:
        raise UsageError(f"{name}: {error}") from error


_said: ContextVar[set[str] | None] = ContextVar("_said", default=None)


@contextmanager
def saying_once() -> Iterator[None]:
    """Within this context, give a warning with the same text only once: several codes may have the same factors."""
    before = _said.get()
    token = _said.set(set() if before is None else before)
    try:
        yield
    finally:
        _said.reset(token)


def warn_user(text: str, category: type[Warning]) -> None:
    """Warn at the user's line that led here: the first one outside this package."""
    said = _said.get()
    if said is not None and text in said:
        return
    if said is not None:
        said.add(text)
    frame, level = sys._getframe(1), 2
    while frame.f_back and frame.f_globals.get("__name__", "").startswith("unweave."):
        frame, level = frame.f_back, level + 1
    warnings.warn(text, category, stacklevel=level)
