"""Every method on vectors, losses that suit them, and whether known factors are found."""

from __future__ import annotations

import numpy as np
import polars
import pytest

import unweave
from unweave import report
from unweave.data import Vectors
from unweave.errors import UsageError
from unweave.methods import METHODS, BetaVAE
from unweave.metrics import mcc
from unweave.metrics.presets import LeftOut

from .test_loop import Stop, assert_same, stop_at

pytestmark = [
    pytest.mark.filterwarnings("ignore::unweave.scoring.Collapsed"),
    pytest.mark.filterwarnings("ignore::unweave.metrics.presets.LeftOut"),
]
GRID = np.stack(np.unravel_index(np.arange(60), (3, 4, 5)), axis=1)
QUICK = {"steps": 3, "batch": 8, "width": 0.02, "latents": 4, "threads": 1}


def curves(factors: np.ndarray, noise: float = 0.05) -> np.ndarray:
    """Return vectors (n, 4 k): each factor moves four features of its own, on scales of their own."""
    rng = np.random.default_rng(0)
    scaled = (factors - factors.mean(axis=0)) / factors.std(axis=0)
    slopes = 1 + rng.random((factors.shape[1], 4))
    features = np.tanh(scaled[:, :, None] * slopes / 2).reshape(len(factors), -1)
    units = np.geomspace(0.1, 1000, features.shape[1])
    return units * (features + noise * rng.normal(size=features.shape)) + 5 * units


@pytest.fixture(scope="module")
def grid() -> Vectors:
    return Vectors(curves(GRID), GRID, names=["a", "b", "c"])


@pytest.mark.parametrize("name", METHODS)
def test_every_method_trains_on_a_grid_of_vectors(name, grid, tmp_path):
    run = unweave.train(name, data=grid, out=tmp_path / "run", **QUICK)
    codes = run.encode(grid.inputs([0, 1]))
    assert codes.shape == (2, 4)
    if METHODS[name].decoder:
        assert run.decode(codes).shape == (2, 12)
    assert np.isfinite(run.log()["loss"].to_numpy()).all()


@pytest.mark.parametrize("name", METHODS)
def test_without_factors_a_method_trains_or_says_what_it_lacks(name, tmp_path):
    options = {"data": curves(GRID), "out": tmp_path / "run", **QUICK}
    if name == "pcl" or (METHODS[name].group_size == 1 and not METHODS[name].labelled):  # pcl: rows in their order
        assert unweave.train(name, **options).state == "finished"
        return
    with pytest.raises(UsageError, match=r"needs factors, but table has none|full grid of factors"):
        unweave.train(name, **options)
    assert not (tmp_path / "run").exists()


def test_known_factors_are_found(tmp_path):
    """Each factor moves features of its own, so that the latents of a beta-VAE follow one factor each."""
    factors = np.random.default_rng(1).integers(0, 6, (1500, 3))
    data = Vectors(curves(factors), factors)
    options = {"steps": 700, "lr": 3e-3, "width": 0.05, "latents": 3, "threads": 1}
    run = unweave.train(BetaVAE(beta=1), data=data, out=tmp_path / "run", **options)
    codes = run.encode(data.inputs(np.arange(1500)))
    assert mcc(codes, factors) > 0.95
    error = (run.reconstruct(data.inputs(np.arange(1500))) - data.inputs(np.arange(1500))).var(axis=0)
    assert (error < 0.2 * data.inputs(np.arange(1500)).var(axis=0)).all()  # in all units, from 0.1 to 1000


def test_features_are_standardised_and_decoded_in_their_own_units(grid, tmp_path):
    run = unweave.train("vae", data=grid, out=tmp_path / "run", **QUICK)
    assert run.config["training"]["standardise"]
    assert run.config["net"]["name"] == "mlp"
    rows = grid.inputs(np.arange(60))
    seen = run.model.pixels(rows)
    np.testing.assert_allclose(seen.mean(0), 0, atol=1e-4)
    np.testing.assert_allclose(seen.std(0, correction=0), 1, rtol=1e-4)
    np.testing.assert_allclose(run.model.images(seen), rows, rtol=1e-4)
    plain = unweave.train("vae", data=Vectors(rows[:, :4], standardise=False), out=tmp_path / "plain", **QUICK)
    np.testing.assert_array_equal(plain.model.pixels(rows[:, :4]), rows[:, :4])


