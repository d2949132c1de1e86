"""`--plugin`: it is read first, because what it defines decides which other words are known."""

from __future__ import annotations

import shlex
import warnings
from collections.abc import Sequence
from pathlib import Path

from unweave.errors import UsageError
from unweave.origins import plugin_words
from unweave.plugins import load

OPTION = "--plugin"


def load_plugins(words: Sequence[str]) -> list[str]:
    """Load the plugins that the words name, and return the other words."""
    others: list[str] = []
    remaining = iter(words)
    for word in remaining:
        name, equals, plugin = word.partition("=")
        if name != OPTION:
            others.append(word)
            continue
        plugin = plugin if equals else next(remaining, "")
        if not plugin or plugin.startswith("--"):
            raise UsageError(
                f"{OPTION} needs a Python file or the name of a module; for example: {OPTION} my_method.py"
            )
        load(plugin)
    return others


def run_words(folder: Path, data: str | None = None) -> str:
    """Return a run's folder, the path of its data and its plugins as arguments for the next command."""
    from unweave.runs import Run

    with warnings.catch_warnings(action="ignore"):  # they have been shown already
        plugins = Run.open(folder).plugins
    return shlex.quote(str(folder)) + (f" --data {shlex.quote(str(data))}" if data else "") + plugin_words(plugins)
