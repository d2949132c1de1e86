"""Perceived distances, whatever the loss, and where the pairs come from."""

from __future__ import annotations

import warnings

import numpy as np
import polars
import pytest
import torch
from scipy import stats

import unweave
from unweave.data import Table, Vectors
from unweave.errors import UsageError
from unweave.losses import loss_of
from unweave.perception import (
    FewPairs,
    Perceived,
    correlations,
    ground_truth_distance,
    importance,
    perceived_distance,
    perceived_overlap,
)
from unweave.perception.association import correlation, partial_correlations
from unweave.perception.pairs import Rows, Traversals, along, random_pairs

IMAGES = np.random.default_rng(0).integers(0, 256, size=(6, 8, 8, 3), dtype=np.uint8)
PAIRS = np.array([[0, 1], [2, 3], [3, 2], [4, 4], [5, 0]])


@pytest.mark.parametrize("loss", ["mse", "mae", "bce", "gaussian", "mse-box:radius=2", "mse-gauss:radius=3"])
def test_a_distance_is_the_loss_per_value_above_that_of_the_image_itself(loss):
    chosen = loss_of(loss)
    x = torch.from_numpy(IMAGES).permute(0, 3, 1, 2).float() / 255
    outputs = chosen.inverse(x)
    expected = [chosen.distance(x[[a]], outputs[[b]]) - chosen.distance(x[[a]], outputs[[a]]) for a, b in PAIRS]
    found = Perceived(IMAGES, loss).distances(PAIRS)
    assert found == pytest.approx(torch.cat(expected).numpy() / IMAGES[0].size, rel=1e-4, abs=1e-7)
    assert found[3] == 0
    assert (found[[0, 1, 2, 4]] > 0).all()
    assert perceived_distance(IMAGES[PAIRS[:, 0]], IMAGES[PAIRS[:, 1]], loss) == pytest.approx(found, rel=1e-5)
    assert (perceived_overlap(IMAGES[:2], IMAGES[2:4], loss) < 0).all()


def test_parts_of_any_size_give_the_same_distances(monkeypatch):
    pairs = np.random.default_rng(1).integers(6, size=(300, 2))
    whole = Perceived(IMAGES, "mae").distances(pairs)
    monkeypatch.setattr("unweave.perception.perceived.VALUES", 3 * IMAGES[0].size)
    monkeypatch.setattr("unweave.perception.perceived.PAIRS", 7)
    assert Perceived(IMAGES, "mae").distances(pairs) == pytest.approx(whole, rel=1e-6)


def test_standardised_pixels_are_those_that_models_see():
    data = unweave.load("xyobject", size=32)
    mean, deviation = (np.array(part) for part in data.scale())
    pixels = (data.images([3, 999]) / 255 - mean) / deviation
    expected = np.square(pixels[0] - pixels[1]).mean()
    assert Perceived(data, standardise=True).distances([[3, 999]])[0] == pytest.approx(expected, rel=1e-5)


def test_vectors_are_compared_as_models_see_them():
    rows = np.array([[0.0, 10.0], [1.0, 30.0], [2.0, 20.0], [1.0, 20.0]])
    raw = Vectors(rows, standardise=False)
    assert Perceived(raw).distances([[0, 1]])[0] == pytest.approx((1 + 400) / 2)
    scaled = (rows - rows.mean(0)) / rows.std(0)
    expected = np.square(scaled[0] - scaled[1]).mean()
    assert Perceived(Vectors(rows)).distances([[0, 1]])[0] == pytest.approx(expected, rel=1e-5)
    counts = Vectors(np.array([[3.0, 1.0], [0.0, 9.0], [4.0, 4.0]]))
    assert Perceived(counts, "poisson").distances([[0, 1], [1, 1]])[1] == 0


