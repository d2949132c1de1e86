"""Weights kept on the way: a run as it was."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import unweave

from .test_loop import Stop, stop_at


def test_a_snapshot_equals_a_run_of_that_length(tmp_path: Path, quick_train):
    long = quick_train(steps=30, snapshots=[10, 20])
    short = quick_train(steps=20, out=tmp_path / "short")
    images = long.data.images(np.arange(8))
    assert long.snapshots == [10, 20]
    assert long.at(20).step == 20
    np.testing.assert_array_equal(long.at(20).encode(images), short.encode(images))
    assert (long.encode(images) != short.encode(images)).any()
    assert long.at(30) is long
    assert long.at(20).weights == short.weights


def test_scores_of_a_snapshot_are_saved_with_its_step(quick_train):
    run = quick_train(snapshots=[10])
    for step in (10, 30):
        run.at(step).evaluate(["mig"], samples=60, test_samples=20, intervals=False, floors=False)
    scores = run.scores()
    assert scores.select("step", "current").rows() == [(10, False), (30, True)]
    assert run.at(10).scores()["current"].to_list() == [True, False]


def test_snapshots_change_neither_weights_nor_identity(tmp_path: Path, quick_train):
    plain, kept = quick_train(out=tmp_path / "plain"), quick_train(out=tmp_path / "kept", snapshots=[7, 8])
    assert (plain.path / "weights.safetensors").read_bytes() == (kept.path / "weights.safetensors").read_bytes()
    assert plain.id == kept.id


def test_snapshots_survive_an_interruption(tmp_path: Path, quick_train):
    with pytest.raises(Stop):
        quick_train(snapshots=[5, 25], on_result=stop_at(14))
    run = quick_train(snapshots=[5, 25])
    assert run.snapshots == [5, 25]


def test_snapshots_that_cannot_be_had(quick_train):
    with pytest.raises(unweave.UsageError, match="a snapshot is taken after 1 to 30 steps, not after 31"):
        quick_train(snapshots=[31])
    run = quick_train()
    with pytest.raises(unweave.UsageError, match="has passed step 10 without a snapshot"):
        quick_train(snapshots=[10])
    with pytest.raises(unweave.UsageError, match=r"no snapshot of step 10 \(saved: 30\)"):
        run.at(10)