def counts(rows: int = 400) -> tuple[np.ndarray, np.ndarray]:
    """Return counts (n, 6) of two kinds of rows, whose totals differ tenfold, and the kinds."""
    rng = np.random.default_rng(2)
    kinds = rng.integers(0, 2, rows)
    shares = np.array([[0.4, 0.3, 0.1, 0.1, 0.05, 0.05], [0.05, 0.05, 0.1, 0.1, 0.3, 0.4]])
    totals = rng.choice([100, 1000], size=rows)
    return rng.poisson(totals[:, None] * shares[kinds]), kinds


def test_negative_binomial_finds_the_shares_whatever_the_totals(tmp_path):
    values, kinds = counts()
    data = Vectors(values, kinds[:, None])
    method = BetaVAE(beta=1, loss="nb")
    options = {"steps": 400, "lr": 3e-3, "width": 0.03, "latents": 2, "threads": 1}
    run = unweave.train(method, data=data, out=tmp_path / "run", **options)
    assert run.config["method"]["loss"] == f"nb:library={data.library:.15g}"
    assert not run.config["training"]["standardise"]
    shares = run.reconstruct(data.inputs(np.arange(400))) / data.library
    for kind, expected in enumerate([[0.4, 0.3, 0.1, 0.1, 0.05, 0.05], [0.05, 0.05, 0.1, 0.1, 0.3, 0.4]]):
        np.testing.assert_allclose(shares[kinds == kind].mean(axis=0), expected, atol=0.03)
    assert run.model.spread is not None
    again = unweave.Run.open(run.path, data=data)
    np.testing.assert_array_equal(again.encode(values[:5]), run.encode(values[:5]))


@pytest.mark.parametrize("loss", ["gaussian", "nb", "poisson"])
def test_a_loss_with_a_spread_resumes_bit_for_bit_and_is_scored(loss, tmp_path):
    data = Vectors(counts(100)[0])
    options = {**QUICK, "steps": 12, "log_every": 3, "checkpoint_every": 6, "data": data}
    method = METHODS["vae"](loss=loss)
    whole = unweave.train(method, out=tmp_path / "whole", **options)
    with pytest.raises(Stop):
        unweave.train(method, out=tmp_path / "cut", on_result=stop_at(9), **options)
    assert_same(whole, unweave.train(method, out=tmp_path / "cut", **options))
    table = whole.evaluate(["elbo", "jacobian-orthogonality"], samples=60, test_samples=20)
    assert np.isfinite(table.filter(polars.col("metric") == "elbo-distortion")["value"][0])


def test_auto_takes_bce_for_zeros_and_ones_and_hints_at_counts(tmp_path):
    binary = unweave.train("vae", data=np.eye(6)[np.arange(12) % 6], out=tmp_path / "binary", **QUICK)
    assert binary.config["method"]["loss"] == "bce"
    assert not binary.config["training"]["standardise"]
    with pytest.warns(UserWarning, match="if they are counts, use the loss nb"):
        run = unweave.train("vae", data=counts(20)[0], out=tmp_path / "whole", **QUICK)
    assert run.config["method"]["loss"] == "mse"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": METHODS["vae"](loss="nb")}, "needs non-negative integers, but 'x0' of row 0 is"),
        ({"method": METHODS["vae"](loss="bce")}, "needs values from 0 to 1, but 'x1' of row 0 is"),
        ({"method": METHODS["vae"](loss="mse-box")}, "is for images, but 'table' holds vectors"),
        ({"method": METHODS["vae"](loss="nb"), "standardise": True}, "needs unscaled counts"),
        ({"method": "vae", "net": "conv"}, "takes images, not vectors of 12 features: use the net 'mlp'"),
        ({"method": "vae", "net": "tripod"}, "takes images, not vectors of 12 features: use the net 'mlp'"),
        ({"method": "vae", "data": np.ones((5, 3)) / 3}, "no feature varies"),
    ],
)
def test_what_does_not_suit_vectors_is_refused_and_leaves_no_folder(options, message, grid, tmp_path):
    with pytest.raises(UsageError, match=message):
        unweave.train(**{"data": grid, "out": tmp_path / "run", **QUICK, **options})
    assert not (tmp_path / "run").exists()


