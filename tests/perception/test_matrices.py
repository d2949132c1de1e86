"""Distance matrices at every level of a model."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import unweave
from unweave.data import Table
from unweave.errors import UsageError
from unweave.losses import loss_of
from unweave.perception import Perceived, distance_matrices


@pytest.fixture(scope="module", params=["mse", "bce"])
def run(request, tmp_path_factory):
    return unweave.train(
        "beta-vae",
        data="xysquares:size=32",
        steps=3,
        batch=8,
        net="mlp",
        width=0.02,
        loss=request.param,
        out=tmp_path_factory.mktemp("runs") / request.param,
        progress=False,
    )


def test_without_a_run_there_are_factors_and_data():
    found = distance_matrices("xysquares:size=32,spacing=2", traversals=3)
    assert list(found) == ["x_R", "y_R", "x_G", "y_G", "x_B", "y_B"]
    levels = found["y_G"]
    assert list(levels) == ["factors", "data"]
    steps = np.arange(8)
    assert np.array_equal(levels["factors"], np.abs(steps[:, None] - steps))
    data = unweave.load("xysquares:size=32,spacing=2")
    cells = data.factors.to_index(data.factors.traversal("y_G", [0] * 6))
    pairs = [(a, b) for a in cells for b in cells]
    assert levels["data"] == pytest.approx(Perceived(data).distances(pairs).reshape(8, 8), rel=1e-5)


def test_with_a_run_there_are_codes_and_reconstructions(run):
    found = distance_matrices(None, run=run, traversals=2, factors=["x_R"])["x_R"]
    assert list(found) == ["factors", "data", "latents", "posteriors", "reconstructions"]
    for level in ("data", "latents", "posteriors"):  # what is reconstructed is grey, and bce not symmetric
        assert np.allclose(found[level], found[level].T, rtol=1e-3)
    for matrix in found.values():
        assert matrix.shape == (8, 8)
        assert np.allclose(np.diag(matrix), 0)
        assert (matrix[~np.eye(8, dtype=bool)] > 0).all()


def test_the_levels_are_those_of_the_traversals_that_are_drawn(run):
    found = distance_matrices(run.data, run=run, traversals=1, factors=["x_B"])["x_B"]
    from unweave.metrics.inputs import generator

    base = run.data.sample(1, generator(0, 5))
    cells = run.data.factors.to_index(run.data.factors.traversal("x_B", run.data.values(base)[0]))
    means, log_variances = run.posterior(run.data.images(cells))
    assert found["latents"] == pytest.approx(np.linalg.norm(means[:, None] - means, axis=2), abs=1e-5)
    p, q = (
        torch.distributions.Normal(torch.tensor(means[i]), torch.tensor(log_variances[i] / 2).exp()) for i in (2, 6)
    )
    kl = torch.distributions.kl_divergence
    assert found["posteriors"][2, 6] == pytest.approx(float((kl(p, q) + kl(q, p)).sum() / 2), rel=1e-4)
    loss = loss_of(run.settings.method.loss)
    with torch.inference_mode():
        x = loss.mean(run.model.decode(torch.from_numpy(means)))
        expected = loss.distance(x[[2]], loss.inverse(x[[6]])) - loss.distance(x[[2]], loss.inverse(x[[2]]))
    assert found["reconstructions"][2, 6] == pytest.approx(float(expected) / 3072, rel=1e-2, abs=1e-8)


def test_codes_that_are_points_have_no_posteriors(tmp_path):
    run = unweave.train(
        "ae", data="xysquares:size=32", steps=2, batch=8, net="mlp", width=0.02, out=tmp_path / "ae", progress=False
    )
    assert "posteriors" not in distance_matrices(None, run=run, traversals=1, factors=["x_R"])["x_R"]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: distance_matrices(None), "need data, or a run"),
        (lambda: distance_matrices("xysquares", traversals=0), "traversals must be a whole number from 1 up"),
        (lambda: distance_matrices(np.zeros((4, 8, 8, 1), dtype=np.uint8)), "needs factors, but table has none"),
        (
            lambda: distance_matrices(Table(np.zeros((3, 8, 8, 1), dtype=np.uint8), [[0, 0], [0, 1], [1, 1]])),
            "needs every combination of factors; table is not a full grid",
        ),
    ],
)
def test_mistakes_get_one_line(call, message):
    with pytest.raises(UsageError, match=message):
        call()
