"""Fitting in a folder: what is written, going on, and what is refused."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import polars
import pytest
from safetensors.numpy import load_file

from unweave.encoders.sparse import SparseAutoencoder, SparseSettings, fit_sparse
from unweave.errors import UsageError
from unweave.training.interrupt import Interrupted

CODES = np.random.default_rng(0).normal(size=(120, 5)) * 4 + 3
TINY = {"features": 12, "k": 2, "steps": 30, "batch": 16, "dead_after": 3, "log_every": 7, "progress": False}
RESULTS = ("weights.safetensors", "log.parquet", "checkpoint.pt", "statistics.json", "config.json")


def contents(folder):
    return {name: (folder / name).read_bytes() for name in RESULTS}


def stop_at(step):
    def told(what, done, total):
        if done == step:
            raise KeyboardInterrupt

    return told


def test_the_folder_can_be_read_without_unweave(tmp_path):
    found = fit_sparse(CODES, out=tmp_path / "sae", **TINY)
    weights = load_file(tmp_path / "sae" / "weights.safetensors")
    config = json.loads((tmp_path / "sae" / "config.json").read_text())
    assert config["settings"]["k"] == 2
    assert config["codes"]["rows"] == 120
    x = (CODES - weights["centre"]) * weights["scale"] - weights["decoder_bias"]
    positive = np.maximum(x @ weights["encoder"].T + weights["encoder_bias"], 0)
    active = np.where(positive >= np.sort(positive, axis=1)[:, [-2]], positive, 0)
    np.testing.assert_allclose(found.encode(CODES), active, atol=1e-5)
    log = polars.read_parquet(tmp_path / "sae" / "log.parquet")
    assert log["step"].to_list() == [7, 14, 21, 28, 30]
    assert {"loss", "reconstruction", "auxiliary", "diagnostics/l0", "diagnostics/dead"} < set(log.columns)
    statistics = json.loads((tmp_path / "sae" / "statistics.json").read_text())
    assert statistics == found.statistics(CODES)._asdict()


@pytest.mark.parametrize("kind", ["topk", "batch-topk"])
def test_what_is_opened_again_encodes_the_same(tmp_path, kind):
    found = fit_sparse(CODES, out=tmp_path / "sae", **{**TINY, "kind": kind})
    again = SparseAutoencoder.open(tmp_path / "sae")
    np.testing.assert_array_equal(found.encode(CODES), again.encode(CODES))
    np.testing.assert_array_equal(found.decode(found.encode(CODES)), again.decode(again.encode(CODES)))
    assert (again.threshold > 0) == (kind == "batch-topk")


def test_the_seed_decides_everything(tmp_path):
    for name in ("a", "b"):
        fit_sparse(CODES, out=tmp_path / name, **TINY)
    fit_sparse(CODES, out=tmp_path / "c", **TINY, seed=1)
    assert contents(tmp_path / "a") == contents(tmp_path / "b")
    assert contents(tmp_path / "a")["weights.safetensors"] != contents(tmp_path / "c")["weights.safetensors"]
    in_memory = fit_sparse(CODES, **TINY)
    np.testing.assert_array_equal(in_memory.decoder, SparseAutoencoder.open(tmp_path / "a").decoder)


@pytest.mark.parametrize("kind", ["topk", "batch-topk"])
@pytest.mark.parametrize("killed", [3, 10, 17, 29])
def test_going_on_after_a_kill_gives_the_same_bytes(tmp_path, kind, killed):
    """An exception in the midst of a step is as sudden as a kill: nothing is written after it."""
    settings = {**TINY, "kind": kind, "checkpoint_every": 5}
    fit_sparse(CODES, out=tmp_path / "whole", **settings)
    with pytest.raises(KeyboardInterrupt):
        fit_sparse(CODES, out=tmp_path / "cut", on_progress=stop_at(killed), **settings)
    assert not (tmp_path / "cut" / "statistics.json").exists()
    fit_sparse(CODES, out=tmp_path / "cut", **settings)
    assert contents(tmp_path / "cut") == contents(tmp_path / "whole")


def test_a_process_that_is_killed_goes_on(tmp_path):
    code = (
        "import os, sys, numpy as np\n"
        "from unweave.encoders.sparse import fit_sparse\n"
        "codes = np.load(sys.argv[1])\n"
        "def told(what, done, total):\n    if done == 13:\n        os.kill(os.getpid(), 9)\n"
        "fit_sparse(codes, out=sys.argv[2], features=12, k=2, steps=30, batch=16, dead_after=3, log_every=7,\n"
        "           checkpoint_every=4, threads=1, on_progress=told)\n"
    )
    np.save(tmp_path / "codes.npy", CODES)
    done = subprocess.run([sys.executable, "-c", code, tmp_path / "codes.npy", tmp_path / "cut"], check=False)
    assert done.returncode == -9
    settings = {**TINY, "checkpoint_every": 4, "threads": 1}
    fit_sparse(CODES, out=tmp_path / "cut", **settings)
    fit_sparse(CODES, out=tmp_path / "whole", **settings)
    assert contents(tmp_path / "cut") == contents(tmp_path / "whole")


def test_an_interrupt_waits_for_the_step_and_keeps_it(tmp_path):
    import signal

    def told(what, done, total):
        if done == 11:
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(Interrupted, match="step 11"):
        fit_sparse(CODES, out=tmp_path / "cut", on_progress=told, **TINY)
    assert json.loads((tmp_path / "cut" / "status.json").read_text())["step"] == 11
    fit_sparse(CODES, out=tmp_path / "cut", **TINY)
    fit_sparse(CODES, out=tmp_path / "whole", **TINY)
    assert contents(tmp_path / "cut") == contents(tmp_path / "whole")


def test_more_steps_go_on_and_fewer_are_refused(tmp_path):
    fit_sparse(CODES, out=tmp_path / "sae", **TINY)
    fit_sparse(CODES, out=tmp_path / "sae", **{**TINY, "steps": 50})
    fit_sparse(CODES, out=tmp_path / "long", **{**TINY, "steps": 50})
    assert contents(tmp_path / "sae") == contents(tmp_path / "long")
    with pytest.raises(UsageError, match="already been fitted for 50 steps"):
        fit_sparse(CODES, out=tmp_path / "sae", **TINY)
    fit_sparse(CODES, out=tmp_path / "sae", overwrite=True, **TINY)
    assert SparseAutoencoder.open(tmp_path / "sae").settings.steps == 30


def test_a_constant_shift_and_scale_of_codes_change_nothing():
    plain = fit_sparse(CODES, **TINY).encode(CODES)
    np.testing.assert_allclose(fit_sparse(CODES * 16 + 64, **TINY).encode(CODES * 16 + 64), plain, atol=1e-4)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"k": 13}, "at most the number of features, 12"),
        ({"k": 0}, "k must be a whole number from 1 up"),
        ({"features": 0}, "features must be"),
        ({"steps": 2.5}, "steps must be"),
        ({"lr": -1.0}, "learning rate"),
        ({"lr": float("nan")}, "learning rate"),
        ({"aux_k": -1}, "aux_k"),
        ({"aux_weight": -0.1}, "aux_weight"),
        ({"threshold_decay": 1.0}, "threshold_decay"),
        ({"kind": "top-k"}, "did you mean 'topk'"),
        ({"seed": -1}, "seed"),
        ({"feature": 8}, "did you mean 'features'"),
        ({"checkpoint_every": 0}, "at least 1"),
    ],
)
def test_bad_settings_are_answered_in_one_line(settings, message):
    with pytest.raises(UsageError, match=message):
        fit_sparse(CODES, **{**TINY, **settings})


@pytest.mark.parametrize(
    ("codes", "message"),
    [
        (np.full((10, 3), np.nan), "NaN"),
        (CODES[:1], "at least two samples"),
        (CODES[:, 0], "two dimensions"),
        (np.full((10, 3), 1e6), "all rows of the codes are equal"),
        (np.empty((0, 3)), "empty"),
    ],
)
def test_bad_codes_are_answered_in_one_line(codes, message):
    with pytest.raises(UsageError, match=message):
        fit_sparse(codes, **TINY)


def test_a_loss_that_explodes_is_answered(tmp_path):
    with pytest.raises(UsageError, match="smaller lr"):
        fit_sparse(CODES, **{**TINY, "lr": 1e30})


@pytest.mark.parametrize("steps", [1, 2, 3])
@pytest.mark.parametrize("every", [1, 1000])
def test_weights_that_are_no_numbers_are_never_kept(tmp_path, steps, every):
    options = {**TINY, "lr": 1e38, "steps": steps, "log_every": 1000, "checkpoint_every": every}
    with pytest.raises(UsageError, match="smaller lr"):
        fit_sparse(CODES, **options)
    with pytest.raises(UsageError, match="smaller lr"):
        fit_sparse(CODES, out=tmp_path / "sae", **options)
    if (weights := tmp_path / "sae" / "weights.safetensors").exists():
        assert all(np.isfinite(values).all() for values in load_file(weights).values())


def test_other_folders_are_left_alone(tmp_path):
    fit_sparse(CODES, out=tmp_path / "sae", **TINY)
    with pytest.raises(UsageError, match="k 2, not 3"):
        fit_sparse(CODES, out=tmp_path / "sae", **{**TINY, "k": 3})
    with pytest.raises(UsageError, match="was fitted to other codes"):
        fit_sparse(CODES + np.eye(120, 5), out=tmp_path / "sae", **TINY)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine.txt").write_text("mine")
    with pytest.raises(UsageError, match="not empty"):
        fit_sparse(CODES, out=tmp_path / "full", overwrite=True, **TINY)
    with pytest.raises(UsageError, match="is a file"):
        fit_sparse(CODES, out=tmp_path / "full" / "mine.txt", **TINY)
    with pytest.raises(UsageError, match="holds no sparse autoencoder"):
        SparseAutoencoder.open(tmp_path / "full")
    (tmp_path / "full" / "config.json").write_text('{"unweave": "1"}')
    with pytest.raises(UsageError, match="something else"):
        fit_sparse(CODES, out=tmp_path / "full", **TINY)


@pytest.mark.parametrize("name", ["checkpoint.pt", "weights.safetensors"])
def test_damaged_files_are_answered(tmp_path, name):
    fit_sparse(CODES, out=tmp_path / "sae", **TINY)
    (tmp_path / "sae" / name).write_bytes(b"\x80\x04K\x01.")

    def use():
        if name == "checkpoint.pt":
            fit_sparse(CODES, out=tmp_path / "sae", **TINY)
        SparseAutoencoder.open(tmp_path / "sae")

    with pytest.raises(UsageError, match=f"{name}' is damaged"):
        use()


def test_codes_and_features_of_other_widths_are_refused():
    found = fit_sparse(CODES, **TINY)
    with pytest.raises(UsageError, match="5 columns, not 4"):
        found.encode(CODES[:, :4])
    with pytest.raises(UsageError, match=r"\(n, 12\)"):
        found.decode(CODES)


def test_what_is_left_open_follows_from_the_codes():
    assert SparseSettings(features=2**14).resolve(64).lr == pytest.approx(2e-4)
    assert SparseSettings(features=2**12).resolve(64).lr == pytest.approx(4e-4)
    assert SparseSettings(features=8).resolve(64).lr == 3e-3
    assert SparseSettings().resolve(64).aux_k == 32
    assert SparseSettings().resolve(1).aux_k == 1
    assert SparseSettings(aux_k=0).resolve(64).aux_k == 0
