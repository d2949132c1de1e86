"""MED in known worlds, and where it is fooled; test_binned.py has the formula."""

from __future__ import annotations

import numpy as np
import pytest

from unweave.errors import UsageError
from unweave.metrics.med import med

from .test_binned import GRID, every_case, med_referee


@pytest.mark.parametrize("top", [1, 2, 3, 100])
@every_case
def test_the_top_codes_are_the_authors(codes, factors, top):
    assert med(codes, factors, top=top) == pytest.approx(med_referee(codes, factors, 20, top), abs=1e-8)


def test_the_top_codes_of_a_subset_are_picked_again(worlds):
    codes, factors = worlds["noisy"](300, np.random.default_rng(3))
    codes[0], codes[1] = codes.min(axis=0), codes.max(axis=0)
    subsets = np.random.default_rng(4).random((5, 300)) < 0.5
    subsets[:, :2] = True
    expected = [med_referee(codes[subset], factors[subset], 20, 1) for subset in subsets]
    np.testing.assert_allclose(med.sample(codes, factors, top=1).rescore(subsets), expected, atol=1e-8)


def test_known_worlds(worlds):
    rng = np.random.default_rng(0)
    assert med(*worlds["perfect"](10_000, rng)) > 0.97
    assert med(*worlds["useless"](10_000, rng)) < 0.02
    assert med(GRID[:, :1], GRID) == 1.0  # nobody knows of the other factors
    assert med(np.ones((len(GRID), 2)), GRID) == 0.0
    assert med(np.ones((len(GRID), 2)), GRID, top=1) == 0.0


def test_many_codes_of_noise_drown_the_good_ones_unless_the_top_is_asked_for(worlds):
    codes, factors = worlds["perfect"](1000, np.random.default_rng(0))
    drowned = np.hstack([codes, np.random.default_rng(1).random((1000, 200))])
    assert med(drowned, factors) < 0.4
    assert med(drowned, factors, top=1) > 0.9


@pytest.mark.parametrize("top", [0, -1, 1.5])
def test_top_is_checked(top):
    with pytest.raises(UsageError, match="top must be a whole number"):
        med(GRID, GRID, top=top)
