"""MIG-sup in known worlds, and where it is fooled; test_binned.py has the formula."""

from __future__ import annotations

import numpy as np
import pytest

from unweave.metrics.mig_sup import mig_sup

from .test_binned import GRID


def test_known_worlds(worlds):
    rng = np.random.default_rng(0)
    assert mig_sup(*worlds["perfect"](10_000, rng)) > 0.99
    assert mig_sup(*worlds["useless"](10_000, rng)) < 0.01


def test_constant_codes_are_left_out_and_noise_is_not():
    constant, noise = np.ones((len(GRID), 3)), np.random.default_rng(0).random((len(GRID), 3))
    assert mig_sup(np.hstack([GRID, constant]), GRID) == mig_sup(GRID, GRID)
    assert mig_sup(np.hstack([GRID, noise]), GRID) < 0.7
    assert mig_sup(constant, GRID) == 0.0


def test_a_code_of_two_factors_has_no_gap():
    """One code holds two factors of four values each: both wholly."""
    factors = GRID[:, [0, 0]] * [1, 0] + np.arange(len(GRID))[:, None] % 4 * [0, 1]
    both = factors @ [4, 1]
    assert mig_sup(both[:, None], factors, bins=16) == pytest.approx(0.0, abs=1e-12)
