"""Modularity in known worlds, and where it is fooled; test_binned.py has the formula."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from unweave.metrics.modularity import modularity

from .test_binned import GRID


def test_known_worlds(worlds):
    rng = np.random.default_rng(0)
    assert modularity(*worlds["perfect"](10_000, rng)) > 0.99
    assert modularity(np.ones((len(GRID), 2)), GRID) == 0.0


def test_constant_codes_count_0():
    half = np.hstack([GRID, np.ones((len(GRID), 3))])
    assert modularity(half, GRID) == pytest.approx(0.5, abs=1e-12)


def test_noise_fools_it(worlds):
    """How little a code knows does not count, and the plug-in estimate gives it more of factors with more values."""
    assert modularity(*worlds["useless"](10_000, np.random.default_rng(0))) > 0.3


def test_a_code_of_two_equal_factors_scores_0():
    factors = np.array(list(itertools.product(range(4), range(4))))
    assert modularity(factors @ [[4.0], [1.0]], factors, bins=16) == pytest.approx(0.0, abs=1e-12)
