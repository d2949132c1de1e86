"""MCC against all permutations with scipy's correlations, in known worlds, and where it is fooled."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from scipy.stats import pearsonr, spearmanr

from unweave.errors import UsageError
from unweave.metrics.mcc import mcc

KINDS = ("linear", "rank")


def referee(codes, factors, kind):
    """The best over all ways to give each factor a code of its own, or none."""
    correlate = pearsonr if kind == "linear" else spearmanr
    factors = factors[:, (factors != factors[0]).any(axis=0)]
    d, k = codes.shape[1], factors.shape[1]
    table = np.zeros((max(d, k), k))  # a row of zeros for each code that is missing
    for i, j in np.ndindex(d, k):
        if np.ptp(codes[:, i]) > 0:
            table[i, j] = abs(float(np.array(correlate(codes[:, i], factors[:, j]))[0]))
    return max(sum(table[i, j] for j, i in enumerate(order)) for order in permutations(range(len(table)), k)) / k


def cases():
    rng = np.random.default_rng(0)
    factors = rng.integers([3, 6, 40], size=(150, 3))
    related = factors @ rng.normal(size=(3, 4)) + rng.normal(size=(150, 4))
    yield "related", related, factors
    yield "with ties", np.round(related), factors
    yield "fewer codes than factors", related[:, :2], factors
    yield "one code", related[:, :1], factors
    yield "a constant code", np.hstack([related[:, :2], np.full((150, 1), 0.1)]), factors
    yield "a factor with one value", related, np.hstack([factors, np.full((150, 1), 7)])
    yield "more codes than samples", rng.normal(size=(5, 7)), np.arange(5)[:, None] % [2, 3]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("codes", "factors"), [pytest.param(*rest, id=name) for name, *rest in cases()])
def test_it_is_the_formula(codes, factors, kind):
    assert mcc(codes, factors, kind=kind) == pytest.approx(referee(codes, factors, kind), abs=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_the_worlds(worlds, kind):
    rng = np.random.default_rng(0)
    assert mcc(*worlds["perfect"](2000, rng), kind=kind) == pytest.approx(1.0, abs=1e-12)
    assert mcc(*worlds["duplicated"](2000, rng), kind=kind) == pytest.approx(1.0, abs=1e-12)
    assert mcc(*worlds["useless"](10_000, rng), kind=kind) < 0.03
    assert mcc(np.ones((10, 3)), np.arange(10)[:, None] % 2, kind=kind) == 0.0


def test_a_monotonic_code_is_known_by_ranks_alone():
    factor = np.arange(100)[:, None] % 10
    assert mcc(np.exp(factor), factor, kind="rank") == pytest.approx(1.0, abs=1e-12)
    assert mcc(np.exp(factor), factor) < 0.8


@pytest.mark.parametrize("kind", KINDS)
def test_a_subset_scores_as_its_rows_do(kind):
    _, codes, factors = next(cases())
    codes = np.round(codes, 1)  # ties, whose ranks must be those within the subset
    subset = np.random.default_rng(1).random(150) < 0.3
    again = mcc.sample(codes, factors, kind=kind).rescore(subset[None])
    assert again[0] == pytest.approx(referee(codes[subset], factors[subset], kind), abs=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_a_factor_that_is_constant_in_a_subset_counts_nothing_there(kind):
    factor = np.array([0] * 20 + [1] * 20)[:, None]
    assert mcc.sample(factor + 0.0, factor, kind=kind).rescore(np.arange(40)[None] < 20).tolist() == [0.0]


def test_a_shuffled_category_fools_it():
    """The values of a category are numbers to it: another numbering is another score."""
    shape = np.arange(300)[:, None] % 5
    renamed = np.array([2, 4, 0, 1, 3])[shape]
    assert mcc(shape + 0.0, shape) == pytest.approx(1.0)
    assert mcc(shape + 0.0, renamed) < 0.3


def test_an_unknown_kind_is_refused():
    with pytest.raises(UsageError, match="no kind of MCC is called 'ranks'; did you mean 'rank'"):
        mcc([[1.0], [2.0]], [[0], [1]], kind="ranks")  # pyright: ignore[reportArgumentType]
