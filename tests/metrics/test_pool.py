"""A pool of rows: what is drawn from it, and the scores of rows against those of the grid they come from."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from unweave.errors import UsageError
from unweave.metrics import Codebook, Pool, beta_vae_score, evaluate, factor_vae_score
from unweave.metrics.pool import open_source
from unweave.metrics.resampling import interval

SIZES = (4, 8, 10)
CELLS = np.stack(np.unravel_index(np.arange(320), SIZES), axis=1)
COUNTS: dict[str, Any] = {"votes": 2000, "test_votes": 2000, "variance_rows": 2000}


def encode(factors, noise, rng):
    """Codes that mix the factors: neither score is 0 or 1."""
    mix = np.random.default_rng(5).normal(size=(3, 6))
    return factors / np.array(SIZES) @ mix + noise * rng.normal(size=(len(factors), 6))


def rows(n, noise=0.3, seed=0):
    rng = np.random.default_rng(seed)
    factors = rng.integers(SIZES, size=(n, 3))
    return encode(factors, noise, rng), factors


def book_of_grid():
    return Codebook.of_grid(encode(CELLS, 0.3, np.random.default_rng(9)), SIZES)


class ManyOfEachCell(Codebook):
    """A codebook that gives a cell the code of any one of its many samples: noise is drawn, not part of the cell."""

    def __init__(self, noise: float, copies: int = 200) -> None:
        self.sizes, self.names, self.exact = SIZES, ("a", "b", "c"), False
        self._copies, self._rng = copies, np.random.default_rng(3)
        self._table = encode(np.repeat(CELLS, copies, axis=0), noise, np.random.default_rng(9))

    def prepare(self, cells) -> None:
        """Do nothing: a pool already has all its codes."""

    def codes(self, cells):
        return self._table[np.asarray(cells) * self._copies + self._rng.integers(self._copies, size=np.shape(cells))]


@pytest.fixture(scope="module")
def pool():
    return Pool(*rows(500))


def test_a_row_alike_has_the_same_value_of_its_factor(pool):
    rng = np.random.default_rng(0)
    first, factors = pool.draw(3000, rng), rng.integers(3, size=3000)
    others = pool.alike(first, factors, rng)
    shared = pool.factors[first] == pool.factors[others]
    assert shared[np.arange(3000), factors].all()
    assert shared.mean() < 0.6
    mates = pool.alike(np.zeros(20_000, int), np.array(0), rng)  # any of the rows with that value, equally often
    counts = np.bincount(mates, minlength=500)
    expected = np.flatnonzero(pool.factors[:, 0] == pool.factors[0, 0])
    np.testing.assert_array_equal(np.flatnonzero(counts), expected)
    assert counts[expected] == pytest.approx(20_000 / len(expected), rel=0.5)


def test_batches_share_their_factor_and_nothing_else(pool):
    factors, drawn = pool.draw_batches(3000, 4, np.random.default_rng(0))
    values = pool.factors[drawn]
    np.testing.assert_allclose(np.bincount(factors) / 3000, 1 / 3, atol=0.04)
    for factor in range(3):
        of_factor = values[factors == factor]
        same = (of_factor[:, 1:] == of_factor[:, :1]).mean(axis=(0, 1))
        expected = 1 / np.array(SIZES)
        expected[factor] = 1.0
        np.testing.assert_allclose(same, expected, atol=0.05)


def test_pairs_share_their_factor_and_nothing_else(pool):
    factors, drawn = pool.draw_pairs(3000, 4, np.random.default_rng(0))
    assert drawn.shape == (3000, 4, 2)
    one, other = pool.factors[drawn[..., 0]], pool.factors[drawn[..., 1]]
    for factor in range(3):
        same = (one == other)[factors == factor].mean(axis=(0, 1))
        expected = 1 / np.array(SIZES)
        expected[factor] = 1.0
        np.testing.assert_allclose(same, expected, atol=0.05)
        assert len(np.unique(one[factors == factor][:, 0, factor])) == SIZES[factor]


def test_a_factor_of_one_value_is_never_the_one_shared():
    codes, factors = rows(200)
    pool = Pool(codes, np.insert(factors, 1, 7, axis=1))
    assert set(pool.draw_factors(500, np.random.default_rng(0)).tolist()) == {0, 2, 3}
    with pytest.raises(UsageError, match="every factor has a single value"):
        Pool(codes, np.zeros((200, 2), int))


def test_values_may_be_any_whole_numbers():
    codes, factors = rows(400)
    names = np.array([-5, 1000, 3, 77, 8, 12, 99, -1, 4, 6])  # in another order than the factors' own
    plain, renamed = Pool(codes, factors), Pool(codes, names[factors])
    draws = [pool.draw_batches(500, 5, np.random.default_rng(1))[1] for pool in (plain, renamed)]
    for pool, drawn in zip((plain, renamed), draws, strict=True):
        assert len(np.unique(drawn)) > 300
        assert pool.codes(drawn).shape == (500, 5, 6)


@pytest.mark.parametrize("noise", [0.1, 0.3, 0.6])
def test_the_factor_vae_score_of_rows_is_that_of_the_grid(noise):
    """At 10,000 rows, in worlds where the score is neither 0 nor 1."""
    ours = factor_vae_score(*rows(10_000, noise), **COUNTS, batch=16)
    grid = factor_vae_score(ManyOfEachCell(noise), **COUNTS, batch=16)
    assert 0.4 < grid < 0.98
    assert ours == pytest.approx(grid, abs=0.03)


@pytest.mark.parametrize("noise", [0.3, 0.6, 1.0])
def test_the_beta_vae_score_of_rows_is_that_of_the_grid(noise):
    ours = beta_vae_score(*rows(10_000, noise), points=3000, test_points=3000, batch=8)
    grid = beta_vae_score(ManyOfEachCell(noise), points=3000, test_points=3000, batch=8)
    assert 0.4 < grid < 0.98
    assert ours == pytest.approx(grid, abs=0.03)


@pytest.mark.parametrize("score", [factor_vae_score, beta_vae_score])
def test_perfect_rows_score_one(score):
    _, factors = rows(2000)
    assert score(factors * 1.0, factors) == 1.0


@pytest.mark.parametrize("score", [factor_vae_score, beta_vae_score])
def test_continuous_factors_are_refused(score):
    codes, factors = rows(300)
    with pytest.raises(UsageError, match="factor 1 is continuous"):
        score(codes, factors + 0.25)


@pytest.mark.parametrize("score", [factor_vae_score, beta_vae_score])
def test_rows_that_share_no_value_are_refused(score):
    """Whole numbers that differ in every row are no classes: every batch would be one row again and again."""
    codes, factors = rows(300)
    with pytest.raises(
        UsageError, match="factor 2 has 300 values in 300 rows: this metric compares rows that share a value"
    ):
        score(codes, np.insert(factors, 1, np.arange(300), axis=1))


def test_the_interval_is_over_rows():
    """Half of the rows are another pool, and vary more than other votes from the same one would."""
    codes, factors = rows(600)
    sampled = factor_vae_score.sample(codes, factors, **COUNTS, batch=16)
    assert sampled.units == 600
    half = np.random.default_rng(0).permutation(600) < 300
    again = factor_vae_score(codes[half], factors[half], **COUNTS, batch=16)
    assert sampled.rescore(half[None]).tolist() == [again]
    ends = interval(sampled, (0.0, 1.0), None, np.random.default_rng(0))
    by_votes = factor_vae_score.sample(book_of_grid(), **COUNTS, batch=16)
    assert by_votes.units == 6000
    narrow = interval(by_votes, (0.0, 1.0), None, np.random.default_rng(0))
    assert ends is not None
    assert narrow is not None
    assert ends[0][1] - ends[0][0] > 1.3 * (narrow[0][1] - narrow[0][0]) > 0


def test_a_source_is_what_it_is_given():
    codes, factors = rows(100)
    pool, book = Pool(codes, factors), book_of_grid()
    assert open_source(pool, None) is pool
    assert open_source(book, None) is book
    made = open_source(codes, factors)
    assert isinstance(made, Pool)
    np.testing.assert_array_equal(made.table, codes)
    assert factor_vae_score(pool, **COUNTS) == factor_vae_score(codes, factors, **COUNTS)


@pytest.mark.parametrize(
    ("source", "data", "line"),
    [
        (rows(50)[0], None, "give codes and factors, a Codebook or a Pool, or an encoder and a data set"),
        (Pool(*rows(50)), rows(50)[1], "a Pool has its own factors: pass the Pool alone"),
        (Codebook.of_grid(np.zeros((320, 1)), SIZES), rows(50)[1], "an encoder needs a data set, a Codebook nothing"),
        (np.shape, rows(50)[1], "an encoder needs a data set"),
        (np.shape, None, "give a Codebook, or an encoder and a data set"),
        (rows(50)[0], rows(49)[1], "codes have 50 rows but factors have 49"),
    ],
)
def test_mistakes_get_one_line(source, data, line):
    with pytest.raises(UsageError, match=line):
        open_source(source, data)


def test_evaluate_pools_all_rows_or_those_given():
    (codes, factors), test, pool = rows(300), rows(100, seed=1), rows(700, seed=2)
    options = {"factor-vae-score": COUNTS}
    settings = {"intervals": False, "floors": False, "options": options}
    both = evaluate(codes, factors, "factor-vae-score", test=test, **settings).row(0, named=True)
    joined = [np.concatenate(pair) for pair in zip((codes, factors), test, strict=True)]
    assert both["value"] == factor_vae_score(*joined, **COUNTS)
    assert json.loads(both["options"])["pool"] == 400
    own = evaluate(codes, factors, "factor-vae-score", test=test, pool=pool, **settings).row(0, named=True)
    assert own["value"] == factor_vae_score(*pool, **COUNTS)
    assert json.loads(own["options"])["pool"] == 700


def test_a_codebook_goes_before_a_pool_except_in_a_hurry():
    codes, factors = rows(300)
    book = book_of_grid()
    described = {
        preset: json.loads(
            evaluate(codes, factors, "factor-vae-score", codebook=book, preset=preset, intervals=False, floors=False)[
                "options"
            ].item()
        )
        for preset in ("paper", "fast")
    }
    assert described["paper"]["exact"] is True
    assert described["fast"]["pool"] == 300
