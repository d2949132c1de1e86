"""What a study remembers of being run, and what runs remember of their machine."""

from __future__ import annotations

import json
import time
from pathlib import Path

import polars
import pytest

from unweave import hardware
from unweave.study import Outcome, Study
from unweave.study.sessions import SESSIONS, read_sessions, record_session
from unweave.study.table import read_records, score_table
from unweave.tables import write_table

from .conftest import config
from .test_table import write_run


def test_a_study_remembers_its_file_and_how_long_it_took(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    file = tmp_path / "sweep.toml"
    file.write_text('data = ["xysquares:size=32"]\nseeds = 2\nsteps = 2\n[[methods]]\nname = "vae"\n')

    def engine(jobs, workers, started):
        for job in jobs:
            started([job.task.name])
            yield Outcome(job.task.name, "failed", "no luck")

    monkeypatch.setattr("unweave.study.engines.local.run_local", engine)
    study = Study.read(file, tmp_path / "study")
    study.run(workers=2)
    (session,) = read_sessions(study.path)
    assert {name: session[name] for name in ("engine", "workers", "finished", "file")} == {
        "engine": "local",
        "workers": 2,
        "finished": 2,
        "file": str(file),
    }
    assert 0 <= session["seconds"] < 600
    study.run(workers=2)  # nothing is left to do, and nothing is remembered
    assert len(read_sessions(study.path)) == 1
    study.run(redo="failed", workers=1)
    assert [found["workers"] for found in read_sessions(study.path)] == [2, 1]


def test_a_damaged_list_of_sessions_is_begun_again(tmp_path: Path):
    (tmp_path / SESSIONS).write_text("{")
    assert read_sessions(tmp_path) == []
    record_session(tmp_path, {"finished": 1, "started": time.time() - 2, "workers": 1})
    (session,) = read_sessions(tmp_path)
    assert 2 <= session["seconds"] < 60


def test_the_machine_has_a_processor_cores_and_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    hardware.machine.cache_clear()
    (tmp_path / "cpuinfo").write_text(
        "processor\t: 0\nmodel name\t: Test CPU\nprocessor\t: 1\nmodel name\t: Test CPU\n"
    )
    monkeypatch.setattr(hardware, "CPU_INFO", tmp_path / "cpuinfo")
    found = hardware.machine()
    assert found["cpu"] == "Test CPU"
    assert found["cores"] == hardware.cores() >= 1
    assert int(found["memory"]) > 10**8
    hardware.machine.cache_clear()
    monkeypatch.setattr(hardware, "CPU_INFO", tmp_path / "none")
    assert hardware.machine()["cpu"]
    hardware.machine.cache_clear()


def test_runs_are_read_with_their_machine(tmp_path: Path):
    write_run(tmp_path / "run", config(), {"mig": 0.5})
    status = {"state": "finished", "step": 10, "seconds": 1.5, "device": "cpu", "machine": {"cpu": "x"}}
    (tmp_path / "run" / "status.json").write_text(json.dumps(status))
    (found,) = read_records(tmp_path).runs["machine"]
    assert json.loads(found) == {"machine": {"cpu": "x"}, "device": "cpu"}


def test_a_run_that_was_scored_again_counts_once(tmp_path: Path):
    """Scores with other options stay in the run's file; as two rows they would count as two seeds."""
    write_run(tmp_path / "run", config(), {"mig": 0.5})
    path = tmp_path / "run" / "scores.parquet"
    again = polars.read_parquet(path).with_columns(value=polars.lit(0.7), options=polars.lit('{"rows": 2000}'))
    write_table(path, polars.concat([polars.read_parquet(path), again], how="diagonal"))
    assert score_table(read_records(tmp_path))["value"].to_list() == [0.7]
