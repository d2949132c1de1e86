"""Scenarios, the world and the loss, against samples and against what the paper prints."""

from __future__ import annotations

import numpy as np
import pytest

from unweave.errors import UsageError
from unweave.gaussian import SCENARIOS, Decoder, Encoder, World, independent_groups, loss

DRAWS = 10**6


def random_pair(world, rng):
    root_w, root_z = (0.3 * rng.normal(size=(size, size)) + 0.5 * np.eye(size) for size in (world.m, world.n))
    encoder = Encoder(rng.normal(size=(world.m, world.n)), root_w @ root_w.T)
    return encoder, Decoder(rng.normal(size=(world.n, world.m)), root_z @ root_z.T)


def test_the_loss_is_that_of_a_million_samples():
    rng = np.random.default_rng(0)
    world = SCENARIOS["3-in-1"].world(noise=0.3, own=0.5)
    (b, w), (a, z) = encoder, decoder = random_pair(world, rng)
    v = rng.normal(size=(DRAWS, 3)) @ np.linalg.cholesky(world.sigma_v).T
    y = v @ np.asarray(world.mixing).T + np.sqrt(world.noise) * rng.normal(size=(DRAWS, world.n))
    mean = y @ b.T
    x = mean + rng.normal(size=(DRAWS, 3)) @ np.linalg.cholesky(w).T
    divergence = 0.5 * (np.trace(w) + (mean**2).sum(axis=1) - 3 - np.log(np.linalg.det(w)))
    missed = y - x @ a.T
    squares = (missed * np.linalg.solve(z, missed.T).T).sum(axis=1)
    surprise = 0.5 * (squares + np.log(np.linalg.det(2 * np.pi * z)))
    terms = divergence + 0.9 * surprise + 0.2 * (missed**2).sum(axis=1)
    exact = loss(encoder, decoder, world.sigma_y, gamma=0.9, lam=0.2)
    assert abs(terms.mean() - exact) < 5 * terms.std() / np.sqrt(DRAWS)
    assert terms.std() / np.sqrt(DRAWS) < 0.003 * abs(exact)  # so that the line above can fail
    sigma_x, sigma_xv = world.seen_by(encoder)
    np.testing.assert_allclose(np.cov(x.T, v.T)[:3, :3], sigma_x, atol=0.02)
    np.testing.assert_allclose(np.cov(x.T, v.T)[:3, 3:], sigma_xv, atol=0.02)
    np.testing.assert_allclose(np.cov(y.T), world.sigma_y, atol=0.01)


def test_the_loss_of_many_cells_is_that_of_each():
    rng = np.random.default_rng(1)
    world = SCENARIOS["5-in-2"].world()
    pairs = [random_pair(world, rng) for _ in range(4)]
    gamma, lam = rng.uniform(0.5, 1.5, size=4), rng.normal(size=4)
    together = loss(
        Encoder(*(np.stack(part) for part in zip(*(encoder for encoder, _ in pairs), strict=True))),
        Decoder(*(np.stack(part) for part in zip(*(decoder for _, decoder in pairs), strict=True))),
        world.sigma_y,
        gamma=gamma,
        lam=lam,
    )
    alone = [loss(*pair, world.sigma_y, gamma=g, lam=k) for pair, g, k in zip(pairs, gamma, lam, strict=True)]
    np.testing.assert_allclose(together, alone, rtol=1e-12)


def test_the_published_covariances():
    a, var, own = 0.7, 2.0, 0.3
    numbers = {"weight": a, "variance": var, "own": own}
    np.testing.assert_allclose(SCENARIOS["3-in-3"].sigma_v(**numbers), var * np.eye(3))
    np.testing.assert_allclose(
        SCENARIOS["3-in-2"].sigma_v(**numbers), [[var, a * var, 0], [a * var, a * a * var + own, 0], [0, 0, var]]
    )
    child = a * a * var + own
    np.testing.assert_allclose(
        SCENARIOS["3-in-1"].sigma_v(**numbers),
        [[var, a * var, a * var], [a * var, child, a * a * var], [a * var, a * a * var, child]],
    )


def test_every_factor_may_have_numbers_of_its_own():
    """The covariance that the paper prints for v2 = alpha v1 + z2 and v3 = beta v1 + z3."""
    var, alpha, beta, z2, z3 = 0.3, 2.0, 4.0, 0.5, 0.7
    found = SCENARIOS["3-in-1"].sigma_v(variance=(var, 9, 9), weight=(9, alpha, beta), own=(9, z2, z3))
    np.testing.assert_allclose(
        found,
        [
            [var, alpha * var, beta * var],
            [alpha * var, alpha**2 * var + z2, alpha * beta * var],
            [beta * var, alpha * beta * var, beta**2 * var + z3],
        ],
    )
    with pytest.raises(UsageError, match="weight is one number, or one for each of 3 factors, not 2"):
        SCENARIOS["3-in-1"].sigma_v(weight=(1.0, 2.0))


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_scenario_has_the_groups_that_its_name_says(name):
    factors, _, groups = name.partition("-in-")
    world = SCENARIOS[name].world()
    assert len(world.groups) == int(groups)
    assert frozenset().union(*world.groups) == set(range(int(factors)))
    assert len(SCENARIOS[name].world(weight=0.0).groups) == int(factors)  # without dependence, all apart


def test_groups_are_the_connected_ones():
    chain = np.eye(5)
    chain[0, 3] = chain[3, 0] = chain[3, 1] = chain[1, 3] = 0.4
    assert independent_groups(chain) == {frozenset({0, 1, 3}), frozenset({2}), frozenset({4})}


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ({"sigma_v": np.ones((2, 2))}, "sigma_v is singular"),
        ({"sigma_v": [[1, 2], [2, 1]]}, "sigma_v is not a covariance: as correlations, it has the negative eigenvalue"),
        ({"sigma_v": np.diag([1.0, 0.0])}, "factor 1 has variance 0"),
        ({"sigma_v": np.array([[1.0, 0.5], [0.0, 1.0]])}, "must be symmetric"),
        ({"m": 4}, "must be from 1 to n = 3 observed variables, not 4"),
        ({"m": 0}, "must be from 1 to n"),
        ({"n": 1, "m": 1}, "2 factors need 2 observed variables"),
        ({"noise": 0.0}, "variance above 0"),
        ({"mixing": np.eye(2)}, r"shape \(n, s\) = \(3, 2\)"),
    ],
)
def test_a_mistake_gets_one_line(arguments, line):
    with pytest.raises(UsageError, match=line) as caught:
        World(**{"sigma_v": np.eye(2), "n": 3, "m": 2, **arguments})
    assert "\n" not in str(caught.value)


def test_factors_need_variance():
    with pytest.raises(UsageError, match="variances of factors must be above 0"):
        SCENARIOS["3-in-2"].sigma_v(own=0.0)
