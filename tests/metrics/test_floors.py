"""What every score can be read against: floors, ceilings and adjusted values, over the whole table of metrics."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import polars
import pytest

from unweave.data.table import Table
from unweave.metrics import METRICS, Codebook, Pool, evaluate
from unweave.metrics.floors import Bounds, bounds, padded, perfect, shuffled
from unweave.metrics.resampling import Sampled

GRID = (4, 8, 10, 16)
CELLS = np.stack(np.unravel_index(np.arange(np.prod(GRID)), GRID), axis=1)
"""Large enough for noise to be noise: on a small grid every batch has the same few codes."""
ROWS, TEST_ROWS, WIDTH = 2_000, 5_000, 6

CASES = [
    *((name, "rows") for name, metric in METRICS.items() if {"factors", "source"} & {*metric.needs}),
    *((name, "grid") for name, metric in METRICS.items() if {"encode", "source"} & {*metric.needs}),
]
MINUTES = {"dci-random-forest", "downstream-logistic"}
every_case = pytest.mark.parametrize(
    ("name", "place"),
    [pytest.param(*case, marks=[pytest.mark.slow] if case[0] in MINUTES else []) for case in CASES],
)
DEAR = {"downstream-logistic", "downstream-gbt", "dci", "dci-random-forest", "dci-lasso", "dci-logistic", "mcc-rdc"} | {
    *("dci-es", "info-mec", "beta-vae-score", "factor-vae-score", "perceived-correlation", "unfairness", "sap"),
    *("explicitness", "distance-correlation", "factor-distance-correlation"),
}
"""Metrics of which fifty shuffles take more than a few seconds."""
NOT_ADJUSTED = {
    "modularity": "a dead code counts as one without modularity, so that even the factors do not beat noise",
    "info-mec-modularity": "of noise, chance over chance",
    "info-mec-compactness": "of noise, chance over chance",
    "dci-lasso-disentanglement": "of noise, chance over chance",
    "dci-lasso-completeness": "of noise, chance over chance",
    "dci-logistic-disentanglement": "of noise, chance over chance",
    "dci-es-explicitness": "what cannot be learnt at all needs no capacity: noise beats the factors",
    "dci-es-size": "of the number of codes alone",
    "unfairness-mean": "noise, of which nothing can be predicted, is as fair as the factors",
    "unfairness-max": "noise, of which nothing can be predicted, is as fair as the factors",
    "k-sparse-probing": "one code for each value beats the factors, which are one number for all values",
    "perceived-correlation": "of images, of which the factors say nothing",
    "downstream-logistic-accuracy-10": "ten rows teach little of the factors either: chance is a large share of it",
    "downstream-gbt-accuracy-10": "ten rows teach little of the factors either: chance is a large share of it",
}
"""Parts that have no adjusted value, and why."""
NO_FLOOR = {
    "info-mec-modularity",
    "info-mec-compactness",
    "dci-lasso-disentanglement",
    "dci-lasso-completeness",
    "downstream-logistic-efficiency",
    "downstream-gbt-efficiency",
}
"""Parts whose score of noise is chance over chance: one shuffle has 0.3, the next 0.9, so none is shown."""


def noise(factors: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return rng.normal(size=(len(factors), WIDTH))


def factors_themselves(factors: np.ndarray, _: np.random.Generator) -> np.ndarray:
    return np.hstack([factors, np.zeros((len(factors), WIDTH - factors.shape[1]))]).astype(float)


ENCODERS = {"noise": noise, "perfect": factors_themselves}


def codebook_of(codes: np.ndarray) -> Codebook:
    """The codebook of a data set whose images are the numbers of their cells, in two bytes."""
    numbers = np.arange(len(CELLS))
    images = np.stack([numbers // 256, numbers % 256], axis=1).astype(np.uint8).reshape(-1, 1, 2, 1)

    def encode(images: np.ndarray) -> np.ndarray:
        high, low = images.reshape(-1, 2).astype(int).T
        return codes[256 * high + low]

    return Codebook(encode, Table(images, CELLS))


def world(place: str, encoder: str, seed: int) -> dict[str, Any]:
    """Arguments of `evaluate`: rows with factors of 4, 8 and 10 values, or a grid of four factors."""
    rng = np.random.default_rng(seed)
    if place == "grid":
        codes = ENCODERS[encoder](CELLS, rng)
        return {"codes": codes[:100], "codebook": codebook_of(codes)}
    factors = rng.integers(GRID[:3], size=(ROWS + TEST_ROWS, 3))
    codes = ENCODERS[encoder](factors, rng)
    test = codes[ROWS:], factors[ROWS:]
    return {"codes": codes[:ROWS], "factors": factors[:ROWS], "test": test}


@cache
def scores(name: str, place: str, encoder: str, seed: int = 1) -> polars.DataFrame:
    table = evaluate(**world(place, encoder, seed), metrics=name, intervals=False, seed=seed)
    return table.filter(polars.col("metric").is_in(METRICS[name].names(name)))


@every_case
def test_the_factors_themselves_are_the_ceiling(name, place):
    for row in scores(name, place, "perfect").iter_rows(named=True):
        assert (row["adjusted"] is None) == (row["metric"] in NOT_ADJUSTED)
        if row["adjusted"] is not None:
            assert row["value"] == row["ceiling"]
            assert row["adjusted"] == pytest.approx(1.0, abs=1e-9)


@every_case
def test_noise_has_the_floor(name, place):
    assert_at_the_floor(scores(name, place, "noise"))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 6))
@every_case
def test_other_noise_has_the_floor_too(name, place, seed):
    assert_at_the_floor(scores(name, place, "noise", seed))


def assert_at_the_floor(table: polars.DataFrame) -> None:
    for row in table.iter_rows(named=True):
        assert (row["floor"] is None) == (row["metric"] in NO_FLOOR)
        assert (row["adjusted"] is None) == (row["metric"] in NOT_ADJUSTED)
        if row["adjusted"] is not None:
            assert row["adjusted"] == pytest.approx(0.0, abs=0.05)
            assert row["adjusted"] == pytest.approx(
                (row["value"] - row["floor"]) / (row["ceiling"] - row["floor"]), abs=1e-12
            )


@pytest.mark.parametrize(("name", "place"), [case for case in CASES if case[0] not in DEAR])
def test_a_floor_is_near_the_mean_of_many(name, place):
    assert_near_the_mean_of_fifty_shuffles(name, place)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "place"), [case for case in CASES if case[0] in DEAR])
def test_a_dear_floor_is_near_the_mean_of_many(name, place):
    assert_near_the_mean_of_fifty_shuffles(name, place)


def assert_near_the_mean_of_fifty_shuffles(name: str, place: str) -> None:
    """The shuffles are done here, not by the code under test."""
    metric, rng = METRICS[name], np.random.default_rng(0)
    inputs: dict[str, Any] = {"seed": 1, "test": None, **world(place, "noise", 1)}
    inputs |= {"source": inputs.get("codebook"), "encode": inputs.get("codebook")}
    samples = [metric.sampled(reshuffled(inputs, rng)) for _ in range(50)]
    means = np.mean([np.atleast_1d(sampled.score) for sampled in samples], axis=0)
    least, most = (np.broadcast_to(end, len(means)) for end in samples[0].limits or metric.range)
    rows = {row["metric"]: row for row in scores(name, place, "noise").iter_rows(named=True)}
    for part, mean, *ends in zip(metric.names(name), means, least, most, strict=True):
        if part not in rows:  # a part that these rows do not have
            continue
        row = rows[part]
        assert (row["floor"] is None) == (part in NO_FLOOR)
        if row["floor"] is not None:
            gap = 1.0 if ends == [0.0, 1.0] else abs(row["ceiling"] - row["floor"])
            assert row["floor"] == pytest.approx(mean, abs=0.02 * gap)


def reshuffled(inputs: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    if inputs["encode"] is not None:
        book = codebook_of(inputs["encode"].codes(rng.permutation(len(CELLS))))
        return inputs | {"encode": book, "source": book}
    (test_codes, test_factors), factors = inputs["test"], inputs["factors"]
    order, test_order = rng.permutation(len(factors)), rng.permutation(len(test_factors))
    codes = np.concatenate([inputs["codes"], test_codes])
    both = np.concatenate([factors[order], test_factors[test_order]])
    return inputs | {
        "factors": factors[order],
        "test": (test_codes, test_factors[test_order]),
        "source": Pool(codes, both),
    }


@pytest.mark.parametrize("name", [name for name, metric in METRICS.items() if not metric.supervised])
def test_a_score_without_labels_has_no_floor(name):
    rng = np.random.default_rng(0)
    given: dict[str, Any] = {
        "log_variances": np.full((300, 4), -4.0),
        "reconstruction": np.ones(300),
        "jacobians": rng.normal(size=(8, 9, 4)),
    }
    table = evaluate(rng.normal(size=(300, 4)), rng.integers(3, size=(300, 2)), name, intervals=False, **given)
    assert table["metric"].to_list() == METRICS[name].names(name)
    assert table.select("floor", "ceiling", "adjusted").null_count().row(0) == (len(table),) * 3


def of(floor, ceiling, value, **about):
    metric = replace(METRICS["mig"], **about)
    return Bounds(np.array([floor]), np.array([ceiling])).adjust(np.array([value]), metric).item()


def test_an_adjusted_value_is_the_share_of_the_way():
    assert of(0.2, 1.0, 0.6) == pytest.approx(0.5)
    assert of(0.2, 1.0, 0.0) == pytest.approx(-0.25)
    assert of(0.1, 0.33, 0.33) == 1.0


def test_a_ceiling_that_does_not_beat_the_floor_leaves_nothing_to_adjust():
    assert np.isnan(of(0.5, 0.5, 0.5))
    assert np.isnan(of(0.99, 0.74, 0.8))
    assert np.isnan(of(0.0, 0.0, 0.0))
    assert np.isnan(of(0.985, 1.0, 0.99))  # by less than two hundredths
    assert of(0.975, 1.0, 1.0) == 1.0
    assert np.isnan(of(np.nan, 1.0, 0.5))
    assert np.isnan(of(0.1, 1.0, 0.5, unsteady=("",)))


def test_copies_of_the_factors_exceed_the_ceiling_of_modularity():
    """By hand: a latent that knows one factor counts 1, a constant one 0, so the ceiling of four latents is 2 / 4."""
    factors = np.tile([[0, 0], [0, 1], [1, 0], [1, 1]], (100, 1))
    copies = np.hstack([factors, factors]).astype(float)
    (row,) = evaluate(copies, factors, "modularity", intervals=False).iter_rows(named=True)
    assert (row["value"], row["ceiling"], row["adjusted"]) == (1.0, 0.5, None)


def test_perfect_codes_of_another_shift_are_below_the_ceiling_of_sap():
    """By hand: one latent predicts all rows and the other half of them; far from 0 both predict half, by chance."""
    factors = np.tile([[0, 0], [0, 1], [1, 0], [1, 1]], (100, 1))
    shifted = factors + 1_000.0
    table = evaluate(shifted, factors, ["sap", "sap-correlation"], test=(shifted, factors), intervals=False)
    classifier, correlation = table.iter_rows(named=True)
    assert classifier["value"] == pytest.approx(0.0)
    assert classifier["ceiling"] == pytest.approx(0.5)
    assert classifier["adjusted"] == pytest.approx(-classifier["floor"] / (0.5 - classifier["floor"]))
    assert correlation["value"] == correlation["adjusted"] == pytest.approx(1.0)


def test_where_lower_is_better_the_ceiling_is_the_lower_end():
    assert of(0.8, 0.0, 0.2, higher_is_better=False) == pytest.approx(0.75)
    assert of(0.8, 0.0, 0.9, higher_is_better=False) == pytest.approx(-0.125)
    assert np.isnan(of(0.0, 0.8, 0.5, higher_is_better=False))
    assert np.isnan(of(0.8, 0.0, 0.2))


def test_parts_that_are_unsteady_are_left_out_one_by_one():
    edges = Bounds(np.zeros(3), np.ones(3))
    found = edges.adjust(np.full(3, 0.5), METRICS["dci-logistic"])
    np.testing.assert_array_equal(found, [np.nan, 0.5, 0.5])


def test_a_part_whose_floor_would_be_chance_has_none_but_a_ceiling():
    rng = np.random.default_rng(0)
    factors = rng.integers([3, 4], size=(300, 2))
    table = evaluate(factors + rng.normal(size=(300, 2)), factors, "info-mec", intervals=False)
    assert [floor is None for floor in table["floor"]] == [True, False, True]
    assert [row is None for row in table["adjusted"]] == [True, False, True]
    assert table["ceiling"].null_count() == 0


def test_a_floor_is_the_mean_of_its_shuffles():
    """A toy score that is the number of the row whose factor comes first: each shuffle has another."""
    inputs = {"codes": np.zeros((50, 1)), "factors": np.arange(50)[:, None], "test": None, "seed": 3}
    seen = []

    def first(codes, factors) -> Sampled[float]:
        seen.append(float(factors[0, 0]))
        return Sampled(seen[-1], 50, lambda subsets: np.zeros(len(subsets)))

    metric = replace(METRICS["mig"], sample=first, shuffles=7, has_ceiling=False)
    found = bounds(metric, inputs, {})
    assert len(seen) == 7
    assert len(set(seen)) > 3
    assert found.floor.item() == pytest.approx(np.mean(seen))
    assert np.isnan(found.ceiling.item())
    assert bounds(metric, inputs, {}).floor == found.floor  # the seed decides
    assert bounds(metric, inputs | {"seed": 4}, {}).floor != found.floor


def test_codes_stay_and_factors_move():
    rng = np.random.default_rng(0)
    codes, factors = np.arange(60.0).reshape(30, 2), np.stack([np.arange(30), np.arange(30) + 100], axis=1)
    inputs = {"codes": codes, "factors": factors, "test": (codes[:9], factors[:9]), "source": Pool(codes, factors)}
    moved = shuffled(inputs, rng)
    assert moved["codes"] is codes
    for found, before in ((moved["factors"], factors), (moved["test"][1], factors[:9])):
        assert (found != before).any()
        assert sorted(map(tuple, found)) == sorted(map(tuple, before))  # rows stay whole: factors keep their dependence
    np.testing.assert_array_equal(moved["source"].table, codes)
    assert (moved["source"].factors != factors).any()


def test_perfect_codes_have_the_width_of_the_codes():
    factors = np.arange(12).reshape(6, 2)
    inputs = {"codes": np.ones((6, 5)), "factors": factors, "test": (np.ones((3, 5)), factors[:3])}
    best = perfect(inputs)
    np.testing.assert_array_equal(best["codes"], np.hstack([factors, np.zeros((6, 3))]))
    np.testing.assert_array_equal(best["test"][0], np.hstack([factors[:3], np.zeros((3, 3))]))
    assert padded(factors, 1).shape == (6, 2)  # fewer codes than factors: the factors are not cut


def test_the_bounds_of_a_codebook_encode_nothing_again():
    asked = []
    codes = np.random.default_rng(0).normal(size=(len(CELLS), 4))
    book = codebook_of(codes)
    encode = book._encode
    book._encode = lambda images: asked.append(len(images)) or encode(images)
    METRICS["linearity"].sampled({"encode": book, "seed": 0}, {"traversals": 30})
    once = sum(asked)
    assert once > 0
    bounds(METRICS["linearity"], {"encode": book, "codes": codes[:50], "seed": 0}, {"traversals": 30})
    assert sum(asked) == once


def test_a_shuffled_codebook_has_the_same_codes_elsewhere():
    book = Codebook.of_grid(np.arange(24.0).reshape(12, 2), (3, 4))
    inputs = {"encode": book, "codes": np.zeros((5, 2))}
    moved = shuffled(inputs, np.random.default_rng(0))["encode"].codes(np.arange(12))
    assert (moved != book.codes(np.arange(12))).any()
    assert sorted(map(tuple, moved)) == sorted(map(tuple, book.codes(np.arange(12))))
    cells = np.stack(np.unravel_index(np.arange(12), (3, 4)), axis=1)
    np.testing.assert_array_equal(perfect(inputs)["encode"].codes(np.arange(12)), cells)


def toy(seen, **about):
    """A score that notes the rows and test rows it is given."""

    def rows(codes, factors, *, test) -> Sampled[float]:
        seen.append((codes, factors, test))
        return Sampled(0.0, len(codes), lambda subsets: np.zeros(len(subsets)))

    return replace(METRICS["mig"], sample=rows, **about)


def test_a_floor_can_be_of_fewer_rows_and_so_can_a_ceiling():
    seen: list[Any] = []
    factors = np.arange(100)[:, None] % 2
    inputs = {"codes": np.arange(100.0)[:, None], "factors": factors, "test": (np.zeros((300, 1)), np.zeros((300, 1)))}
    bounds(toy(seen, floor_rows=60, ceiling_rows=70), inputs | {"seed": 0}, {})
    (floor_codes, floor_factors, floor_test), (best, best_factors, _) = seen
    assert floor_codes.shape == floor_factors.shape == (60, 1)
    assert len(floor_test[0]) == len(floor_test[1]) == 120
    assert len(np.unique(floor_codes)) == 60
    assert floor_codes.max() > 60  # not the first ones: they may be in order
    assert len(best) == 70
    np.testing.assert_array_equal(best, best_factors)


@pytest.mark.parametrize(("rare", "rows"), [(0, 70), (15, 100), (1, 100)])
def test_a_ceiling_of_fewer_rows_has_every_value_often_enough(rare, rows):
    seen: list[Any] = []
    factors = np.arange(100)[:, None] % 2
    factors[:rare] = 7
    bounds(toy(seen, ceiling_rows=70), {"codes": factors * 1.0, "factors": factors, "test": None, "seed": 0}, {})
    assert [len(codes) for codes, _, _ in seen] == [100, rows]


def test_a_large_codebook_is_shuffled_once():
    asked: list[int] = []

    def cells(encode, *, seed) -> Sampled[float]:
        asked.append(len(encode.codes(np.arange(6))))
        return Sampled(0.0, 6, lambda subsets: np.zeros(len(subsets)))

    for sizes, shuffles in (((30, 30), 4), ((200, 200), 1)):
        asked.clear()
        book = Codebook.of_grid(np.zeros((int(np.prod(sizes)), 2)), sizes)
        metric = replace(METRICS["linearity"], sample=cells, shuffles=4, has_ceiling=False)
        bounds(metric, {"encode": book, "codes": np.zeros((5, 2)), "seed": 0}, {})
        assert len(asked) == shuffles


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["dci", "downstream-logistic", "downstream-gbt", "info-mec", "dci-es", "explicitness", "modularity"]
)
def test_bounds_of_fewer_rows_are_those_of_all(name):
    """Ten thousand rows, five factors of up to 40 values, in order and of unequal frequency."""
    rng = np.random.default_rng(0)
    sizes = np.array([3, 6, 40, 32])
    factors = np.sort((sizes * rng.beta(1.0, 1.3, size=(13_000, 4))).astype(int), axis=0)
    factors = np.stack([rng.permutation(column) if k else column for k, column in enumerate(factors.T)], axis=1)
    codes = np.hstack([factors, np.zeros((13_000, 2))])
    train, test = np.arange(13_000) % 13 < 10, np.arange(13_000) % 13 >= 10
    table = evaluate(codes[train], factors[train], name, test=(codes[test], factors[test]), intervals=False)
    table = table.drop_nulls("ceiling")
    for row in table.filter(~polars.col("metric").str.contains("info-mec-[mc]|dci-es-size")).iter_rows(named=True):
        assert row["value"] == pytest.approx(row["ceiling"], abs=0.002)
    metric, noisy = METRICS[name], rng.normal(size=codes.shape)
    edges = evaluate(noisy[train], factors[train], name, test=(noisy[test], factors[test]), intervals=False)
    found = []
    for _ in range(4):
        moved = {"codes": noisy[train], "factors": rng.permutation(factors[train]), "seed": 0}
        found.append(metric.sampled(moved | {"test": (noisy[test], rng.permutation(factors[test]))}).score)
    means = dict(zip(metric.names(name), np.atleast_1d(np.mean(found, axis=0)), strict=True))
    for row in edges.iter_rows(named=True):
        if row["metric"] in means and row["floor"] is not None:
            assert row["floor"] == pytest.approx(means[row["metric"]], abs=0.02)


def test_a_cell_encoded_later_has_the_codes_of_another_one_too():
    """A floor may draw other cells than the score did: their own codes would not be noise."""
    book = codebook_of(np.arange(2.0 * len(CELLS)).reshape(-1, 2))
    book.prepare(np.arange(100))
    moved = shuffled({"encode": book, "codes": np.zeros((5, 2))}, np.random.default_rng(0))["encode"]
    cells = np.arange(1_000, 1_300)
    assert (moved.codes(cells) != book.codes(cells)).any(axis=1).all()


def test_an_option_set_by_hand_is_kept_for_the_bounds():
    seen: list[int] = []

    def rows(codes, factors, *, count=10) -> Sampled[float]:
        seen.append(count)
        return Sampled(0.0, len(codes), lambda subsets: np.zeros(len(subsets)))

    metric = replace(METRICS["mig"], sample=rows, floor_options={"count": 3}, ceiling_options={"count": 4})
    inputs = {"codes": np.zeros((50, 1)), "factors": np.arange(50)[:, None], "seed": 0}
    bounds(metric, inputs, {"count": 10})
    bounds(metric, inputs, {"count": 7})
    assert seen == [3, 4, 7, 7]
