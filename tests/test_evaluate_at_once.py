"""Several processes that score one run at once: no score is lost."""

from __future__ import annotations

import shutil
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest

import unweave

METRICS = ("mig", "sap-correlation", "modularity", "mcc", "mig-sup", "jemmig")
"""Quick ones, so that they are saved at about the same moment."""
SCORE = """
import sys
import unweave
print("ready", flush=True)
for folder in sys.stdin:
    unweave.Run.open(folder.strip()).evaluate(sys.argv[1], samples=50, test_samples=20, intervals=False, floors=False)
    print("done", flush=True)
"""
TRIALS = 20


def say(process: subprocess.Popen[str], line: str) -> None:
    assert process.stdin is not None
    process.stdin.write(f"{line}\n")
    process.stdin.flush()


def hear(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


@pytest.mark.slow
def test_six_evaluations_at_once_keep_all_scores_twenty_times_of_twenty(tmp_path: Path):
    options = {"net": "mlp", "width": 0.05, "latents": 3, "device": "cpu", "threads": 1}
    run = unweave.train("vae", data="xysquares:size=32", out=tmp_path / "run", steps=20, batch=16, **options)
    with ExitStack() as stack:
        pipe = subprocess.PIPE
        commands = [[sys.executable, "-c", SCORE, name] for name in METRICS]
        processes = [
            stack.enter_context(subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True)) for command in commands
        ]
        assert [hear(process) for process in processes] == ["ready"] * len(METRICS)
        for trial in range(TRIALS):
            folder = Path(shutil.copytree(run.path, tmp_path / str(trial)))
            for process in processes:
                say(process, str(folder))
            assert [hear(process) for process in processes] == ["done"] * len(METRICS)
            scores = unweave.Run.open(folder).scores()
            assert scores is not None
            assert sorted(scores["metric"]) == sorted(METRICS)