def test_images_have_no_counts(tmp_path):
    with pytest.raises(UsageError, match="for vectors of counts, not for images"):
        unweave.train(METHODS["vae"](loss="nb"), data="xysquares:size=32", out=tmp_path / "run", **QUICK)


def test_one_feature_and_ten_thousand(tmp_path):
    narrow = unweave.train("beta-vae", data=np.arange(20.0)[:, None] / 3, out=tmp_path / "one", **QUICK)
    assert narrow.decode(np.zeros((2, 4))).shape == (2, 1)
    wide = np.random.default_rng(0).poisson(0.1, (40, 10_000))
    run = unweave.train(METHODS["vae"](loss="nb"), data=wide, out=tmp_path / "wide", **QUICK)
    assert run.reconstruct(wide[:2]).shape == (2, 10_000)
    for one in (narrow, run):
        assert "<svg" in report.render(one)


def test_a_run_refuses_vectors_and_codes_of_another_shape(grid, tmp_path):
    run = unweave.train("vae", data=grid, out=tmp_path / "run", **QUICK)
    with pytest.raises(UsageError, match=r"numbers of shape \(n, 12\), not float64 \(3, 11\)"):
        run.encode(np.zeros((3, 11)))
    with pytest.raises(UsageError, match="contain a NaN or an infinity"):
        run.encode(np.full((3, 12), np.nan))
    with pytest.raises(UsageError, match=r"codes must have shape \(n, 4\)"):
        run.decode(np.zeros((3, 5)))


def test_a_grid_of_vectors_has_all_scores_but_those_of_pixels(grid, tmp_path):
    run = unweave.train("beta-vae", data=grid, out=tmp_path / "run", **QUICK)
    metrics = ["mig", "mcc", "factor-vae-score", "elbo", "factor-distance-correlation"]
    table = run.evaluate(metrics, samples=40, test_samples=20, preset="fast", intervals=False, floors=False)
    assert set(metrics) - {"elbo"} <= set(table["metric"])
    with pytest.raises(UsageError, match="has no images: its rows are vectors"):
        run.evaluate("perceived-correlation", samples=40, test_samples=20, preset="fast", intervals=False)


def test_without_factors_scores_that_need_none_are_there(tmp_path):
    run = unweave.train("beta-vae", data=curves(GRID), out=tmp_path / "run", **QUICK)
    with pytest.warns(LeftOut, match="table has no factors"):
        table = run.evaluate("all", samples=40, preset="fast", intervals=False, floors=False)
    assert {"total-correlation", "elbo-rate", "active-units"} <= set(table["metric"])


def test_the_page_draws_lines(grid, tmp_path):
    run = unweave.train("beta-vae", data=grid, out=tmp_path / "run", **QUICK)
    page = report.render(run)
    assert page.count("drawn as lines") == 2
    assert "data:image/png" not in page
    assert page == report.render(run)
    assert report.traversals(run).width > 500
    assert report.reconstructions(run, 3).height < report.reconstructions(run, 9).height
    assert report.show(grid).width > 500


def test_labels_help_on_vectors_too(grid, tmp_path):
    labels = unweave.data.Labels(count=20)
    run = unweave.train("beta-vae", data=grid, labels=labels, out=tmp_path / "run", **QUICK)
    assert "supervised" in run.log().columns
