"""Whether the settings of a study are of the right kinds: a mistake is answered before anything is trained."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from unweave.errors import UsageError, unknown
from unweave.fields import types_of
from unweave.schedules import Schedule

WORDS = {bool: "true or false", int: "a whole number", float: "a number", str: "text", Schedule: "a schedule"}


def check_names(what: str, given: Mapping[str, Any], known: Sequence[str]) -> None:
    """Refuse a setting that is not known."""
    for name in given:
        if name not in known:
            raise unknown(what, name, known)


def check_kinds(given: Mapping[str, Any], kind: type, names: Mapping[str, str] | None = None) -> None:
    """Refuse a setting whose value the field of the same name, or of that in `names`, does not take."""
    types = types_of(kind)
    for name, value in given.items():
        field = (names or {}).get(name, name)
        wanted = [word for one, word in WORDS.items() if one in types.get(field, ())]
        if wanted and not _is_one_of(value, types[field]):
            raise UsageError(f"{name} must be {' or '.join(wanted)}, not {value!r}")


def check_list(name: str, values: object, kind: type | tuple[type, ...], what: str) -> None:
    """Refuse anything but a list of values of one kind."""
    if isinstance(values, str) or not isinstance(values, Sequence | range):
        raise UsageError(f"{name} is a list of {what}, not {values!r}")
    if wrong := [value for value in values if isinstance(value, bool) or not isinstance(value, kind)]:
        raise UsageError(f"{name} is a list of {what}, and {wrong[0]!r} is none")


def check_snapshots(snapshots: Sequence[int], steps: int) -> None:
    """Refuse snapshots that a run of so many steps does not pass."""
    if wrong := [step for step in snapshots if not 1 <= step <= steps]:
        raise UsageError(f"a snapshot is taken after 1 to {steps:,} steps, not after {wrong[0]:,}")


def _is_one_of(value: object, types: frozenset[type]) -> bool:
    """Tell whether a value is of one of these types; a whole number is a number, and true is none."""
    if isinstance(value, bool):
        return bool in types
    if isinstance(value, int) and float in types:
        return True
    return isinstance(value, tuple(types))
