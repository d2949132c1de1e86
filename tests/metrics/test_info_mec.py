"""InfoMEC against a referee that calls scikit-learn as the authors do, in known worlds, and where it is fooled."""

from __future__ import annotations

import itertools
import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_selection import mutual_info_classif
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss, mutual_info_score
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from unweave.errors import UsageError
from unweave.metrics.info_mec import InfoMEC, info_mec

GRID = np.array(list(itertools.product(range(4), range(5), range(6))))


def loss(inputs, factor):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = LogisticRegression(C=np.inf, tol=1e-4, class_weight="balanced", max_iter=100).fit(inputs, factor)
    return log_loss(factor, model.predict_proba(inputs))


def referee(codes, factors, neighbours=10, discrete=False):
    """The authors' standalone script: information first, then pruned, then the largest over the sum."""
    inputs = OneHotEncoder().fit_transform(codes) if discrete else StandardScaler().fit_transform(codes)
    nmi, explained = [], []
    for factor in factors.T:
        if discrete:
            shared = [mutual_info_score(factor, np.unique(code, return_inverse=True)[1]) for code in codes.T]
        else:
            shared = mutual_info_classif(inputs, factor, n_neighbors=neighbours, random_state=0)
        nmi.append(np.array(shared) / mutual_info_score(factor, factor))
        nothing = loss(np.zeros_like(codes), factor)
        explained.append((nothing - loss(inputs, factor)) / nothing)
    spans = codes.max(axis=0) - codes.min(axis=0)
    nmi = np.array(nmi)[:, spans > (0 if discrete else spans.max() / 20)]  # (k, d)
    k, d = nmi.shape
    modularity = (np.mean(nmi.max(axis=0) / nmi.sum(axis=0)) - 1 / k) / (1 - 1 / k)
    compactness = (np.mean(nmi.max(axis=1) / nmi.sum(axis=1)) - 1 / d) / (1 - 1 / d)
    return modularity, np.mean(explained), compactness


def draw(n=400, seed=0):
    """Five codes: three factors with noise, all of them mixed, and one that is all but dead."""
    rng = np.random.default_rng(seed)
    factors = rng.integers([2, 4, 6], size=(n, 3))
    codes = np.hstack([factors / [1, 3, 5], factors @ rng.normal(size=(3, 1)), 0.01 * rng.normal(size=(n, 1))])
    return codes + [0.2, 0.2, 0.2, 0.2, 0] * rng.normal(size=codes.shape), factors


@pytest.mark.parametrize("neighbours", [3, 10])
@pytest.mark.parametrize("seed", [0, 1])
def test_it_is_the_authors_for_continuous_codes(seed, neighbours):
    codes, factors = draw(seed=seed)
    ours = info_mec(codes, factors, neighbours=neighbours)
    np.testing.assert_allclose(ours, referee(codes, factors, neighbours), atol=1e-8)


@pytest.mark.parametrize("seed", [0, 1])
def test_it_is_the_authors_for_discrete_codes(seed):
    codes, factors = draw(seed=seed)
    codes = np.round(2 * codes) / 2
    np.testing.assert_allclose(
        info_mec(codes, factors, discrete=True), referee(codes, factors, discrete=True), atol=1e-8
    )


def test_known_worlds(worlds):
    rng = np.random.default_rng(0)
    assert min(info_mec(*worlds["perfect"](2000, rng))) > 0.9
    assert info_mec(GRID.astype(float), GRID, discrete=True) == pytest.approx((1, 1, 1), abs=1e-3)
    useless = info_mec(*worlds["useless"](2000, rng))
    assert useless.explicitness < 0.02
    duplicated = info_mec(*worlds["duplicated"](2000, rng))
    assert duplicated.modularity > 0.9
    assert duplicated.compactness == pytest.approx(0.4, abs=0.05)  # a half, where 1/6 is chance


def test_codes_that_share_nothing_score_0():
    assert info_mec(np.ones((10, 3)), np.arange(10)[:, None] % 2) == (0.0, 0.0, 0.0)
    assert info_mec(GRID[:, :1], GRID[:, 1:], discrete=True) == pytest.approx((0, 0, 0), abs=1e-12)


def test_one_code_or_one_factor_counts_1():
    """Published code divides zero by zero here."""
    assert info_mec(GRID[:, :1], GRID, discrete=True).compactness == pytest.approx(
        1 / 3
    )  # it knows one factor of three
    assert info_mec(GRID, GRID[:, :1], discrete=True).modularity == pytest.approx(1 / 3)  # one code knows it, of three
    assert info_mec(GRID[:, :1], GRID[:, :1], discrete=True) == pytest.approx((1, 1, 1), abs=1e-3)


