"""A run with categorical latents in the explorer: its sliders, traversals, matrices, and itself beside another."""

from __future__ import annotations

import json

import numpy as np
import pytest

import unweave
from unweave.explorer.answers_compare import comparison
from unweave.explorer.answers_matrix import KINDS, matrix
from unweave.explorer.answers_run import about, all_traversals, traversal, traversal_values
from unweave.explorer.export import _ends
from unweave.explorer.opened import Opened
from unweave.explorer.opening import read_run
from unweave.explorer.sending import plain
from unweave.methods import VQVAE, JointVAE


@pytest.fixture(scope="module")
def opened(tmp_path_factory) -> list[Opened]:
    folder = tmp_path_factory.mktemp("runs")
    found = []
    for method in (JointVAE(categories=4), VQVAE(categories=5)):
        path = folder / type(method).__name__
        unweave.train(
            method,
            data="shapes2d:size=32",
            steps=60,
            batch=16,
            net="mlp",
            width=0.05,
            latents=3,
            out=path,
            progress=False,
        )
        found.append(read_run(path, path.name, 200))
    return found


def test_the_page_of_a_run_says_how_many_categories_each_latent_has(opened):
    for each, expected in zip(opened, ([0, 0, 4], [5, 5, 5]), strict=True):
        found = json.loads(json.dumps(plain(about(each)), allow_nan=False))
        assert [latent["categories"] for latent in found["latents"]] == expected
        assert all(isinstance(latent["kl"], float) for latent in found["latents"])
        assert [_ends(latent) for latent in found["latents"] if latent["categories"]] == [
            (0, count - 1) for count in expected if count
        ]


def test_a_traversal_goes_through_the_categories(opened):
    joint = opened[0]
    assert traversal_values(joint, 2, 9).tolist() == [0, 1, 2, 3]
    assert len(traversal_values(joint, 0, 9)) == 9
    images = traversal(joint, joint.start(), 2, traversal_values(joint, 2, 9))
    between = traversal(joint, joint.start(), 2, np.array([0.3, 1.4, 1.6, 9.0]))
    np.testing.assert_array_equal(between, images[[0, 1, 2, 3]])
    assert len({len(row) for row in all_traversals(joint, joint.start(), 9, range(3))}) == 1


def test_matrices_read_categories_as_names(opened):
    joint = opened[0]
    assert joint.survey is not None
    renamed = joint.survey.codes.copy()
    renamed[:, 2] = np.array([7, 1, 40, 3])[renamed[:, 2].astype(int)]
    for kind in KINDS:
        values = np.array(matrix(joint, kind)["values"])
        assert np.isfinite(values).all()
    other = Opened(joint.name, joint.kind, joint.latents, joint.shape, factors=joint.factors, sizes=joint.sizes)
    other.survey = type(joint.survey)(
        renamed, joint.survey.factors, joint.survey.carried, joint.survey.points, joint.survey.categories
    )
    for kind in ("mi", "correlation"):
        np.testing.assert_allclose(matrix(other, kind)["values"], matrix(joint, kind)["values"], atol=1e-9)


def test_two_runs_are_matched_whatever_their_categories_are_called(opened):
    joint, vectors = opened
    for left, right in ((joint, joint), (joint, vectors), (vectors, vectors)):
        found = comparison(left, right)
        assert all(0 <= pair["agreement"] <= 1 for pair in found["pairs"])
    assert all(pair["agreement"] == pytest.approx(1) for pair in comparison(vectors, vectors)["pairs"])
    assert all(pair["left"] == pair["right"] for pair in comparison(vectors, vectors)["pairs"])
