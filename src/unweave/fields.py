"""What the fields of a dataclass of settings say: their types, and which came after the first runs were recorded."""

from __future__ import annotations

from dataclasses import field, fields
from functools import cache
from typing import Any, get_args, get_type_hints

EARLIER = "earlier"


def later(default: Any, *, earlier: Any = ...) -> Any:
    """Return a field that came later: a record without it has the value `earlier`, by default its default.

    At that value it is not written either, so that earlier runs keep their identity.
    """
    return field(default=default, metadata={EARLIER: default if earlier is ... else earlier})


def earlier_values(kind: type) -> dict[str, Any]:
    """Return the fields that came later, and the values that records without them have."""
    return {spec.name: spec.metadata[EARLIER] for spec in fields(kind) if EARLIER in spec.metadata}


@cache
def types_of(kind: type) -> dict[str, frozenset[type]]:
    """Return for each field the types it takes, whether or not its module postpones annotations.

    >>> from dataclasses import make_dataclass
    >>> types_of(make_dataclass("Settings", [("size", float | None)]))["size"] == {float, type(None)}
    True
    """
    hints = get_type_hints(kind)
    return {spec.name: frozenset(get_args(hints[spec.name]) or (hints[spec.name],)) for spec in fields(kind)}
