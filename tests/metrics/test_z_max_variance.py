"""The Z-max variance score against a loop over votes, against one that draws for itself, and in known worlds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from unweave.errors import UsageError
from unweave.metrics.codebook import Codebook
from unweave.metrics.inputs import DRAW, generator
from unweave.metrics.traversals import draw_cells
from unweave.metrics.voting import above_chance
from unweave.metrics.z_max_variance import draw_changes, z_max_variance

from .test_factor_vae_score import FACTORS, SIZES, assert_same_mean, world_with


def world(seed):
    return world_with(seed, noise=0.5)


def referee(codes, anywhere, factors, batches, votes):
    """The published algorithm on given draws, vote by vote, tested on votes that it was not fitted on."""
    overall = np.var(codes[anywhere], axis=0)
    turns = {factor: iter(cells) for factor, cells in batches.items()}
    table = np.zeros((2, codes.shape[1], 4), dtype=int)
    for i, factor in enumerate(factors.tolist()):
        local = np.var(codes[next(turns[factor])], axis=0)
        ratios = [local[j] / overall[j] if overall[j] ** 0.5 >= 0.05 else -1.0 for j in range(len(local))]
        table[int(i >= votes), np.argmax(ratios), factor] += 1
    return sum(table[1, j, table[0, j].argmax()] for j in range(codes.shape[1])) / table[1].sum()


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("batch", [3, 100])
def test_it_is_the_published_algorithm(seed, batch):
    rng = generator(seed, DRAW)
    anywhere = draw_cells(SIZES, 50, rng)
    factors, batches = draw_changes(SIZES, 450, batch, rng)
    book = Codebook.of_grid(world(seed), SIZES)
    counts: dict[str, Any] = {"votes": 300, "test_votes": 150, "variance_rows": 50}
    ours = z_max_variance(book, **counts, batch=batch, seed=seed)
    assert ours == pytest.approx(referee(world(seed), anywhere, factors, batches, 300), abs=1e-12)


@pytest.mark.parametrize("batch", [3, 100])
def test_one_factor_changes_and_the_others_stay(batch):
    factors, batches = draw_changes(SIZES, 3000, batch, np.random.default_rng(0))
    assert list(batches) == [0, 2, 3]
    for factor, cells in batches.items():
        values = FACTORS[cells]
        assert cells.shape == ((factors == factor).sum(), min(batch, SIZES[factor]))
        assert (np.diff(np.sort(values[:, :, factor], axis=1)) > 0).all()
        others = np.delete(values, factor, axis=2)
        assert (others == others[:, :1]).all()
        assert len(np.unique(others[:, 0], axis=0)) == 60 // SIZES[factor]
        shares = np.bincount(values[:, :, factor].ravel()) / cells.size
        np.testing.assert_allclose(shares, 1 / SIZES[factor], atol=0.02)


def simulation(codes, rng, votes):
    """The authors' way: the same number of votes for each factor, images picked by comparing factor vectors."""
    overall = codes[rng.integers(60, size=1000)].var(axis=0)

    def draw():
        table = np.zeros((codes.shape[1], 4), dtype=int)
        for factor in (0, 2, 3):
            for _ in range(votes // 3):
                base = rng.integers(SIZES)
                fits = (np.delete(FACTORS, factor, axis=1) == np.delete(base, factor)).all(axis=1)
                table[np.argmax(codes[fits].var(axis=0) / overall), factor] += 1
        return table

    predicted, held_out = draw().argmax(axis=1), draw()
    return held_out[np.arange(codes.shape[1]), predicted].sum() / held_out.sum()


def test_it_agrees_with_an_independent_simulation():
    codes = world(4)
    theirs = np.array([simulation(codes, np.random.default_rng(seed), 300) for seed in range(12)])
    book = Codebook.of_grid(codes, SIZES)
    counts: dict[str, Any] = {"votes": 300, "test_votes": 300, "variance_rows": 1000, "threshold": 0.0}
    ours = np.array([z_max_variance(book, **counts, seed=seed) for seed in range(40)])
    assert_same_mean(ours, theirs)


def test_known_worlds():
    assert z_max_variance(Codebook.of_grid(FACTORS, SIZES)) == 1.0
    assert z_max_variance(Codebook.of_grid(np.hstack([FACTORS] * 2), SIZES)) == 1.0
    assert z_max_variance(Codebook.of_grid(np.ones((60, 3)), SIZES)) == 0.0
    constant_beside = np.hstack([np.full((60, 1), 0.1), FACTORS])
    assert z_max_variance(Codebook.of_grid(constant_beside, SIZES), threshold=0.0) == 1.0


def test_one_code_for_all_scores_chance_which_rescaling_makes_nought():
    book = Codebook.of_grid(FACTORS.sum(axis=1, keepdims=True), SIZES)
    assert z_max_variance(book) == pytest.approx(1 / 3, abs=0.03)
    assert z_max_variance(book, rescaled=True) < 0.03
    assert z_max_variance(Codebook.of_grid(FACTORS, SIZES), rescaled=True) == 1.0


def test_chance_is_taken_off():
    np.testing.assert_allclose(above_chance(np.array([0.0, 0.25, 0.625, 1.0]), 4), [0, 0, 0.5, 1])
    assert above_chance(np.array([1.0]), 1) == 1.0


def test_subsets_are_rescaled_too():
    sampled = z_max_variance.sample(Codebook.of_grid(world(4), SIZES), votes=300, test_votes=150, rescaled=True)
    plain = z_max_variance.sample(Codebook.of_grid(world(4), SIZES), votes=300, test_votes=150)
    halves = np.random.default_rng(0).random((5, 450)) < 0.5
    np.testing.assert_allclose(sampled.rescore(halves), (plain.rescore(halves) - 1 / 3) / (2 / 3))


def test_options_are_checked():
    book = Codebook.of_grid(world(0), SIZES)
    for name, least in {"votes": 1, "test_votes": 1, "batch": 2, "variance_rows": 2}.items():
        options: dict[str, Any] = {name: least - 1}
        with pytest.raises(UsageError, match=f"{name} must be a whole number from {least} up"):
            z_max_variance(book, **options)


def test_dead_codes_have_the_units_of_any_others():
    """So that `compare` can pair the votes of a collapsed model with those of another one."""
    counts: dict[str, Any] = {"votes": 60, "test_votes": 40, "variance_rows": 50}
    books = [Codebook.of_grid(codes, (4, 5)) for codes in (np.zeros((20, 2)), np.arange(40.0).reshape(20, 2))]
    dead, alive = (z_max_variance.sample(book, **counts) for book in books)
    assert (dead.score, dead.units) == (0.0, alive.units)
    assert alive.step == 1 / 40
    assert z_max_variance.sample(books[1], **counts, rescaled=True).step == 2 / 40
