"""Correlations of distances against scipy's on the same pairs, in known worlds, and where they are fooled."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.stats import spearmanr

from unweave.data import Table
from unweave.errors import UsageError
from unweave.metrics.codebook import Codebook
from unweave.metrics.distance_correlation import (
    distance_correlation,
    factor_distance_correlation,
    factor_distance_correlations,
    numbered,
    perceived_correlation,
    rank_correlation,
)
from unweave.metrics.inputs import DRAW, generator
from unweave.metrics.pixel_errors import squared_errors
from unweave.metrics.traversals import draw_traversals

SIZES = (3, 1, 4, 5)
FACTORS = np.stack(np.unravel_index(np.arange(60), SIZES), axis=1)
COUNTS: dict[str, Any] = {"traversals": 40, "pairs": 16}


def world(seed):
    rng = np.random.default_rng(seed)
    return FACTORS @ rng.normal(size=(4, 6)) + 0.5 * rng.normal(size=(60, 6))


def table(seed):
    """Images of several sizes of grey, whose cell the first pixel tells."""
    images = np.random.default_rng(seed).integers(256, size=(60, 3, 3, 1), dtype=np.uint8)
    images[:, 0, 0, 0] = np.arange(60)
    return Table(images, FACTORS)


def codebook(seed):
    codes = world(seed)
    return Codebook(lambda images: codes[images[:, 0, 0, 0]], table(seed))


def spearman(a, b):
    return float(np.asarray(spearmanr(a, b))[0])


def short(value):
    """A distance to sixteen binary digits."""
    mantissa, exponent = math.frexp(value)
    return round(mantissa * 2**16) * 2.0 ** (exponent - 16)


def drawn_distances(codes, images, seed, kept: Any = slice(None)):
    """Distances of factors, codes and images along each factor, pair by pair, on the draws of a seed."""
    rng = generator(seed, DRAW)
    traversals = draw_traversals(SIZES, COUNTS["traversals"], rng)
    for factor, cells in traversals.items():
        pairs = rng.integers(SIZES[factor], size=(COUNTS["traversals"], COUNTS["pairs"], 2))
        ground, latent, pixels = [], [], []
        for of_traversal, places in zip(cells[kept], pairs[kept], strict=True):
            for one, other in of_traversal[places]:
                ground.append(sum(abs(FACTORS[one] - FACTORS[other])))
                latent.append(short(sum(abs(codes[one] - codes[other]))))
                pixels.append(np.mean((images[one].astype(float) - images[other].astype(float)) ** 2))
        yield factor, ground, latent, pixels


def referee(codes, images, seed, against, kept: Any = slice(None)):
    found = []
    for _, ground, latent, pixels in drawn_distances(codes, images, seed, kept):
        found.append(max(0.0, spearman({"factors": ground, "images": pixels}[against], latent)))
    return np.prod(found) ** (1 / len(found))


@pytest.mark.parametrize("seed", range(3))
def test_along_factors_it_is_the_formula(seed):
    book, images = codebook(seed), table(seed).images(np.arange(60))
    ours = factor_distance_correlation(book, **COUNTS, seed=seed)
    assert ours == pytest.approx(referee(world(seed), images, seed, "factors"), abs=1e-10)
    ours = perceived_correlation(book, **COUNTS, seed=seed)
    assert ours == pytest.approx(referee(world(seed), images, seed, "images"), abs=1e-10)


def test_single_factors_are_not_cut_at_nought():
    codes = world(0)
    codes[:, :] = np.where(FACTORS[:, [3]] == 4, -0.01, FACTORS[:, [3]])  # the ends of factor 3 meet
    codes[:, 0] += 100 * FACTORS[:, 0] + 10 * FACTORS[:, 2]
    ours = factor_distance_correlations(Codebook.of_grid(codes, SIZES), **COUNTS)
    images = np.zeros((60, 1))
    theirs = {f"factor{k}": spearman(a, b) for k, a, b, _ in drawn_distances(codes, images, 0)}
    assert ours == pytest.approx(theirs, abs=1e-10)
    assert list(ours) == ["factor0", "factor2", "factor3"]


def test_globally_it_is_the_formula(worlds):
    for seed in range(3):
        codes, factors = worlds["noisy"](200, np.random.default_rng(seed))
        pairs = generator(seed, DRAW).integers(200, size=(1000, 2))
        apart = [(abs(factors[i] - factors[j]).sum(), short(abs(codes[i] - codes[j]).sum())) for i, j in pairs]
        ours = distance_correlation(codes, factors, pairs=1000, seed=seed)
        assert ours == pytest.approx(spearman(*np.transpose(apart)), abs=1e-10)


def test_ranks_with_ties_are_those_of_scipy():
    rng = np.random.default_rng(0)
    for values in (3, 20, 10**6):
        a, b = rng.integers(values, size=(2, 500))
        a[:200] = b[:200]
        assert rank_correlation(numbered(a), numbered(b)) == pytest.approx(spearman(a, b), abs=1e-12)
    assert rank_correlation(numbered(a), numbered(a)) == 1.0
    assert rank_correlation(numbered(a), numbered(-a)) == -1.0
    assert rank_correlation(numbered(a), numbered(0 * a)) == 0.0


def test_known_worlds(worlds):
    rng = np.random.default_rng(0)
    factors, codes = FACTORS[rng.integers(60, size=5000)], FACTORS.astype(float)
    assert distance_correlation(3.0 * factors, factors) == 1.0
    assert abs(distance_correlation(*worlds["useless"](5000, rng))) < 0.05
    assert distance_correlation(np.ones((50, 2)), np.arange(50)[:, None]) == 0.0
    assert factor_distance_correlation(Codebook.of_grid(codes, SIZES)) == 1.0
    assert factor_distance_correlation(Codebook.of_grid(np.hstack([codes] * 2), SIZES)) == 1.0
    assert factor_distance_correlation(Codebook.of_grid(np.ones((60, 2)), SIZES)) == 0.0
    assert factor_distance_correlation(Codebook.of_grid(codes[:, :3], SIZES)) == 0.0  # one factor is unknown


def test_codes_that_are_the_image_follow_it_perfectly():
    images = np.arange(60, dtype=np.uint8).reshape(60, 1, 1, 1) * 4
    book = Codebook(lambda images: images[:, 0, 0] / 7.0, Table(images, FACTORS))
    assert perceived_correlation(book, traversals=50) == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_rounding_breaks_no_ties(kind):
    """Even steps that no binary fraction holds are as far apart as the factor's values."""
    steps = np.linspace(-1, 1, 12, dtype=kind)[:, None]
    assert factor_distance_correlation(Codebook.of_grid(steps, (12,))) == 1.0
    rows = np.arange(120) % 12
    assert distance_correlation(steps[rows], rows[:, None]) == 1.0


