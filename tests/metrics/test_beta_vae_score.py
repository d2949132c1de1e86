"""The β-VAE score against a loop over points, against one that draws for itself, and in known worlds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from unweave.errors import UsageError
from unweave.metrics.beta_vae_score import beta_vae_score, mean_differences
from unweave.metrics.codebook import Codebook
from unweave.metrics.inputs import DRAW, generator

from .test_factor_vae_score import FACTORS, GRID, SIZES, assert_same_mean


def world(seed, noise=0.3):
    """Codes that know the factors and mix them, of every cell of the grid."""
    rng = np.random.default_rng(seed)
    return 0.3 * FACTORS @ rng.normal(size=(4, 6)) + noise * rng.normal(size=(60, 6))


def referee(codes, factors, pairs, points):
    """The published algorithm on given draws, pair by pair."""
    features = []
    for of_point in pairs.tolist():
        total = np.zeros(codes.shape[1])
        for one, other in of_point:
            total += np.abs(codes[one] - codes[other])
        features.append(total / len(of_point))
    model = LogisticRegression().fit(features[:points], factors[:points])
    return model.score(features[points:], factors[points:])


@pytest.mark.parametrize("seed", range(3))
def test_it_is_the_published_algorithm(seed):
    factors, pairs = GRID.draw_pairs(450, 7, generator(seed, DRAW))
    ours = beta_vae_score(Codebook.of_grid(world(seed), SIZES), points=300, test_points=150, batch=7, seed=seed)
    assert ours == pytest.approx(referee(world(seed), factors, pairs, 300), abs=1e-12)


def test_pairs_share_their_factor_and_nothing_else():
    factors, pairs = GRID.draw_pairs(3000, 4, np.random.default_rng(0))
    one, other = FACTORS[pairs[..., 0]], FACTORS[pairs[..., 1]]
    np.testing.assert_allclose(np.bincount(factors, minlength=4) / 3000, [1 / 3, 0, 1 / 3, 1 / 3], atol=0.04)
    for factor in (0, 2, 3):
        same = (one == other)[factors == factor].mean(axis=(0, 1))
        expected = 1 / np.array(SIZES)
        expected[factor] = 1.0
        np.testing.assert_allclose(same, expected, atol=0.04)
        assert len(np.unique(one[factors == factor][:, 0, factor])) == SIZES[factor]


def simulation(codes, rng, points, test_points, batch):
    """The metric from nothing but the grid, with draws of its own: factor vectors, not cells."""

    def draw(n):
        features, labels = [], []
        for _ in range(n):
            factor = rng.choice([0, 2, 3])
            first, second = rng.integers(SIZES, size=(2, batch, 4))
            second[:, factor] = first[:, factor]
            codes_of = [codes[np.ravel_multi_index(tuple(v.T), SIZES)] for v in (first, second)]
            features.append(np.mean(np.abs(codes_of[0] - codes_of[1]), axis=0))
            labels.append(factor)
        return features, labels

    return LogisticRegression().fit(*draw(points)).score(*draw(test_points))


def test_it_agrees_with_an_independent_simulation():
    codes = world(4)
    theirs = np.array([simulation(codes, np.random.default_rng(seed), 300, 300, 8) for seed in range(12)])
    book = Codebook.of_grid(codes, SIZES)
    ours = np.array([beta_vae_score(book, points=300, test_points=300, batch=8, seed=s) for s in range(40)])
    assert_same_mean(ours, theirs)


def test_known_worlds():
    rng = np.random.default_rng(0)
    assert beta_vae_score(Codebook.of_grid(FACTORS, SIZES), points=1000, test_points=500) == 1.0
    assert beta_vae_score(Codebook.of_grid(np.hstack([FACTORS] * 2), SIZES), points=1000, test_points=500) == 1.0
    constant = beta_vae_score(Codebook.of_grid(np.ones((60, 3)), SIZES), points=1000, test_points=3000)
    assert constant == pytest.approx(1 / 3, abs=0.03)
    noise = Codebook.of_grid(rng.uniform(size=(60, 3)), SIZES)
    assert beta_vae_score(noise, points=1000, test_points=3000, batch=1) < 0.45


def test_a_single_factor_leaves_nothing_to_tell_apart():
    assert beta_vae_score(Codebook.of_grid(np.zeros((4, 1)), (1, 4)), points=20, test_points=10) == 1.0


def test_subsets_are_refitted_with_the_penalty_of_the_whole():
    sampled = beta_vae_score.sample(Codebook.of_grid(world(1), SIZES), points=200, test_points=100, batch=5)
    factors, pairs = GRID.draw_pairs(300, 5, generator(0, DRAW))
    points = mean_differences(Codebook.of_grid(world(1), SIZES), pairs)
    half = np.random.default_rng(0).permutation(300) < 150
    train, test = half & (np.arange(300) < 200), half & (np.arange(300) >= 200)
    model = LogisticRegression(C=200 / train.sum()).fit(points[train], factors[train])
    assert sampled.rescore(half[None]).tolist() == [model.score(points[test], factors[test])]
    assert sampled.replicates == 10


def test_large_codes_are_taken_in_chunks(monkeypatch):
    _, pairs = GRID.draw_pairs(50, 5, np.random.default_rng(0))
    book = Codebook.of_grid(world(0), SIZES)
    whole = mean_differences(book, pairs)
    monkeypatch.setattr("unweave.metrics.traversals.NUMBERS", 200)
    np.testing.assert_array_equal(mean_differences(book, pairs), whole)


def test_counts_are_checked():
    book = Codebook.of_grid(world(0), SIZES)
    for name in ("points", "test_points", "batch"):
        options: dict[str, Any] = {name: 0}
        with pytest.raises(UsageError, match=f"{name} must be a whole number from 1 up"):
            beta_vae_score(book, **options)
    with pytest.raises(UsageError, match="every factor has a single value"):
        beta_vae_score(Codebook.of_grid([[0.0]], (1, 1)))
