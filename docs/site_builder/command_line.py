"""The command-line reference: what `unweave COMMAND --help` prints, for every command, as Markdown."""

from __future__ import annotations

import contextlib
import io
import re
import textwrap
from collections.abc import Iterator
from unittest.mock import patch

from unweave.cli.commands import COMMANDS, run_command

WIDTH = "100"
"""Columns of the terminal that the help is written for: so few that tyro puts no two boxes side by side."""
BOX = re.compile(r"╭─ (?P<title>.*?) ─*╮\n(?P<lines>(?:│.*│\n)*)╰─*╯")
RULE = re.compile(r"─{10,}")
METHOD = "beta-vae"
"""The method whose options stand for those of all methods."""


def reference() -> str:
    """Return the help of every command, each below a heading of its own."""
    sections = [f"## unweave {name}\n\n{command_help(name)}" for name in COMMANDS]
    at = list(COMMANDS).index("train") + 1
    sections.insert(at, f"## unweave train {METHOD}\n\n{command_help(f'train {METHOD}')}")
    return "\n\n".join(sections)


def command_help(command: str) -> str:
    """Return the help of one command: usage, description and example as text, its options as lists."""
    text = printed([*command.split(), "--help"])
    parts: list[str] = []
    end = 0
    for box in BOX.finditer(text):
        parts += [*_prose(text[end : box.start()]), _box(box["title"], box["lines"])]
        end = box.end()
    return "\n\n".join([*parts, *_prose(text[end:])])


def printed(words: list[str]) -> str:
    """Return what the command line prints for these words."""
    out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")  # its encoding tells tyro which boxes it can draw
    environment = {"COLUMNS": WIDTH, "NO_COLOR": "1"}
    with patch.dict("os.environ", environment), contextlib.redirect_stdout(out), contextlib.suppress(SystemExit):
        run_command(words)
    out.flush()
    return out.buffer.getvalue().decode()  # pyright: ignore[reportAttributeAccessIssue]


def _prose(text: str) -> Iterator[str]:
    """Give the paragraphs of help that are outside of boxes: sentences as they are, usage and lists as code."""
    for part in filter(None, (part.strip("\n") for part in re.split(r"\n{2,}", text))):
        if part.startswith("usage:"):
            yield f"```text\n{part.removeprefix('usage: ')}\n```"
        elif "\n  " in part:
            title, lines = part.split("\n", 1)
            yield f"{_title(title)}\n\n```text\n{textwrap.dedent(lines)}\n```"
        else:
            yield part


def _box(title: str, text: str) -> str:
    """Return a box of options as a list of definitions; what stands above its rule, if it has one, is about all."""
    lines = [line[2:-1].rstrip() for line in text.splitlines()]
    rule = next((number for number, line in enumerate(lines) if RULE.fullmatch(line)), -1)
    about, entries = " ".join(lines[: max(rule, 0)]), _entries(lines[rule + 1 :])
    return "\n\n".join(filter(None, [f"**{_title(title)}**", _escaped(about), *(_entry(*entry) for entry in entries)]))


def _entries(lines: list[str]) -> list[tuple[str, str]]:
    """Return each option with its explanation, which follows after a gap or on indented lines."""
    entries: list[tuple[str, list[str]]] = []
    for line in filter(None, lines):
        name, _, words = line.partition("  ")
        if entries and "{" in entries[-1][0] and "}" not in entries[-1][0]:  # a list of choices over several lines
            entries[-1] = (f"{entries[-1][0]} {line.strip()}", [])
        elif name:
            entries.append((name, [words.strip()]))
        else:
            entries[-1][1].append(words.strip())
    return [(name, " ".join(filter(None, words))) for name, words in entries]


def _entry(option: str, words: str) -> str:
    return f"`{option}`\n: {_escaped(words) or '–'}"


def _title(words: str) -> str:
    return words[:1].upper() + words[1:]


def _escaped(text: str) -> str:
    """Return a text in which Markdown finds nothing to interpret."""
    return re.sub(r"([*_<>\[\]$|`])", r"\\\1", re.sub(r"\]_", "]", text))
