"""G-VAE and ML-VAE: averaged in the latents of shared factors, as Ada-GVAE and Ada-ML-VAE average."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import unweave
from unweave.errors import UsageError
from unweave.methods import GVAE, MLVAE, AdaGVAE, AdaMLVAE, Batch
from unweave.nets import Gaussian

FACTORS = torch.tensor([[0, 1, 2], [5, 5, 5], [0, 3, 2], [5, 6, 7]])  # two pairs: rows 0 and 2, rows 1 and 3


@pytest.mark.parametrize(("known", "guessing"), [(GVAE, AdaGVAE), (MLVAE, AdaMLVAE)])
def test_latents_of_factors_that_differ_keep_their_posteriors(known, guessing):
    mean, log_variance = torch.randn(2, 4, 5, generator=torch.Generator().manual_seed(0))
    q = Gaussian(mean, log_variance)
    found = known().posterior(q, Batch(torch.empty(0), 2, FACTORS), 0)
    average, spread = guessing().average([q.rows(slice(0, 2)), q.rows(slice(2, 4))])
    kept = {0: [1], 1: [1, 2]}  # by the pair
    for row in range(4):
        for latent in range(5):
            own = latent in kept[row % 2]
            assert found.mean[row, latent] == (mean if own else average.repeat(2, 1))[row, latent]
            assert found.log_variance[row, latent] == (log_variance if own else spread.repeat(2, 1))[row, latent]


@pytest.mark.parametrize("name", ["gvae", "ml-vae"])
def test_more_factors_than_latents_are_refused_before_a_folder_is_made(name, tmp_path):
    with pytest.raises(UsageError, match="'xysquares' has 6 factors, so this method needs 6 latents, not 5"):
        unweave.train(name, data="xysquares:size=32", latents=5, steps=2, out=tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_it_puts_factors_where_they_belong(tmp_path):
    """After a short training on a world of two factors, latents 0 and 1 follow factors 0 and 1."""
    rows = np.indices((8, 8)).reshape(2, -1).T
    images = np.zeros((64, 8, 8, 1), np.uint8)
    for image, (left, top) in zip(images, rows, strict=True):
        image[:, left] += 100
        image[top, :] += 100
    world = unweave.data.Table(images, rows)
    run = unweave.train(
        GVAE(beta=0.1), data=world, steps=400, batch=32, net="mlp", width=0.1, latents=3, threads=1, out=tmp_path
    )
    codes = run.encode(images)
    within = [codes[rows[:, k] == 3, k].var() / codes[:, k].var() for k in range(2)]
    assert max(within) < 0.2
