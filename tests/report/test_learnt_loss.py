"""Pictures of learnt losses."""

from __future__ import annotations

import numpy as np
import torch

from unweave.data import Table, load
from unweave.losses.autoencoder import initial_autoencoder
from unweave.losses.loss_file import LossFile
from unweave.report import learnt_loss_picture

KERNEL = LossFile("kernel", {"kernel": torch.eye(7)})
CODER = LossFile("autoencoder", initial_autoencoder(3, 3, torch.Generator().manual_seed(0)))


def test_a_kernel_is_drawn_above_images_and_an_autoencoder_is_images_alone():
    data = load("xysquares:size=32")
    kernel, coder = (learnt_loss_picture(loss, data) for loss in (KERNEL, CODER))
    assert kernel.width == coder.width
    assert kernel.height > coder.height + 300
    ink = np.asarray(kernel.convert("L"))[60:400, 170:560]
    assert (ink == 0).mean() > 0.3  # most cells of the kernel are 0
    assert np.asarray(coder).std() > 10


def test_images_that_are_no_grid_are_shown_at_random():
    images = np.random.default_rng(0).integers(0, 255, (20, 16, 16, 1), np.uint8)
    data = Table(images, np.random.default_rng(1).integers(0, 3, (20, 2)))
    rows = {seed: np.asarray(learnt_loss_picture(KERNEL, data, columns=4, seed=seed)) for seed in (0, 0, 1)}
    assert rows[0].shape == rows[1].shape
    assert (rows[0] != rows[1]).any()


def test_a_row_has_as_many_images_as_asked():
    data = load("xysquares:size=32")
    five, eight = (learnt_loss_picture(CODER, data, columns=columns).width for columns in (5, 8))
    assert eight - five == 3 * (128 + 4)  # cells and gaps
