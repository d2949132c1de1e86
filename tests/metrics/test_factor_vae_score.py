"""The FactorVAE score against a loop over votes, against one that draws for itself, and in known worlds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from unweave.errors import UsageError
from unweave.metrics.codebook import Codebook
from unweave.metrics.factor_vae_score import factor_vae_score
from unweave.metrics.inputs import DRAW, INTERVAL, generator
from unweave.metrics.resampling import interval
from unweave.metrics.traversals import draw_cells
from unweave.metrics.voting import active, variance

SIZES = (3, 1, 4, 5)
FACTORS = np.stack(np.unravel_index(np.arange(60), SIZES), axis=1)
GRID = Codebook.of_grid(FACTORS, SIZES)


def world_with(seed, noise):
    rng = np.random.default_rng(seed)
    codes = 0.3 * FACTORS @ rng.normal(size=(4, 6)) + noise * rng.normal(size=(60, 6))
    codes[:, 5] *= 0.001  # pruned
    return codes


def world(seed):
    return world_with(seed, noise=0.3)


def assert_same_mean(ours, theirs):
    """Scores over seeds, neither at an end, whose means are within three standard errors of each other."""
    error = np.sqrt(theirs.var(ddof=1) / len(theirs) + ours.var(ddof=1) / len(ours))
    assert 0.5 < ours.mean() < 0.95
    assert abs(ours.mean() - theirs.mean()) < 3 * error


def referee(codes, anywhere, factors, cells, votes, threshold):
    """The published algorithm on given draws, vote by vote, with a table over all codes."""
    overall = np.var(codes[anywhere], axis=0, ddof=1)
    table = np.zeros((2, codes.shape[1], 4), dtype=int)
    for i, (factor, batch) in enumerate(zip(factors, cells, strict=True)):
        local = np.var(codes[batch], axis=0, ddof=1)
        ratios = [local[j] / overall[j] if overall[j] ** 0.5 >= threshold else np.inf for j in range(len(local))]
        table[int(i >= votes), np.argmin(ratios), factor] += 1
    return sum(table[1, j, table[0, j].argmax()] for j in range(codes.shape[1])) / table[1].sum()


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("threshold", [0.0, 0.05])
def test_it_is_the_published_algorithm(seed, threshold):
    rng = generator(seed, DRAW)
    anywhere = draw_cells(SIZES, 50, rng)
    factors, cells = GRID.draw_batches(450, 7, rng)
    book = Codebook.of_grid(world(seed), SIZES)
    counts: dict[str, Any] = {"votes": 300, "test_votes": 150, "variance_rows": 50}
    ours = factor_vae_score(book, **counts, batch=7, threshold=threshold, seed=seed)
    assert ours == pytest.approx(referee(world(seed), anywhere, factors, cells, 300, threshold), abs=1e-12)


def test_batches_share_their_factor_and_nothing_else():
    factors, cells = GRID.draw_batches(3000, 4, np.random.default_rng(0))
    values = FACTORS[cells]
    for factor in (0, 2, 3):
        of_factor = values[factors == factor]
        same = (of_factor[:, 1:] == of_factor[:, :1]).mean(axis=(0, 1))
        expected = 1 / np.array(SIZES)
        expected[factor] = 1.0
        np.testing.assert_allclose(same, expected, atol=0.04)
        shares = np.bincount(of_factor[:, 0, factor]) / len(of_factor)
        np.testing.assert_allclose(shares, 1 / SIZES[factor], atol=0.05)
    assert set(factors) == {0, 2, 3}


def simulation(codes, rng, votes, batch):
    """The metric from nothing but the grid, with draws of its own: factor vectors, not cells."""
    overall = codes[rng.integers(60, size=1000)].var(axis=0, ddof=1)

    def draw(n):
        table = np.zeros((4, codes.shape[1]), dtype=int)
        for _ in range(n):
            factor = rng.choice([0, 2, 3])
            vectors = rng.integers(SIZES, size=(batch, 4))
            vectors[:, factor] = vectors[0, factor]
            local = codes[np.ravel_multi_index(tuple(vectors.T), SIZES)].var(axis=0, ddof=1)
            table[factor, np.argmin(local / overall)] += 1
        return table

    predicted = draw(votes).argmax(axis=0)
    held_out = draw(votes)
    return held_out[predicted, np.arange(codes.shape[1])].sum() / votes


def test_it_agrees_with_an_independent_simulation():
    codes = world(4)
    theirs = np.array([simulation(codes, np.random.default_rng(seed), 300, 8) for seed in range(12)])
    book = Codebook.of_grid(codes, SIZES)
    counts: dict[str, Any] = {"votes": 300, "test_votes": 300, "variance_rows": 1000, "batch": 8, "threshold": 0.0}
    ours = np.array([factor_vae_score(book, **counts, seed=seed) for seed in range(40)])
    assert_same_mean(ours, theirs)


def test_known_worlds():
    assert factor_vae_score(Codebook.of_grid(FACTORS, SIZES)) == 1.0
    assert factor_vae_score(Codebook.of_grid(np.hstack([FACTORS] * 2), SIZES)) == 1.0
    assert factor_vae_score(Codebook.of_grid(np.ones((60, 3)), SIZES)) == 0.0
    noise = np.random.default_rng(0).uniform(size=(60, 8))
    assert factor_vae_score(Codebook.of_grid(noise, SIZES), batch=3) < 0.5


def test_constant_codes_are_never_voted_for():
    """Nought over nought would win every vote."""
    codes = np.hstack([np.full((60, 1), 0.1), FACTORS / 10])
    assert factor_vae_score(Codebook.of_grid(codes, SIZES), threshold=0.0) == 1.0


def test_all_codes_below_the_threshold_score_nothing():
    book = Codebook.of_grid(FACTORS / 1000, SIZES)
    sampled = factor_vae_score.sample(book)
    assert sampled.score == 0.0
    assert sampled.rescore(np.ones((3, sampled.units), dtype=bool)).tolist() == [0, 0, 0]
    assert factor_vae_score(book, threshold=0.0) == 1.0


def test_the_variance_of_equal_codes_is_nought():
    codes = np.random.default_rng(0).normal(size=(5, 1, 3)).repeat(63, axis=1)
    assert (variance(codes) == 0).all()
    codes = np.random.default_rng(0).normal(size=(5, 63, 3)) + 1000
    np.testing.assert_allclose(variance(codes), codes.var(axis=1, ddof=1), rtol=1e-10)


def test_a_subset_scores_as_its_votes_do():
    counts: dict[str, Any] = {"votes": 300, "test_votes": 150, "variance_rows": 50, "batch": 5}
    rng = generator(0, DRAW)
    anywhere = draw_cells(SIZES, 50, rng)
    factors, cells = GRID.draw_batches(450, 5, rng)
    subset = np.random.default_rng(1).random(450) < 0.5
    again = factor_vae_score.sample(Codebook.of_grid(world(1), SIZES), **counts).rescore(subset[None])
    fitted = int(subset[:300].sum())
    expected = referee(world(1), anywhere, factors[subset], cells[subset], fitted, 0.05)
    np.testing.assert_allclose(again, [expected], atol=1e-12)


def test_the_interval_holds_the_score_of_many_votes():
    book = Codebook.of_grid(world(4), SIZES)
    counts: dict[str, Any] = {"variance_rows": 20_000, "batch": 8, "threshold": 0.0}
    truth = factor_vae_score(book, votes=50_000, test_votes=50_000, **counts, seed=10**6)
    held = 0
    for seed in range(30):
        sampled = factor_vae_score.sample(book, votes=1000, test_votes=500, **counts, seed=seed)
        bounds = interval(sampled, (0.0, 1.0), 100, generator(seed, INTERVAL))
        assert bounds is not None
        low, high = bounds[0]
        assert low is not None
        assert high is not None
        held += low <= truth <= high
    assert held >= 25


def test_options_are_checked():
    book = Codebook.of_grid(world(0), SIZES)
    for name, least in {"votes": 1, "test_votes": 1, "batch": 2, "variance_rows": 2}.items():
        options: dict[str, Any] = {name: least - 1}
        with pytest.raises(UsageError, match=f"{name} must be a whole number from {least} up"):
            factor_vae_score(book, **options)
    for threshold in (-1, float("nan"), True, "0"):
        with pytest.raises(UsageError, match="threshold must be a number from 0 up"):
            active(np.ones(2), threshold)  # pyright: ignore[reportArgumentType]