def test_correlations_are_those_of_scipy():
    rng = np.random.default_rng(2)
    truth = rng.integers(5, size=400).astype(float)
    perceived = (4 * truth + rng.integers(-8, 9, size=400)) / 4
    found = correlation(truth, perceived)
    assert found.linear == pytest.approx(stats.pearsonr(truth, perceived)[0], abs=1e-4)
    assert found.rank == pytest.approx(stats.spearmanr(truth, perceived)[0], abs=1e-4)
    assert correlation(truth, np.ones(400)) == (0.0, 0.0)


def test_a_partial_correlation_is_that_of_residuals():
    rng = np.random.default_rng(3)
    a = rng.normal(size=500)
    b = a + rng.normal(size=500)
    y = a + 0.1 * rng.normal(size=500)
    for_a, for_b = partial_correlations(np.stack([a, b], axis=1), y)
    residuals = [part - np.polyval(np.polyfit(b, part, 1), b) for part in (a, y)]
    assert for_a.linear == pytest.approx(stats.pearsonr(*residuals)[0], abs=1e-3)
    assert abs(for_b.linear) < 0.15


def test_pairs_along_a_factor_differ_in_nothing_else():
    data = unweave.load("shapes2d", size=32)
    for differ in (True, False):
        pairs = Traversals(data, 2).draw(5000, 0, differ=differ)
        first, second = (data.values(pairs[:, side]) for side in (0, 1))
        changed = first != second
        assert not changed[:, [0, 1, 3, 4]].any()
        assert changed[:, 2].all() == differ
        counts = np.bincount(first[:, 2])
        assert counts.min() > 0.6 * counts.mean()


def grid_table(keep: slice | np.ndarray = slice(None)) -> Table:
    """Return a grid of three factors as a table of rows: grey images, lighter with each factor; or some of them."""
    values = np.stack(np.unravel_index(np.arange(60), (3, 4, 5)), axis=1)
    levels = (values @ [1, 7, 40]).astype(np.uint8)
    images = np.repeat(levels, 64).reshape(60, 8, 8)
    return Table(images[keep], values[keep], names=["a", "b", "c"])


def test_rows_that_differ_in_one_factor_are_pairs_too():
    kept = np.sort(np.random.default_rng(4).permutation(60)[:50])
    data = grid_table(kept)
    assert not data.is_grid
    source = along(data, 1)
    assert isinstance(source, Rows)
    values = data.values(np.arange(50))
    same = (values[:, None] == values[None]).all(axis=2)
    others = np.delete(values, 1, axis=1)
    alike = (others[:, None] == others[None]).all(axis=2)
    assert source.distinct == np.triu(alike & ~same).sum()
    for differ in (True, False):
        pairs = source.draw(4000, 0, differ=differ)
        assert alike[pairs[:, 0], pairs[:, 1]].all()
        assert same[pairs[:, 0], pairs[:, 1]].any() != differ
    possible = {tuple(pair) for pair in np.argwhere(alike & ~same)}
    assert {tuple(pair) for pair in source.draw(40_000, 0, differ=True)} == possible


def test_held_out_images_take_no_part():
    data = unweave.load("xysquares-restricted:exclude=x_R>=4", size=32)
    pairs = along(data, 0).draw(500, 0, differ=True)
    assert data.values(pairs.ravel())[:, 0].max() == 3
    assert data.values(random_pairs(data, 500, 0).ravel())[:, 0].max() == 3


def test_random_pairs_are_different_images_but_for_the_share_that_is_not():
    data = grid_table()
    assert (np.diff(random_pairs(data, 5000, 0), axis=1) != 0).all()
    same = (np.diff(random_pairs(data, 5000, 0, 0.25), axis=1) == 0).mean()
    assert same == pytest.approx(0.25, abs=0.03)
    counts = np.bincount(random_pairs(data, 20_000, 0).ravel(), minlength=60)
    assert counts.min() > 0.7 * counts.mean()


def test_the_seed_decides_and_other_factors_do_not():
    one = correlations("xysquares:size=32", pairs=600)
    again = correlations("xysquares:size=32", pairs=600)
    alone = correlations("xysquares:size=32", pairs=600, factors=["y_G"])
    other = correlations("xysquares:size=32", pairs=600, seed=1)
    assert one.equals(again)
    assert not one.equals(other)
    assert alone.row(0) == one.filter(factor="y_G").row(0)


