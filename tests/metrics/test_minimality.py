"""Minimality and sufficiency against referees written from the formulas, in known worlds, and where they are fooled."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import entropy
from sklearn.metrics import mutual_info_score

from unweave.errors import UsageError
from unweave.metrics import evaluate, mig, minimality, sufficiency

BOTH = pytest.mark.parametrize("score", [minimality, sufficiency], ids=["minimality", "sufficiency"])


def quantities(codes, factors, bins):
    """I(z_j; v_k), H(z_j) and H(v_k) by libraries, of codes and factors that vary."""
    columns = [column for column in np.transpose(codes) if len(set(column)) > 1]
    labels = [column for column in np.transpose(factors) if len(set(column)) > 1]
    cut = [np.digitize(column, np.histogram(column, bins)[1][1:-1]) for column in columns]
    shared = np.array([[mutual_info_score(label, code) for label in labels] for code in cut])
    return shared, *([entropy(np.unique(each, return_counts=True)[1]) for each in side] for side in (cut, labels))


def referee(score, codes, factors, bins):
    shared, of_codes, of_factors = quantities(codes, factors, bins)
    return np.mean(shared.max(axis=1) / of_codes if score is minimality else shared.max(axis=0) / of_factors)


def cases():
    rng = np.random.default_rng(0)
    factors = rng.integers([3, 6, 40], size=(150, 3))
    related = factors / [2, 5, 39] + 0.2 * rng.normal(size=(150, 3))
    yield "related", related, factors
    yield "mixed", related @ rng.normal(size=(3, 5)), factors
    yield "one code", related[:, :1], factors
    yield "one factor", related, factors[:, :1]
    yield "a constant code", np.hstack([related, np.full((150, 1), 0.1)]), factors
    yield "a factor with one value", related, np.hstack([factors, np.full((150, 1), 7)])
    yield "more codes than samples", rng.normal(size=(12, 30)), factors[:12]


@BOTH
@pytest.mark.parametrize("bins", [2, 20])
@pytest.mark.parametrize(("codes", "factors"), [pytest.param(*rest, id=name) for name, *rest in cases()])
def test_it_is_the_formula(score, codes, factors, bins):
    assert score(codes, factors, bins=bins) == pytest.approx(referee(score, codes, factors, bins), abs=1e-12)


@BOTH
def test_a_subset_scores_as_its_rows_do(score):
    """Rows 0 and 1 hold the range, so that the subset's own edges are those of the whole."""
    _, codes, factors = next(cases())
    codes[0], codes[1] = codes.min(axis=0), codes.max(axis=0)
    subset = np.random.default_rng(4).random(150) < 0.5
    subset[:2] = True
    again = score.sample(codes, factors).rescore(subset[None])
    np.testing.assert_allclose(again, [referee(score, codes[subset], factors[subset], 20)], atol=1e-12)


@BOTH
def test_known_worlds(score, worlds):
    rng = np.random.default_rng(0)
    assert score(*worlds["perfect"](2000, rng)) == pytest.approx(1.0, abs=1e-12)
    assert score(*worlds["duplicated"](2000, rng)) == pytest.approx(1.0, abs=1e-12)
    assert score(*worlds["useless"](10_000, rng)) < 0.01
    assert score(np.ones((10, 3)), np.arange(10)[:, None] % 2) == 0.0


def test_constant_codes_are_left_out_and_noise_is_not(worlds):
    codes, factors = worlds["perfect"](4000, np.random.default_rng(0))
    noise = np.random.default_rng(1).random((4000, 3))
    assert minimality(np.hstack([codes, np.ones((4000, 3))]), factors) == pytest.approx(1.0, abs=1e-12)
    assert minimality(np.hstack([codes, noise]), factors) == pytest.approx(0.5, abs=0.01)
    assert sufficiency(np.hstack([codes, noise]), factors) == pytest.approx(1.0, abs=1e-12)


def test_factors_that_depend_on_each_other_cost_nothing():
    """What the metrics are for: the factors themselves score 1 although each is known by two codes, as MIG sees."""
    rng = np.random.default_rng(0)
    first = rng.integers(4, size=2000)
    factors = np.stack([first, np.where(rng.random(2000) < 0.7, first, rng.integers(4, size=2000))], axis=1)
    assert mig(factors, factors) < 0.8
    assert minimality(factors, factors) == sufficiency(factors, factors) == pytest.approx(1.0, abs=1e-12)


def test_two_factors_in_one_code_are_sufficient_and_not_minimal():
    factors = np.stack(np.unravel_index(np.arange(1600) % 16, (4, 4)), axis=1)
    both = factors @ [[4], [1]]
    assert minimality(both, factors, bins=16) == pytest.approx(0.5, abs=1e-12)
    assert sufficiency(both, factors, bins=16) == pytest.approx(1.0, abs=1e-12)


def test_half_of_the_factors_are_minimal_and_not_sufficient():
    factors = np.stack(np.unravel_index(np.arange(1600) % 16, (4, 4)), axis=1)
    assert minimality(factors[:, :1], factors) == pytest.approx(1.0, abs=1e-12)
    assert sufficiency(factors[:, :1], factors) == pytest.approx(0.5, abs=1e-12)


def test_a_constant_code_or_factor_in_a_subset_counts_nothing_there():
    factor = np.array([0] * 20 + [1] * 20)[:, None]
    for score in (minimality, sufficiency):
        assert score.sample(factor + 0.0, factor).rescore(np.arange(40)[None] < 20).tolist() == [0.0]


def test_sufficiency_has_a_value_for_each_factor():
    factors = np.stack(np.unravel_index(np.arange(1600) % 16, (4, 4)), axis=1)
    table = evaluate(factors[:, :1], factors, "sufficiency", details=True, names=["hue", "size"], intervals=False)
    assert table["factor"].to_list() == [None, "hue", "size"]
    assert table["value"].to_list() == pytest.approx([0.5, 1.0, 0.0], abs=1e-12)
    assert not minimality.sample(factors[:, :1], factors).per_factor


@BOTH
def test_few_rows_flatter_noise(score, worlds):
    """The plug-in estimate of noise is too large by about (bins - 1)(values - 1) / 2n nats."""
    few, many = (score(*worlds["useless"](n, np.random.default_rng(0))) for n in (200, 20_000))
    assert few > 0.1 > 0.01 > many


@BOTH
@pytest.mark.parametrize("bins", [1, 2.5])
def test_bins_are_checked(score, bins):
    with pytest.raises(UsageError, match="bins must be a whole number"):
        score(np.arange(10.0)[:, None], np.arange(10)[:, None], bins=bins)
