"""From words to options: tyro reads a dataclass, and its complaints become one line."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import redirect_stderr, redirect_stdout, suppress
from dataclasses import is_dataclass
from difflib import get_close_matches
from inspect import getdoc
from io import StringIO
from itertools import chain
from typing import Annotated, Any, TypeVar, get_origin, get_type_hints

import tyro
from tyro import conf
from tyro.constructors import ConstructorRegistry, PrimitiveConstructorSpec, PrimitiveTypeInfo

from unweave.cli.commands import COMMANDS
from unweave.errors import UsageError
from unweave.schedules import Schedule, Scheduled

T = TypeVar("T")
Reader = Callable[[Sequence[str]], Any]
"""From words to the options, and the words that are none."""

Flag = Annotated[bool, conf.arg(help_behavior_hint="")]
"""An option without a value; help need not say that it is off by default."""

STYLE = (conf.OmitArgPrefixes, conf.FlagCreatePairsOff, conf.DisallowNone)
OPTION = re.compile(r"--?[a-zA-Z]")
FLAG = re.compile(r"^[^\w-]*(?:-h, )?(--[a-z][a-z0-9-]*)", re.MULTILINE)
RULE = re.compile(r"\n *-{8,} *\n")
PLAINER = {
    r": (?:.*: )?invalid literal for int\(\) with base 10: (.*)": r": \1 is not a whole number",
    r": could not convert string to float: (.*)": r": \1 is not a number",
}


REGISTRY = ConstructorRegistry()


@REGISTRY.primitive_rule
def _number_or_schedule(wanted: PrimitiveTypeInfo) -> PrimitiveConstructorSpec[Any] | None:
    """Read a hyper-parameter as a number, or as a schedule such as 1:4@10000."""
    if wanted.type != Scheduled:
        return None

    def read(words: list[str]) -> Scheduled:
        try:
            return float(words[0])
        except ValueError:
            return Schedule.read(words[0])

    return PrimitiveConstructorSpec(
        nargs=1,
        metavar="NUMBER|FROM:TO@STEPS",
        instance_from_str=read,
        is_instance=lambda value: isinstance(value, int | float | Schedule),
        str_from_instance=lambda value: [str(value)],
    )


def parse(kind: type[T], words: Sequence[str], command: str, example: str | None = None) -> T:
    """Return the dataclass `kind` filled from the words after a command; its docstrings are the help.

    Help goes to stdout and ends the program; a mistake becomes a `UsageError`.
    """
    example = example or COMMANDS[command].example
    description = f"{getdoc(kind)}\n\nexample:\n  {example}"

    def read(words: Sequence[str]) -> tuple[T, list[str]]:
        return tyro.cli(
            kind,
            prog=f"unweave {command}",
            description=description,
            args=words,
            config=STYLE,
            registry=REGISTRY,
            return_unknown_args=True,
        )

    if not {"-h", "--help"}.isdisjoint(words):
        read(["--help"])
    try:
        words = _gather(words, _options_of_several(kind))
    except UsageError as twice:
        raise _unknown_option(words, command, read) or twice from None
    complaint = StringIO()
    try:
        # Away from the terminal, tyro writes its complaint without colours.
        with redirect_stdout(StringIO()), redirect_stderr(complaint):
            options, unread = read(words)
    except SystemExit as stop:
        raise (
            _own_error(stop) or _unknown_option(words, command, read) or _boil_down(complaint.getvalue(), example)
        ) from stop
    if unread:
        raise _unknown_option(unread, command, read) or UsageError(
            f"'{unread[0]}' is one word too many for '{command}'; for example: {example}"
        )
    return options


def refuse_below(least: int, **values: int | None) -> None:
    """Refuse an option that is given and too small, by its name."""
    for name, value in values.items():
        if value is not None and value < least:
            raise UsageError(f"--{name.replace('_', '-')} must be {least} or more, not {value}")


def _options_of_several(kind: type) -> set[str]:
    """Return the options of a dataclass, and of those inside it, that take several values."""
    found: set[str] = set()
    for name, hint in get_type_hints(kind).items():
        if is_dataclass(hint) and isinstance(hint, type):
            found |= _options_of_several(hint)
        elif get_origin(hint) is tuple:
            found.add(f"--{name.replace('_', '-')}")
    return found


def _gather(words: Sequence[str], several: set[str]) -> list[str]:
    """Return the words with all values of an option of several in one place; any other is refused if given twice.

    Of an option that is given again, tyro would silently keep the last values only.

    >>> _gather(["run", "--set", "a", "--seed=1", "--set", "b"], {"--set"})
    ['run', '--set', 'a', 'b', '--seed=1']
    """
    parts: dict[str, list[str]] = {"": []}
    option = ""
    for word in words:
        if not word.startswith("--"):
            parts[option].append(word)
            continue
        name, *value = word.split("=", 1)
        option = name.replace("_", "-")
        if option not in parts:
            parts[option] = [word]
        elif option in several:
            parts[option] += value
        else:
            raise UsageError(f"{option} is given twice")
    return list(chain(*parts.values()))


def _own_error(error: BaseException | None) -> UsageError | None:
    """Return the mistake that a dataclass found in its own fields, out of what tyro made of it."""
    while error is not None and not isinstance(error, UsageError):
        error = error.__context__
    return error


def _unknown_option(words: Sequence[str], command: str, read: Reader) -> UsageError | None:
    """Return the error for the first option that the command does not have, with the nearest match."""
    with redirect_stdout(StringIO()) as text, suppress(SystemExit):
        read(["--help"])
    flags = [flag.removeprefix("--") for flag in FLAG.findall(text.getvalue())]
    for word in filter(OPTION.match, words):
        name = word.partition("=")[0].lstrip("-").replace("_", "-")
        if name not in flags or not word.startswith("--"):
            near = get_close_matches(name, flags, n=1)
            hint = f"did you mean --{near[0]}?" if near else f"see: unweave {command} --help"
            return UsageError(f"unknown option {word.partition('=')[0]} for '{command}'; {hint}")
    return None


def _boil_down(complaint: str, example: str) -> UsageError:
    """Return the point of tyro's complaint, which stands between its title and its hints."""
    body = RULE.split(complaint)[1] if RULE.search(complaint) else complaint
    text = " ".join(body.split()).removeprefix("Error parsing ")
    if text.startswith("Missing from"):
        missing = re.findall(r"^ {6}(\S.*?) *$", body, re.MULTILINE)
        return UsageError(f"missing: {', '.join(missing)}; for example: {example}")
    if found := re.match(r"Missing value for argument '(?:\(')?(.+?)'", text):  # some versions print a tuple
        return UsageError(f"{found[1]} needs a value; for example: {example}")
    for pattern, plainer in PLAINER.items():
        text = re.sub(pattern, plainer, text)
    return UsageError(text)
