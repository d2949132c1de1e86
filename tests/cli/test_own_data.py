"""The commands on data of one's own, without labels, and on data that moved."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from .conftest import Cli

BRIEF = ["--net", "mlp", "--width", "0.02", "--batch", "8", "--threads", "1", "--steps", "5"]


@pytest.fixture
def pictures(tmp_path: Path) -> Path:
    """Return a folder of unlabelled images of two sizes."""
    folder = tmp_path / "pictures"
    folder.mkdir()
    rng = np.random.default_rng(0)
    for number in range(20):
        Image.fromarray(rng.integers(0, 256, (20 + number % 2, 20, 3), dtype=np.uint8)).save(folder / f"{number}.png")
    return folder


@pytest.mark.filterwarnings("default")
def test_unlabelled_images_from_info_to_report(pictures: Path, tmp_path: Path, cli: Cli):
    name = f"{pictures}:size=16"
    mixed = cli("data", "info", pictures)
    assert (mixed.code, mixed.err.count("\n")) == (2, 1)
    assert "the images differ in size (2 sizes; " in mixed.err
    assert "no factors: only methods and scores that need none can use it" in cli("data", "info", name).out
    assert '"factors": {}' in cli("data", "info", name, "--json").out
    assert cli("data", "show", name, "--out", tmp_path / "grid.png").code == 0
    assert cli("data", "export", name, "--out", tmp_path / "exported").code == 0
    run, again = tmp_path / "run", tmp_path / "again"
    assert cli("train", "vae", "--data", name, "--out", run, *BRIEF).code == 0
    scored = cli("evaluate", run, "--metrics", "study", "active-units", "--no-intervals")
    assert scored.code == 0
    assert "folder has no factors: 9 metrics that compare codes with factors are left out" in scored.err
    assert cli("evaluate", run, "--metrics", "mig").err == (
        "unweave: the metric 'mig' needs factors, but folder has none\n"
    )
    assert cli("report", run).code == 0
    assert "needs factors" in cli("train", "gvae", "--data", name, "--out", again, *BRIEF).err


def test_data_that_moved_are_named_on_the_command_line(pictures: Path, tmp_path: Path, cli: Cli):
    runs = [tmp_path / "runs" / name for name in "ab"]
    for seed, run in enumerate(runs):
        assert cli("train", "vae", "--data", f"{pictures}:size=16", "--out", run, "--seed", seed, *BRIEF).code == 0
    moved = pictures.rename(tmp_path / "moved")
    lost = cli("report", runs[0])
    assert (lost.code, lost.err.count("\n")) == (2, 1)
    assert "say where they are: --data PATH" in lost.err
    metrics = ["--metrics", "active-units"]
    scored = cli("evaluate", runs[0], *metrics, "--data", moved)
    assert scored.code == 0
    assert scored.out.endswith(f"next: unweave report {runs[0]} --data {moved}\n")
    assert cli("report", runs[0], "--data", moved).code == 0
    assert cli("compare", *runs, *metrics, "--data", moved).out.endswith(f"report {runs[1]} --data {moved}\n")
    (moved / "0.png").unlink()
    for command in (["evaluate", runs[0]], ["report", runs[0]], ["compare", *runs]):
        wrong = cli(*command, "--data", moved)
        assert (wrong.code, wrong.err.count("\n")) == (2, 1)
        assert "other images or factors: its digest is " in wrong.err
    assert "--data is for a run" in cli("evaluate", "--codes", "z.npy", "--data", moved).err
