"""From words to a dataclass of options: `options` parses the words, tyro writes the help from docstrings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import Field, field, fields, is_dataclass, make_dataclass
from inspect import getdoc
from typing import Annotated, Any, TypeVar, get_type_hints

import tyro
from tyro import conf
from tyro.constructors import ConstructorRegistry, PrimitiveConstructorSpec, PrimitiveTypeInfo

from unweave.cli.commands import COMMANDS
from unweave.cli.options import Option, default_of, fill, options_of
from unweave.errors import UsageError
from unweave.schedules import Schedule, Scheduled

T = TypeVar("T")

Flag = Annotated[bool, conf.arg(help_behavior_hint="")]
"""An option without a value; the help does not say that it is off by default."""

Plugins = Annotated[
    tuple[str, ...], conf.UseAppendAction, conf.arg(metavar="FILE|MODULE", help_behavior_hint="(repeatable)")
]
"""The field of a command that takes plugins. It only serves the help: `load_plugins` has removed the words."""

STYLE = (conf.OmitArgPrefixes, conf.FlagCreatePairsOff, conf.DisallowNone)
REGISTRY = ConstructorRegistry()


@REGISTRY.primitive_rule
def _number_or_schedule(wanted: PrimitiveTypeInfo) -> PrimitiveConstructorSpec[Any] | None:
    """Show a hyper-parameter as a number or a schedule."""
    if wanted.type != Scheduled:
        return None
    return PrimitiveConstructorSpec(
        nargs=1,
        metavar="NUMBER|FROM:TO@STEPS",
        instance_from_str=lambda words: Schedule.read(words[0]),
        is_instance=lambda value: isinstance(value, int | float | Schedule),
        str_from_instance=lambda value: [str(value)],
    )


def parse(kind: type[T], words: Sequence[str], command: str, example: str | None = None) -> T:
    """Return the dataclass `kind` filled from the words after a command; its docstrings are the help.

    Help goes to stdout and ends the program; a mistake becomes a `UsageError`.
    """
    example = example or COMMANDS[command].example
    options = options_of(kind)
    if not {"-h", "--help"}.isdisjoint(words):
        _show_help(kind, options, command, example)
    return fill(kind, words, options, command, example)


def refuse_below(least: int, **values: int | None) -> None:
    """Raise a `UsageError` for an option that is given and too small."""
    for name, value in values.items():
        if value is not None and value < least:
            raise UsageError(f"--{name.replace('_', '-')} must be {least} or more, not {value}")


def _show_help(kind: type, options: Sequence[Option], command: str, example: str) -> None:
    """Print the help, and end the program."""
    choices = {option.place: option.choices for option in options if option.choices and option.listed}
    tyro.cli(
        _with_choices(kind, choices),
        prog=f"unweave {command}",
        description=f"{getdoc(kind)}\n\nexample:\n  {example}",
        args=["--help"],
        config=STYLE,
        registry=REGISTRY,
    )


def _with_choices(kind: type, choices: dict[tuple[str, ...], tuple[str, ...]]) -> type:
    """Return a dataclass for the help only, in which the fields at these places show their choices."""
    hints = get_type_hints(kind, include_extras=True)
    changed = []
    for spec in fields(kind):
        inner = {place[1:]: names for place, names in choices.items() if place[0] == spec.name}
        if () in inner:
            hint = Annotated[hints[spec.name], conf.arg(metavar=f"{{{','.join(inner[()])}}}")]
        elif inner and is_dataclass(hints[spec.name]):
            hint = _with_choices(hints[spec.name], inner)
        else:
            continue
        changed.append((spec.name, hint, _same_default(spec, hint)))
    # As a class of this module, it is not mistaken for a user's method.
    own = {"__doc__": (kind.__doc__ or "").replace("]_", "]"), "__module__": __name__}  # a citation, as people write it
    return make_dataclass(kind.__name__, changed, bases=(kind,), frozen=True, namespace=own)


def _same_default(spec: Field[Any], kind: Any) -> Any:
    """Return a field with the default of another, converted to this kind if it is a dataclass."""
    default = default_of(spec)
    if is_dataclass(default) and not isinstance(default, type):
        default = kind(**{inner.name: getattr(default, inner.name) for inner in fields(default)})
    return field(default=default, kw_only=spec.kw_only)
