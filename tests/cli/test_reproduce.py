from __future__ import annotations

import json
from pathlib import Path

import pytest

from unweave.reproduce import RESULTS
from unweave.reproduce.impossibility import Impossibility

SMOKE = ("reproduce", "impossibility", "--preset", "smoke")


def test_the_list_names_every_result_with_its_source(cli):
    code, out, err = cli("reproduce", "list")
    assert (code, err) == (0, "")
    head, *rows = out.partition("\n\nnext: unweave reproduce ")[0].splitlines()
    assert head.split() == ["name", "source", "about"]
    assert [row.split()[0] for row in rows] == list(RESULTS)
    assert "[Locatello2019], theorem 1" in out
    listed = json.loads(cli("reproduce", "list", "--json").out)["results"]
    assert [each["name"] for each in listed] == list(RESULTS)
    assert all(each["presets"] == ["smoke", "small", "paper"] for each in listed)


def test_a_result_is_shown_and_saved(cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, out, err = cli(*SMOKE, "--seed", "2")
    assert (code, err) == (0, "")
    folder = Path("runs/reproduce/impossibility-smoke-2")
    assert {path.name for path in folder.iterdir()} == {"result.json", "result.md", "grid.png", "family.png"}
    lines = out.splitlines()
    assert lines[0].startswith("impossibility: ")
    assert lines[2].split() == ["result", "published", "ours", "interval", "difference"]
    assert [line.split(":")[0] for line in lines[3:27]] == ["uniform"] * 8 + ["normal"] * 8 + ["mixed"] * 8
    assert lines[-3].startswith(f"saved in {folder}, after ")
    assert lines[-2:] == ["", "next: unweave reproduce impossibility --preset small"]
    record = json.loads((folder / "result.json").read_text())
    assert record["command"] == "unweave reproduce impossibility --preset smoke --seed 2"


@pytest.fixture
def quick(monkeypatch):
    """Let the result be there at once."""
    from unweave.reproduce import Findings, Row

    findings = Findings((Row("one", 1.0, 1.25, 1.0, 1.5),), ("A remark.",))
    monkeypatch.setattr(Impossibility, "run", lambda *args, **options: findings)


def test_a_result_for_machines(cli, quick, tmp_path):
    code, out, err = cli(*SMOKE, "--out", tmp_path / "here", "--json")
    assert (code, err) == (0, "")
    result = json.loads(out)
    assert result.pop("folder") == str(tmp_path / "here")
    assert result == json.loads((tmp_path / "here" / "result.json").read_text())
    assert result["rows"][0]["difference"] == 0.25


@pytest.mark.parametrize(
    ("preset", "following"),
    [("smoke", "impossibility --preset small"), ("small", "impossibility --preset paper"), ("paper", "list")],
)
def test_the_next_command_is_the_next_larger_preset(cli, quick, tmp_path, preset, following):
    _, out, _ = cli("reproduce", "impossibility", "--preset", preset, "--out", tmp_path / "a folder")
    assert "A remark." in out
    assert f"saved in '{tmp_path}/a folder', after" in out
    assert out.endswith(f"\n\nnext: unweave reproduce {following}\n")


def test_an_interrupt_is_one_line_and_leaves_nothing(cli, monkeypatch, tmp_path):
    def stop(*args, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(Impossibility, "run", stop)
    assert cli(*SMOKE, "--out", tmp_path / "new") == (130, "", "unweave: interrupted\n")
    assert list(tmp_path.iterdir()) == []


def test_without_a_name_it_explains_itself(cli):
    assert cli("reproduce") == cli("reproduce", "--help")


MISTAKES = {
    ("imposibility",): "no published result is called 'imposibility'; did you mean 'impossibility'?",
    ("impossibility", "--preset", "smal"): "no preset is called 'smal'; did you mean 'small'?",
    ("impossibility", "--setting", "clean"): "impossibility has no settings to choose from; leave --setting out",
    ("linear-gaussian", "--setting", "clen"): "no setting is called 'clen'; did you mean 'clean'?",
    ("impossibility", "--prset", "small"): "unknown option --prset for 'reproduce'; did you mean --preset?",
    ("impossibility", "--seed", "-1"): "--seed must be 0 or more, not -1",
    ("impossibility", "--seed", "x"): "--seed: 'x' is not a whole number",
    ("impossibility", "small"): "'small' is one word too many for 'reproduce'; for example: unweave reproduce",
    ("impossibility", "--out", "a-file"): "'a-file' is a file; a result needs a folder",
    ("--preset", "small"): "missing: NAME; for example: unweave reproduce",
    ("list", "all"): "'all' is one word too many for 'reproduce list'; for example: unweave reproduce list",
}


@pytest.mark.parametrize("words", MISTAKES, ids=" ".join)
def test_a_mistake_gets_one_clear_line(cli, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("a-file").touch()
    code, out, err = cli("reproduce", *words)
    assert (code, out) == (2, "")
    assert err.startswith(f"unweave: {MISTAKES[words]}")
    assert err.count("\n") == 1
    assert [path.name for path in Path().iterdir()] == ["a-file"]


class Terminal:
    """A stderr that says it is a terminal, and remembers what it is told."""

    encoding = "utf-8"

    def __init__(self) -> None:
        self.text = ""

    def write(self, text: str) -> int:
        self.text += text
        return len(text)

    def flush(self) -> None:
        pass

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("patience", "shown"), [(0.05, True), (60.0, False)])
def test_the_bar_waits_before_it_shows(monkeypatch, patience, shown):
    from time import sleep

    from unweave.cli import reproduce as command

    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    monkeypatch.setattr(command, "PATIENCE", patience)
    with command._watching() as watch:
        watch("first part", 0, 2)
        sleep(0.3)
        watch("second part", 1, 2)
    assert ("first part" in terminal.text) == ("second part" in terminal.text) == shown
    assert not shown or terminal.text.endswith("\r")  # and takes itself back
