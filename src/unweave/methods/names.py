"""From the name of a method to its class, and back."""

from __future__ import annotations

from dataclasses import MISSING, fields
from functools import cache
from typing import ClassVar, get_origin, get_type_hints

from unweave.errors import UsageError
from unweave.fields import types_of
from unweave.methods.base import KIND, Method, own_name
from unweave.plugins import is_builtin
from unweave.schedules import Schedule

PLAIN = frozenset((int, float, str, bool, type(None), Schedule))
"""What the fields of a method may be: a run's configuration is plain JSON."""


def method_of(name: str) -> type[Method]:
    """Return the class of a method.

    Parameters
    ----------
    name
        A name of `METHODS`, or that of a method of your own.

    Returns
    -------
    type
        The subclass of `Method`; a `UsageError` names the nearest one where there is none.
    """
    kind = KIND.find(name)
    _check(kind)
    return kind


def method_name(method: Method) -> str:
    """Return the name of a method, by which `method_of` finds its class.

    Parameters
    ----------
    method
        Any method.

    Returns
    -------
    str
        Its name in `METHODS`, or the name of a method of your own: that of its class, MyMethod my-method.
    """
    kind = type(method)
    if is_builtin(kind):
        return next(name for name, known in KIND.builtin.items() if known is kind)
    _check(kind)
    return own_name(kind)


def with_defaults(name: str) -> Method:
    """Return the method of this name with its default hyper-parameters.

    Parameters
    ----------
    name
        A name of `METHODS`, or that of a method of your own.

    Returns
    -------
    Method
        The method; a `UsageError` names a field that has no default.
    """
    kind = method_of(name)
    for spec in fields(kind):
        if spec.default is MISSING and spec.default_factory is MISSING:
            raise UsageError(f"{kind.__name__}.{spec.name} needs a default, since the method is asked for by its name")
    return kind()


@cache
def _check(kind: type[Method]) -> None:
    """Refuse a class whose hyper-parameters could not be recorded."""
    known = types_of(kind)
    if "name" in known:
        raise UsageError(f'{kind.__name__}: `name` is no hyper-parameter; write it without a type: name = "…"')
    for name, hint in get_type_hints(kind).items():
        if name not in known and get_origin(hint) is not ClassVar and hint is not ClassVar:
            raise UsageError(f"{kind.__name__} has a field {name}: write @dataclass(frozen=True) above the class")
    for name, types in known.items():
        if not types <= PLAIN:
            raise UsageError(f"{kind.__name__}.{name} must be a number, a text, a truth value or a schedule")
