"""Runs with categorical latents in surveys, traversals, figures and the page."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

import unweave
from unweave.collapse import carried, collapse, used
from unweave.methods import VQVAE, JointVAE
from unweave.report import normalised_information, render
from unweave.report.latents import latent_note, traversal_rows
from unweave.report.surveys import Survey, survey

TINY = {"data": "shapes2d:size=32", "steps": 30, "batch": 16, "net": "mlp", "width": 0.05, "progress": False}


@pytest.fixture(scope="module")
def joint(tmp_path_factory):
    return unweave.train(JointVAE(categories=4), latents=3, out=tmp_path_factory.mktemp("joint") / "run", **TINY)


@pytest.fixture(scope="module")
def vectors(tmp_path_factory):
    return unweave.train(VQVAE(categories=5), latents=3, out=tmp_path_factory.mktemp("vectors") / "run", **TINY)


def test_a_category_carries_the_entropy_of_its_names():
    codes = np.array([[0.5, 7.0, 0], [0.1, 7.0, 1], [0.2, 2.0, 2], [0.3, 9.0, 3]])
    logs = np.where(np.array([False, True, True]), -np.inf, np.zeros((4, 3)))
    found = carried(codes, logs, (0, 10, 4))
    assert found[1:] == pytest.approx([math.log(4) - 0.5 * math.log(2), math.log(4)])
    assert found[0] == pytest.approx(0.5 * (codes[:, 0] ** 2).mean())
    np.testing.assert_allclose(carried(codes, None, (0, 10, 4)), [codes[:, 0].var(), *found[1:]])


def test_a_category_that_never_changes_is_unused_whatever_its_number():
    codes = np.tile([0.0, 6.0], (50, 1))
    carries = carried(codes, None, (0, 8))
    assert not used(carries, True, (0, 8)).any()
    assert "collapsed" in (collapse(codes, carries, True, (0, 8)) or "")
    codes[:25, 1] = 2
    carries = carried(codes, np.array([[-0.001, -np.inf]]).repeat(50, 0), (0, 8))
    assert used(carries, False, (0, 8)).tolist() == [False, True]
    assert collapse(codes, carries, False, (0, 8)) is None


def test_the_survey_of_a_run_knows_its_categories(joint, vectors):
    seen = survey(joint)
    assert seen.categorical == (2,)
    assert (seen.points, seen.unit) == (False, "KL or entropy, nats")
    shares = np.unique(seen.codes[:, 2], return_counts=True)[1] / len(seen.codes)
    assert seen.carried[2] == pytest.approx(-(shares * np.log(shares)).sum())
    assert np.isfinite(seen.carried).all()
    assert survey(vectors).categorical == (0, 1, 2)
    assert survey(vectors).unit == "entropy, nats"


def test_a_traversal_goes_through_the_categories(joint, vectors):
    seen = survey(joint)
    grid = traversal_rows(joint, seen)
    rows = {row.label: row for row in grid.rows}
    assert not grid.header
    assert [len(rows[name].images) for name in ("z0", "z1", "z2")] == [9, 9, 4]
    code = joint.encode(joint.data.images([np.random.default_rng(0).integers(len(joint.data))]))
    for category, image in enumerate(rows["z2"].images):
        code[0, 2] = category
        np.testing.assert_allclose(joint.decode(code)[0].astype(int), image.astype(int), atol=1)  # by rounding
    assert all(len(row.images) == 5 for row in traversal_rows(vectors, survey(vectors)).rows)


def test_what_is_noted_beside_a_latent():
    codes = np.array([[0.0, 0], [1.0, 1], [0.5, 2]])
    seen = Survey(codes, np.zeros((3, 0), np.int64), np.array([0.4, math.log(3)]), False, (0, 3))
    assert latent_note(seen, 1, seen.values(1, 9)) == "1.10 nats\n3 categories"
    assert latent_note(seen, 0, np.array([-2.0, 2.0])) == "0.40 nats\n−2 to 2"
    assert latent_note(replace(seen, carried=np.zeros(2)), 1, seen.values(1, 9)) == "unused"


def test_what_a_category_knows_does_not_depend_on_its_number():
    factors = np.arange(300)[:, None] % 30
    codes = np.random.default_rng(0).permutation(30)[factors].astype(float)
    assert normalised_information(codes, factors, categorical=[0])[0, 0] == pytest.approx(1)
    assert normalised_information(codes, factors)[0, 0] < 0.95


@pytest.mark.filterwarnings("ignore::unweave.scoring.Collapsed")
def test_the_pages_say_what_a_categorical_latent_shows(joint, vectors):
    for run in (joint, vectors):
        run.evaluate(["mig", "mcc"], samples=300, test_samples=100, intervals=False, floors=False)
        assert "goes through its categories" in render(run)
        assert run.traversals().width > 0
        assert run.latents() is not None
