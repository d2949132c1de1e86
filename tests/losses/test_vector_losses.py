"""Losses with a learnt spread, and of counts, against scipy's densities and finite differences."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy import stats

from unweave.errors import UsageError
from unweave.losses import full_name, loss_of

RNG = np.random.default_rng(0)
COUNTS = np.concatenate([RNG.poisson(5.0, (6, 4)), RNG.poisson(20_000.0, (2, 4)), np.zeros((1, 4), int)])
OUTPUT = torch.from_numpy(RNG.normal(size=(len(COUNTS), 2, 4)))


def totals(library: float) -> np.ndarray:
    return np.maximum(COUNTS.sum(axis=1, keepdims=True), 1) / library if library else np.ones((len(COUNTS), 1))


@pytest.mark.parametrize("library", [0.0, 20.0])
def test_nb_is_scipys_log_likelihood_with_its_constants(library):
    mean = totals(library) * np.exp(OUTPUT[:, 0].numpy())
    r = np.exp(OUTPUT[:, 1].numpy())
    expected = -stats.nbinom.logpmf(COUNTS, r, r / (r + mean)).sum(axis=1)
    found = loss_of(f"nb:library={library}").distance(torch.tensor(COUNTS, dtype=torch.float32), OUTPUT)
    np.testing.assert_allclose(found, expected, rtol=1e-5)


@pytest.mark.parametrize("library", [0.0, 20.0])
def test_poisson_is_scipys_log_likelihood_with_its_constants(library):
    mean = totals(library) * np.exp(OUTPUT[:, 0].numpy())
    expected = -stats.poisson.logpmf(COUNTS, mean).sum(axis=1)
    found = loss_of(f"poisson:library={library}").distance(torch.tensor(COUNTS, dtype=torch.float32), OUTPUT[:, 0])
    np.testing.assert_allclose(found, expected, rtol=1e-5)


def test_gaussian_is_scipys_log_likelihood_with_its_constants():
    x = RNG.normal(size=(9, 4))
    expected = -stats.norm.logpdf(x, OUTPUT[:, 0].numpy(), np.exp(OUTPUT[:, 1].numpy() / 2)).sum(axis=1)
    np.testing.assert_allclose(loss_of("gaussian").distance(torch.from_numpy(x), OUTPUT), expected, rtol=1e-5)


def test_the_gradient_of_nb_is_that_of_finite_differences():
    """Also in the dispersion: by central differences of scipy's density in double precision."""
    output = OUTPUT.clone().requires_grad_()
    loss_of("nb:library=20").distance(torch.tensor(COUNTS, dtype=torch.float32), output).sum().backward()
    assert output.grad is not None
    for place in [(0, 0, 1), (3, 1, 2), (7, 0, 0), (7, 1, 3), (8, 0, 0)]:
        sides = []
        for step in (1e-5, -1e-5):
            moved = OUTPUT.numpy().copy()
            moved[place] += step
            r = np.exp(moved[:, 1])
            mean = totals(20.0) * np.exp(moved[:, 0])
            sides.append(-stats.nbinom.logpmf(COUNTS, r, r / (r + mean))[place[0], place[2]])
        assert output.grad[place].item() == pytest.approx((sides[0] - sides[1]) / 2e-5, rel=1e-4, abs=1e-5)


@pytest.mark.parametrize("name", ["bce", "mse", "mae", "gaussian", "nb:library=20", "nb", "poisson:library=20"])
def test_the_mean_of_the_inverse_is_the_values_themselves(name):
    """Counts come back in a row of the total `library`."""
    x = (
        torch.tensor([[0.1, 0.9], [0.5, 0.2]])
        if name in ("bce", "mse", "mae", "gaussian")
        else torch.tensor([[4.0, 16]])
    )
    loss = loss_of(name)
    torch.testing.assert_close(loss.mean(loss.inverse(x)), x)


def test_more_counts_of_the_same_shares_say_the_same_of_the_mean():
    """The gradient of the output is zero at the row's shares of the total, whatever the total."""
    loss = loss_of("poisson:library=10")
    for scale in (1.0, 7.0):
        x = scale * torch.tensor([[2.0, 8.0]])
        output = torch.log(torch.tensor([[2.0, 8.0]])).requires_grad_()
        loss.distance(x, output).sum().backward()
        torch.testing.assert_close(output.grad, torch.zeros(1, 2), atol=1e-5, rtol=0)


def test_a_library_is_left_to_the_data_and_must_be_a_number():
    assert full_name("nb", library=512.0) == "nb:library=512"
    assert full_name("nb:library=0", library=512.0) == "nb:library=0"
    with pytest.raises(UsageError, match="not negative"):
        loss_of("nb:library=-1")
