from __future__ import annotations

import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from scipy.stats import entropy, spearmanr
from sklearn.metrics import mutual_info_score

from unweave.errors import UsageError
from unweave.report import heat_map, heat_map_figure, normalised_information


def test_normalised_information_is_that_of_scikit_learn():
    rng = np.random.default_rng(0)
    factors = rng.integers(7, size=(500, 3))
    codes = np.column_stack([rng.normal(size=500), factors[:, 1] ** 2 + rng.normal(size=500), factors[:, 2] % 3])
    for row, code in zip(normalised_information(codes, factors, bins=8), codes.T, strict=True):
        binned = np.digitize(code, np.linspace(code.min(), code.max(), 9)[1:-1])
        expected = [mutual_info_score(binned, f) / entropy(np.bincount(f)) for f in factors.T]
        np.testing.assert_allclose(row, expected, atol=1e-12)


def test_a_constant_column_shares_nothing():
    codes = np.column_stack([np.ones(10), np.arange(10)])
    factors = np.column_stack([np.arange(10), np.zeros(10, int)])
    np.testing.assert_allclose(normalised_information(codes, factors), [[0, 0], [1, 0]], atol=1e-12)


def test_a_hue_that_a_latent_encodes_perfectly_is_seen_though_ranks_do_not_see_it():
    rng = np.random.default_rng(0)
    hue = rng.integers(10, size=2000)
    folded = 2 * np.abs(hue - 4.5) + (hue > 4.5)  # down one side of the circle and up the other
    code = folded + rng.normal(scale=0.1, size=2000)
    assert abs(np.asarray(spearmanr(code, hue))[0]) < 0.2
    assert normalised_information(code[:, None], hue[:, None]).item() > 0.9


def test_each_cell_is_as_opaque_as_its_value_in_the_order_given():
    values = np.random.default_rng(1).random((3, 2))
    axes = heat_map(Figure().add_subplot(), values, ["a", "b"], latents=[2, 0])
    drawn = np.full((2, 2), np.nan)
    for patch in axes.patches:
        assert isinstance(patch, Rectangle)
        drawn[int(patch.get_y()), int(patch.get_x())] = patch.get_alpha()
    np.testing.assert_allclose(drawn, values.T[:, [2, 0]])
    assert [label.get_text() for label in axes.get_xticklabels()] == ["z2", "z0"]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["a", "b"]
    numbers = [text.get_text() for text in axes.texts]
    assert numbers == [f"{value:.2f}" for value in drawn.ravel()]


def test_a_name_for_every_factor():
    with pytest.raises(UsageError, match="2 factors and 1 names"):
        heat_map(Figure().add_subplot(), np.ones((1, 2)), ["a"])


def test_the_figure_grows_with_latents_and_names_and_draws_names_as_they_are():
    wide = heat_map_figure(np.ones((30, 2)), [r"$\frac$", "a name of some length"])
    narrow = heat_map_figure(np.ones((3, 2)), ["a", "b"])
    assert wide.get_figwidth() > narrow.get_figwidth() + 10
    wide.draw_without_rendering()
