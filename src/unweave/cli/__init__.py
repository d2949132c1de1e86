"""The command line: `unweave COMMAND …`.

`commands` lists the commands, `parsing` and `options` read their options into dataclasses, `mistakes` turns mistakes
into one clear line, `completion` writes scripts for shells. Every other file holds the functions of one group of
commands. Nothing heavy is imported before a command needs it.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from unweave.cli.commands import run_command
from unweave.cli.mistakes import polite

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> None:
    """Run the command in `argv`, by default the one this process was started with."""
    with polite():
        run_command(list(sys.argv[1:] if argv is None else argv))
