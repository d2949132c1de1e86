"""HFS: the distance of supports against loops, its zeros, and the terms around it."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest
import torch

from unweave.errors import UsageError
from unweave.methods import Batch, BetaTCVAE, BetaVAE, Schedule
from unweave.methods.hfs import HFS, shrinkage
from unweave.nets import Gaussian, Model, Net
from unweave.penalties.hausdorff_support import support_distances
from unweave.penalties.latent_pairs import draw_pairs


def codes(n: int = 7, latents: int = 4) -> torch.Tensor:
    return torch.randn(n, latents, generator=torch.Generator().manual_seed(0))


def seeded(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def terms_of(method: BetaVAE, model: Model, q: Gaussian, step: int = 0, seed: int = 0) -> dict[str, torch.Tensor]:
    batch = Batch(torch.zeros(len(q.mean), *np.roll(model.shape, 1)), choices=seeded(seed))
    return method.terms(model, batch, q, q.mean, step)


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


def test_pairs_are_distinct_all_if_there_are_no_more_and_others_every_time():
    assert draw_pairs(4, 25, seeded()).T.tolist() == [list(pair) for pair in combinations(range(4), 2)]
    choices = seeded()
    drawn = [draw_pairs(10, 25, choices) for _ in range(50)]
    assert all(len(set(map(tuple, pairs.T.tolist()))) == 25 for pairs in drawn)
    assert not torch.equal(drawn[3], drawn[4])
    assert len({tuple(pair) for pairs in drawn for pair in pairs.T.tolist()}) == 45
    assert draw_pairs(1, 25, seeded()).shape == (2, 0)


def test_the_pairs_of_a_step_come_from_the_batch():
    model = Net("mlp", latents=8, width=0.02).build((32, 32, 3), seeded())
    q = Gaussian(codes(latents=8), torch.zeros(7, 8))
    one, again, other = (terms_of(HFS(pairs=3, loss="mse"), model, q, seed=seed)["support"] for seed in (1, 1, 2))
    assert one == again != other


def test_terms_are_the_beta_vaes_and_the_weighted_distances():
    model = Net("mlp", latents=4, width=0.02).build((32, 32, 3), torch.Generator().manual_seed(0))
    q = Gaussian(codes(), torch.zeros(7, 4))
    method = HFS(beta=2, gamma=Schedule(0, 10, 100), delta=3, loss="mse")
    terms = terms_of(method, model, q, 50)
    for name, value in terms_of(BetaVAE(beta=2, loss="mse"), model, q, 50).items():
        torch.testing.assert_close(terms[name], value)
    expected = sum(by_loops(codes().numpy(), i, j) for i, j in combinations(range(4), 2))
    assert terms["support"].item() == pytest.approx(5 * expected, rel=1e-5)
    assert terms["scale"].item() == pytest.approx(3 * shrinkage(codes()).item())
    assert set(terms_of(HFS(loss="mse"), model, q)) == {"reconstruction", "kl", "support"}


def softly(values: list[float], temperature: float) -> float:
    weights = np.exp(np.array(values) / temperature)
    return float(weights @ values / weights.sum())


def test_soft_extremes_are_weighted_means():
    model = Net("mlp", latents=4, width=0.02).build((32, 32, 3), seeded())
    z, expected = codes().numpy().astype(float), 0.0
    for i, j in combinations(range(4), 2):
        distances = [[(a - code[i]) ** 2 + (b - code[j]) ** 2 for code in z] for a, b in product(z[:, i], z[:, j])]
        expected += softly([softly(row, -2.0) for row in distances], 2.0)
    terms = terms_of(HFS(gamma=3, temperature=2.0, loss="mse"), model, Gaussian(codes(), torch.zeros(7, 4)))
    assert terms["support"].item() == pytest.approx(3 * expected, rel=1e-5)


def test_with_a_total_correlation_it_is_hfs_on_a_beta_tcvae():
    model = Net("mlp", latents=4, width=0.02).build((32, 32, 3), seeded())
    q = Gaussian(codes(), torch.zeros(7, 4) - 1)
    both, support = HFS(beta=1, tc=5, gamma=2, loss="mse"), HFS(gamma=2, loss="mse")
    found = sum(value.item() for value in terms_of(both, model, q).values())
    of_tc = BetaTCVAE(beta=6, loss="mse").terms(model, Batch(torch.zeros(7, 3, 32, 32)), q, q.mean, 0)
    expected = sum(value.item() for value in of_tc.values()) + terms_of(support, model, q)["support"].item()
    assert found == pytest.approx(expected, rel=1e-5)
    assert set(terms_of(both, model, q)) == {"reconstruction", "kl", "support", "total_correlation"}


def test_one_latent_has_no_pairs():
    model = Net("mlp", latents=1, width=0.02).build((32, 32, 3), torch.Generator().manual_seed(0))
    q = model.encode(torch.rand(4, 3, 32, 32))
    assert isinstance(q, Gaussian)
    terms = terms_of(HFS(loss="mse"), model, q)
    assert terms["support"].item() == 0
    sum(terms.values(), torch.zeros(())).backward()


def test_the_scale_term_looks_at_each_latent_over_the_batch():
    z = torch.stack(
        [torch.tensor([0.0, 4.0]), torch.tensor([0.0, -4.0])]
    )  # the first latent has shrunk, not the second
    assert shrinkage(z).item() == pytest.approx(1, abs=2e-3)
    assert shrinkage(z[:, 1:]).item() == 0


@pytest.mark.parametrize(
    "settings",
    [{"gamma": -1.0}, {"delta": float("nan")}, {"pairs": 0}, {"beta": -1.0}, {"temperature": -1.0}, {"tc": -1.0}],
)
def test_wrong_settings_are_refused(settings):
    with pytest.raises(UsageError, match=f"{next(iter(settings))} must be"):
        HFS(**settings)
