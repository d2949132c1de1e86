"""Checks of a study's settings, so that a mistake is reported before anything is trained."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from unweave.errors import UsageError, unknown
from unweave.fields import types_of
from unweave.schedules import Schedule

WORDS = {bool: "true or false", int: "a whole number", float: "a number", str: "text", Schedule: "a schedule"}


def check_names(what: str, given: Mapping[str, Any], known: Sequence[str]) -> None:
    """Raise a `UsageError` for an unknown setting."""
    for name in given:
        if name not in known:
            raise unknown(what, name, known)


def check_kinds(given: Mapping[str, Any], kind: type, names: Mapping[str, str] | None = None) -> None:
    """Raise a `UsageError` for a value that the field of the same name, or its name in `names`, does not take."""
    types = types_of(kind)
    for name, value in given.items():
        field = (names or {}).get(name, name)
        wanted = [word for one, word in WORDS.items() if one in types.get(field, ())]
        if wanted and not _is_one_of(value, types[field]):
            raise UsageError(f"{name} must be {' or '.join(wanted)}, not {value!r}")


def check_list(name: str, values: object, kind: type | tuple[type, ...], what: str) -> None:
    """Raise a `UsageError` unless this is a list of values of one kind."""
    if isinstance(values, str) or not isinstance(values, Sequence | range):
        raise UsageError(f"{name} must be a list of {what}, not {values!r}")
    if wrong := [value for value in values if isinstance(value, bool) or not isinstance(value, kind)]:
        raise UsageError(f"{name} must be a list of {what}, not {wrong[0]!r}")


def _is_one_of(value: object, types: frozenset[type]) -> bool:
    """Return whether a value is of one of these types; a whole number counts as a number, a bool does not."""
    if isinstance(value, bool):
        return bool in types
    if isinstance(value, int) and float in types:
        return True
    return isinstance(value, tuple(types))
