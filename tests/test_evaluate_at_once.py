"""Several processes that score one run at once: no score is lost."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import unweave

METRICS = ("mig", "sap-correlation", "modularity", "mcc", "mig-sup", "jemmig")
"""Quick ones, so that they are saved at about the same moment."""
SCORE = """
import sys
import unweave
run = unweave.Run.open(sys.argv[1])
run.evaluate("active-units", samples=50, test_samples=20, intervals=False)  # all that is loaded late
print("ready", flush=True)
sys.stdin.readline()
run.evaluate(sys.argv[2], samples=50, test_samples=20, intervals=False, floors=False)
"""


def score_at_once(folder: Path) -> list[str]:
    """Score a run by one process for each metric, let loose together, and return the metrics that were saved."""
    pipe = subprocess.PIPE
    processes = [
        subprocess.Popen([sys.executable, "-c", SCORE, str(folder), name], stdin=pipe, stdout=pipe) for name in METRICS
    ]
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
    for process in processes:
        assert process.stdin is not None
        process.stdin.write(b"go\n")
        process.stdin.flush()
    for process in processes:
        process.communicate()
    assert [process.returncode for process in processes] == [0] * len(METRICS)
    scores = unweave.Run.open(folder).scores()
    assert scores is not None
    return scores["metric"].to_list()


@pytest.mark.slow
def test_six_evaluations_at_once_keep_all_scores_twenty_times_of_twenty(tmp_path: Path):
    options = {"net": "mlp", "width": 0.05, "latents": 3, "device": "cpu", "threads": 1}
    run = unweave.train("vae", data="xysquares:size=32", out=tmp_path / "run", steps=20, batch=16, **options)
    for trial in range(20):
        saved = score_at_once(Path(shutil.copytree(run.path, tmp_path / str(trial))))
        assert sorted(saved) == sorted(["active-units", *METRICS])
