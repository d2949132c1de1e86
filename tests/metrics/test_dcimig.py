"""DCIMIG in known worlds, and where it is fooled; test_binned.py has the formula."""

from __future__ import annotations

import math

import numpy as np
import pytest

from unweave.metrics.dcimig import dcimig

from .test_binned import GRID


def test_known_worlds(worlds):
    rng = np.random.default_rng(0)
    assert dcimig(*worlds["perfect"](10_000, rng)) > 0.99
    assert dcimig(*worlds["useless"](10_000, rng)) < 0.01
    assert dcimig(np.ones((len(GRID), 2)), GRID) == 0.0


def test_duplicates_and_noise_are_no_harm(worlds):
    codes, factors = worlds["perfect"](1000, np.random.default_rng(0))
    more = np.hstack([codes, codes, np.random.default_rng(1).random((1000, 5))])
    assert dcimig(more, factors) == dcimig(codes, factors)


def test_two_factors_in_one_code_are_credited_once():
    """One code holds factors of four and five values wholly: it earns the difference of their entropies."""
    both = GRID[:, :1] + 4 * GRID[:, 1:2]
    expected = (math.log(5) - math.log(4)) / (math.log(5) + math.log(4))
    assert dcimig(both, GRID[:, :2], bins=20) == pytest.approx(expected, abs=1e-12)
