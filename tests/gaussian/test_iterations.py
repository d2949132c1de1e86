"""Blahut-Arimoto against the equations as printed, probabilistic PCA, gradients, and its own tolerance."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from unweave.errors import UsageError
from unweave.gaussian import SCENARIOS, World, blahut_arimoto, descend, loss
from unweave.gaussian.iterations import CEILING, NOISES, STATES, positive_definite

GRID = np.meshgrid([0.9, 0.98, 1.0, 1.02, 1.1], [-0.02, 0.0, 0.02], indexing="ij")


@pytest.fixture(autouse=True)
def no_warnings():
    with np.errstate(all="raise", under="ignore"):  # numpy itself says nothing of underflow
        yield


def as_printed(world, gamma, lam, steps, seed):
    """Equations 9 and 10, inverse by inverse, from the same start."""
    a = np.random.default_rng(seed).normal(size=(world.n, world.m)) * np.sqrt(np.trace(world.sigma_y) / world.n)
    z = world.noise * np.eye(world.n)
    inv, y = np.linalg.inv, world.sigma_y
    b = w = np.empty(0)
    for _ in range(steps):
        weighed = a.T @ (gamma * inv(z) + 2 * lam * np.eye(world.n))
        w = inv(np.eye(world.m) + weighed @ a)
        b = w @ weighed
        z = inv(inv(y) + b.T @ inv(w) @ b)
        a = z @ b.T @ inv(w)
    return b, w, a, z


@pytest.mark.parametrize(("gamma", "lam"), [(1.0, 0.0), (0.98, 0.02), (1.02, -0.01)])
def test_iterations_are_those_printed(gamma, lam):
    world = SCENARIOS["5-in-3"].world(noise=0.1)
    found = blahut_arimoto(world, gamma, lam, seeds=3, tolerance=1, steps=20)
    assert found.steps == [20]
    for ours, printed in zip((*found.encoder, *found.decoder), as_printed(world, gamma, lam, 20, 3), strict=True):
        np.testing.assert_allclose(ours[0], printed, atol=1e-9)


@pytest.mark.parametrize("noise", NOISES)
def test_no_iteration_raises_the_loss(noise):
    world = SCENARIOS["3-in-2"].world(noise=0.1)
    gamma, lam = (axis.ravel() for axis in GRID)
    before = np.inf
    for steps in range(1, 30):
        found = blahut_arimoto(world, gamma, lam, seeds=5, noise=noise, tolerance=1, steps=steps)
        now = loss(found.encoder, found.decoder, world.sigma_y, gamma=gamma, lam=lam)
        assert (now <= before + 1e-10).all()
        before = now


def test_white_noise_gives_probabilistic_pca():
    rng = np.random.default_rng(0)
    root = rng.normal(size=(6, 6))
    world = World(root @ root.T + np.eye(6), n=6, m=3, noise=0.5)
    found = blahut_arimoto(world, 1.0, 0.0, seeds=range(3), noise="isotropic", tolerance=1, steps=20_000)
    assert set(found.state) == {"converged"}
    values, axes = np.linalg.eigh(world.sigma_y)
    rest = values[:3].mean()
    signal = (axes[:, 3:] * (values[3:] - rest)) @ axes[:, 3:].T
    for a, z in zip(*found.decoder, strict=True):
        np.testing.assert_allclose(z, rest * np.eye(6), atol=1e-6)
        np.testing.assert_allclose(a @ a.T, signal, atol=1e-5)
    # The loss is then the negative log-likelihood of the model: the bound is tight.
    model = signal + rest * np.eye(6)
    expected = 0.5 * (np.log(np.linalg.det(2 * np.pi * model)) + np.trace(np.linalg.solve(model, world.sigma_y)))
    np.testing.assert_allclose(loss(found.encoder, found.decoder, world.sigma_y), expected, rtol=1e-9)


@pytest.mark.parametrize(
    ("noise", "gamma", "lam"), [("diagonal", 1.0, 0.0), ("diagonal", 0.9, 0.05), ("full", 0.9, 0.05)]
)
def test_gradients_find_the_same_loss(noise, gamma, lam):
    world = SCENARIOS["3-in-1"].world(noise=0.1)
    found = blahut_arimoto(world, gamma, lam, seeds=range(3), noise=noise, tolerance=1, steps=5000)
    ours = loss(found.encoder, found.decoder, world.sigma_y, gamma=gamma, lam=lam).min()
    encoder, decoder, theirs = descend(world, gamma=gamma, lam=lam, diagonal=noise == "diagonal")
    assert theirs == pytest.approx(ours, abs=1e-6)
    assert loss(encoder, decoder, world.sigma_y, gamma=gamma, lam=lam) == pytest.approx(theirs, abs=1e-9)


def test_full_noise_without_lambda_only_scales():
    """S_W^-1 B is gamma^t times what it was: without lambda the subspace that codes see is that of the start."""
    world = SCENARIOS["3-in-3"].world(noise=0.1)

    def seen(steps):
        b, w = blahut_arimoto(world, 0.97, 0.0, seeds=0, tolerance=1, steps=steps).encoder
        return np.linalg.solve(w[0], b[0])

    np.testing.assert_allclose(seen(31), 0.97**30 * seen(1), rtol=1e-9)


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("start", ["random", "principal"])
@pytest.mark.parametrize("name", SCENARIOS)
def test_every_cell_ends_sound(name, start, noise):
    world = SCENARIOS[name].world()
    gamma, lam = (axis.ravel() for axis in GRID)
    found = blahut_arimoto(world, gamma, lam, seeds=np.arange(len(gamma)), noise=noise, start=start, steps=500)
    for array in (*found.encoder, *found.decoder, found.error):
        assert np.isfinite(array).all()
    spectrum = np.linalg.eigvalsh(world.sigma_y)
    ceiling = CEILING * (1.1 * spectrum[-1] / spectrum[0] + 0.04 * spectrum[-1])
    assert (np.linalg.eigvalsh(found.encoder.noise) > 0.1 / ceiling / world.m).all()
    assert (np.linalg.eigvalsh(found.decoder.noise) > 0).all()
    assert set(found.state) <= set(STATES)
    inside = found.error <= 0.05
    assert (inside == (found.state != "outside")).all()
    missed = world.sigma_y - found.decoder.weights @ found.encoder.weights @ world.sigma_y
    np.testing.assert_allclose(found.error, np.trace(missed, axis1=1, axis2=2) / np.trace(world.sigma_y), atol=1e-9)


def test_how_a_cell_ends_is_said():
    world = SCENARIOS["3-in-3"].world()
    found = blahut_arimoto(world, [0.98, 1.02, 1.0, 1.0], [0, 0, 0, 0.02], start="principal", steps=800)
    assert found.state.tolist() == ["stopped", "diverged", "converged", "unfinished"]
    assert 0.045 < found.error[0] <= 0.05  # the last step before the tolerance
    after = blahut_arimoto(world, 0.98, 0, start="principal", tolerance=1, steps=found.steps[0] + 1)
    assert after.error[0] > 0.05
    hopeless = blahut_arimoto(world, 0.98, 0, start="principal", tolerance=0.001)
    assert hopeless.state.tolist() == ["outside"]


@pytest.mark.parametrize("noise", [1e-2, 1e-4, 1e-6])
@pytest.mark.parametrize("start", ["random", "principal", "encoder"])
def test_a_start_is_no_divergence(start, noise):
    """Random weights over a small noise once exceeded a fixed ceiling at the first step."""
    world = SCENARIOS["3-in-2"].world(noise=noise)
    found = blahut_arimoto(world, 1.0, 0.0, seeds=range(5), start=start, steps=300)
    assert "diverged" not in found.state


@pytest.mark.parametrize(("gamma", "lam"), [(0.9, 0.0), (0.9, 0.2), (1.0, 0.0), (0.95, -0.1)])
def test_codes_at_rest_have_the_covariance_of_the_prior(gamma, lam):
    """B A = I - S_W by eq. 9 and I - S_W Cov(X)^-1 by eq. 10, so that Cov(X) = I whatever gamma and lambda are."""
    world = SCENARIOS["3-in-1"].world(noise=0.3)
    found = blahut_arimoto(world, gamma, lam, noise="diagonal", start="encoder", stop="rest", steps=20_000)
    np.testing.assert_allclose(world.seen_by(found.encoder)[0][0], np.eye(3), atol=1e-5)


@pytest.mark.parametrize("unit", [1e-3, 1e3])
@pytest.mark.parametrize("stop", ["tolerance", "rest"])
@pytest.mark.parametrize("start", ["random", "principal", "encoder"])
def test_units_do_not_matter(start, stop, unit):
    sigma_v = SCENARIOS["5-in-2"].sigma_v()
    gamma, lam = (axis.ravel() for axis in GRID)
    one, other = (
        blahut_arimoto(
            World(u * u * sigma_v, n=5, m=4, noise=u * u * 0.01),
            gamma,
            lam / (u * u),
            seeds=range(15),
            noise="diagonal",
            start=start,
            stop=stop,
            steps=150,
        )
        for u in (1.0, unit)
    )
    assert one.state.tolist() == other.state.tolist()
    np.testing.assert_allclose(one.error, other.error, atol=1e-6)
    np.testing.assert_allclose(one.misfit, other.misfit, atol=1e-6)


def test_an_encoder_start_is_the_one_that_scikit_learn_draws():
    from sklearn.datasets import make_spd_matrix

    draws = np.random.RandomState(7)
    ours = positive_definite(draws.uniform(size=(4, 4)), draws.uniform(size=4))
    np.testing.assert_allclose(ours, make_spd_matrix(4, random_state=7), atol=1e-12)


def test_iterations_from_an_encoder_are_those_printed():
    """Equation 10 first, the noise of the decoder cut to its diagonal, then equation 9."""
    world = World(0.01 * SCENARIOS["5-in-3"].sigma_v(), n=5, m=4, noise=0.001)
    inv, y, gamma, lam = np.linalg.inv, world.sigma_y, 0.98, 0.02
    rng = np.random.default_rng(3)
    b = rng.uniform(size=(4, 5))
    w = positive_definite(rng.uniform(size=(4, 4)), rng.uniform(size=4))
    a = z = np.empty(0)
    for step in range(30):
        if step:
            weighed = a.T @ (gamma * inv(z) + 2 * lam * np.eye(5))
            w = inv(np.eye(4) + weighed @ a)
            b = w @ weighed
        full = inv(inv(y) + b.T @ inv(w) @ b)
        a, z = full @ b.T @ inv(w), np.diag(np.diag(full))
    found = blahut_arimoto(world, gamma, lam, seeds=3, noise="diagonal", start="authors", stop="rest", steps=30)
    for ours, printed in zip((*found.encoder, *found.decoder), (b, w, a, z), strict=True):
        np.testing.assert_allclose(ours[0], printed, rtol=1e-7, atol=1e-9)
    expected = np.linalg.norm(a @ a.T + z - y, 2) / np.linalg.norm(y, 2)
    assert found.misfit[0] == pytest.approx(expected, rel=1e-9)


def test_the_best_of_several_starts_has_the_least_misfit_and_has_not_diverged():
    world = SCENARIOS["3-in-2"].world()
    found = blahut_arimoto(world, 1.0, 0.0, seeds=range(12), noise="diagonal", start="encoder", stop="rest", steps=40)
    best = found.best_of(4)
    np.testing.assert_array_equal(best.misfit, found.misfit.reshape(3, 4).min(axis=1))
    first = int(found.misfit[:4].argmin())
    np.testing.assert_array_equal(best.encoder.weights[0], found.encoder.weights[first])
    state = found.state.copy()
    state[first] = "diverged"
    assert replace(found, state=state).best_of(4).misfit[0] == np.sort(found.misfit[:4])[1]


def test_without_a_ceiling_iterations_end_before_they_overflow():
    """The precision of this cell grows without end, and its matrices were singular in the end."""
    world = SCENARIOS["3-in-3"].world()
    found = blahut_arimoto(world, 1.02, -0.02, seeds=6, noise="diagonal", start="authors", stop="rest", steps=5000)
    for array in (*found.encoder, *found.decoder, found.error, found.misfit):
        assert np.isfinite(array).all()
    assert found.precision.max() < 1e13
    assert found.state[0] in {"diverged", "converged"}  # which of them hangs on the last digits of a linear solver


def test_at_rest_means_that_the_encoder_moves_no_more():
    world = SCENARIOS["3-in-1"].world(noise=0.3)
    options: dict[str, Any] = {"noise": "diagonal", "start": "encoder", "stop": "rest"}
    found = blahut_arimoto(world, 0.9, 0.0, seeds=0, steps=20_000, **options)
    assert found.state == ["converged"]
    later = blahut_arimoto(world, 0.9, 0.0, seeds=0, steps=int(found.steps[0]) - 1, **options)
    assert later.state == ["unfinished"]
    np.testing.assert_allclose(later.encoder.weights, found.encoder.weights, atol=2e-8)


def test_cells_do_not_depend_on_their_neighbours():
    world = SCENARIOS["5-in-2"].world()
    gamma, lam = (axis.ravel() for axis in GRID)
    together = blahut_arimoto(world, gamma, lam, seeds=np.arange(15))
    for cell in (0, 7, 14):
        alone = blahut_arimoto(world, gamma[cell], lam[cell], seeds=cell)
        np.testing.assert_allclose(alone.encoder.weights[0], together.encoder.weights[cell], rtol=1e-9)
        assert alone.state[0] == together.state[cell]


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ({"gamma": 0.0}, "gamma must be above 0"),
        ({"gamma": []}, "at least one gamma"),
        ({"lam": -5.0}, "rewards error without limit: it must be above -0.495"),
        ({"lam": np.nan}, "finite"),
        ({"seeds": -1}, "a seed must be 0 or more"),
        ({"tolerance": 0.0}, "above 0 and at most 1"),
        ({"steps": 0}, "must be 1 or more"),
        ({"noise": "diag"}, "did you mean 'diagonal'"),
        ({"start": "randm"}, "did you mean 'random'"),
        ({"stop": "rset"}, "did you mean 'rest'"),
    ],
)
def test_a_mistake_gets_one_line(arguments, line):
    with pytest.raises(UsageError, match=line) as caught:
        blahut_arimoto(SCENARIOS["3-in-3"].world(), **{"gamma": 1.0, "lam": 0.0, **arguments})
    assert "\n" not in str(caught.value)