def test_the_three_prunings():
    """Two equal codes of ranges 0.1 and 0.06, and one of range 1 that is the same in nearly all rows."""
    even = np.arange(400) % 20 / 19
    codes = np.stack([np.where(np.arange(400) < 20, even, 0.5), even / 10, 0.06 * even], axis=1)
    factors = np.arange(400)[:, None] % 20 // 5
    found = {name: info_mec(codes, factors, pruning=name).compactness for name in ("range", "range-8", "iqr")}
    assert found["range"] == pytest.approx(0.25, abs=0.05)  # all three are active, and a half stands against 1/3
    assert found["range-8"] == 1.0  # the one of range 1 alone
    assert found["iqr"] == pytest.approx(0.0, abs=0.01)  # the two others


def test_more_codes_than_samples_and_values_seen_once():
    parts = info_mec(np.random.default_rng(0).normal(size=(12, 30)), np.arange(12)[:, None] // [1, 2])
    assert isinstance(parts, InfoMEC)
    assert all(0 <= part <= 1 for part in parts)


def test_unequal_classes_do_not_push_explicitness_below_0():
    codes = np.random.default_rng(0).normal(size=(200, 1))
    assert info_mec(codes, (np.arange(200) < 5).astype(int)[:, None]).explicitness >= 0.0


def test_a_subset_scores_as_its_rows_do():
    codes, factors = draw()
    subset = np.random.default_rng(4).random(400) < 0.5
    again = info_mec.sample(codes, factors).rescore(subset[None])
    np.testing.assert_allclose(again, [referee(codes[subset], factors[subset])], atol=1e-8)


def test_factors_that_are_all_constant_in_a_subset_score_0_there():
    factor = np.array([0] * 20 + [1] * 20)[:, None]
    assert info_mec.sample(factor, factor).rescore(np.arange(40)[None] < 20).tolist() == [[0.0, 0.0, 0.0]]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"pruning": "variance"}, "pruning"),
        ({"neighbours": 0}, "neighbours must be a whole number"),
        ({"discrete": 1}, "discrete must be True or False"),
        ({"seed": -1, "discrete": True}, "seed must be a whole number"),
    ],
)
def test_options_are_checked(options, message):
    with pytest.raises(UsageError, match=message):
        info_mec(GRID, GRID, **options)


def gaussian(rho, n=4000, seed=0):
    """Two independent continuous factors, and a code of each, with these correlations, besides a code of noise."""
    rng = np.random.default_rng(seed)
    factors = rng.normal(size=(n, 2))
    noise = rng.normal(size=(n, 3))
    rho = np.array(rho)
    return np.hstack([rho * factors + np.sqrt(1 - rho**2) * noise[:, :2], noise[:, 2:]]), factors


@pytest.mark.parametrize("rho", [(0.9, 0.9), (0.95, 0.6)])
def test_continuous_factors_have_a_closed_form_for_gaussians(rho):
    """1 - exp(-2 I) = rho^2 for the code of a factor, and about 0 for any other; R^2 is rho^2."""
    found = info_mec(*gaussian(rho))
    squares = np.array(rho) ** 2
    assert found.explicitness == pytest.approx(squares.mean(), abs=0.02)
    assert found.compactness == pytest.approx(1.0, abs=0.06)


def test_mixed_gaussian_codes_share_each_factor_by_their_correlation():
    """Both codes mix both factors: U is rho^2, so that modularity and compactness are ratios of squares."""
    rng = np.random.default_rng(0)
    factors = rng.normal(size=(8000, 2))
    mix = np.array([[0.8, 0.5], [0.3, 0.7]])  # (factors, codes)
    codes = factors @ mix + 0.3 * rng.normal(size=(8000, 2))
    squares = (mix**2 / ((mix**2).sum(axis=0) + 0.09)).T  # (codes, factors)
    modularity = np.mean((squares.max(axis=1) / squares.sum(axis=1) - 0.5) / 0.5)
    compactness = np.mean((squares.max(axis=0) / squares.sum(axis=0) - 0.5) / 0.5)
    found = info_mec(codes, factors)
    assert (found.modularity, found.compactness) == pytest.approx((modularity, compactness), abs=0.03)


def test_classes_beside_a_continuous_factor_are_scored_as_classes():
    codes, factors = draw()
    rng = np.random.default_rng(3)
    number = codes[:, :1] + 0.1 * rng.normal(size=(len(codes), 1))
    both, classes = info_mec(codes, np.hstack([factors, number])), info_mec(codes, factors)
    explained = np.corrcoef(codes[:, 0], number[:, 0])[0, 1] ** 2  # by the best code alone: about as good as all
    assert both.explicitness == pytest.approx((3 * classes.explicitness + explained) / 4, abs=0.01)


def test_discrete_codes_of_a_continuous_factor():
    rng = np.random.default_rng(0)
    number = rng.uniform(size=(2000, 1))
    codes = np.hstack([np.floor(8 * number), rng.integers(8, size=(2000, 1))])
    found = info_mec(codes, number, discrete=True)
    assert found.compactness > 0.95
    assert found.explicitness == pytest.approx(1 - 1 / 64, abs=0.01)  # the variance within a step of eight
