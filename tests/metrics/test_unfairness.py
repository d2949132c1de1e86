"""Unfairness against loops over interventions, in worlds where it is known, and where it is fooled."""

from __future__ import annotations

import itertools
import sys
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn.ensemble import GradientBoostingClassifier

from unweave.errors import UsageError
from unweave.metrics.boosting import BoostedTrees
from unweave.metrics.codebook import Codebook
from unweave.metrics.inputs import DRAW, generator
from unweave.metrics.unfairness import Unfairness, unfairness, unfairness_matrix

SIZES = (3, 4, 1, 2)


def grid(sizes):
    return np.array(list(itertools.product(*map(range, sizes))))


def entangled(sizes=SIZES):
    """Codes of few values, so that trees on bins are trees on values; the first mixes two factors."""
    cells = grid(sizes)
    noise = np.random.default_rng(0).integers(3, size=(len(cells), 2))
    return np.column_stack([cells[:, 0] + cells[:, 1], cells[:, -1] + noise[:, 0], noise[:, 1]]).astype(float)


def distance(some, others, size):
    return sum(abs(some[c] / some.total() - others[c] / others.total()) for c in range(size)) / 2


def referee(codes, sizes, rows, points, seed, learner: Callable[[], Any] = BoostedTrees, kept=None):
    """The published algorithm by loops: a classifier, an intervention and a table of counts for each pair.

    `kept`, (rows + points,), says which of the rows drawn are fitted, and which points are asked.
    """
    cells = grid(sizes)
    number = {tuple(cell): i for i, cell in enumerate(cells.tolist())}
    rng = generator(seed, DRAW)
    fitted = rng.integers(len(cells), size=rows)
    chosen = {s: rng.integers(len(cells), size=points) for s, size in enumerate(sizes) if size > 1}
    if kept is not None:
        fitted, chosen = fitted[kept[:rows]], {s: cells_of[kept[rows:]] for s, cells_of in chosen.items()}
    matrix = np.zeros((len(sizes), len(sizes)))
    models = {t: learner().fit(codes[fitted], cells[fitted, t]) for t in chosen}
    for target, sensitive in itertools.permutations(chosen, 2):
        counts = []
        for value in range(sizes[sensitive]):
            moved = cells[chosen[sensitive]]
            moved[:, sensitive] = value
            places = [number[tuple(cell)] for cell in moved.tolist()]
            counts.append(Counter(models[target].predict(codes[places]).tolist()))
        overall = sum(counts, Counter())
        matrix[target, sensitive] = np.mean([distance(count, overall, sizes[target]) for count in counts])
    return matrix


@pytest.mark.parametrize("seed", [0, 1])
def test_it_is_the_published_algorithm(seed):
    book = Codebook.of_grid(entangled(), SIZES)
    expected = referee(entangled(), SIZES, 200, 30, seed)
    np.testing.assert_allclose(unfairness_matrix(book, rows=200, points=30, seed=seed), expected, atol=1e-12)
    pairs = expected[np.ix_([0, 1, 3], [0, 1, 3])][~np.eye(3, dtype=bool)]
    found = unfairness(book, rows=200, points=30, seed=seed)
    assert found == pytest.approx(Unfairness(pairs.mean(), pairs.max()), abs=1e-12)
    assert found.mean > 0.05


def test_scikit_learns_trees_say_the_same():
    expected = referee(entangled(), SIZES, 100, 30, 0, lambda: GradientBoostingClassifier(random_state=0))
    found = unfairness_matrix(Codebook.of_grid(entangled(), SIZES), rows=100, points=30)
    np.testing.assert_allclose(found, expected, atol=0.03)


def test_quick_trees_are_as_unfair_as_scikit_learns():
    """Of codes without repetitions, whose values are cut into parts: within what other points would change."""
    sizes = (3, 4, 5)
    rng = np.random.default_rng(3)
    codes = grid(sizes) / sizes @ rng.normal(size=(3, 4)) + 0.1 * rng.normal(size=(60, 4))
    codes = np.repeat(codes, 4, axis=0) + 0.05 * rng.normal(size=(240, 4))  # a fourth factor, of noise alone
    sizes = (*sizes, 4)
    expected = referee(codes, sizes, 400, 50, 0, lambda: GradientBoostingClassifier(random_state=0))
    found = unfairness_matrix(Codebook.of_grid(codes, sizes), rows=400, points=50)
    pairs = ~np.eye(4, dtype=bool)
    others = [unfairness(Codebook.of_grid(codes, sizes), rows=400, points=50, seed=seed).mean for seed in range(1, 6)]
    assert found[pairs].mean() == pytest.approx(expected[pairs].mean(), abs=max(float(np.std(others)), 0.01))
    np.testing.assert_allclose(found, expected, atol=0.06)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["clean", "good", "mixed", "noisy"])
