"""Every command that a page shows can be given: its options exist, and the names and files that it mentions too."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from functools import reduce
from pathlib import Path

import pytest

from unweave import plugins
from unweave.cli import parsing
from unweave.cli.commands import COMMANDS, run_command
from unweave.cli.options import Option
from unweave.errors import UsageError

TOP = Path(__file__).parents[2]
PAGES = [*sorted(TOP.glob("*.md")), *sorted((TOP / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```(?:console|text)?\n.*?^```$|(?:^ {4}[^\n]*\n)+", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^ *(?:\$ )?(?:\.venv/bin/)?unweave ([a-z-].*)\n(?!unweave: )", re.MULTILINE)
"""A command of a block, but for those that show the message of a mistake below them."""
QUOTED = re.compile(r"`unweave ([a-z-][^`…]*)`")
"""A command in prose; dots leave something out."""
PLUGIN = re.compile(r" --plugin (\S+\.py)")
SCRIPT = re.compile(r"python\s(benchmarks/\w+\.py|examples/\w+\.py)")
TARGET = re.compile(r"^ *make ([\w-]+)|`make ([\w-]+)[^`]*`", re.MULTILINE)
OWN = (TOP / "docs" / "tutorials" / "your-own-method.md").read_text(encoding="utf-8").split("```python\n")[1]
"""The plugin of a tutorial."""


class Understood(BaseException):
    """The words of a command were read; nothing is run."""


def commands_of(text: str) -> Iterator[str]:
    """Yield the commands of a page without their first word: those in blocks, and those in prose."""
    for block in BLOCK.findall(text):
        yield from COMMAND.findall(re.sub(r" *\\\n *", " ", block if block.endswith("\n") else f"{block}\n"))
    yield from (" ".join(words.split()) for words in QUOTED.findall(BLOCK.sub("", text)))


NAMED = {"train --help", *COMMANDS}
"""Commands that prose only names."""
THEIRS = {"None", "NAME", "attributes", "vectors", "faces", "exported", "discs", "pooled", "best-r2"}
"""No value, a placeholder, and what is the reader's own: kinds of files, folders, and names that plugins define."""
SHOWN = {words.partition(" #")[0].strip() for page in PAGES for words in commands_of(page.read_text(encoding="utf-8"))}


def is_known(word: str, option: Option) -> bool:
    """Is a word one that an option takes? Names come with options, and those of data sets with variants too."""
    name = word.partition(":")[0]
    if not option.choices or name in option.choices or name in THEIRS or name.endswith(".loss"):
        return True
    if option.listed:
        return False
    return any(name.startswith(f"{known}-") for known in option.choices) or not re.fullmatch(r"[a-z][\w-]*", name)


@pytest.fixture
def _only_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let commands read their words and stop, in the repository's folder; plugins are forgotten afterwards."""
    fill = parsing.fill

    def read(kind, words, options, *others):
        found = fill(kind, words, options, *others)
        for option in options:
            value = reduce(getattr, option.place, found)
            for word in value if isinstance(value, tuple) else (value,):
                if not is_known(str(word), option):
                    raise UsageError(f"{option.label} is not {word}")
        raise Understood

    monkeypatch.chdir(TOP)
    monkeypatch.setattr(parsing, "fill", read)
    for kind in plugins.KINDS:
        monkeypatch.setattr(kind, "own", {})


@pytest.mark.usefixtures("_only_read")
def test_every_command_of_a_page_can_be_given(tmp_path):
    (tmp_path / "ordered.py").write_text(OWN.partition("```")[0], encoding="utf-8")
    given = sorted(words for words in SHOWN - NAMED if "METHOD" not in words)
    assert len(given) > 150
    wrongs = []
    for words in given:
        replaced = re.sub(r"\$(beta|seed)", "1", words).replace(" ordered.py", f" {tmp_path}/ordered.py")
        for plugin in PLUGIN.findall(replaced):
            assert Path(plugin).is_file(), words
        if "ordered" in words and not words.startswith("train "):  # two plugins define it, and the last one counts
            replaced = PLUGIN.sub("", replaced)
        try:
            run_command(shlex.split(replaced))
        except (Understood, SystemExit):  # help ends the program
            continue
        except UsageError as wrong:
            named = "--" not in words and str(wrong).startswith("missing: ")  # prose names commands without options
            if not named and "are not here; run: unweave data fetch" not in str(wrong):
                wrongs.append(f"unweave {words}: {wrong}")
    assert wrongs == []


@pytest.mark.usefixtures("_only_read")
@pytest.mark.parametrize(
    "words", ["train beta-vae --data shapes2d --betta 4", "evaluate --metric mig", "study go", "reproduce thesis-1.1"]
)
def test_a_command_that_does_not_exist_is_found(words):
    with pytest.raises(UsageError):
        run_command(shlex.split(words))


def test_scripts_and_targets_that_pages_name_exist():
    targets = set(re.findall(r"^([\w-]+):", (TOP / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        assert [script for script in SCRIPT.findall(text) if not (TOP / script).is_file()] == []
        assert {first or second for first, second in TARGET.findall(text)} <= targets
