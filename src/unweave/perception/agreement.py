"""How well a learnt loss follows the factors, compared with other losses."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unweave.data import Dataset
from unweave.losses import Loss, loss_of
from unweave.losses.loss_file import LossFile
from unweave.perception.association import Correlation
from unweave.perception.measured import RANDOM, chosen_factors, measure
from unweave.perception.perceived import Perceived
from unweave.progress import OnProgress

PAIRS = 8192
"""Pairs along each factor, and number of random pairs."""
LEARNT = "learnt"


@dataclass(frozen=True)
class Agreement:
    """Correlations of perceived with ground-truth distances."""

    factors: dict[str, Correlation]
    """Of pairs along each factor, which may be one image twice."""
    random: Correlation
    """Of random pairs of different images."""

    @property
    def factor(self) -> Correlation:
        """The means over the factors."""
        linear, rank = np.mean(list(self.factors.values()), axis=0)
        return Correlation(float(linear), float(rank))

    def to_json(self) -> dict[str, dict[str, float]]:
        """Return the correlations by factor, and those of random pairs."""
        return {name: each._asdict() for name, each in {**self.factors, RANDOM: self.random}.items()}


class _Seen(Perceived):
    """A data set as seen by a loss that has no name yet."""

    def __init__(self, data: Dataset, loss: Loss) -> None:
        super().__init__(data, "mse")
        self.loss = loss


def agreements(
    data: Dataset, learnt: LossFile, *, scaled: bool, seed: int, on_progress: OnProgress
) -> dict[str, Agreement]:
    """Return the correlations of mse, of a box blur and of the learnt loss, on the same pairs, by name."""
    radius = max(1, min(data.shape[:2]) // 2 - 1)
    box = f"mse-box:radius={radius}"
    losses = {
        "mse": loss_of("mse"),
        box: loss_of(box),
        LEARNT: Loss(learnt.distance, needs_images=True, features=learnt.features),
    }
    factors = chosen_factors(data, None)
    found: dict[str, Agreement] = {}
    for name, loss in losses.items():
        each = measure(_Seen(data, loss), factors, pairs=PAIRS, seed=seed, scaled=scaled, on_progress=on_progress)
        found[name] = Agreement(each.correlations(), each.random.correlation())
    return found
