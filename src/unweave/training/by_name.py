"""Build a method from its name, with its fields as arguments of `train`."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import MISSING, fields
from typing import Any

import numpy as np

from unweave.errors import UsageError, unknown
from unweave.fields import require_type, types_of
from unweave.methods import Method, Schedule, method_name, method_of


def chosen_method(method: Method | str, given: Mapping[str, Any], arguments: Collection[str]) -> Method:
    """Return the method, or build it from its name and the fields `given`; `arguments` are those of `train`."""
    if isinstance(method, Method):
        if given:
            raise _not_of_train(next(iter(given)), type(method), arguments)
        method_name(method)  # raises for a class whose runs could not be recorded
        return method
    kind = method_of(method)
    types = types_of(kind)
    if taken := [name for name in types if name in arguments]:
        raise UsageError(f"{taken[0]} of {method} is also an argument of train: pass {kind.__name__}({taken[0]}=…)")
    for name in given:
        if name not in types:
            raise unknown(f"field of {method}, or argument of train,", name, [*types, *arguments])
    for spec in fields(kind):
        if spec.default is MISSING and spec.default_factory is MISSING and spec.name not in given:
            raise UsageError(f"{method} needs {spec.name}: train('{method}', {spec.name}=…)")
    return kind(**{name: _value(name, value, types[name]) for name, value in given.items()})


def _value(name: str, value: Any, types: frozenset[type]) -> Any:
    """Return a field's value; text becomes a schedule, and a numpy number a Python number."""
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, str) and Schedule in types and str not in types:
        return Schedule.read(value)
    require_type(name, value, types)
    return value


def _not_of_train(name: str, kind: type[Method], arguments: Collection[str]) -> UsageError:
    """Return the error for an unknown argument of `train` when the method is an object."""
    if name in types_of(kind):
        return UsageError(f"{name} is a field of the method: write {kind.__name__}({name}=…)")
    return unknown("argument of train", name, arguments)
