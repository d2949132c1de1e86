"""Linearity, alignment and orientation against a loop over traversals, and lines, turned lines and circles."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.decomposition import PCA

from unweave.errors import UsageError
from unweave.metrics.codebook import Codebook
from unweave.metrics.inputs import DRAW, generator
from unweave.metrics.linearity import (
    axis_alignment,
    axis_orientation,
    linearity,
)
from unweave.metrics.traversals import draw_traversals

SIZES = (3, 1, 4, 15)
FACTORS = np.stack(np.unravel_index(np.arange(180), SIZES), axis=1)


def world(seed, width=6):
    rng = np.random.default_rng(seed)
    return 0.3 * FACTORS @ rng.normal(size=(4, width)) + 0.3 * rng.normal(size=(180, width))


def referee(codes, seed, count, kept: Any = slice(None)):
    """Linearity and alignment, traversal by traversal, with scikit-learn's principal components."""
    width, linear, axis = codes.shape[1], [], []
    for cells in draw_traversals(SIZES, count, generator(seed, DRAW)).values():
        of_factor = []
        for traversal in cells[kept]:
            explained = PCA().fit(codes[traversal]).explained_variance_
            variances = codes[traversal].var(axis=0, ddof=1)
            of_factor.append((explained.max() / explained.sum(), variances.max() / variances.sum()))
        means = [(share - 1 / width) / (1 - 1 / width) for share in np.mean(of_factor, axis=0)]
        linear.append(means[0])
        axis.append(means[1])
    return np.prod(linear) ** (1 / len(linear)), np.prod(axis) ** (1 / len(axis))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("width", [2, 6, 20])
def test_it_is_the_formula(seed, width):
    book = Codebook.of_grid(world(seed, width), SIZES)
    linear, axis = referee(world(seed, width), seed, 30)
    assert linearity(book, traversals=30, seed=seed) == pytest.approx(linear, abs=1e-9)
    assert axis_alignment(book, traversals=30, seed=seed) == pytest.approx(axis, abs=1e-9)
    assert axis_orientation(book, traversals=30, seed=seed) == pytest.approx(axis / linear, abs=1e-9)


def scores(codes, sizes, **options):
    book = Codebook.of_grid(codes, sizes)
    return [function(book, **options) for function in (linearity, axis_alignment, axis_orientation)]


def test_lines_along_axes_are_perfect():
    assert scores(FACTORS * [1.0, 1.0, -2.0, 0.1] + 1000, SIZES, traversals=1000) == pytest.approx([1, 1, 1], abs=1e-9)


@pytest.mark.parametrize("degrees", [0, 10, 30, 45, 75])
def test_a_turn_changes_the_alignment_alone(degrees):
    """Two codes: the larger of cos² and sin², brought to [0, 1], is |cos 2θ|."""
    grid = np.stack(np.unravel_index(np.arange(35), (5, 7)), axis=1).astype(float)
    cos, sin = np.cos(np.deg2rad(degrees)), np.sin(np.deg2rad(degrees))
    aligned = abs(np.cos(np.deg2rad(2 * degrees)))
    found = scores(grid @ [[cos, sin], [-sin, cos]], (5, 7), traversals=50)
    assert found == pytest.approx([1, aligned, aligned], abs=1e-9)


def test_a_line_through_all_axes_is_not_aligned():
    diagonal = np.arange(9.0)[:, None] * np.ones(4)
    assert scores(diagonal, (9,)) == pytest.approx([1, 0, 0], abs=1e-12)


@pytest.mark.parametrize("width", [2, 5])
def test_a_circle_has_two_equal_variances(width):
    angle = np.arange(40) * np.pi / 20
    circle = np.zeros((40, width))
    circle[:, :2] = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    expected = (1 / 2 - 1 / width) / (1 - 1 / width)
    found = scores(circle, (40,))
    assert found[:2] == pytest.approx([expected, expected], abs=1e-9)


def test_codes_that_do_not_change_score_nothing():
    assert scores(np.full((180, 3), 0.1), SIZES) == [0, 0, 0]
    assert scores(np.full((180, 1), 0.1), SIZES) == [0, 0, 0]
    unknown = FACTORS[:, [0, 2]].astype(float)  # factor 3 changes nothing
    assert scores(unknown, SIZES) == [0, 0, 0]


def test_a_single_code_that_changes_is_a_line_along_its_axis():
    assert scores((FACTORS @ [1, 10, 100, 1000])[:, None], SIZES) == [1, 1, 1]


def test_more_than_one_image_of_a_value_is_no_matter_of_scale():
    codes = world(0)
    assert scores(codes * 1e-6, SIZES) == pytest.approx(scores(codes, SIZES), abs=1e-9)


def test_subsets_of_traversals_score_as_they_do():
    book = Codebook.of_grid(world(1), SIZES)
    subset = np.random.default_rng(0).random(40) < 0.5
    linear, axis = referee(world(1), 0, 40, subset)
    samples = (linearity.sample, axis_alignment.sample, axis_orientation.sample)
    for sample, expected in zip(samples, (linear, axis, axis / linear), strict=True):
        np.testing.assert_allclose(sample(book, traversals=40).rescore(subset[None]), [expected], atol=1e-9)


def test_chunks_change_nothing(monkeypatch):
    whole = scores(world(0), SIZES, traversals=50)
    monkeypatch.setattr("unweave.metrics.traversals.NUMBERS", 100)
    assert scores(world(0), SIZES, traversals=50) == pytest.approx(whole, abs=1e-12)


def test_counts_are_checked():
    with pytest.raises(UsageError, match="traversals must be a whole number from 1 up"):
        linearity(Codebook.of_grid(world(0), SIZES), traversals=0)
