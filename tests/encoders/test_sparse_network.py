"""Which features are active, the two losses and the lengths of directions, each beside a plain computation of it."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from unweave.encoders.sparse.network import SparseNetwork, keep_largest
from unweave.encoders.sparse.scaling import Scaling, geometric_median
from unweave.encoders.sparse.settings import SparseSettings
from unweave.encoders.sparse.state import RowOrder

N, D, F, K = 7, 5, 12, 3


def network(**settings):
    chosen = SparseSettings(**{"features": F, "k": K, **settings}).resolve(D)
    made = SparseNetwork(chosen, torch.linspace(-1, 1, D), torch.Generator().manual_seed(1))
    with torch.no_grad():  # an encoder that is not the decoder, so that neither can stand for the other
        made.encoder.add_(0.3 * torch.randn(F, D, generator=torch.Generator().manual_seed(2)))
        made.encoder_bias.add_(0.1 * torch.randn(F, generator=torch.Generator().manual_seed(3)))
    return made


def batch(seed=0):
    return torch.randn(N, D, generator=torch.Generator().manual_seed(seed))


def plain_activations(made, x):
    """relu(W_enc (x - b) + c), entry by entry."""
    w, c, b = (value.detach().double().numpy() for value in (made.encoder, made.encoder_bias, made.decoder_bias))
    found = np.zeros((len(x), F))
    for i, row in enumerate(x.double().numpy()):
        for j in range(F):
            found[i, j] = max(0.0, float(w[j] @ (row - b)) + c[j])
    return found


def plain_largest(rows, k):
    kept = np.zeros_like(rows)
    for i, row in enumerate(rows):
        for j in sorted(range(len(row)), key=lambda j: -row[j])[:k]:
            kept[i, j] = row[j]
    return kept


@pytest.mark.parametrize("kind", ["topk", "batch-topk"])
def test_the_forward_pass_is_that_of_the_papers(kind):
    made, x = network(kind=kind), batch()
    positive = plain_activations(made, x)
    expected = plain_largest(positive, K) if kind == "topk" else plain_largest(positive.reshape(1, -1), N * K)
    expected = expected.reshape(N, F)
    done = made(x)
    np.testing.assert_allclose(done.active.numpy(), expected, atol=1e-5)
    decoded = expected @ made.decoder.detach().double().numpy() + made.decoder_bias.detach().double().numpy()
    loss = np.mean((x.double().numpy() - decoded) ** 2)
    assert float(done.terms["reconstruction"].detach()) == pytest.approx(loss, rel=1e-5)
    counts = (expected > 0).sum(1)
    assert counts.sum() <= N * K
    assert (counts.max() > K) == (kind == "batch-topk")


def test_batch_topk_gives_rows_different_numbers_of_features():
    activations = torch.tensor([[5.0, 4.0, 3.0], [2.0, 1.0, 0.5]])
    kept = keep_largest(activations, 2, whole_batch=True)
    assert kept.tolist() == [[5.0, 4.0, 3.0], [2.0, 0.0, 0.0]]
    assert keep_largest(activations, 2).tolist() == [[5.0, 4.0, 0.0], [2.0, 1.0, 0.0]]


def test_the_loss_of_dead_features_is_that_of_the_paper():
    made, x = network(aux_k=2, aux_weight=0.25, dead_after=4), batch()
    made.silent[[1, 4, 5, 9]] = 50
    with torch.no_grad():  # the others win
        made.encoder_bias[[0, 2, 3, 6, 7, 8, 10, 11]] += 2.0
    positive = plain_activations(made, x)
    active = plain_largest(positive, K)
    decoder, bias = made.decoder.detach().double().numpy(), made.decoder_bias.detach().double().numpy()
    error = x.double().numpy() - active @ decoder - bias
    dead = [j for j in (1, 4, 5, 9) if not (active[:, j] > 0).any()]  # one that is active now is dead no more
    assert len(dead) >= 2
    chosen = np.zeros((N, F))
    chosen[:, dead] = plain_largest(positive[:, dead], 2)
    squares, spread = ((error - chosen @ decoder) ** 2).sum(), ((error - error.mean(0)) ** 2).sum()
    done = made(x)
    assert float(done.terms["auxiliary"].detach()) == pytest.approx(0.25 * squares / spread, rel=1e-5)
    done.terms["auxiliary"].backward()
    assert made.decoder.grad is not None
    moved = made.decoder.grad.abs().sum(1) > 0
    assert set(torch.nonzero(moved)[:, 0].tolist()) <= set(dead)  # the error is held fixed: none else is moved
    assert moved.any()


def test_without_dead_features_there_is_nothing_to_revive():
    assert float(network()(batch()).terms["auxiliary"].detach()) == 0.0
    assert "auxiliary" not in network(aux_k=0)(batch()).terms


def test_directions_stay_of_length_one_and_lose_no_step_to_their_length():
    made = network()
    optimiser = torch.optim.SGD(made.parameters(), lr=0.5)
    for step in range(3):
        optimiser.zero_grad()
        torch.stack(list(made(batch(step)).terms.values())).sum().backward()
        made.remove_parallel_gradient()
        assert made.decoder.grad is not None
        assert (made.decoder.grad * made.decoder).sum(1).abs().max() < 1e-6
        optimiser.step()
        made.normalise_directions()
        torch.testing.assert_close(made.decoder.norm(dim=1), torch.ones(F))


def test_the_decoder_begins_as_the_encoder_transposed():
    chosen = SparseSettings(features=F, k=K).resolve(D)
    made = SparseNetwork(chosen, torch.zeros(D), torch.Generator().manual_seed(0))
    torch.testing.assert_close(made.encoder, made.decoder, rtol=0, atol=0)
    torch.testing.assert_close(made.decoder.norm(dim=1), torch.ones(F))


def test_steps_without_activation_are_counted():
    made = network(dead_after=2)
    active = torch.zeros(N, F)
    active[0, 3] = 1.0
    for _ in range(2):
        made.count(active)
    assert made.dead.tolist() == [j != 3 for j in range(F)]
    made.count(torch.ones(N, F))
    assert not made.dead.any()


def test_the_threshold_is_a_running_mean_of_the_smallest_activation():
    made, decay = network(kind="batch-topk", threshold_decay=0.9), 0.9
    assert made.threshold == 0.0
    smallest = [0.5, 0.25, 2.0]
    for least in smallest:
        active = torch.zeros(N, F)
        active[0, :3] = torch.tensor([9.0, least, 3.0])
        made.count(active)
    made.count(torch.zeros(N, F))  # a batch without activations says nothing
    weights = [decay**2, decay, 1.0]
    assert made.threshold == pytest.approx(np.average(smallest, weights=weights))


def test_codes_are_scaled_to_unit_mean_square_and_back():
    codes = np.random.default_rng(0).normal(size=(50, 3)) * [1, 10, 0.1] + [1e4, 0, -5]
    scaling = Scaling.of(codes)
    x = scaling.apply(codes)
    assert np.mean(x.astype(float) ** 2) == pytest.approx(1, abs=1e-5)
    np.testing.assert_allclose(x.mean(axis=0), 0, atol=1e-5)
    np.testing.assert_allclose(scaling.undo(x.astype(float)), codes, atol=1e-3)


def test_the_geometric_median_has_the_least_sum_of_distances():
    points = np.random.default_rng(0).normal(size=(40, 2))
    points[:3] += 100
    place = geometric_median(points)

    def total(at):
        return np.linalg.norm(points - at, axis=1).sum()

    around = [place + 0.01 * np.array([np.cos(a), np.sin(a)]) for a in np.linspace(0, 6, 12)]
    assert total(place) < min(map(total, around))
    assert np.abs(place).max() < 0.5 < np.abs(points.mean(axis=0)).min()


def test_an_epoch_shows_every_row_once_and_needs_no_past():
    order, fresh = RowOrder(10, 4, seed=3), RowOrder(10, 4, seed=3)
    steps = [order(step) for step in range(5)]
    assert sorted(np.concatenate(steps)[:10]) == sorted(np.concatenate(steps)[10:]) == list(range(10))
    np.testing.assert_array_equal(fresh(4), steps[4])
    assert sorted(np.bincount(RowOrder(3, 7, seed=0)(0))) == [2, 2, 3]
