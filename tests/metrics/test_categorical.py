"""Codes that are categories: a category that renames a factor scores as the factor does, whatever its numbers are."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from unweave.errors import UsageError
from unweave.metrics import (
    Codebook,
    active_units,
    dci,
    evaluate,
    explicitness,
    factor_vae_score,
    info_mec,
    mcc,
    mcc_rdc,
    mig,
    pairwise_mi,
    sap,
    total_correlation,
    wasserstein_independence,
    z_max_variance,
)
from unweave.metrics.category_svm import CategoryCode
from unweave.metrics.correlation import strengths
from unweave.metrics.one_hot import OneHot, Ranked, check_categorical

NAMES = np.array([4, 0, 7, 2, 6, 1, 5, 3])
"""What the categories of the renamed factor are called."""


@pytest.fixture(scope="module")
def world() -> tuple[np.ndarray, np.ndarray]:
    """A factor of eight values, renamed, and one of five, as it is, with their codes."""
    rng = np.random.default_rng(0)
    factors = np.stack([rng.integers(8, size=3000), rng.integers(5, size=3000)], axis=1)
    return np.stack([NAMES[factors[:, 0]], factors[:, 1]], axis=1).astype(np.float64), factors


@pytest.mark.parametrize(
    ("metric", "part"),
    [
        (mig, None),
        (mcc, None),
        (mcc_rdc, None),
        (sap, None),
        (info_mec, "explicitness"),
        (info_mec, "modularity"),
        (info_mec, "compactness"),
        (dci.variant({"learner": "logistic"}), "informativeness"),
        (dci.variant({"learner": "lasso"}), "informativeness"),
        (dci, "informativeness"),
    ],
    ids=lambda value: value if isinstance(value, str) else getattr(value, "__name__", ""),
)
def test_a_renamed_factor_reaches_what_the_factors_themselves_do(world, metric, part):
    codes, factors = world

    def score(codes: np.ndarray, categorical: list[int]) -> float:
        found = metric(codes, factors, categorical=categorical)
        return found if part is None else getattr(found, part)

    assert score(codes, [0]) >= score(factors.astype(np.float64), []) - 1e-3


@pytest.mark.parametrize("learner", ["quick-gbt", "random-forest"])
def test_trees_do_not_depend_on_the_names_of_categories(learner):
    """48 categories that hold two factors, of which a second latent holds one with noise."""
    rng = np.random.default_rng(0)
    factors = np.stack([rng.integers(8, size=1000), rng.integers(6, size=1000)], axis=1)
    both, noisy = 6 * factors[:, 0] + factors[:, 1], factors[:, 1] + 0.5 * rng.normal(size=1000)

    def score(names: np.ndarray, categorical: list[int]) -> tuple[float, ...]:
        return dci(np.stack([names[both], noisy], 1), factors, learner=learner, categorical=categorical)

    ordered, renamed = np.arange(48.0), rng.permutation(48).astype(float)
    assert score(renamed, [0]) == score(ordered, [0])
    assert score(renamed, []) != score(ordered, [])


@pytest.mark.parametrize("metric", ["downstream-gbt", "unfairness"])
def test_renumbering_categories_leaves_what_trees_predict_unchanged(metric):
    """48 categories that hold both factors of a grid but for errors, so that trees have to guess."""
    rng = np.random.default_rng(0)
    cells = rng.integers(48, size=600)
    factors = np.stack(np.divmod(cells, 6), axis=1)
    noisy = np.where(rng.random(600) < 0.2, rng.integers(48, size=600), cells)
    grid = np.where(rng.random(48) < 0.2, rng.integers(48, size=48), np.arange(48))

    def scores(names: np.ndarray, categorical: list[int]) -> list[float]:
        book = Codebook.of_grid(names[grid][:, None], sizes=(8, 6))
        settings: dict[str, Any] = {"floors": False, "intervals": False, "categorical": categorical}
        if metric == "unfairness":
            settings |= {"codebook": book, "options": {"unfairness": {"rows": 200, "points": 20}}}
        return evaluate(names[noisy][:, None], factors, metric, **settings)["value"].drop_nans().drop_nulls().to_list()

    ordered, renamed = np.arange(48.0), rng.permutation(48).astype(float)
    assert scores(renamed, [0]) == scores(ordered, [0])
    assert scores(renamed, []) != scores(ordered, [])


def test_a_category_that_ranks_do_not_know_is_merged_with_none():
    read = Ranked.of(np.array([[7.0], [2.0], [2.0]]), (0,))
    assert read(np.array([[[2.0], [7.0], [9.0]]])).ravel().tolist() == [0.0, 1.0, 2.0]


def test_as_a_number_a_renamed_factor_loses_where_lines_are_drawn(world):
    codes, factors = world
    assert mcc(codes, factors, categorical=[0]) == pytest.approx(1.0)
    assert mcc(codes, factors) < 0.6
    assert dci(codes, factors, learner="logistic", categorical=[0]).informativeness > 0.97
    assert dci(codes, factors, learner="logistic").informativeness < 0.95
    assert dci(codes, factors, learner="lasso", categorical=[0]).informativeness > 0.95
    assert dci(codes, factors, learner="lasso").informativeness < 0.6
    assert sap(codes, factors, categorical=[0]) > sap(codes, factors) + 0.3
    assert sap(codes, factors, kind="correlation", categorical=[0]) > 0.95
    assert sap(codes, factors, kind="correlation") < 0.55


def test_dci_of_categories_is_perfect_and_counts_latents_not_columns(world):
    codes, factors = world
    columns = OneHot.of(codes, [0, 1])(codes)
    assert dci(codes, factors, learner="logistic", categorical=[0, 1]).completeness > 0.85
    assert dci(columns, factors, learner="logistic").completeness < 0.5  # as if each category were a latent
    assert dci(codes, factors, categorical=[0, 1]) == dci(codes, factors)  # trees need no columns


def test_bins_hold_one_category_each():
    """With more categories than bins, equal widths would put several into one."""
    factors = np.arange(3000)[:, None] % 50
    codes = np.random.default_rng(0).permutation(50)[factors].astype(np.float64)
    assert mig(codes, factors, categorical=[0]) == pytest.approx(1.0)
    assert mig(codes, factors) < 0.9


def test_numbers_of_categories_do_not_matter(world):
    codes, factors = world
    noisy = codes.copy()
    noisy[:900, 0] = np.random.default_rng(1).integers(8, size=900)
    other = noisy.copy()
    other[:, 0] = np.array([30, -1, 4, 17, 5, 9, 2, 8])[noisy[:, 0].astype(int)]
    for metric in (mig, mcc, sap, mcc_rdc):
        assert metric(noisy, factors, categorical=[0]) == pytest.approx(metric(other, factors, categorical=[0]))
    assert info_mec(noisy, factors, categorical=[0]) == pytest.approx(
        info_mec(other, factors, categorical=[0]), rel=1e-3
    )
    for alone in (pairwise_mi, total_correlation, active_units):
        assert alone(noisy, categorical=[0]) == pytest.approx(alone(other, categorical=[0]))
    one, two = (wasserstein_independence(each, categorical=[0]) for each in (noisy, other))
    assert np.array(one) == pytest.approx(np.array(two), abs=1e-6)


def test_info_mec_of_categories_alone_is_that_of_discrete_codes(world):
    codes, factors = world
    assert info_mec(codes, factors, categorical=[0, 1]) == info_mec(codes, factors, discrete=True)


def test_the_strength_of_a_category_is_the_correlation_with_the_mean_of_its_group():
    rng = np.random.default_rng(0)
    category, factor = rng.integers(4, size=500), rng.normal(size=500)
    means = np.array([factor[category == value].mean() for value in range(4)])[category]
    expected = np.corrcoef(means, factor)[0, 1]
    assert strengths(category[:, None].astype(float), factor[:, None], [0])[0, 0] == pytest.approx(expected)


def test_the_variance_of_a_category_is_that_of_a_one_hot_vector():
    category = np.repeat([5.0, 1.0, 9.0], [60, 30, 10])[:, None]
    rare = np.where(np.arange(100) < 1, 5.0, 1.0)[:, None]
    assert 100 / 99 * (1 - 0.36 - 0.09 - 0.01) > 0.1
    assert active_units(category, categorical=[0], threshold=0.54) == 1
    assert active_units(category, categorical=[0], threshold=0.55) == 0  # 100 / 99 (1 - 0.6² - 0.3² - 0.1²) = 0.545
    assert active_units(1e-3 * category, categorical=[0]) == 1
    assert active_units(rare, categorical=[0], threshold=0.03) == 0


def test_total_correlation_of_categories_is_that_of_their_blocks():
    """By determinants: 1/2 (log det S_aa + log det S_bb - log det S), all but one column of each category."""
    rng = np.random.default_rng(0)
    a = rng.integers(3, size=4000)
    b = np.where(rng.random(4000) < 0.5, a, rng.integers(3, size=4000))
    columns = np.stack([a == 0, a == 1, b == 0, b == 1]).astype(float)
    s = np.cov(columns)
    expected = 0.5 * (np.linalg.slogdet(s[:2, :2])[1] + np.linalg.slogdet(s[2:, 2:])[1] - np.linalg.slogdet(s)[1])
    codes = np.stack([a, b], axis=1).astype(float)
    assert total_correlation(codes, categorical=[0, 1]) == pytest.approx(expected, rel=1e-6)
    assert total_correlation(np.stack([a, rng.permutation(a)], 1).astype(float), categorical=[0, 1]) < 0.005


def test_wasserstein_of_categories_keeps_the_covariances_of_their_own_columns():
    rng = np.random.default_rng(0)
    a = rng.integers(3, size=4000)
    alone = wasserstein_independence(np.stack([a, rng.permutation(a)], 1).astype(float), categorical=[0, 1])
    assert alone.normalised < 0.002
    same = wasserstein_independence(np.stack([a, a], 1).astype(float), categorical=[0, 1])
    # S = [[c, c], [c, c]] with a product diag(c, c): the root of the product is (1 + 1) c / sqrt 2 in all.
    assert same.normalised == pytest.approx(2 - 2 / math.sqrt(2), abs=1e-6)
    numbers = rng.normal(size=(500, 2))
    assert wasserstein_independence(numbers, categorical=[]) == wasserstein_independence(numbers)


@pytest.mark.parametrize("score", [factor_vae_score, z_max_variance])
def test_votes_measure_categories_by_how_often_they_differ(score):
    """Two factors, one renamed with numbers so far apart that their variance says little about what is kept."""
    grid = np.stack(np.unravel_index(np.arange(24), (6, 4)), axis=1).astype(float)
    renamed = grid.copy()
    renamed[:, 0] = np.array([0, 1, 2, 3, 4, 1000])[grid[:, 0].astype(int)]
    options = {"votes": 400, "test_votes": 200, "variance_rows": 500}
    assert score(Codebook.of_grid(renamed, (6, 4)), categorical=[0], **options) == 1.0
    assert score(Codebook.of_grid(renamed, (6, 4)), categorical=[0], **options) == score(
        Codebook.of_grid(grid, (6, 4)), categorical=[0], **options
    )


def test_a_machine_of_categories_is_scikit_learns_on_all_rows():
    from sklearn.svm import LinearSVC

    rng = np.random.default_rng(0)
    code, factor = rng.integers(5, size=800).astype(float), rng.integers(3, size=800)
    factor = np.where(rng.random(800) < 0.6, code.astype(int) % 3, factor)
    inputs = (code[:, None] == np.arange(5)).astype(float)
    settings: dict[str, Any] = {"class_weight": "balanced", "dual": False, "tol": 1e-8, "max_iter": 10_000}
    model = LinearSVC(C=0.01, **settings).fit(inputs, factor)
    np.testing.assert_array_equal(CategoryCode(code).predict(factor, np.arange(5.0), 0.01), model.predict(np.eye(5)))


def test_evaluate_gives_linear_probes_a_column_for_each_category(world):
    codes, factors = world
    names = ["r2", "explicitness", "mig", "mcc", "sap", "irs"]
    options = {"intervals": False, "seed": 0}
    as_categories = evaluate(codes, factors, names, categorical=[0], **options)
    as_numbers = evaluate(codes, factors, names, **options)
    scores = {row["metric"]: row for row in as_categories.iter_rows(named=True)}
    numbers = {row["metric"]: row for row in as_numbers.iter_rows(named=True)}
    for name in names:
        assert scores[name]["value"] >= scores[name]["ceiling"] - 1e-6, name
    for name in ("r2", "mcc", "sap"):
        assert scores[name]["value"] > numbers[name]["value"] + 0.3, name
    assert scores["mig"]["value"] == pytest.approx(scores["mig"]["ceiling"])
    assert scores["irs"]["value"] == pytest.approx(1.0)
    assert '"categorical": [0]' in scores["r2"]["options"]
    assert "categorical" not in numbers["r2"]["options"]
    one_hot = np.hstack([(codes[:, :1] == np.arange(8)), codes[:, 1:]]).astype(float)
    assert scores["explicitness"]["value"] == pytest.approx(explicitness(one_hot, factors), abs=1e-6)


def test_scores_that_need_numbers_refuse_categories(world):
    codes, factors = world
    with pytest.raises(UsageError, match="'im' needs codes that are numbers, and some are categorical"):
        evaluate(codes, factors, "im", categorical=[0])
    assert (
        "im"
        not in evaluate(
            codes[:300], factors[:300], ["all"], categorical=[0], intervals=False, floors=False, preset="fast"
        )["metric"].to_list()
    )


def test_columns_of_categories():
    read = OneHot.of(np.array([[1.0, 5.0], [2.0, 3.0], [1.0, 9.0]]), [1])
    np.testing.assert_array_equal(read(np.array([[7.0, 9.0], [8.0, 4.0]])), [[7, 0, 0, 1], [8, 0, 0, 0]])
    assert read.widths.tolist() == [1, 3]
    np.testing.assert_array_equal(read.total(np.arange(4.0)), [0, 6])
    assert OneHot.with_categories((0, 2))(np.array([[0.5, 1.0]])).tolist() == [[0.5, 0.0, 1.0]]


@pytest.mark.parametrize("wrong", [[2], [-1], [0.5], "0", 1, [True]])
def test_wrong_columns_are_refused(wrong):
    with pytest.raises(UsageError, match="categorical must be"):
        check_categorical(wrong, 2)
