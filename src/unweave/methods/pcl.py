"""Permutation-contrastive learning: distinguish consecutive observations from others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from unweave.data import Dataset
from unweave.data.consecutive import TIMES, draw_consecutive, require_consecutive
from unweave.errors import UsageError, unknown
from unweave.fields import OneOf
from unweave.methods.base import Batch, Method
from unweave.nets import Model, Posterior

UNITS = 16
"""Hidden units of the network of each latent."""


class Absolute(nn.Module):
    r"""B_j(a, b) = -|k_1 a + k_2 b + k_3| + (k_4 a + k_5)^2 for each latent, for a Laplace density of changes.

    It starts as -|a - b|.
    """

    def __init__(self, latents: int) -> None:
        super().__init__()
        self.offsets = nn.Parameter(torch.empty(5, latents))

    def forward(self, a: Tensor, b: Tensor) -> Tensor:
        """Return B_j (n, latents) of codes (n, latents) and those of the time before."""
        now, before, shift, scale, place = self.offsets
        return (scale * a + place).square() - ((1 + now) * a + (before - 1) * b + shift).abs()


class Network(nn.Module):
    """B_j(a, b) as a separate network for each latent: any function of the two."""

    def __init__(self, latents: int) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv1d(2 * latents, UNITS * latents, 1, groups=latents),
            nn.Tanh(),
            nn.Conv1d(UNITS * latents, UNITS * latents, 1, groups=latents),
            nn.Tanh(),
            nn.Conv1d(UNITS * latents, latents, 1, groups=latents),
        )

    def forward(self, a: Tensor, b: Tensor) -> Tensor:
        """Return B_j (n, latents) of codes (n, latents) and those of the time before."""
        return self.layers(torch.stack([a, b], 2).flatten(1)[:, :, None])[:, :, 0]


REGRESSIONS: dict[str, type[nn.Module]] = {"absolute": Absolute, "network": Network}


@dataclass(frozen=True)
class PCL(Method):
    r"""PCL [Hyvarinen2017]_: the logistic loss of distinguishing (x_t, x_{t-1}) from (x_t, x_s), s another time.

    The log-odds are r(x, x') = c + sum_j B_j(h_j(x), h_j(x')), with h the encoder. Each latent is compared only with
    itself, so the loss is lowest if the latents are the independent sources. There is no decoder.
    """

    bottleneck: ClassVar[str] = "point"
    group_size: ClassVar[int] = 2
    min_batch: ClassVar[int] = 2
    decoder: ClassVar[bool] = False

    regression: Annotated[str, OneOf(REGRESSIONS)] = "absolute"
    """Form of B_j: absolute (as in the paper's simulations, for Laplace-distributed changes) or network (any)."""
    time: Annotated[str, OneOf(TIMES)] = "auto"
    """What counts as consecutive: rows (the next row of your data), walk (on a grid, every factor moves a little), or
    auto: a walk if there is a grid, otherwise rows."""
    step: int = 1
    """Largest number of values by which a factor moves in a walk."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.regression not in REGRESSIONS:
            raise unknown("regression", self.regression, REGRESSIONS)
        if self.time not in TIMES:
            raise unknown("source of time", self.time, TIMES)
        if self.step < 1:
            raise UsageError(f"step must be at least 1, not {self.step}")

    def draw(self, data: Dataset, n: int, rng: np.random.Generator) -> np.ndarray:
        """Return the indices (2, n) of images and of the images that follow them."""
        return draw_consecutive(data, n, rng, time=self.time, step=self.step)

    def check(self, data: Dataset, latents: int) -> None:
        """Raise a `UsageError` if the data set has no temporal order."""
        require_consecutive(data, self.time, self.step)

    def companion(self, latents: int) -> nn.Module:
        """Return the regression function."""
        return Regression(REGRESSIONS[self.regression](latents))

    def terms(self, model: Model, batch: Batch, q: Posterior, z: Tensor, step: int) -> dict[str, Tensor]:
        """Return the logistic loss, summed over both kinds of pairs; chance is 2 log 2 = 1.39 nats."""
        before, now = z.chunk(2)
        odds = regression(model)
        follows, shuffled = odds(now, before), odds(now, before.roll(1, 0))  # rows are independent draws
        return {"contrast": (functional.softplus(-follows) + functional.softplus(shuffled)).mean()}

    def penalty(self, model: Model, q: Posterior, z: Tensor, step: int) -> dict[str, Tensor]:
        """Return no terms: the contrast is in `terms`."""
        return {}


class Regression(nn.Module):
    """r(x, x') = c + sum_j B_j(h_j(x), h_j(x'))."""

    def __init__(self, parts: nn.Module) -> None:
        super().__init__()
        self.parts = parts
        self.constant = nn.Parameter(torch.empty(()))

    def forward(self, now: Tensor, before: Tensor) -> Tensor:
        """Return the log-odds (n,) that the first codes follow the second."""
        return self.constant + self.parts(now, before).sum(1)


def regression(model: Model) -> Regression:
    """Return the model's regression function, which exists if the model was built for this method."""
    if not isinstance(model.companion, Regression):
        raise ValueError("the model was built without a regression function")
    return model.companion
