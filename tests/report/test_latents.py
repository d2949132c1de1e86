from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from unweave.report import reconstructions, survey, traversals
from unweave.report.grids import GAP, MARGIN
from unweave.report.latents import Survey, reconstruction_rows, traversal_rows


def test_the_kl_of_a_survey_of_the_whole_set_has_its_closed_form(run):
    seen = survey(run, samples=10_000)
    assert len(seen.codes) == len(run.data)  # every image once
    assert len(np.unique(run.data.factors.to_index(seen.factors))) == len(run.data)
    expected = np.zeros(run.latents)
    for place, deviation, size in zip(run.places, run.deviations, run.data.factors.sizes, strict=True):
        values = np.linspace(-2, 2, size)  # each value equally often
        expected[place] = 0.5 * ((values**2).mean() + deviation**2 - 2 * np.log(deviation) - 1)
    np.testing.assert_allclose(seen.kl, expected, rtol=2e-3, atol=1e-6)


def test_codes_and_factors_of_a_survey_belong_together(run):
    seen = survey(run, samples=50, seed=4)
    images = run.data.images(run.data.factors.to_index(seen.factors))
    np.testing.assert_allclose(seen.codes, run.posterior(images)[0], rtol=1e-6)
    assert seen.codes.shape == (50, run.latents)


def test_the_survey_does_not_depend_on_how_it_is_cut(run, monkeypatch: pytest.MonkeyPatch):
    whole = survey(run, samples=100)
    monkeypatch.setattr("unweave.report.latents.CHUNK", 7)
    parts = survey(run, samples=100)
    np.testing.assert_array_equal(whole.codes, parts.codes)
    np.testing.assert_array_equal(whole.factors, parts.factors)
    np.testing.assert_allclose(whole.kl, parts.kl)


def test_traversal_rows_are_ordered_by_kl_and_name_the_unused(run):
    grid = traversal_rows(run, survey(run))
    assert [row.label for row in grid.rows] == ["z3", "z1", "z4", "z0", "z2", "z5"]
    assert [row.muted for row in grid.rows] == [False] * 3 + [True] * 3
    assert [row.note for row in grid.rows][3:] == ["unused"] * 3
    assert grid.rows[0].note == f"{survey(run).kl[3]:.2f} nats"
    assert grid.header == ["−2", "−1.5", "−1", "−0.5", "0", "0.5", "1", "1.5", "2"]


def test_the_latents_in_use_are_those_of_at_least_a_hundredth_of_a_nat():
    kl = np.array([0.0, 0.01, 3.0, 0.0099, np.nan, 1.0])
    seen = Survey(np.zeros((1, 6)), np.zeros((1, 1), np.int64), kl)
    assert seen.used.tolist() == [2, 5, 1]
    assert seen.order.tolist() == [2, 5, 1, 3, 0, 4]


def test_a_traversal_changes_one_latent_of_one_image(run):
    seed = 11
    grid = traversal_rows(run, survey(run), columns=5, seed=seed)
    index = np.random.default_rng(seed).integers(len(run.data), size=1)
    base = run.data.factors.from_index(index)[0] / (np.array(run.data.factors.sizes) - 1)
    for axis, row in enumerate(grid.rows[:3]):
        places = np.tile(base, (5, 1))
        places[:, axis] = np.linspace(0, 1, 5)
        error = np.abs(row.images.astype(int) - run.data.render(places))
        assert error.max() <= 8  # the encoder reads the place off rounded pixels
    for row in grid.rows[3:]:
        assert (row.images == row.images[0]).all()


def test_the_picture_of_the_traversals_shows_as_many_rows_as_asked(run):
    tall, short = traversals(run), traversals(run, rows=2)
    assert tall.height - short.height == 4 * (128 + GAP)
    assert tall.width == short.width
    pixels = np.asarray(short)
    first = traversal_rows(run, survey(run)).rows[0].images
    left = short.width - MARGIN - (9 * (128 + GAP) - GAP)
    top = short.height - MARGIN - (2 * (128 + GAP) - GAP)
    np.testing.assert_array_equal(pixels[top : top + 128 : 2, left : left + 128 : 2], first[0])


def test_reconstructions_stand_below_their_images(run):
    inverted = replace(run, places=(1, 3, 4))  # decodes x as y: what is below must differ from above
    rows = reconstruction_rows(inverted, n=4, seed=2).rows
    assert [row.label for row in rows] == ["image", "reconstruction"]
    np.testing.assert_array_equal(rows[1].images, inverted.reconstruct(rows[0].images))
    drawn = np.random.default_rng(2).integers(len(run.data), size=4)
    np.testing.assert_array_equal(rows[0].images, run.data.images(drawn))
    assert reconstructions(run, n=4).height == 2 * 128 + GAP + 2 * MARGIN
