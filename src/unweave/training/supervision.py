"""The supervised term: compares the latents of a few labelled images with their factors."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from unweave.data import Dataset
from unweave.data.labels import Labelled, Labels, draw_labels
from unweave.nets import Model
from unweave.penalties.off_diagonal import off_diagonal_squares
from unweave.schedules import value_at

Compare = Callable[[Tensor, Tensor], Tensor]
"""Maps the codes (n, latents) of labelled images and their targets (n, k) to one number."""


def squared_distance(codes: Tensor, targets: Tensor) -> Tensor:
    """Return sum_j (m_j - t_j)^2, a mean over images."""
    return (codes[:, : targets.shape[1]] - targets).square().sum(1).mean()


def cross_entropy(codes: Tensor, targets: Tensor) -> Tensor:
    """Return sum_j -t_j log sigmoid(m_j) - (1 - t_j) log(1 - sigmoid(m_j)), a mean over images."""
    codes = codes[:, : targets.shape[1]]
    return functional.binary_cross_entropy_with_logits(codes, targets, reduction="none").sum(1).mean()


def covariance(codes: Tensor, targets: Tensor) -> Tensor:
    """Return sum_{i != j} cov(m_i, t_j)^2 over all latents i and labelled factors j, in this batch of images."""
    covariances = (codes - codes.mean(0)).T @ (targets - targets.mean(0)) / len(codes)  # (latents, k)
    return off_diagonal_squares(covariances)


class Embedding(nn.Module):
    """The positions e_jv of a factor's values on its latent, and the sharpness a_j that separates them.

    All positions start at 0, so the images, not the indices of values, determine which values become neighbours.
    """

    valid: Tensor

    def __init__(self, labelled: Labelled, sharpness: float) -> None:
        super().__init__()
        count, most = len(labelled.sizes), int(labelled.sizes.max())
        self.places = nn.Parameter(torch.zeros(count, most))
        self.log_sharpness = nn.Parameter(torch.zeros(count)) if sharpness == 0 else None
        self._sharpness = sharpness
        sizes = torch.from_numpy(labelled.sizes)
        self.register_buffer("valid", torch.arange(most) < sizes[:, None], persistent=False)

    def forward(self, codes: Tensor, classes: Tensor) -> Tensor:
        """Return sum_j -log softmax_v(-(a_j (m_j - e_jv))^2) of the label v, a mean over images."""
        sharpness = self._sharpness if self.log_sharpness is None else self.log_sharpness.exp()[:, None]
        distances = sharpness * (codes[:, : classes.shape[1], None] - self.places)  # (n, k, values)
        logits = (-distances.square()).masked_fill(~self.valid, -torch.inf)
        return functional.cross_entropy(logits.flatten(0, 1), classes.flatten(), reduction="sum") / len(codes)


COMPARE: dict[str, Compare] = {"l2": squared_distance, "cross-entropy": cross_entropy, "cov": covariance}
"""The terms without learnt weights."""


class Supervision:
    """The labelled images of a run [Locatello2020b]_; every step uses a few of them.

    Only the first `numbers` latents are compared with labels, because categorical latents follow. None: all.
    """

    def __init__(self, labels: Labels, data: Dataset, rng: np.random.Generator, numbers: int | None = None) -> None:
        self._labels, self._data, self._rng, self._numbers = labels, data, rng, numbers
        self.labelled = draw_labels(labels, data, rng)
        self.embedding = Embedding(self.labelled, labels.sharpness) if labels.term == "embed" else None
        self._targets = torch.from_numpy(_targets(self.labelled, labels.term))

    def term(self, model: Model, step: int) -> Tensor:
        """Return the weighted term on a batch of the labelled images."""
        rows = self._rng.integers(len(self._targets), size=self._labels.batch)
        targets = self._targets[rows].to(model.device)
        x = model.pixels(self._data.inputs(self.labelled.indices[rows]))
        compare = self.embedding or COMPARE[self._labels.term]
        return value_at(self._labels.weight, step) * compare(model.encode(x).mean[:, : self._numbers], targets)


def _targets(labelled: Labelled, term: str) -> np.ndarray:
    """Return the targets that a term compares codes with."""
    if term == "embed":
        return labelled.classes
    return labelled.places if term == "cross-entropy" else labelled.standardised
