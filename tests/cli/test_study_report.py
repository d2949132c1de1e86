"""`unweave study report` as a person sees it."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..report.synthetic import task, write_study
from .conftest import Cli


@pytest.fixture
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    tasks = [task(seed=seed, beta=beta) for seed in range(2) for beta in (1.0, 4.0)]
    write_study(Path("my study"), tasks, lambda config, seed, step: {"mig": 0.1 * seed}, todo=[tasks[0].name])
    return Path("my study")


def test_the_page_is_written_and_the_next_commands_are_named(cli: Cli, study: Path):
    code, out, err = cli("study", "report", study)
    assert (code, err) == (0, "")
    page, counts, blank, following = out.splitlines()
    assert (page, counts, blank) == ("my study/report.html", "4 runs: 3 done, 0 failed, 1 to do", "")
    assert following.startswith("next: open my study/report.html in a browser")
    assert following.endswith("unweave study table 'my study' --out scores.csv")
    assert "<h1>my study</h1>" in Path(page).read_text()
    assert cli("study", "report", study, "--out", "pages/own.html").out.startswith("pages/own.html\n")
    assert 'href="../my%20study/runs/' in Path("pages/own.html").read_text()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["nowhere"], "there is no folder 'nowhere'"),
        (["."], "'.' is not a study"),
        (["my study", "--out", "."], "'.' is a folder"),
    ],
)
def test_mistakes(cli: Cli, study: Path, words: list[str], message: str):
    code, _, err = cli("study", "report", *words)
    assert code == 2
    assert message in err
    assert err.count("\n") == 1
