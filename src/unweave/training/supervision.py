"""The supervised term: each of the first latents is drawn to the label of a factor."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from unweave.data import Dataset
from unweave.data.labels import Labels, draw_labels
from unweave.nets import Model
from unweave.schedules import value_at


def squared_distance(codes: Tensor, targets: Tensor) -> Tensor:
    """Return (m - t)^2 for every image and factor."""
    return (codes - targets).square()


def cross_entropy(codes: Tensor, targets: Tensor) -> Tensor:
    """Return -t log sigmoid(m) - (1 - t) log(1 - sigmoid(m)) for every image and factor."""
    return functional.binary_cross_entropy_with_logits(codes, targets, reduction="none")


COMPARE: dict[str, Callable[[Tensor, Tensor], Tensor]] = {"l2": squared_distance, "cross-entropy": cross_entropy}


class Supervision:
    """The labelled images of a run [Locatello2020b]_, of which every step sees a few."""

    def __init__(self, labels: Labels, data: Dataset, rng: np.random.Generator) -> None:
        self._labels, self._data, self._rng = labels, data, rng
        self.labelled = draw_labels(labels, data, rng)
        targets = self.labelled.standardised if labels.term == "l2" else self.labelled.places
        self._targets = torch.from_numpy(targets)

    def term(self, model: Model, step: int) -> Tensor:
        """Return the weighted term on a batch of the labelled images: a sum over factors, a mean over images."""
        rows = self._rng.integers(len(self._targets), size=self._labels.batch)
        targets = self._targets[rows].to(model.device)
        x = model.pixels(self._data.inputs(self.labelled.indices[rows]))
        codes = model.encode(x).mean[:, : targets.shape[1]]
        return value_at(self._labels.weight, step) * COMPARE[self._labels.term](codes, targets).sum(1).mean()
