"""Reading a run: encode, decode, scores, and clear words about what is wrong."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

import unweave
from unweave.errors import UsageError


@pytest.fixture(scope="module")
def trained(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "first"
    options = {"net": "mlp", "width": 0.05, "latents": 3, "device": "cpu", "threads": 1}
    unweave.train("vae", data="xysquares:size=32", out=folder, steps=40, batch=16, **options)
    return folder


@pytest.fixture
def run(trained, tmp_path) -> unweave.Run:
    return unweave.Run.open(shutil.copytree(trained, tmp_path / "copy"))


def test_codes_do_not_depend_on_the_batch(run):
    images = run.data.images(np.arange(600))
    codes = run.encode(images)
    assert codes.shape == (600, 3)
    assert codes.dtype == np.float32
    one = np.concatenate([run.encode(images[i : i + 1]) for i in (0, 255, 256, 599)])
    np.testing.assert_allclose(codes[[0, 255, 256, 599]], one, atol=1e-6)


def test_encode_gives_the_posterior_means_and_reconstruct_decodes_them(run):
    images = run.data.images(np.arange(5))
    means, log_variances = run.posterior(images)
    np.testing.assert_array_equal(run.encode(images), means)
    assert log_variances.shape == means.shape
    np.testing.assert_array_equal(run.reconstruct(images), run.decode(means))
    assert run.reconstruct(images).dtype == np.uint8
    assert run.reconstruct(images).shape == images.shape


def test_a_run_encodes_where_its_data_set_is_not_at_hand(run, monkeypatch):
    images = run.data.images(np.arange(3))
    expected = run.encode(images)
    monkeypatch.delitem(unweave.data.DATASETS, "xysquares")
    again = unweave.Run.open(run.path)
    np.testing.assert_array_equal(again.encode(images), expected)
    with pytest.raises(UsageError, match="no data set is called"):
        _ = again.data


def test_no_image_at_all_gives_no_code(run):
    assert run.encode(run.data.images(np.arange(0))).shape == (0, 3)
    assert run.decode(np.empty((0, 3))).shape == (0, 32, 32, 3)


def test_evaluate_scores_and_saves_and_encodes_each_image_once(run, monkeypatch):
    encoded = []
    encode = unweave.Run.encode
    monkeypatch.setattr(unweave.Run, "encode", lambda self, images: encoded.append(len(images)) or encode(self, images))
    seen = []
    table = run.evaluate("mig", samples=2000, test_samples=500, watch=lambda done, total: seen.append((done, total)))
    indices = np.random.default_rng(0).integers(len(run.data), size=2500)
    assert sum(encoded) == len(np.unique(indices)) < 2500
    assert seen[-1] == (sum(encoded), sum(encoded))
    assert [done for done, _ in seen] == np.cumsum(encoded).tolist()
    assert table["metric"].to_list() == ["mig"]
    assert run.scores().equals(table)
    codes = encode(run, run.data.images(indices[:2000]))
    expected = unweave.metrics.mig(codes, run.data.factors.from_index(indices[:2000]))
    assert table["value"][0] == pytest.approx(expected, abs=1e-3)


def test_a_misspelt_metric_is_answered_before_anything_is_encoded(run, monkeypatch):
    monkeypatch.delattr(unweave.Run, "encode")
    with pytest.raises(UsageError, match="did you mean 'mig'"):
        run.evaluate("mgi")


def test_scores_of_other_metrics_are_kept(run):
    run.evaluate("mig", samples=200, test_samples=100)
    again = run.evaluate(["sap-correlation", "mig"], samples=300, test_samples=100)
    assert run.scores().equals(again)
    run.evaluate("mig", samples=200, test_samples=100)
    assert sorted(run.scores()["metric"]) == ["mig", "sap-correlation"]


def test_scores_are_none_before_the_first_evaluation(run):
    assert run.scores() is None


@pytest.mark.parametrize(
    "images",
    [
        np.zeros((2, 64, 64, 3), np.uint8),
        np.zeros((2, 32, 32, 3), np.float32),
        np.zeros((32, 32, 3), np.uint8),
        np.zeros((2, 3, 32, 32), np.uint8),
    ],
)
def test_wrong_images_are_refused(run, images):
    with pytest.raises(UsageError, match=r"images must be uint8 of shape \(n, 32, 32, 3\)"):
        run.encode(images)


def test_wrong_codes_are_refused(run):
    with pytest.raises(UsageError, match=r"codes must have shape \(n, 3\)"):
        run.decode(np.zeros((2, 4)))


def test_what_is_no_run_is_named(tmp_path):
    with pytest.raises(UsageError, match="there is no folder"):
        unweave.Run.open(tmp_path / "absent")
    with pytest.raises(UsageError, match="is not a run"):
        unweave.Run.open(tmp_path)


def test_damaged_files_are_one_clear_line(run):
    (run.path / "weights.safetensors").write_bytes(b"\x00" * 20)
    with pytest.raises(UsageError, match="does not hold this run's weights"):
        run.encode(run.data.images([0]))
    (run.path / "weights.safetensors").unlink()
    with pytest.raises(UsageError, match="has no weights"):
        unweave.Run.open(run.path).encode(run.data.images([0]))
    (run.path / "config.json").write_text("{")
    with pytest.raises(UsageError, match="cannot be read as JSON"):
        unweave.Run.open(run.path)
    (run.path / "config.json").write_text("[]")
    with pytest.raises(UsageError, match="does not hold a JSON object"):
        unweave.Run.open(run.path)


def test_a_run_shows_what_it_is(run):
    assert "finished at step 40" in repr(run)
