"""Quantised bottlenecks: nearest values by loops, straight-through gradients, the ends of the codebook."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from unweave.nets.quantised import LEVELS, VALUES, CodebookHead, GridHead, Quantised


@pytest.fixture
def features() -> torch.Tensor:
    return torch.randn(40, 3, generator=torch.Generator().manual_seed(0))


def copying(head: CodebookHead | GridHead) -> CodebookHead | GridHead:
    """Let the head's code be the features themselves, and a codebook's values be where they start."""
    torch.nn.init.eye_(head.mean.weight)
    torch.nn.init.zeros_(head.mean.bias)
    if isinstance(head, CodebookHead):
        torch.nn.init.zeros_(head.moves)
    return head


def test_a_codebook_gives_the_nearest_of_its_values(features):
    head = copying(CodebookHead(3, 3))
    assert isinstance(head, CodebookHead)
    head.moves.data.normal_(std=0.3, generator=torch.Generator().manual_seed(1))
    codes, book = head(features).mean.detach().numpy(), head.codebook.detach().numpy()
    for row, image in enumerate(features.numpy()):
        for latent, code in enumerate(image):
            assert codes[row, latent] == min(book[latent], key=lambda value: abs(value - code))


def test_a_codebook_starts_evenly_and_codes_beyond_it_take_its_ends():
    head = copying(CodebookHead(2, 2))
    assert isinstance(head, CodebookHead)
    np.testing.assert_allclose(head.codebook[0].detach(), np.linspace(-0.5, 0.5, 10), atol=1e-7)
    codes = head(torch.tensor([[-9.0, 9.0], [-0.51, 0.49]])).mean
    assert codes.tolist() == [[-0.5, 0.5], [-0.5, 0.5]]


def test_a_grid_has_even_levels_between_its_ends():
    grid = copying(GridHead(1, 1))
    codes = grid(torch.linspace(-9, 9, 5001)[:, None]).mean.detach().unique()
    assert len(codes) == LEVELS == 12
    np.testing.assert_allclose(codes, -1 + 2 * np.arange(12) / 11, atol=1e-6)
    assert (codes[0], codes[-1]) == (-1, 1)
    continuous = grid(torch.tensor([[0.3]])).continuous.item()
    assert continuous == pytest.approx(math.tanh(0.3))
    levels = -1 + 2 * np.arange(12) / 11
    assert grid(torch.tensor([[0.3]])).mean.item() == pytest.approx(levels[abs(levels - continuous).argmin()])


@pytest.mark.parametrize(("head", "values"), [(CodebookHead, VALUES), (GridHead, LEVELS)])
def test_codes_are_exact_and_certain_and_cost_the_logarithm_of_the_number_of_values(head, values, features):
    q = copying(head(3, 3))(features)
    assert torch.equal(q.mean, q.nearest)
    assert torch.equal(q.sample(torch.Generator()), q.mean)
    assert q.mean.unique().numel() <= values
    assert not hasattr(q, "log_variance")
    torch.testing.assert_close(q.kl(), torch.full((40, 3), math.log(values)))


@pytest.mark.parametrize("head", [CodebookHead, GridHead])
def test_gradients_go_straight_through(head, features):
    q = copying(head(3, 3))(features)
    q.continuous.retain_grad()
    (3 * q.mean).sum().backward()
    assert (q.continuous.grad == 3).all()


def test_the_reconstruction_does_not_move_the_codebook_but_its_values_do(features):
    head = copying(CodebookHead(3, 3))
    assert isinstance(head, CodebookHead)
    q = head(features)
    assert torch.autograd.grad(q.mean.sum(), head.moves, allow_unused=True, retain_graph=True) == (None,)
    (pull,) = torch.autograd.grad(q.nearest.sum(), head.moves)
    counts = [[(q.nearest[:, latent] == value).sum() for value in head.codebook[latent]] for latent in range(3)]
    assert torch.equal(pull, torch.tensor(counts, dtype=torch.float32))


def test_a_posterior_of_half_precision_features_is_single():
    with torch.autocast("cpu", torch.bfloat16):
        q: Quantised = copying(CodebookHead(3, 3))(torch.ones(2, 3))
    assert q.mean.dtype == torch.float32
