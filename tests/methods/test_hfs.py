"""HFS: the distance of supports against loops, its zeros, and the terms around it."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest
import torch

from unweave.errors import UsageError
from unweave.methods import BetaVAE, Schedule
from unweave.methods.hfs import HFS, draw_pairs, shrinkage, support_distances
from unweave.nets import Gaussian, Net


def codes(n: int = 7, latents: int = 4) -> torch.Tensor:
    return torch.randn(n, latents, generator=torch.Generator().manual_seed(0))


def by_loops(z: np.ndarray, i: int, j: int) -> float:
    points = product(z[:, i], z[:, j])
    return max(min((a - code[i]) ** 2 + (b - code[j]) ** 2 for code in z) for a, b in points)


def all_pairs(latents: int) -> torch.Tensor:
    return torch.tensor(list(combinations(range(latents), 2))).T


def test_distances_are_those_of_loops():
    z = codes().double()
    expected = [by_loops(z.numpy(), i, j) for i, j in combinations(range(4), 2)]
    np.testing.assert_allclose(support_distances(z, all_pairs(4)).squeeze(1), expected, rtol=1e-12)


def test_gradients_are_those_of_finite_differences():
    z = codes().double().requires_grad_()
    assert torch.autograd.gradcheck(lambda z: support_distances(z, all_pairs(4)).sum(), z)


def test_a_full_grid_has_factorised_support_however_uneven():
    grid = torch.tensor(list(product([0.0, 1.0, 3.0], [-2.0, 5.0], [0.5, 0.7])))
    often = torch.cat([grid, grid[:1].expand(20, 3)])  # correlated, but of the same support
    assert not support_distances(often, all_pairs(3)).any()


def test_a_missing_combination_and_a_diagonal_are_as_far_as_they_look():
    corner = torch.tensor([[0.0, 0.0], [0.0, 1.0], [3.0, 0.0]])  # (3, 1) is missing
    assert support_distances(corner, all_pairs(2)).item() == 1
    line = torch.tensor([[0.0, 0.0], [2.0, 2.0]])  # (0, 2) and (2, 0) are missing
    assert support_distances(line, all_pairs(2)).item() == 4


def test_pairs_are_distinct_all_if_there_are_no_more_and_others_at_other_steps():
    assert draw_pairs(4, 25, 0).T.tolist() == [list(pair) for pair in combinations(range(4), 2)]
    drawn = [draw_pairs(10, 25, step) for step in range(50)]
    assert all(len(set(map(tuple, pairs.T.tolist()))) == 25 for pairs in drawn)
    assert torch.equal(drawn[3], draw_pairs(10, 25, 3))
    assert len({tuple(pair) for pairs in drawn for pair in pairs.T.tolist()}) == 45
    assert draw_pairs(1, 25, 0).shape == (2, 0)


def test_terms_are_the_beta_vaes_and_the_weighted_distances():
    model = Net("mlp", latents=4, width=0.02).build((32, 32, 3), torch.Generator().manual_seed(0))
    q = Gaussian(codes(), torch.zeros(7, 4))
    method = HFS(beta=2, gamma=Schedule(0, 10, 100), delta=3)
    terms = method.penalty(model, q, q.mean, 50)
    torch.testing.assert_close(terms["kl"], BetaVAE(beta=2).penalty(model, q, q.mean, 50)["kl"])
    expected = sum(by_loops(codes().numpy(), i, j) for i, j in combinations(range(4), 2))
    assert terms["support"].item() == pytest.approx(5 * expected, rel=1e-5)
    assert terms["scale"].item() == pytest.approx(3 * shrinkage(codes()).item())
    assert set(HFS().penalty(model, q, q.mean, 0)) == {"kl", "support"}


def test_one_latent_has_no_pairs():
    model = Net("mlp", latents=1, width=0.02).build((32, 32, 3), torch.Generator().manual_seed(0))
    q = model.encode(torch.rand(4, 3, 32, 32))
    terms = HFS().penalty(model, q, q.mean, 0)
    assert terms["support"].item() == 0
    sum(terms.values(), torch.zeros(())).backward()


def test_the_scale_term_looks_at_each_latent_over_the_batch():
    z = torch.stack(
        [torch.tensor([0.0, 4.0]), torch.tensor([0.0, -4.0])]
    )  # the first latent has shrunk, not the second
    assert shrinkage(z).item() == pytest.approx(1, abs=2e-3)
    assert shrinkage(z[:, 1:]).item() == 0


@pytest.mark.parametrize("settings", [{"gamma": -1.0}, {"delta": float("nan")}, {"pairs": 0}, {"beta": -1.0}])
def test_wrong_settings_are_refused(settings):
    with pytest.raises(UsageError, match=f"{next(iter(settings))} must be"):
        HFS(**settings)
