"""JEMMIG in known worlds, and where it is fooled; test_binned.py has the formula."""

from __future__ import annotations

import math

import numpy as np
import pytest

from unweave.metrics.jemmig import jemmig

from .test_binned import GRID


def test_known_worlds(worlds):
    rng = np.random.default_rng(0)
    assert jemmig(*worlds["perfect"](10_000, rng)) > 0.99
    assert jemmig(*worlds["useless"](10_000, rng)) < 0.02


def test_a_constant_code_says_nothing_beyond_the_factor():
    expected = np.mean([math.log(20) / (math.log(size) + math.log(20)) for size in (4, 5, 6)])
    assert jemmig(np.ones((len(GRID), 2)), GRID) == pytest.approx(expected, abs=1e-12)


def test_it_asks_that_a_code_says_nothing_else():
    """A code that holds a factor of four values and five values of no account: MIG sees no fault in it."""
    code = GRID[:, :1] + GRID[:, 1:2] / 10
    missing = math.log(5) / (math.log(4) + math.log(20))
    assert jemmig(code, GRID[:, :1], bins=20) > 1 - missing - 1e-12
    assert jemmig(code, GRID[:, :1], bins=20) < jemmig(GRID[:, :1], GRID[:, :1], bins=20) == 1.0


def test_of_codes_that_know_most_the_one_of_least_entropy_counts():
    """The order of the two does not matter."""
    wide = GRID[:, :1] + GRID[:, 1:2] / 10
    narrow = GRID[:, :1].astype(float)
    both = [jemmig(np.hstack(pair), GRID[:, :1]) for pair in ([wide, narrow], [narrow, wide])]
    assert both[0] == both[1] == pytest.approx(1 - math.log(4) / (math.log(4) + math.log(20)), abs=1e-12)
