"""The fields of a dataclass of settings: their types, and which of them were added later."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import field, fields
from functools import cache
from itertools import chain
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from unweave.errors import UsageError

EARLIER = "earlier"


class OneOf:
    """The names that a field accepts: `net: Annotated[str, OneOf(NETS)]`.

    Completion offers them, and help shows them unless `listed` is False.
    """

    def __init__(self, *tables: Iterable[str], listed: bool = True) -> None:
        self._tables, self.listed = tables, listed

    @property
    def names(self) -> tuple[str, ...]:
        """The names now in the tables, which may have grown."""
        return tuple(chain(*self._tables))


def later(default: Any, *, earlier: Any = ...) -> Any:
    """Return a field that was added later: in a record without it, it has the value `earlier`, by default its default.

    A field with that value is not written, so earlier runs keep their identity.
    """
    return field(default=default, metadata={EARLIER: default if earlier is ... else earlier})


def earlier_values(kind: type) -> dict[str, Any]:
    """Return the fields that were added later, with their values for records without them."""
    return {spec.name: spec.metadata[EARLIER] for spec in fields(kind) if EARLIER in spec.metadata}


@cache
def types_of(kind: type) -> dict[str, frozenset[type]]:
    """Return the types of each field, whether or not its module postpones annotations.

    >>> from dataclasses import make_dataclass
    >>> types_of(make_dataclass("Settings", [("size", float | None)]))["size"] == {float, type(None)}
    True
    >>> types_of(make_dataclass("Settings", [("norm", Literal["l1", "l2"])]))["norm"] == {str}
    True
    """
    try:
        hints = get_type_hints(kind)
    except NameError as error:
        raise UsageError(f"the types of {kind.__name__}'s fields cannot be found: {error}") from error
    return {spec.name: frozenset(_members(hints[spec.name])) for spec in fields(kind)}


def _members(hint: Any) -> Iterator[type]:
    """Yield the types that an annotation stands for."""
    origin = get_origin(hint)
    if origin in (Union, UnionType):
        for part in get_args(hint):
            yield from _members(part)
    elif origin is Literal:
        yield from map(type, get_args(hint))
    else:
        yield origin or hint


def fits(value: object, types: frozenset[type]) -> bool:
    """Return whether a value has one of these types in the sense of JSON: 4 is also a float, true is not a number."""
    if isinstance(value, bool):
        return bool in types
    return isinstance(value, tuple(types)) or (isinstance(value, int) and float in types)


def check_types(settings: object) -> None:
    """Raise a `UsageError` if a field of a dataclass has a value of another type; numpy numbers become Python's."""
    for name, types in types_of(type(settings)).items():
        value = getattr(settings, name)
        if type(value).__module__ == "numpy" and getattr(value, "ndim", 1) == 0:  # numpy itself may not be loaded
            value = value.item()
            object.__setattr__(settings, name, value)  # the dataclass is frozen
        require_type(name, value, types)


def require_type(name: str, value: object, types: frozenset[type]) -> None:
    """Raise a `UsageError` that names the types that a field takes, if the value has none of them."""
    if not fits(value, types):
        kinds = " or ".join(sorted(kind.__name__ for kind in types if kind is not type(None)))
        raise UsageError(f"{name} must be of type {kinds}, not {value!r}")
