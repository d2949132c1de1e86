"""The supervised term: what the latents of a few images should be, of which the factors are known."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from unweave.data import Dataset
from unweave.data.labels import Labelled, Labels, draw_labels
from unweave.nets import Model
from unweave.schedules import value_at

Compare = Callable[[Tensor, Tensor], Tensor]
"""From the codes (n, latents) of labelled images and what their labels ask for, (n, k), to one number."""


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
    return covariances.square().sum() - covariances.diagonal().square().sum()


class Embedding(nn.Module):
    """The places e_jv of a factor's values on its latent, and the sharpness a_j with which they are told apart.

    All begin at 0: the images, and not the numbers of values, say which lies beside which.
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
"""The terms without weights of their own."""


class Supervision:
    """The labelled images of a run [Locatello2020b]_, of which every step sees a few.

    Of the latents, only the first `numbers` are compared with labels: what follows are categories. None: all.
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
    """Return what a term compares codes with."""
    if term == "embed":
        return labelled.classes
    return labelled.places if term == "cross-entropy" else labelled.standardised
