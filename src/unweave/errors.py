"""The one exception for a user's mistake, and the way a misspelt name is answered."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from difflib import get_close_matches


class UsageError(ValueError):
    """A mistake of the user's. Its message is one line that says what is wrong and what to do.

    The command line prints that line and exits with code 2; it never shows a traceback for it.
    """


def unknown(kind: str, name: str, known: Iterable[str]) -> UsageError:
    """Return the error for a name that is not in a table, with the nearest match.

    >>> str(unknown("data set", "shape2d", ["shapes2d", "xysquares"]))
    "no data set is called 'shape2d'; did you mean 'shapes2d'? (known: shapes2d, xysquares)"
    """
    names = list(known)
    near = get_close_matches(name.lower(), names, n=1)
    hint = f"; did you mean '{near[0]}'?" if near else ""
    return UsageError(f"no {kind} is called '{name}'{hint} (known: {', '.join(names)})")


@contextmanager
def called(name: str) -> Iterator[None]:
    """Say of whose inputs a mistake is."""
    try:
        yield
    except UsageError as error:
        raise UsageError(f"{name}: {error}") from error
