"""Reading a run: encode, decode, scores, and clear words about what is wrong."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import polars
import pytest
import torch
from safetensors import safe_open
from safetensors.torch import save_file

import unweave
from unweave.data.dataset import KIND
from unweave.errors import UsageError
from unweave.losses import LOSSES
from unweave.report import write_page
from unweave.scoring import _draw


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
    assert log_variances is not None
    assert log_variances.shape == means.shape
    assert run.has_posterior
    np.testing.assert_array_equal(run.reconstruct(images), run.decode(means))
    assert run.reconstruct(images).dtype == np.uint8
    assert run.reconstruct(images).shape == images.shape


def test_a_run_encodes_where_its_data_set_is_not_at_hand(run, monkeypatch):
    images = run.data.images(np.arange(3))
    expected = run.encode(images)
    others = {name: kind for name, kind in unweave.data.DATASETS.items() if name != "xysquares"}
    monkeypatch.setattr(KIND, "builtin", others)
    again = unweave.Run.open(run.path)
    np.testing.assert_array_equal(again.encode(images), expected)
    with pytest.raises(UsageError, match="no data set is called"):
        _ = again.data


def test_no_image_at_all_gives_no_code(run):
    assert run.encode(run.data.images(np.arange(0))).shape == (0, 3)
    assert run.decode(np.empty((0, 3))).shape == (0, 32, 32, 3)


def test_evaluate_scores_and_saves_and_encodes_each_image_once(run, monkeypatch):
    encoded = []
    posterior = unweave.Run.posterior
    monkeypatch.setattr(unweave.Run, "posterior", lambda self, x: encoded.append(len(x)) or posterior(self, x))
    seen = []
    table = run.evaluate("mig", samples=2000, test_samples=500, on_progress=lambda *news: seen.append(news))
    indices = np.random.default_rng(0).integers(len(run.data), size=2500)
    assert sum(encoded) == len(np.unique(indices)) < 2500
    *encoding, scoring = seen
    assert encoding == [("encoding", done, sum(encoded)) for done in np.cumsum(encoded)]
    assert scoring == ("mig", 0, 1)
    assert table["metric"].to_list() == ["mig", "encoding"]
    assert table["value"][1] is None
    assert table["seconds"][1] > 0
    saved = run.scores()
    assert saved is not None
    assert saved.select(table.drop("seconds").columns).equals(table[:1].drop("seconds"))
    codes = posterior(run, run.data.images(indices[:2000]))[0]
    expected = unweave.metrics.mig(codes, run.data.factors.from_index(indices[:2000]))
    assert table["value"][0] == pytest.approx(expected, abs=1e-3)


def test_metrics_that_intervene_share_one_codebook(run, monkeypatch):
    """No cell is encoded twice, however many metrics ask for it."""
    seen = []
    images = type(run.data).images
    monkeypatch.setattr(
        type(run.data), "images", lambda self, i: seen.extend(np.asarray(i).tolist()) or images(self, i)
    )
    few: dict[str, Any] = {"votes": 30, "test_votes": 20, "batch": 16, "variance_rows": 100}
    options = {"factor-vae-score": few, "z-max-variance": few, "linearity": {"traversals": 20}}
    table = run.evaluate(list(options), samples=200, test_samples=100, options=options, intervals=False)
    assert len(seen) == len(set(seen)) > 1000
    assert table["metric"].to_list() == [*options, "encoding"]
    assert json.loads(table["options"][0]) == {**few, "threshold": 0.05, "exact": True, "seed": 0}
    book = unweave.metrics.Codebook(run.encode, run.data)
    assert table["value"][0] == pytest.approx(unweave.metrics.factor_vae_score(book, **few), abs=0.05)


def test_the_preset_sets_the_counts(run):
    table = run.evaluate(["sap", "linearity"], preset="fast", intervals=False)
    assert [json.loads(options).get("rows") for options in table["options"][:2]] == [2000, None]
    assert json.loads(table["options"][1])["traversals"] == 48
    with pytest.raises(UsageError, match="no preset is called 'quick'"):
        run.evaluate("mig", preset="quick")


def test_scores_of_the_model_itself(run):
    table = run.evaluate(["elbo", "jacobian-orthogonality", "total-correlation-sampled"], samples=300, test_samples=50)
    value = dict(zip(table["metric"], table["value"], strict=True))
    indices = np.random.default_rng(0).integers(len(run.data), size=350)[:300]
    means, log_variances = run.posterior(run.data.images(indices))
    kl = 0.5 * (means**2 + np.exp(log_variances) - log_variances - 1).sum(axis=1).mean()
    assert value["elbo-rate"] == pytest.approx(kl, rel=1e-3)
    assert value["elbo-bound"] == pytest.approx(-value["elbo-rate"] - value["elbo-distortion"])
    assert 0 <= value["jacobian-orthogonality"] <= 1
    assert value["total-correlation-sampled"] >= 0


def test_losses_are_the_reconstruction_term_image_by_image(run):
    images = run.data.images(np.arange(5))
    means = run.encode(images)
    loss = LOSSES[run.settings.method.loss]
    with torch.inference_mode():
        together = loss.distance(run.model.pixels(images), run.model.decode(torch.from_numpy(means)))
    losses = run.losses(images, means)
    assert losses.shape == (5,)
    np.testing.assert_allclose(losses, together.numpy(), rtol=1e-5)


def test_jacobians_are_the_slopes_of_the_expected_pixels(run):
    """Forward mode, a code at a time, against reverse mode, an image at a time."""
    codes = run.encode(run.data.images(np.arange(2)))
    jacobians = run.jacobians(codes)
    assert jacobians.shape == (2, 32 * 32 * 3, 3)
    mean = LOSSES[run.settings.method.loss].mean
    for code, jacobian in zip(codes, jacobians, strict=True):
        expected = torch.autograd.functional.jacobian(lambda z: mean(run.model.decode(z[None])), torch.tensor(code))
        np.testing.assert_allclose(jacobian, expected.reshape(-1, 3).numpy(), atol=1e-6)


def test_a_table_that_is_no_grid_has_the_scores_that_need_none(tmp_path):
    rng = np.random.default_rng(0)
    table = unweave.data.Table(rng.integers(0, 255, (60, 8, 8, 1), np.uint8), rng.integers(0, 3, (60, 3)))
    options = {"net": "mlp", "width": 0.05, "latents": 3, "device": "cpu", "threads": 1}
    run = unweave.train("vae", data=table, out=tmp_path / "run", steps=5, batch=4, **options)
    scores = run.evaluate(["study", "elbo"], preset="fast", samples=200, test_samples=100, intervals=False)
    assert {"mig", "dci-completeness", "elbo-rate"} <= set(scores["metric"])
    assert "factor-vae-score" in set(scores["metric"])  # of rows that share a value
    with pytest.raises(UsageError, match="a metric that intervenes on factors needs every combination of factors"):
        run.evaluate("z-max-variance")


def test_a_misspelt_metric_is_answered_before_anything_is_encoded(run, monkeypatch):
    monkeypatch.delattr(unweave.Run, "posterior")
    with pytest.raises(UsageError, match="did you mean 'mig'"):
        run.evaluate("mgi")


def test_scores_of_other_metrics_are_kept(run):
    run.evaluate("mig", samples=200, test_samples=100)
    again = run.evaluate(["sap-correlation", "mig"], samples=200, test_samples=100)
    assert run.scores().select(again.drop("seconds").columns).equals(again[:2].drop("seconds"))
    run.evaluate("mig", samples=200, test_samples=100)
    assert sorted(run.scores()["metric"]) == ["mig", "sap-correlation"]


def scores_of(run: unweave.Run) -> polars.DataFrame:
    scores = run.scores()
    assert scores is not None
    return scores


def rewrite_weights(run: unweave.Run, factor: float, **facts: object) -> unweave.Run:
    """Write the run's weights again, times a factor, as a later checkpoint would, and open it."""
    path = run.path / "weights.safetensors"
    with safe_open(path, framework="pt") as file:
        tensors = {name: factor * file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        metadata = {**json.loads(file.metadata()["unweave"]), **facts}
    save_file(tensors, path, {"unweave": json.dumps(metadata)})
    return unweave.Run.open(run.path)


def test_scores_of_earlier_weights_are_kept_and_not_current(run):
    few: dict[str, Any] = {"samples": 200, "test_samples": 100, "intervals": False}
    run.evaluate("mig", **few)
    later = rewrite_weights(run, 1.5, step="80")
    assert scores_of(later)["current"].to_list() == [False]
    later.evaluate(["mig", "modularity"], **few)
    later.evaluate("mig", **few)  # in the place of the one before, of the same weights
    scores = scores_of(later)
    assert scores["metric"].to_list() == ["mig", "modularity", "mig"]
    assert scores["step"].to_list() == [40, 80, 80]
    assert scores["current"].to_list() == [False, True, True]
    assert scores["weights"].to_list() == [scores["weights"][0], later.weights, later.weights]


def test_a_score_is_of_the_weights_that_were_loaded_though_training_has_replaced_them(run):
    run.encode(run.data.images([0]))
    later = rewrite_weights(run, 1.5, step="80")
    run.evaluate("mig", samples=200, test_samples=100, intervals=False)
    assert scores_of(later)["step"].to_list() == [40]
    assert scores_of(later)["current"].to_list() == [False]
    assert scores_of(run)["current"].to_list() == [False]


def test_the_identity_of_weights_is_that_of_their_tensors(run):
    before = run.weights
    assert rewrite_weights(run, 1.0, note="another header").weights == before
    assert rewrite_weights(run, 1.5).weights != before
    (run.path / "weights.safetensors").unlink()
    assert run.weights is None


def test_scores_of_an_earlier_version_are_read_and_not_current(run):
    columns = {"metric": ["mig"], "value": [0.3], "low": [0.2], "high": [0.4], "seconds": [1.0], "options": ["{}"]}
    polars.DataFrame(columns).write_parquet(run.path / "scores.parquet")
    run.evaluate("modularity", samples=200, test_samples=100, intervals=False)
    scores = scores_of(run)
    assert scores["metric"].to_list() == ["mig", "modularity"]
    assert scores["current"].to_list() == [False, True]
    assert scores.row(0, named=True).items() >= {"value": 0.3, "floor": None, "step": None, "weights": None}.items()


@pytest.mark.parametrize("method", ["ae", "tae", "qlae", "tripod"])
def test_a_point_code_has_no_variance(method, tmp_path):
    options = {"net": "mlp", "width": 0.05, "latents": 3, "device": "cpu", "threads": 1}
    run = unweave.train(method, data="xysquares:size=32", out=tmp_path / "run", steps=2, batch=6, **options)
    images = run.data.images(np.arange(300))
    codes, log_variances = run.posterior(images)
    assert log_variances is None
    assert not run.has_posterior
    np.testing.assert_array_equal(codes, run.encode(images))


def test_scores_with_other_options_are_kept(run):
    clean = run.evaluate("mig", samples=200, test_samples=100)
    noisy = run.evaluate("mig", samples=200, test_samples=100, label_noise=3)
    few = run.evaluate("mig", samples=100, test_samples=100)
    assert run.scores()["value"].to_list() == [table["value"][0] for table in (clean, noisy, few)]
    assert [json.loads(row)["rows"] for row in run.scores()["options"]] == [200, 200, 100]


def test_an_interrupt_loses_only_the_metric_under_way(run):
    def watch(what: str, done: int, total: int) -> None:
        if what == "modularity":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run.evaluate(["mig", "modularity", "sap"], samples=200, test_samples=50, on_progress=watch)
    kept = run.scores()
    assert kept is not None
    assert kept["metric"].to_list() == ["mig"]
    run.evaluate(["modularity", "mig"], samples=200, test_samples=50)
    assert run.scores()["metric"].to_list() == ["modularity", "mig"]


@pytest.mark.parametrize("name", ["scores.parquet", "log.parquet"])
def test_a_damaged_table_is_named(run, name):
    (run.path / name).write_bytes(b"PAR1 no table PAR1")
    with pytest.raises(UsageError, match=f"{name}' cannot be read as a table; remove it if it is damaged"):
        _ = run.log() if name == "log.parquet" else run.scores()


@pytest.mark.parametrize(("images", "rows", "tested"), [(40, 27, 13), (400, 100, 50), (4, 2, 2)])
def test_no_image_of_a_small_data_set_is_a_train_and_a_test_row(images, rows, tested):
    drawn, *counts = _draw(images, min(images * 100, 100), 50, 0, seed=0)
    assert counts == [rows, tested]
    assert len(drawn) == rows + tested
    assert len(set(drawn.tolist())) == len(drawn) <= images
    assert drawn.max() < images


def test_of_a_large_data_set_images_are_drawn_independently():
    drawn, *counts = _draw(2_000, 100, 5_000, 0, seed=0)
    assert counts == [100, 5_000]
    assert len(drawn) == 5_100
    np.testing.assert_array_equal(drawn, np.random.default_rng(0).integers(2_000, size=5_100))


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


@pytest.mark.parametrize(
    "status",
    [
        "{}",
        '{"state": "finished"}',
        '{"state": ["finished"], "step": 40}',
        '{"state": "finished", "step": "40"}',
        '{"state": "finished", "step": -1}',
        '{"state": "finished", "step": true}',
        '{"state": "finished", "step": 40, "seconds": null}',
        '{"state": "finished", "step": 40, "seconds": NaN}',
    ],
)
def test_a_status_that_says_too_little_is_one_clear_line(run, status):
    (run.path / "status.json").write_text(status)
    with pytest.raises(UsageError, match=r"status.json' is damaged: it must hold state, step and seconds"):
        _ = run.state


def test_a_configuration_of_other_types_is_one_clear_line(run):
    values = json.loads((run.path / "config.json").read_text())
    (run.path / "config.json").write_text(json.dumps({**values, "net": {**values["net"], "latents": "3"}}))
    with pytest.raises(UsageError, match=r"copy/config.json': this is not the configuration of a run: latents is '3'"):
        unweave.Run.open(run.path)


@pytest.mark.parametrize(
    "columns",
    [{"a": [1]}, {"step": [1]}, {"step": [1], "loss": ["low"]}, {"step": ["one"], "loss": [0.5]}, {}],
)
def test_a_log_with_other_columns_is_one_clear_line(run, columns):
    polars.DataFrame(columns).write_parquet(run.path / "log.parquet")
    with pytest.raises(UsageError, match=r"log.parquet' is damaged, remove it; its columns are: "):
        run.log()


@pytest.mark.parametrize(
    "columns", [{"a": [1]}, {"metric": ["mig"], "value": ["high"]}, {"metric": [None], "value": [0.1]}, {}]
)
def test_scores_with_other_columns_are_one_clear_line(run, columns):
    polars.DataFrame(columns).write_parquet(run.path / "scores.parquet")
    with pytest.raises(UsageError, match=r"scores.parquet' is damaged, remove it; its columns are: "):
        run.scores()


def test_weights_of_an_earlier_version_are_read(run):
    """It wrote step and shape under keys of their own, in random order."""
    images = run.data.images(np.arange(3))
    expected, path = run.encode(images), run.path / "weights.safetensors"
    with safe_open(path, framework="pt") as file:
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    save_file(tensors, path, {"step": "40", "shape": "32,32,3"})
    again = unweave.Run.open(run.path)
    np.testing.assert_array_equal(again.encode(images), expected)
    again.evaluate("mig", samples=200, test_samples=100, intervals=False)
    assert scores_of(again)["step"].to_list() == [40]


def test_equal_runs_have_equal_files(tmp_path):
    """Six times, for the order of metadata in safetensors is left to chance; times are in status.json alone."""
    options = {"net": "mlp", "width": 0.05, "latents": 3, "device": "cpu", "threads": 1, "log_every": 2}
    found = []
    for number in range(6):
        folder = tmp_path / str(number)
        run = unweave.train("vae", data="xysquares:size=32", out=folder, steps=5, batch=16, **options)
        run.evaluate(["mig", "sap"], samples=100, test_samples=50)
        write_page(run)
        found.append({path.name: path.read_bytes() for path in folder.iterdir() if path.name != "status.json"})
    assert {*found[0]} == {
        *("config.json", "checkpoint.pt", "log.parquet", "weights.safetensors", "scores.parquet", "report.html"),
        *(".lock", ".scores.parquet.lock"),
    }
    for name, content in found[0].items():
        assert {other[name] for other in found} == {content}, name


@pytest.mark.parametrize("step", ["forty", ""])
def test_weights_without_a_step_are_one_clear_line(run, step):
    with pytest.raises(UsageError, match="does not hold this run's weights"):
        _ = rewrite_weights(run, 1.0, step=step).model


@pytest.mark.parametrize("factor", [float("nan"), float("inf")])
def test_weights_that_are_no_numbers_are_one_clear_line(run, factor):
    with pytest.raises(UsageError, match=r"weights.safetensors' contains weights that are not finite"):
        _ = rewrite_weights(run, factor).model


def test_a_run_shows_what_it_is(run):
    assert "finished at step 40" in repr(run)
