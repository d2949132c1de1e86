"""Kill the training process at random moments: nothing is corrupt, and the end is the same."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars
import pytest
import torch
from safetensors.numpy import load_file

import unweave

TRAIN = """
import os, signal, sys
import unweave
from unweave.methods import BetaVAE

calls, last = iter(range(10**6)), int(sys.argv[2])

def counted(function):
    def call(*arguments):
        for moment in ("before", "after"):
            if next(calls) == last:
                os.kill(os.getpid(), signal.SIGKILL)
            if moment == "before":
                result = function(*arguments)
        return result
    return call

for name in ("fsync", "replace", "unlink"):
    setattr(os, name, counted(getattr(os, name)))
unweave.train(BetaVAE(beta=2), data="xysquares:size=32", out=sys.argv[1], steps=60, batch=8, net="mlp",
              latents=4, width=0.02, device="cpu", threads=1, checkpoint_every=5, log_every=3,
              trace_every=4, trace_samples=5)
"""
"""Trains, and dies by its own hand before or after a chosen one of the calls that make files last."""


def start(folder: Path, last_call: int = -1) -> int:
    return subprocess.run([sys.executable, "-c", TRAIN, str(folder), str(last_call)], env=os.environ).returncode


def assert_nothing_is_corrupt(folder: Path) -> None:
    """Every file that carries a name of the run's is whole, whatever moment the process died at."""
    for path in filter(Path.is_file, folder.rglob("*")):
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


@pytest.mark.parametrize("kills", [3, pytest.param(10, marks=pytest.mark.slow)])
def test_kills_change_nothing(tmp_path, kills):
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    assert start(whole) == 0
    chance = random.Random(0)
    for _ in range(kills):
        # A checkpoint takes 24 such calls (four files, each flushed, renamed and its folder flushed), a trace 6.
        assert start(cut, chance.randrange(50)) == -signal.SIGKILL
        assert_nothing_is_corrupt(cut)
    assert start(cut) == 0
    first, second = load_file(whole / "weights.safetensors"), load_file(cut / "weights.safetensors")
    for name, value in first.items():
        np.testing.assert_array_equal(value, second[name], err_msg=name)
    assert unweave.Run.open(whole).log().equals(unweave.Run.open(cut).log())
    traces = [{path.name: path.read_bytes() for path in (run / "traces").iterdir()} for run in (whole, cut)]
    assert traces[0] == traces[1]
    assert len(traces[0]) == 16
    assert not list(cut.rglob(".*.tmp"))
