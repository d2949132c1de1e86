"""The options of a command: the fields of a dataclass, including nested ones, and how words fill them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass
from difflib import get_close_matches
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from tyro.conf import Positional, Suppress

from unweave.errors import UsageError, called
from unweave.fields import OneOf
from unweave.schedules import Schedule

T = TypeVar("T")
FLAG = re.compile(r"--?[a-zA-Z]")
"""How an option begins; -1 is a number."""
POSITIONAL, SUPPRESS = get_args(Positional[int])[1], get_args(Suppress[int])[1]
METAVARS = {str: "STR", int: "INT", float: "FLOAT", Path: "PATH", bool: ""}
"""How help shows values, as tyro writes them."""
NUMBERS = {int: "a whole number", float: "a number"}


@dataclass(frozen=True)
class Option:
    """One field of the options: how it is written, and how its words are parsed."""

    place: tuple[str, ...]
    """The names of the fields that lead to it."""
    flag: str
    """--beta, or --no-intervals; empty for a positional one."""
    metavar: str
    types: tuple[Any, ...]
    """The types a word may have, tried in turn; empty if the option takes no value."""
    several: bool
    required: bool
    choices: tuple[str, ...]
    """The names a value can be, if they are listed."""
    listed: bool
    """Whether help lists them."""

    @property
    def label(self) -> str:
        """The option as it is shown to users: --data NAME."""
        return " ".join(filter(None, [self.flag, self.metavar if self.types else ""]))

    def read(self, words: Sequence[str]) -> Any:
        """Return the value of the words."""
        if not self.types:
            return not self.flag.startswith("--no-")
        values = tuple(self._read_one(word) for word in words)
        return values if self.several else values[0]

    def _read_one(self, word: str) -> Any:
        if Schedule in self.types:
            with called(self.flag):
                return _number_or_schedule(word)
        for kind in self.types:
            try:
                return kind(word)
            except ValueError:
                continue
        wanted = " or ".join(NUMBERS[kind] for kind in self.types)
        raise UsageError(f"{self.flag or self.metavar}: '{word}' is not {wanted}")


def options_of(kind: type, default: Any = None, place: tuple[str, ...] = ()) -> list[Option]:
    """Return the options of a dataclass; `default`, an instance of it, makes its fields optional."""
    found: list[Option] = []
    hints = get_type_hints(kind, include_extras=True)
    for spec in _settable(kind):
        hint, extras = _unwrapped(hints[spec.name])
        value = getattr(default, spec.name) if default is not None else default_of(spec)
        if is_dataclass(hint) and isinstance(hint, type):
            found += options_of(hint, None if value is MISSING else value, (*place, spec.name))
        elif SUPPRESS not in extras:
            found.append(_option(spec.name, hint, extras, value, place))
    return found


def fill(kind: type[T], words: Sequence[str], options: Sequence[Option], command: str, example: str) -> T:
    """Return the dataclass that the words describe, or raise a `UsageError`."""
    given, surplus = _sort(words, options, command, example)
    missing = [option.label for option in options if option.required and option not in given]
    if missing:
        raise UsageError(f"missing: {', '.join(missing)}; for example: {example}")
    if surplus:
        raise UsageError(_too_many(surplus, options, command, example))
    return _built(kind, {option.place: option.read(values) for option, values in given.items()})


def given_words(words: Sequence[str], options: Sequence[Option]) -> dict[tuple[str, ...], list[str]]:
    """Return the words of each given option, by its place, even if they are wrong."""
    return {option.place: values for option, values in _walk(words, options) if isinstance(option, Option)}


def _walk(words: Sequence[str], options: Sequence[Option]) -> Iterator[tuple[Option | str, list[str]]]:
    """Yield each option with its values, and each word that belongs to no option, as text."""
    flags = {option.flag: option for option in options if option.flag}
    rest = list(words)
    while rest:
        word = rest.pop(0)
        name, equals, value = word.partition("=")
        option = flags.get(name.replace("_", "-"))
        if option is None:
            yield word, []
            continue
        values = [value] if equals else []
        while option.types and rest and not FLAG.match(rest[0]) and (option.several or not values):
            values.append(rest.pop(0))
        yield option, values


def _sort(
    words: Sequence[str], options: Sequence[Option], command: str, example: str
) -> tuple[dict[Option, list[str]], list[str]]:
    """Return the words of every option, and the superfluous words."""
    given: dict[Option, list[str]] = {}
    loose: list[str] = []
    found = list(_walk(words, options))
    for option, _ in found:
        if isinstance(option, str) and FLAG.match(option):
            raise _unknown(option, options, command)
    for option, values in found:
        if isinstance(option, str):
            loose.append(option)
            continue
        if option in given and not option.several:
            raise UsageError(f"{option.flag} is given twice")
        if option.types and not values:
            raise UsageError(f"{option.flag} needs a value; for example: {example}")
        if values and not option.types:
            raise UsageError(f"{option.flag} takes no value, but '{values[0]}' was given")
        given[option] = given.get(option, []) + values
    for option in options:
        if not option.flag and loose:
            taken = len(loose) if option.several else 1
            given[option], loose = loose[:taken], loose[taken:]
    return given, loose


def _unknown(word: str, options: Iterable[Option], command: str) -> UsageError:
    """Return the error for an option that the command does not have, with the nearest match."""
    written = word.partition("=")[0]
    names = [option.flag.removeprefix("--") for option in options if option.flag]
    name = written.lstrip("-").replace("_", "-")
    near = [f"no-{name}"] if f"no-{name}" in names else get_close_matches(name, names, n=1)
    hint = f"did you mean --{near[0]}?" if near else f"see: unweave {command} --help"
    return UsageError(f"unknown option {written} for '{command}'; {hint}")


def _too_many(words: Sequence[str], options: Iterable[Option], command: str, example: str) -> str:
    """Return the message for words that belong to no option."""
    takes = [option.metavar for option in options if not option.flag]
    name, more = " ".join(["unweave", command]), ", ".join(f"'{word}'" for word in words)
    wanted = f"takes {' and '.join(takes)} and no more words" if takes else "takes no words besides its options"
    return f"'{name}' {wanted}: leave out {more}; for example: {example}"


def _built(kind: type[T], values: Mapping[tuple[str, ...], Any], default: Any = None) -> T:
    """Return the dataclass with these values, and defaults for the rest."""
    hints = get_type_hints(kind)
    arguments: dict[str, Any] = {}
    for spec in _settable(kind):
        value = getattr(default, spec.name) if default is not None else default_of(spec)
        inner = {place[1:]: each for place, each in values.items() if place[0] == spec.name}
        if is_dataclass(hints[spec.name]):
            value = _built(hints[spec.name], inner, None if value is MISSING else value)
        elif inner:
            value = inner[()]
        arguments[spec.name] = value
    return kind(**arguments)


def _option(name: str, hint: Any, extras: Sequence[Any], default: Any, place: tuple[str, ...]) -> Option:
    """Return the option of a field; extras are the annotations on its type, such as another name."""
    several = get_origin(hint) is tuple
    types, choices = _types(get_args(hint)[0] if several else hint, name)
    known = next((extra for extra in extras if isinstance(extra, OneOf)), OneOf(choices))
    named = next((extra.name for extra in extras if getattr(extra, "name", None)), name)
    metavar = next((extra.metavar for extra in extras if getattr(extra, "metavar", None)), None)
    flag = "" if POSITIONAL in extras else f"--{named.replace('_', '-')}"
    if bool in types:
        flag, types = (f"--no-{flag[2:]}" if default is True else flag), ()
    if metavar is None:
        metavar = "NUMBER|FROM:TO@STEPS" if Schedule in types else "|".join(METAVARS[kind] for kind in types)
    return Option((*place, name), flag, metavar, types, several, default is MISSING, known.names, known.listed)


def _types(hint: Any, name: str) -> tuple[tuple[Any, ...], tuple[str, ...]]:
    """Return the types that a word can be parsed as, and the names it can be, if they are listed."""
    if get_origin(hint) is Literal:
        return (str,), tuple(map(str, get_args(hint)))
    types = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    types = tuple(kind for kind in types if kind is not NoneType)
    if not set(types) <= {str, int, float, bool, Path, Schedule}:
        raise UsageError(f"the option '{name}' is of a type that the command line cannot read: {hint}")
    return types, ()


def _number_or_schedule(word: str) -> float | Schedule:
    """Parse a hyper-parameter as a number, or as a schedule such as 1:4@10000."""
    try:
        return float(word)
    except ValueError:
        return Schedule.read(word)


def _unwrapped(hint: Any) -> tuple[Any, tuple[Any, ...]]:
    """Return a type without its annotations, and the annotations, outermost first."""
    if get_origin(hint) is not Annotated:
        return hint, ()
    return get_args(hint)[0], tuple(reversed(hint.__metadata__))


def _settable(kind: type) -> list[Field[Any]]:
    return [spec for spec in fields(kind) if spec.init]  # pyright: ignore[reportArgumentType]


def default_of(spec: Field[Any]) -> Any:
    """Return the default of a field, or MISSING."""
    if isinstance(spec.default_factory, Callable):
        return spec.default_factory()
    return spec.default
