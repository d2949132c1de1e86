"""`unweave completion`: a script that lets a shell complete commands, options and names.

The script holds a table from what has been typed to what may follow, and starts no Python.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Annotated

from tyro.conf import Positional, arg

from unweave.cli.commands import COMMANDS
from unweave.cli.completion_scripts import SCRIPTS
from unweave.cli.options import Option, options_of
from unweave.cli.parsing import parse
from unweave.errors import MissingPackage, unknown
from unweave.fields import OneOf

FILES = "@files"
"""Stands for the names of files and folders."""
ONE, SEVERAL = "1", "+"
"""How the values of an option begin: it takes one, or several."""


@dataclass(frozen=True)
class Completion:
    """Print a script with which the Tab key completes commands, options, and the names they take.

    bash: unweave completion bash > ~/.local/share/bash-completion/completions/unweave
    zsh: unweave completion zsh > ~/.unweave.zsh, and a line "source ~/.unweave.zsh" in ~/.zshrc
    fish: unweave completion fish > ~/.config/fish/completions/unweave.fish
    """

    shell: Annotated[Positional[str], OneOf(SCRIPTS), arg(metavar="SHELL")]
    """The shell."""

    def __post_init__(self) -> None:
        if self.shell not in SCRIPTS:
            raise unknown("shell", self.shell, SCRIPTS)


def completion(words: list[str]) -> None:
    """Run `unweave completion`."""
    shell = parse(Completion, words, "completion").shell
    print(SCRIPTS[shell](following()))


def following() -> dict[str, str]:
    """Return what may follow: after a command its options, `command =` its first words, `command --option` values.

    An asterisk stands for any method. Without torch, commands that need it are offered without their options.
    """
    table = {"": " ".join(dict.fromkeys(name.split()[0] for name in COMMANDS))}
    for name, command in COMMANDS.items():
        group, _, member = name.partition(" ")
        if member:
            table[f"{group} ="] = " ".join(filter(None, [table.get(f"{group} =", ""), member]))
        if not command.options:
            continue
        with suppress(MissingPackage):
            options = options_of(_load(command.options))
            table |= _entries(name, options, {f"{name} =": table.get(f"{name} =", "")})
    with suppress(MissingPackage):
        table |= _training()
    return table


def _training() -> dict[str, str]:
    """Return what may follow `unweave train`: the options of all methods are listed once."""
    from unweave.cli.train import options_kind, ordinary
    from unweave.methods import METHODS
    from unweave.presets import presets_for

    by_method = {name: {each.flag: each for each in options_of(options_kind(ordinary(name)))} for name in METHODS}
    first = next(iter(by_method.values()))
    shared = [flag for flag in first if all(first[flag] == own.get(flag) for own in by_method.values())]
    table = {"train =": " ".join(METHODS)}
    for name, own in by_method.items():
        table[f"train {name}"] = _spaced(own)
        table |= _values(f"train {name}", (option for flag, option in own.items() if flag not in shared))
        table[f"train {name} --preset"] = _spaced([ONE, *presets_for(name)])
    return table | _values("train *", (first[flag] for flag in shared if flag != "--preset"))


def _entries(command: str, options: Iterable[Option], known: Mapping[str, str]) -> dict[str, str]:
    """Return what may follow a command: its options, their values, and the words that need no option."""
    options = list(options)
    loose = [name for option in options if not option.flag for name in _names(option)]
    return {
        command: _spaced(option.flag for option in options if option.flag),
        f"{command} =": _spaced([known[f"{command} ="], *loose]),
        **_values(command, options),
    }


def _values(command: str, options: Iterable[Option]) -> dict[str, str]:
    """Return what may follow each option that takes a value."""
    return {
        f"{command} {option.flag}": _spaced([SEVERAL if option.several else ONE, *_names(option)])
        for option in options
        if option.flag and option.types
    }


def _names(option: Option) -> tuple[str, ...]:
    return option.choices or ((FILES,) if Path in option.types else ())


def _spaced(words: Iterable[str]) -> str:
    return " ".join(filter(None, words))


def _load(place: str) -> type:
    module, kind = place.split(":")
    return getattr(import_module(module), kind)
