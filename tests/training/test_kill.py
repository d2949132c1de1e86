"""Kill the training process at random moments: nothing is corrupt, and the end is the same."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import polars
import torch
from safetensors.numpy import load_file

import unweave

STEPS = 1500
TRAIN = """
import sys, unweave
from unweave.methods import BetaVAE
unweave.train(BetaVAE(beta=2), data="xysquares:size=32", out=sys.argv[1], steps={steps}, batch=8, net="mlp",
              latents=4, width=0.02, device="cpu", threads=1, checkpoint_every=5, log_every=3)
"""


def start(folder: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", TRAIN.format(steps=STEPS), str(folder)], env=os.environ)


def assert_nothing_is_corrupt(folder: Path) -> None:
    """Every file that carries a name of the run's is whole, whatever moment the process died at."""
    for path in folder.iterdir():
        if path.suffix == ".json":
            assert json.loads(path.read_text())
        elif path.suffix == ".parquet":
            assert len(polars.read_parquet(path))
        elif path.suffix == ".safetensors":
            assert len(load_file(path)) > 5
        elif path.suffix == ".pt":
            assert torch.load(path, weights_only=True)["step"] > 0
        else:
            assert path.name == ".lock" or path.suffix == ".tmp"


def test_ten_kills_change_nothing(tmp_path):
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    assert start(whole).wait() == 0
    chance = random.Random(0)
    kills = 0
    while kills < 10:
        process = start(cut)
        reached = step_of(cut)
        # Wait until this process has made progress of its own, then for a random moment more.
        while step_of(cut) == reached and process.poll() is None:
            time.sleep(0.002)
        time.sleep(chance.uniform(0, 0.15))
        assert process.poll() is None, "the run ended before it was killed ten times: make it longer"
        process.kill()
        process.wait()
        kills += 1
        assert_nothing_is_corrupt(cut)
    assert start(cut).wait() == 0
    first, second = load_file(whole / "weights.safetensors"), load_file(cut / "weights.safetensors")
    for name, value in first.items():
        np.testing.assert_array_equal(value, second[name], err_msg=name)
    logs = [unweave.Run.open(folder).log() for folder in (whole, cut)]
    assert logs[0].equals(logs[1])
    assert not list(cut.glob(".*.tmp"))


def step_of(folder: Path) -> int:
    status = folder / "status.json"
    return json.loads(status.read_text())["step"] if status.is_file() else 0