def test_quick_trees_are_as_unfair_as_thorough_ones(kind, monkeypatch):
    """Nowhere near the score's interval, which is about 0.03 to either side at ten times as many rows."""
    sizes = np.array([3, 6, 20, 16])
    rng = np.random.default_rng(5)
    place, noise = grid(sizes) / sizes, rng.normal(size=(5760, 8))
    codes = {"good": np.hstack([place, noise[:, 4:]]) + 0.05 * noise, "mixed": place @ rng.normal(size=(4, 8))}
    codes |= {"noisy": codes["mixed"] + 0.5 * noise, "clean": np.hstack([place, noise[:, 4:]]) + 0.001 * noise}
    book = Codebook.of_grid(codes[kind], sizes.tolist())
    quick = unfairness(book, rows=2000)
    monkeypatch.setattr(sys.modules["unweave.metrics.unfairness"], "BoostedTrees", lambda **_: BoostedTrees())
    thorough = unfairness(book, rows=2000)
    assert quick == pytest.approx(thorough, abs=0.03)
    assert quick.mean == pytest.approx(thorough.mean, abs=0.01)


def test_a_code_for_each_factor_is_fair():
    cells = grid((3, 4, 5))
    assert unfairness(Codebook.of_grid(cells * 1.0, (3, 4, 5)), rows=500, points=20) == Unfairness(0.0, 0.0)
    assert unfairness(Codebook.of_grid(np.ones((60, 2)), (3, 4, 5)), rows=500, points=20) == Unfairness(0.0, 0.0)


def test_a_factor_that_one_group_alone_shows():
    """Code 1 where t = 1 and s = 0: the prediction follows t in one group and is 0 in the other: a quarter."""
    cells = grid((2, 2))
    code = (cells[:, :1] == 1) & (cells[:, 1:] == 0)
    found = unfairness_matrix(Codebook.of_grid(code * 1.0, (2, 2)), rows=1000, points=4000)
    np.testing.assert_allclose(found, [[0, 0.25], [0.25, 0]], atol=0.02)


def test_a_subset_is_fitted_on_its_rows_and_scored_on_its_points():
    sampled = unfairness.sample(Codebook.of_grid(entangled(), SIZES), rows=200, points=30)
    everything = np.ones(230, dtype=bool)
    half = np.random.default_rng(0).permutation(230) < 115
    expected = [referee(entangled(), SIZES, 200, 30, 0, kept=kept) for kept in (everything, half)]
    pairs = [matrix[np.ix_([0, 1, 3], [0, 1, 3])][~np.eye(3, dtype=bool)] for matrix in expected]
    found = sampled.rescore(np.stack([everything, half]))
    np.testing.assert_allclose(found, [(of.mean(), of.max()) for of in pairs], atol=1e-12)
    np.testing.assert_allclose(found[0], sampled.score, atol=1e-12)


def test_each_target_has_its_unfairness():
    sampled = unfairness.sample(Codebook.of_grid(entangled(), SIZES), rows=200, points=30)
    matrix = referee(entangled(), SIZES, 200, 30, 0)[[0, 1, 3]]
    np.testing.assert_allclose(sampled.per_factor["mean"], matrix.sum(axis=1) / 2, atol=1e-12)


def test_two_factors_must_vary():
    with pytest.raises(UsageError, match="two factors"):
        unfairness(Codebook.of_grid(np.arange(4.0)[:, None], (4, 1)), rows=10)


@pytest.mark.parametrize("wrong", [{"rows": 1}, {"points": 0}, {"seed": -1}])
def test_options_are_checked(wrong):
    with pytest.raises(UsageError, match="must be a whole number"):
        unfairness(Codebook.of_grid(grid((2, 2)) * 1.0, (2, 2)), **wrong)


def test_fair_codes_with_noise_seem_unfair_at_few_points():
    """Noise moves the predictions of a few points, whatever the sensitive factor."""
    sizes = (4, 4, 20)
    codes = grid(sizes) / sizes + 0.2 * np.random.default_rng(0).normal(size=(320, 3))
    few, many = (unfairness(Codebook.of_grid(codes, sizes), rows=100, points=n).mean for n in (10, 200))
    assert few > 1.5 * many