def test_a_circle_is_known_from_all_its_pairs():
    angle = np.arange(40) * np.pi / 20
    circle = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    apart = np.abs(circle[:, None] - circle).sum(axis=2)
    steps = np.abs(np.arange(40)[:, None] - np.arange(40))
    expected = spearman(steps.ravel(), apart.ravel())
    assert factor_distance_correlation(Codebook.of_grid(circle, (40,))) == pytest.approx(expected, abs=0.01)


def test_pairs_of_a_cell_with_itself_flatter_factors_of_few_values():
    noise = Codebook.of_grid(np.random.default_rng(0).normal(size=(3**6, 5)), (3,) * 6)
    assert factor_distance_correlation(noise) > 0.6


def test_subsets_of_traversals_score_as_they_do():
    book, images = codebook(1), table(1).images(np.arange(60))
    subset = np.random.default_rng(0).random(40) < 0.5
    for sample, against in ((factor_distance_correlation.sample, "factors"), (perceived_correlation.sample, "images")):
        again = sample(book, **COUNTS).rescore(subset[None])
        np.testing.assert_allclose(again, [referee(world(1), images, 0, against, subset)], atol=1e-10)


def test_subsets_of_rows_keep_the_pairs_within_them(worlds):
    codes, factors = worlds["noisy"](200, np.random.default_rng(0))
    subset = np.random.default_rng(0).random(200) < 0.5
    pairs = [(i, j) for i, j in generator(0, DRAW).integers(200, size=(1000, 2)) if subset[i] and subset[j]]
    apart = [(abs(factors[i] - factors[j]).sum(), short(abs(codes[i] - codes[j]).sum())) for i, j in pairs]
    again = distance_correlation.sample(codes, factors, pairs=1000).rescore(subset[None])
    np.testing.assert_allclose(again, [spearman(*np.transpose(apart))], atol=1e-10)


def test_chunks_change_nothing(monkeypatch):
    codes, before = world(0), [f(codebook(0), **COUNTS) for f in (factor_distance_correlation, perceived_correlation)]
    whole = distance_correlation(codes, FACTORS)
    monkeypatch.setattr("unweave.metrics.traversals.NUMBERS", 100)
    assert [f(codebook(0), **COUNTS) for f in (factor_distance_correlation, perceived_correlation)] == before
    assert distance_correlation(codes, FACTORS) == whole


def test_mistakes_are_answered():
    book = Codebook.of_grid(world(0), SIZES)
    with pytest.raises(UsageError, match="made from codes alone"):
        perceived_correlation(book)
    with pytest.raises(UsageError, match="traversals must be a whole number from 1 up"):
        factor_distance_correlation(book, traversals=0)
    with pytest.raises(UsageError, match="pairs must be a whole number from 2 up"):
        factor_distance_correlation(book, pairs=1)
    with pytest.raises(UsageError, match="pairs must be a whole number from 2 up"):
        distance_correlation(world(0), FACTORS, pairs=0)


def test_squared_errors_of_images_are_exact():
    """Black and white images have the largest sums; 0 only if equal; more pixels than are summed in 32 bits."""
    rng = np.random.default_rng(0)
    images = (255 * rng.integers(2, size=(2, 4, 50_001))).astype(np.uint8)
    images[:, 3] = images[:, 0]
    images[1, 1], images[1, 2] = 0, 255
    pairs = np.array([[[a, b] for a in range(4) for b in range(4)]] * 2)
    errors = np.zeros((2, 16), dtype=np.int64)
    squared_errors(images, pairs, errors)
    whole = images.astype(np.int64)
    expected = ((whole[:, :, None] - whole[:, None]) ** 2).sum(axis=3)
    np.testing.assert_array_equal(errors.reshape(2, 4, 4), expected)
    assert errors[1, 6] == 50_001 * 255**2
