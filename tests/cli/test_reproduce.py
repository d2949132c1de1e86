from __future__ import annotations

import json
from pathlib import Path

import pytest

from unweave.reproduce import RESULTS, impossibility
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
    ("impossibility", "small"): "'unweave reproduce' takes NAME and no more words: leave out 'small'",
    ("impossibility", "--out", "a-file"): "'a-file' is a file; a result needs a folder",
    ("--preset", "small"): "missing: NAME; for example: unweave reproduce",
    ("list", "all"): "'unweave reproduce list' takes no words besides its options: leave out 'all'",
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


def test_ctrl_c_keeps_what_is_finished_and_says_so(cli, tmp_path, monkeypatch):
    folder = tmp_path / "result"
    words = ("reproduce", "impossibility", "--preset", "smoke", "--out", folder)
    compare, calls = impossibility.compare, iter(range(9))

    def interrupted(*arguments):
        if next(calls) == 1:
            raise KeyboardInterrupt
        return compare(*arguments)

    monkeypatch.setattr(impossibility, "compare", interrupted)
    said = f"interrupted; finished parts are saved in '{folder}'; the same command continues from there"
    assert cli(*words) == (130, "", f"unweave: {said}\n")
    assert len(list((folder / "parts").iterdir())) == 1


def test_the_help_of_one_result_says_what_it_is(cli):
    code, out, err = cli("reproduce", "guardians", "--help")
    assert (code, err) == (0, "")
    assert out.startswith("guardians: Ten encoders")
    assert "presets: smoke, small, paper" in out
    assert "settings: authors, clean" in cli("reproduce", "linear-gaussian", "--help").out


def test_a_dry_run_counts_the_runs_and_measures_a_few_steps(cli):
    done = cli("reproduce", "challenging-assumptions", "--preset", "smoke", "--dry-run")
    assert done.code == 0
    assert done.out.startswith(
        "48 runs: 2 data sets × 6 methods × 2 strengths × 2 seeds.\nTraining them would take about"
    )
    hours = float(done.out.split("about ")[1].split(" hours")[0])
    assert 0 <= hours < 1


def test_a_result_that_is_no_study_has_no_dry_run(cli):
    done = cli("reproduce", "impossibility", "--dry-run")
    assert done.code == 2
    assert "cannot be estimated in advance" in done.err
