"""`unweave study …` as a person sees it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import polars
import pytest

from unweave.cli.study import opening
from unweave.study import Study

from .conftest import Cli

FILE = """
data = ["xysquares:size=32"]
seeds = 2
steps = {steps}
batch = 8
net = "mlp"
width = 0.02
latents = 3
metrics = ["mig"]
[evaluate]
preset = "fast"
samples = 60
test_samples = 20
intervals = false
floors = false
[[methods]]
name = "beta-vae"
beta = [1, 4]
"""


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "sweep.toml"
    path.write_text(FILE.format(steps=12))
    return path


def test_from_a_file_to_a_table(cli: Cli, file: Path):
    code, out, err = cli("study", "run", file, "--workers", 2)
    assert (code, err) == (0, "")
    assert out.startswith("4 runs: 0 done, 0 failed, 4 to do\n4 done, 0 failed, 0 to do, after ")
    assert "next: unweave study report studies/sweep\n" in out
    out = cli("study", "run", file).out
    assert out.startswith("4 runs: 4 done, 0 failed, 0 to do; nothing to do\n")
    out = cli("study", "status", "studies/sweep").out
    assert "beta-vae beta=1.0 on xysquares:spacing=8,size=32  ██\n" in out
    found = json.loads(cli("study", "status", "studies/sweep", "--json").out)
    assert {key: found[key] for key in ("runs", "done", "failed", "running", "todo")} == {
        "runs": 4,
        "done": 4,
        "failed": 0,
        "running": 0,
        "todo": 0,
    }
    for name in ("scores.csv", "scores.parquet"):
        code, out, _ = cli("study", "table", "studies/sweep", "--out", name)
        assert (code, out) == (0, f"{name}: 4 scores of 4 runs\n")
    rows = polars.read_csv("scores.csv")
    assert rows.columns[:8] == ["run", "data", "method", "beta", "seed", "step", "metric", "value"]
    assert polars.read_parquet("scores.parquet")["value"].to_list() == pytest.approx(rows["value"].to_list())


def test_ctrl_c_leaves_checkpoints_and_the_same_command_goes_on(cli: Cli, file: Path):
    file.write_text(FILE.format(steps=10_000_000))
    command = [sys.executable, "-m", "unweave", "study", "run", str(file), "--workers", "1"]
    how: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, **how, start_new_session=True) as driver:
        runs = Path("studies/sweep/runs")
        deadline = time.monotonic() + 300
        while not list(runs.glob("*/checkpoint.pt")):
            assert time.monotonic() < deadline, "no run began"
            time.sleep(0.05)
        status = json.loads(cli("study", "status", "studies/sweep", "--json").out)
        picture = cli("study", "status", "studies/sweep").out
        second = cli("study", "run", file)
        os.killpg(driver.pid, signal.SIGINT)  # as a terminal does: the workers get it too
        err = driver.communicate(timeout=300)[1]
    assert driver.returncode == 130
    assert status["driver"]["pid"] == driver.pid
    assert "beta-vae beta=1.0 on xysquares:spacing=8,size=32  ▒·\n" in picture
    assert f"being run by process {driver.pid} on " in picture
    assert second.code == 2
    assert f"process {driver.pid} on " in second.err
    assert "is already running this study; see: unweave study status studies/sweep" in second.err
    assert err.startswith("unweave: stopped: 0 done, 0 failed, 4 to do; the same command continues")
    (run,) = runs.glob("beta-vae-*")
    assert json.loads((run / "status.json").read_text())["step"] >= 1000


def test_ctrl_c_while_workers_start_is_one_line(file: Path):
    command = [sys.executable, "-m", "unweave", "study", "run", str(file), "--workers", "1"]
    how: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, **how, start_new_session=True) as driver:
        deadline = time.monotonic() + 60
        while not Path("studies/sweep/driver.json").exists():
            assert time.monotonic() < deadline, "no driver began"
            time.sleep(0.01)
        os.killpg(driver.pid, signal.SIGINT)
        err = driver.communicate(timeout=60)[1]
    assert driver.returncode == 130
    assert err.startswith("unweave: stopped: 0 done, 0 failed, 4 to do")
    assert err.count("\n") == 1


def finish(folder: Path) -> None:
    """Write the files by which a run counts as done, where no metric is requested."""
    folder.mkdir()
    (folder / "config.json").write_text("{}")
    (folder / "status.json").write_text('{"state": "finished"}')
    header = b'{"weight": {"data_offsets": [0, 4]}}'
    (folder / "weights.safetensors").write_bytes(len(header).to_bytes(8, "little") + header + bytes(4))
    (folder / "scored.json").write_text('{"scores": {"12": {}}}')


def planned(file: Path, seeds: int, done: int, failed: int) -> Study:
    """Return a study in whose folder so many runs are done, and so many have failed."""
    lines = FILE.format(steps=12).replace("seeds = 2", f"seeds = {seeds}").replace('["mig"]', "[]")
    file.write_text(lines)
    study = Study.read(file)
    study.path.mkdir(parents=True)
    study.folder.write_plan(study.plan)
    for task in study.plan.tasks[:done]:
        finish(study.folder.run_of(task))
    for task in study.plan.tasks[done : done + failed]:
        study.folder.record_failure(task, "no luck", "Traceback …")
    return study


def test_a_run_begins_with_what_is_there(file: Path):
    study = planned(file, 250, done=342, failed=5)
    assert opening(study, ()) == ["500 runs: 342 done, 5 failed, 153 to do"]
    (study.folder.run_of(study.plan.tasks[0]) / "scored.json").unlink()
    assert opening(study, ()) == ["500 runs: 341 done, 5 failed, 154 to do (1 of them need only scores)"]


def test_a_changed_file_says_which_cells_are_new_and_which_are_gone(cli: Cli, file: Path):
    planned(file, 1, done=2, failed=0)
    file.write_text(file.read_text().replace("[1, 4]", "[4, 8]"))
    lines = opening(Study.read(file), ())
    assert lines == [
        "new in the file: beta-vae beta=8.0 on xysquares:spacing=8,size=32",
        "no longer in the file: beta-vae beta=1.0 on xysquares:spacing=8,size=32",
        "runs that are no longer in the file stay in 'studies/sweep'",
        "2 runs: 1 done, 0 failed, 1 to do",
    ]
    file.write_text(file.read_text().replace("[4, 8]", str(list(range(1, 31)))))
    assert opening(Study.read(file), ())[10:] == ["new in the file: 18 more", "30 runs: 2 done, 0 failed, 28 to do"]


def test_the_status_is_shown_again_until_all_is_done(cli: Cli, file: Path, monkeypatch: pytest.MonkeyPatch):
    study = planned(file, 2, done=1, failed=1)

    def work(seconds: float) -> None:
        finish(study.folder.run_of(next(task for task in left)))

    left = iter(study.plan.tasks[2:])
    monkeypatch.setattr("unweave.cli.study.time.sleep", work)
    pictures = cli("study", "status", "studies/sweep", "--watch").out.split("\033[H\033[J")[1:]
    assert [picture.splitlines()[0][-2:] for picture in pictures] == ["█·", "██", "██"]
    assert [picture.splitlines()[1][-2:] for picture in pictures] == ["×·", "×·", "×█"]
    assert "4 runs: 3 done, 1 failed, 0 to do" in pictures[-1]
    assert ": no luck" in pictures[-1]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["run", "none.toml"], "there is no file 'none.toml'"),
        (["run", "."], "'.' is a folder; name the TOML file"),
        (["run", "sweep.toml", "--workers", "0"], "--workers must be 1 or more, not 0"),
        (["run", "sweep.toml", "--address", "10.0.0.1:6379"], "the engine 'local' has no option 'address'"),
        (["run", "sweep.toml", "--engine", "ray", "--time", "5"], "the engine 'ray' has no option 'time'"),
        (["run", "sweep.toml", "--engine", "slurm", "--no-shared"], "the engine 'slurm' has no option 'shared'"),
        (["run", "sweep.toml", "--engine", "cloud"], "cloud"),
        (["run", "sweep.toml", "--redo", "everything"], "no cell or run is called 'everything'"),
        (["status", "nowhere"], "there is no folder 'nowhere'"),
        (["status", "."], "'.' is not a study"),
        (["table", ".", "--out", "scores.txt"], "--out must be a .csv or .parquet file"),
    ],
)
def test_mistakes(cli: Cli, file: Path, words: list[str], message: str):
    code, _, err = cli("study", *words)
    assert code == 2
    assert message in err
    assert err.count("\n") == 1


def test_a_failure_is_shown_at_once_and_counted(cli: Cli, file: Path):
    file.write_text(
        FILE.format(steps=12).replace("beta = [1, 4]", "beta = 4").replace("steps = 12", "steps = 12\nlr = 1e30")
    )
    code, out, _ = cli("study", "run", file, "--workers", 1)
    assert code == 0
    assert " failed: the loss or a weight is no longer finite after step" in out
    assert "0 done, 2 failed, 0 to do" in out
    assert "--redo failed" in out
    (first, *_) = sorted(Path("studies/sweep/failures").iterdir())
    assert "Traceback" in first.read_text()