def test_factors_without_pairs_of_their_own_are_measured_on_random_ones():
    rng = np.random.default_rng(5)
    values = rng.random((80, 2))
    levels = (200 * values[:, 0] + 5 * values[:, 1]).astype(np.uint8)
    data = Table(np.repeat(levels, 64).reshape(80, 8, 8), values, names=["light", "age"])
    with pytest.warns(FewPairs, match="fewer than 100 pairs that differ only in light, age: they are measured"):
        table = correlations(data, pairs=4000)
    rank = dict(table.select("factor", "rank").iter_rows())
    assert rank["light"] > 0.9
    assert rank["light"] > rank["age"]
    with pytest.warns(FewPairs):
        table = importance(data, pairs=100)
    assert table["mean"].is_null().to_list() == [True, True, False]


def test_images_without_factors_have_random_distances():
    table = importance(IMAGES, pairs=100)
    assert table["factor"].to_list() == ["random"]
    assert table["mean"][0] > 0
    with pytest.raises(UsageError, match="needs factors, but table has none"):
        correlations(IMAGES)


def test_images_that_are_all_alike_have_no_distances():
    data = Table(np.full((8, 8, 8, 1), 9, dtype=np.uint8), np.arange(8)[:, None])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        table = correlations(data, pairs=200)
    assert table.select("linear", "rank").rows() == [(0.0, 0.0)] * 2
    assert importance(data, pairs=200)["mean"].to_list() == [0.0, 0.0]


def test_ground_truth_distances_are_unscaled_unless_factors_have_units():
    assert ground_truth_distance("xyobject", [0], [25 * 5 * 24]).tolist() == [1.0]
    assert ground_truth_distance("xyobject", [0], [25 * 5 * 24], scaled=True).tolist() == pytest.approx([1 / 24])
    table = Table(IMAGES, np.array([[0.0, 0], [0.5, 1], [2.5, 2], [5.0, 3], [1, 4], [2, 5]]))
    assert ground_truth_distance(table, [0], [3]).tolist() == pytest.approx([1 + 3 / 5])
    assert ground_truth_distance(table, [0], [3], scaled=False).tolist() == [8.0]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: correlations("xysquare"), "did you mean 'xysquares'"),
        (lambda: correlations("xysquares", "msee"), "no reconstruction loss is called 'msee'; did you mean 'mse'"),
        (lambda: correlations("xysquares", factors=["x_r"]), "no factor is called 'x_r'"),
        (lambda: correlations("xysquares", factors="x_R"), "must be a list of names"),
        (lambda: correlations("xysquares", pairs=1), "pairs must be a whole number from 2 up"),
        (lambda: correlations("xysquares", seed=-1), "seed must be a whole number"),
        (lambda: correlations("xysquares", self_pairs=1.5), "self_pairs must be at least 0"),
        (lambda: importance(IMAGES[:1]), "at least two images, but 'table' has 1"),
        (lambda: importance(np.eye(4), "mse-box"), "is for images, but 'table' holds vectors"),
        (lambda: importance(np.array([[0.0, np.nan], [1, 2]])), "finite numbers"),
        (lambda: importance(IMAGES, "nb"), "vectors of counts, not for images"),
        (lambda: perceived_distance(IMAGES, IMAGES[:2]), "must have the same shape"),
        (lambda: perceived_distance(IMAGES / 255, IMAGES / 255), "images must be uint8, not float64"),
        (lambda: perceived_distance(np.eye(2), np.eye(2), "mse-gauss"), "blurs images"),
        (lambda: Perceived(IMAGES, loss_of("mse")), "loss must be a name"),  # pyright: ignore[reportArgumentType]
    ],
)
def test_mistakes_get_one_line(call, message):
    with pytest.raises(UsageError, match=message) as error:
        call()
    assert "\n" not in str(error.value)


def test_tables_are_of_polars():
    assert isinstance(importance(IMAGES, pairs=10), polars.DataFrame)
