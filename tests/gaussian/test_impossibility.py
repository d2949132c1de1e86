"""Maps that keep a distribution and mix its coordinates, against closed forms, differences and samples."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from unweave.errors import UsageError
from unweave.gaussian.impossibility import Entangler, householder

MARGINALS = {
    "uniform": ["uniform"] * 2,
    "normal": ["normal"] * 3,
    "shifted": [stats.norm(3, 0.5), stats.uniform(-2, 5)],
    "heavy": [stats.cauchy(), stats.t(2), stats.lognorm(1.5)],
    "mixed": [stats.beta(2, 5), stats.gamma(0.7), stats.logistic(), stats.triang(0.3), stats.expon(1)],
}
ALPHAS = (0.05, 0.25, 0.45)


def entangler(name, alpha=0.25):
    return Entangler(MARGINALS[name], alpha)


def draw(mix, count, seed=0):
    rng = np.random.default_rng(seed)
    return np.column_stack([each.rvs(size=count, random_state=rng) for each in mix.marginals])


@pytest.mark.parametrize("dimensions", [2, 3, 4, 7])
def test_near_one_half_only_two_coordinates_are_swapped(dimensions):
    """One half itself is refused: the first diagonal entry is 0. With d = 2 the second is, too."""
    size = np.abs(householder(dimensions, 0.5 - 1e-9))
    assert size[0, 0] < 1e-8
    assert (size[1:, 1:] < 1e-8).all() == (dimensions == 2)
    with pytest.raises(UsageError, match="entry of 0"):
        householder(dimensions, 0.5)


@pytest.mark.parametrize("dimensions", [2, 3, 4, 7])
@pytest.mark.parametrize("alpha", [0.01, 0.2, 0.49, 0.8])
def test_the_matrix_is_an_orthogonal_reflection_without_zeros(dimensions, alpha):
    matrix = householder(dimensions, alpha)
    assert np.allclose(matrix @ matrix.T, np.eye(dimensions), atol=1e-15)
    assert np.array_equal(matrix, matrix.T)
    assert np.linalg.det(matrix) == pytest.approx(-1)
    assert (matrix != 0).all()
    assert matrix[0, 0] == pytest.approx(1 - 2 * alpha)
    assert matrix[0, 1] == pytest.approx(-2 * np.sqrt(alpha * (1 - alpha) / (dimensions - 1)))


@pytest.mark.parametrize("name", MARGINALS)
@pytest.mark.parametrize("alpha", ALPHAS)
def test_marginals_and_independence_stay(name, alpha):
    mix = entangler(name, alpha)
    z = draw(mix, 4_000)
    mixed = mix(z)
    for marginal, column in zip(mix.marginals, mixed.T, strict=True):
        assert stats.kstest(column, marginal.cdf).pvalue > 1e-3
    ranks = [stats.rankdata(column) for column in [*z.T, *mixed.T]]
    before, after = np.split(np.corrcoef(ranks), 2)[1].T.reshape(2, len(mix.marginals), -1)
    assert np.abs(after - np.eye(len(after))).max() < 4.5 / np.sqrt(len(z))  # independent, as far as ranks can tell
    # Spearman's correlation of two normal variables that correlate by A_ij, which increasing maps leave as it is.
    assert np.abs(before - 6 / np.pi * np.arcsin(mix.matrix / 2)).max() < 4.5 / np.sqrt(len(z))


@pytest.mark.parametrize("name", MARGINALS)
@pytest.mark.parametrize("alpha", ALPHAS)
def test_the_density_of_f_z_is_that_of_z(name, alpha):
    # Change of variables: the density of f(z) at f(z) is p(z) / |det J(z)|, and must be p(f(z)).
    mix = entangler(name, alpha)
    z = draw(mix, 300)
    prior = sum(marginal.logpdf(column) for marginal, column in zip(mix.marginals, z.T, strict=True))
    after = sum(marginal.logpdf(column) for marginal, column in zip(mix.marginals, mix(z).T, strict=True))
    assert np.allclose(prior - np.linalg.slogdet(mix.jacobian(z))[1], after, atol=1e-9)
    assert np.allclose(mix.log_density(z), prior)


def test_the_closed_form_for_two_uniforms():
    # f_1 = Phi(a Phi^-1(u_1) + b Phi^-1(u_2)), written out.
    u = np.random.default_rng(1).uniform(size=(200, 2))
    a, b = 1 - 2 * 0.2, -2 * np.sqrt(0.2 * 0.8)
    q = stats.norm.ppf(u)
    wanted = stats.norm.cdf(np.column_stack([a * q[:, 0] + b * q[:, 1], b * q[:, 0] - a * q[:, 1]]))
    assert np.allclose(Entangler(["uniform"] * 2, 0.2)(u), wanted, atol=1e-13)


def test_normal_coordinates_are_only_turned():
    mix = entangler("normal", 0.3)
    z = draw(mix, 500)
    assert np.allclose(mix(z), z @ householder(3, 0.3).T, atol=1e-12)
    assert np.allclose(np.linalg.norm(mix(z), axis=1), np.linalg.norm(z, axis=1))
    assert np.allclose(np.abs(np.linalg.det(mix.jacobian(z))), 1, atol=1e-10)


@pytest.mark.parametrize("name", MARGINALS)
def test_the_jacobian_is_that_of_finite_differences_and_has_no_zeros(name):
    mix = entangler(name, 0.15)
    inner = np.random.default_rng(2).uniform(0.05, 0.95, size=(50, len(mix.marginals)))
    z = np.column_stack([each.ppf(column) for each, column in zip(mix.marginals, inner.T, strict=True)])
    jacobian = mix.jacobian(z)
    for j in range(z.shape[1]):
        step = np.zeros(z.shape[1])
        step[j] = 1e-6
        assert np.allclose((mix(z + step) - mix(z - step)) / 2e-6, jacobian[:, :, j], rtol=2e-4, atol=1e-6)
    assert (mix.jacobian(draw(mix, 5_000)) != 0).all()


@pytest.mark.parametrize("name", MARGINALS)
def test_the_inverse_leads_back(name):
    mix = entangler(name, 0.4)
    z = draw(mix, 1_000)
    assert np.allclose(mix.inverse(mix(z)), z, rtol=1e-6, atol=1e-9)
    assert np.allclose(mix(mix.inverse(z)), z, rtol=1e-6, atol=1e-9)


def test_tails_are_exact_far_beyond_where_probabilities_are_1():
    mix = Entangler(["normal", stats.expon()], 0.1)
    far = np.array([[-20.0, 1e-80], [20.0, 150.0], [5.0, 300.0], [-12.0, 1e-3]])
    assert np.allclose(mix(mix(far)), far, rtol=1e-9)
    normal = np.array([[-25.0, 10.0], [25.0, 25.0], [9.0, 15.0]])
    assert np.allclose(Entangler(["normal"] * 2, 0.1)(normal), normal @ householder(2, 0.1), rtol=1e-12)
    edge = Entangler(["uniform"] * 2, 0.1)([[1e-12, 1e-12]])  # would round to 1, which is no point of the support
    assert ((edge > 0) & (edge < 1)).all()


def test_points_of_any_shape():
    mix = entangler("normal")
    z = draw(mix, 12)
    assert np.array_equal(mix(z.reshape(3, 4, 3)), mix(z).reshape(3, 4, 3))
    assert np.array_equal(mix.jacobian(z.reshape(3, 4, 3)), mix.jacobian(z).reshape(3, 4, 3, 3))
    assert mix(z[0]).shape == (3,)


@pytest.mark.parametrize(
    ("marginals", "alpha", "message"),
    [
        (["uniform"] * 2, 0.5, "alpha 0.5 gives a matrix with an entry of 0"),
        (["uniform"] * 2, 0.5 + 1e-15, "entry of 0"),
        (["uniform"] * 4, 1e-30, "entry of 0"),
        (["uniform"] * 2, 0.0, "alpha must be a number between 0 and 1, not 0.0"),
        (["uniform"] * 2, 1.0, "between 0 and 1"),
        (["uniform"] * 2, float("nan"), "between 0 and 1"),
        (["uniform"], 0.2, "pass at least 2 marginals, not 1"),
        (["uniform", "gaussian"], 0.2, "no marginal is called 'gaussian'"),
        ([stats.poisson(3), "normal"], 0.2, "frozen continuous distribution of scipy.stats"),
        ([stats.gamma, "normal"], 0.2, "frozen continuous distribution of scipy.stats"),
    ],
)
def test_mistakes_in_the_family(marginals, alpha, message):
    with pytest.raises(UsageError, match=message):
        Entangler(marginals, alpha)


@pytest.mark.parametrize(
    ("z", "message"),
    [
        ([0.5, 0.5, 0.5], r"shape \(..., 2\), not \(3,\)"),
        (0.5, r"shape \(..., 2\), not \(\)"),
        ([0.0, 0.5], "inside the support"),
        ([0.5, 1.5], "inside the support"),
        ([np.nan, 0.5], "inside the support"),
    ],
)
def test_mistakes_in_points(z, message):
    with pytest.raises(UsageError, match=message):
        Entangler(["uniform"] * 2, 0.2)(z)


def test_points_without_a_probability_are_refused():
    with pytest.raises(UsageError, match="probability is 0 in floating point"):
        Entangler(["normal"] * 2, 0.2)([40.0, 40.0])
