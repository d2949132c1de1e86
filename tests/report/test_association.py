from __future__ import annotations

import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from scipy.stats import spearmanr

from unweave.errors import UsageError
from unweave.report import association, association_figure, rank_correlation


def test_rank_correlation_agrees_with_scipy_with_and_without_ties():
    rng = np.random.default_rng(0)
    factors = rng.integers(4, size=(200, 3))
    codes = np.column_stack([rng.normal(size=(200, 2)), factors[:, 1] ** 3, rng.integers(3, size=200)])
    expected = [[np.asarray(spearmanr(code, factor))[0] for factor in factors.T] for code in codes.T]
    np.testing.assert_allclose(rank_correlation(codes, factors), expected, atol=1e-12)


def test_a_constant_column_correlates_with_nothing():
    codes = np.column_stack([np.ones(10), np.arange(10)])
    factors = np.column_stack([np.arange(10), np.zeros(10, int)])
    np.testing.assert_allclose(rank_correlation(codes, factors), [[0, 0], [1, 0]], atol=1e-12)


def test_each_cell_is_as_opaque_as_its_correlation_in_the_order_given():
    rng = np.random.default_rng(1)
    codes, factors = rng.normal(size=(50, 3)), rng.integers(5, size=(50, 2))
    axes = association(Figure().add_subplot(), codes, factors, ["a", "b"], latents=[2, 0])
    drawn = np.full((2, 2), np.nan)
    for patch in axes.patches:
        assert isinstance(patch, Rectangle)
        drawn[int(patch.get_y()), int(patch.get_x())] = patch.get_alpha()
    np.testing.assert_allclose(drawn, np.abs(rank_correlation(codes, factors)).T[:, [2, 0]])
    assert [label.get_text() for label in axes.get_xticklabels()] == ["z2", "z0"]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["a", "b"]
    numbers = [text.get_text() for text in axes.texts]
    assert numbers == [f"{value:.2f}" for value in drawn.ravel()]


def test_a_name_for_every_factor():
    with pytest.raises(UsageError, match="2 factors and 1 names"):
        association(Figure().add_subplot(), np.ones((4, 1)), np.ones((4, 2), int), ["a"])


def test_the_figure_grows_with_latents_and_names_and_draws_names_as_they_are():
    rng = np.random.default_rng(1)
    codes, factors = rng.normal(size=(50, 30)), rng.integers(5, size=(50, 2))
    wide = association_figure(codes, factors, [r"$\frac$", "a name of some length"])
    narrow = association_figure(codes[:, :3], factors, ["a", "b"])
    assert wide.get_figwidth() > narrow.get_figwidth() + 10
    wide.draw_without_rendering()
