from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from unweave.report import collapse, survey
from unweave.report.surveys import Survey


def test_the_kl_of_a_survey_of_the_whole_set_has_its_closed_form(run):
    seen = survey(run, samples=10_000)
    assert len(seen.codes) == len(run.data)  # every image once
    assert len(np.unique(run.data.factors.to_index(seen.factors))) == len(run.data)
    expected = np.zeros(run.latents)
    for place, deviation, size in zip(run.places, run.deviations, run.data.factors.sizes, strict=True):
        values = np.linspace(-2, 2, size)  # each value equally often
        expected[place] = 0.5 * ((values**2).mean() + deviation**2 - 2 * np.log(deviation) - 1)
    assert not seen.points
    np.testing.assert_allclose(seen.carried, expected, rtol=2e-3, atol=1e-6)


def test_codes_and_factors_of_a_survey_belong_together(run):
    seen = survey(run, samples=50, seed=4)
    images = run.data.images(run.data.factors.to_index(seen.factors))
    np.testing.assert_allclose(seen.codes, run.posterior(images)[0], rtol=1e-6)
    assert seen.codes.shape == (50, run.latents)


def test_the_survey_does_not_depend_on_how_it_is_cut(run, monkeypatch: pytest.MonkeyPatch):
    whole = survey(run, samples=100)
    monkeypatch.setattr("unweave.report.surveys.CHUNK", 7)
    parts = survey(run, samples=100)
    np.testing.assert_array_equal(whole.codes, parts.codes)
    np.testing.assert_array_equal(whole.factors, parts.factors)
    np.testing.assert_allclose(whole.carried, parts.carried)


def test_the_latents_in_use_are_those_of_at_least_a_hundredth_of_a_nat():
    kl = np.array([0.0, 0.01, 3.0, 0.0099, np.nan, 1.0])
    seen = Survey(np.zeros((1, 6)), np.zeros((1, 1), np.int64), kl)
    assert seen.used.tolist() == [2, 5, 1]
    assert seen.order.tolist() == [2, 5, 1, 3, 0, 4]


def test_points_are_ordered_by_the_variance_of_their_codes(run):
    codes = np.random.default_rng(0).normal(scale=[1.0, 0.0, 3.0, 1e-4], size=(100, 4))
    seen = Survey(codes, np.zeros((100, 1), np.int64), codes.var(axis=0), points=True)
    np.testing.assert_array_equal(seen.carried, codes.var(axis=0))
    assert seen.order.tolist() == [2, 0, 3, 1]
    assert seen.used.tolist() == [2, 0]
    assert survey(replace(run, point=True)).points


def test_the_values_of_a_point_are_those_it_takes_or_its_quantiles():
    rng = np.random.default_rng(0)
    levels = np.array([-0.7, 0.1, 0.4])
    codes = np.column_stack([rng.normal(size=1000), rng.choice(levels, size=1000)])
    seen = Survey(codes, np.zeros((1000, 1), np.int64), codes.var(axis=0), points=True)
    assert seen.values(1, columns=9).tolist() == levels.tolist()
    values = seen.values(0, columns=9)
    np.testing.assert_allclose(values[[0, -1]], np.quantile(codes[:, 0], [0.01, 0.99]))
    np.testing.assert_allclose(np.diff(values), np.diff(values)[0])
    assert len(values) == 9


def test_a_collapsed_model_is_said_so_with_what_to_try(run):
    assert collapse(survey(run)) is None
    assert collapse(survey(replace(run, point=True))) is None
    gaussian, point = (collapse(survey(replace(run, collapsed=True, point=point))) for point in (False, True))
    assert gaussian is not None
    assert "collapsed" in gaussian
    assert "beta" in gaussian
    assert point is not None
    assert "collapsed" in point
    assert "beta" not in point
