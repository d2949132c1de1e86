"""Sparse autoencoders find features in superposition, which no linear method can."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from sklearn.decomposition import PCA, FastICA

from unweave.encoders.sparse import SparseAutoencoder, SparseSettings, fit_sparse
from unweave.encoders.sparse.fit import take_steps
from unweave.encoders.sparse.scaling import Scaling
from unweave.encoders.sparse.state import SparseState
from unweave.metrics import mcc
from unweave.progress import silent

from .superposed import mean_max_cosine, superposed


@pytest.fixture(scope="module")
def world():
    return superposed(4000, features=32, width=16, active=2)


@pytest.mark.parametrize("kind", ["topk", "batch-topk"])
def test_the_dictionary_is_recovered(world, kind):
    found = fit_sparse(world.codes, features=48, k=2, kind=kind, steps=1500, batch=128, progress=False)
    assert mean_max_cosine(world.dictionary, found.decoder) > 0.9
    sparse = found.encode(world.codes)
    score = mcc(sparse, world.features)
    pca = PCA(16).fit_transform(world.codes)
    ica = np.asarray(FastICA(16, random_state=0, max_iter=1000, tol=1e-3).fit_transform(world.codes))
    assert score > 0.85
    assert score > 0.2 + max(mcc(pca, world.features), mcc(ica, world.features))
    statistics = found.statistics(world.codes)
    assert statistics.unexplained < 0.15
    assert statistics.l0 == pytest.approx(2, abs=0 if kind == "topk" else 0.3)


def test_dead_features_are_revived_by_their_loss(world):
    """Features that others keep from being active get no gradient, but for the loss of dead features."""
    active = {weight: active_after_a_bad_start(world.codes[:1000], weight) for weight in (0.0, 1 / 32)}
    assert active[1 / 32] > active[0.0] + 4


def active_after_a_bad_start(codes, weight):
    """Return how many of 32 features are active in the end, where 8 begin with a bias that lets no other be active."""
    settings = SparseSettings(features=32, k=2, dead_after=10, aux_weight=weight, batch=128, steps=300, lr=0.01)
    scaling = Scaling.of(codes)
    x = scaling.apply(codes)
    state = SparseState.initial(settings.resolve(16), x, scaling, log_every=50)
    with torch.no_grad():
        state.network.encoder_bias[:8] += 8.0
    for _ in take_steps(state, x, silent):
        pass
    return int(SparseAutoencoder.of(settings, state.weights()).encode(codes).any(axis=0).sum())


def test_statistics_are_what_they_say(world):
    found = fit_sparse(world.codes, features=20, k=2, kind="batch-topk", steps=20, batch=64, progress=False)
    features = found.encode(world.codes)
    decoded = (features @ found.decoder + found.decoder_bias) / found.scaling.scale + found.scaling.centre
    left = ((world.codes - decoded) ** 2).sum() / ((world.codes - world.codes.mean(0)) ** 2).sum()
    statistics = found.statistics(world.codes)
    assert statistics.unexplained == pytest.approx(left, rel=1e-4)
    assert statistics.l0 == pytest.approx(np.count_nonzero(features) / len(features))
    assert statistics.dead == pytest.approx(np.mean(~features.any(axis=0)))
