"""Find the class of a method by its name, and the name of a method."""

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
"""The types that fields of a method may have: a run's configuration is plain JSON."""


def method_of(name: str) -> type[Method]:
    """Return the class of a method.

    Parameters
    ----------
    name
        A name in `METHODS`, or the name of your own method.

    Returns
    -------
    type
        The subclass of `Method`. For an unknown name, a `UsageError` suggests the nearest one.

    Examples
    --------
    >>> method_of("beta-vae")(beta=2.0)
    BetaVAE(loss='auto', beta=2.0, normalise_beta=False)
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
        Its name in `METHODS`, or the name of your own method: by default that of its class, MyMethod → my-method.

    Examples
    --------
    >>> from unweave.methods import BetaVAE
    >>> method_name(BetaVAE())
    'beta-vae'
    """
    kind = type(method)
    if is_builtin(kind):
        return next(name for name, known in KIND.builtin.items() if known is kind)
    _check(kind)
    return own_name(kind)


def with_defaults(name: str) -> Method:
    """Return a method with its default hyper-parameters.

    Parameters
    ----------
    name
        A name in `METHODS`, or the name of your own method.

    Returns
    -------
    Method
        The method. If a field has no default, a `UsageError` names it.

    Examples
    --------
    >>> with_defaults("beta-vae")
    BetaVAE(loss='auto', beta=4.0, normalise_beta=False)
    """
    kind = method_of(name)
    for spec in fields(kind):
        if spec.default is MISSING and spec.default_factory is MISSING:
            raise UsageError(f"{kind.__name__}.{spec.name} needs a default to be used by name")
    return kind()


@cache
def _check(kind: type[Method]) -> None:
    """Raise a `UsageError` if the hyper-parameters of a class could not be recorded."""
    known = types_of(kind)
    if "name" in known:
        raise UsageError(f'{kind.__name__}: `name` is not a hyper-parameter; write it without a type: name = "…"')
    for name, hint in get_type_hints(kind).items():
        if name not in known and get_origin(hint) is not ClassVar and hint is not ClassVar:
            raise UsageError(f"{kind.__name__} has a field {name}: write @dataclass(frozen=True) above the class")
    for name, types in known.items():
        if not types <= PLAIN:
            raise UsageError(f"{kind.__name__}.{name} must be a number, a string, a boolean or a schedule")
