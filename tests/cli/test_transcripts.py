"""The transcripts on the page of the command line that need no run and no file show what is printed today."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
import tutorials

from unweave.cli.evaluate import BOUNDS, MEANING

PAGE = (Path(__file__).parents[2] / "docs" / "cli.md").read_text(encoding="utf-8")
SHOWN = {
    command.removeprefix("unweave "): expected
    for body in re.findall(r"^```\n(\$ .*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    for command, expected in tutorials.commands(body)
}
ALONE = (
    "train --help",
    "data list",
    "data info shapes2d",
    "data info smallnorb",
    "data show shapes2d --out grid.png",
    "data fetch shapes2d",
    "data export xyobject --rows 300 --out exported",
    "metrics list",
    "metrics info dci",
    "reproduce list",
)
MISTAKES = (
    "trian",
    "data info shape2d",
    "train beta-vae --bta 8 --data shapes2d",
    "train beta-vae --data shapes2d --steps many",
)


@pytest.mark.parametrize("words", [*ALONE, *MISTAKES])
def test_a_transcript_shows_what_is_printed(words, cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("UNWEAVE_DATA", str(tmp_path / "data"))
    code, out, err = cli(*shlex.split(words))
    assert code == (2 if words in MISTAKES else 0)
    tutorials.compare(SHOWN[words], err if words in MISTAKES else out)


def test_tables_of_scores_are_explained_as_today():
    tables = [text for text in SHOWN.values() if re.search("^metric +value +low", text, re.MULTILINE)]
    assert len(tables) == 2
    assert all(f"\n{MEANING}\n{BOUNDS}\n" in text for text in tables)
