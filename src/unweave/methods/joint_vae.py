"""The JointVAE: Gaussian and categorical latents."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from torch import Tensor

from unweave.data import Dataset
from unweave.errors import UsageError
from unweave.methods.base import Method
from unweave.nets import Model, Posterior
from unweave.nets.categorical import CATEGORICAL, CATEGORIES, TEMPERATURE
from unweave.schedules import Schedule, Scheduled, value_at

GROWING = Schedule(0.0, 25.0, share=0.5)
GROWING_CATEGORIES = Schedule(0.0, 5.0, share=0.5)


@dataclass(frozen=True)
class JointVAE(Method):
    r"""JointVAE [Dupont2018]_: -E_q[log p(x|z,c)] + g_z |KL(q(z|x) || p(z)) - C_z| + g_c |KL(q(c|x) || p(c)) - C_c|.

    The last latents, c, are categorical: their prior is uniform over the categories, and their samples are relaxed
    one-hot vectors [Jang2017]_. Both KL terms are means over the batch, each held at a growing capacity.
    """

    bottleneck: ClassVar[str] = "joint"

    gamma: Scheduled = 30.0
    """Weight of the distance between the KL term of the Gaussian latents and its capacity."""
    categorical_gamma: Scheduled = 30.0
    """Weight of the distance between the KL term of the categorical latents and its capacity."""
    capacity: Scheduled = GROWING
    """Target C_z of the KL term of the Gaussian latents, in nats; a schedule lets it grow."""
    categorical_capacity: Scheduled = GROWING_CATEGORIES
    """Target C_c of the KL term of the categorical latents; limited to log(categories) for each."""
    categorical: int = CATEGORICAL
    """Number of categorical latents: the last ones of the net."""
    categories: int = CATEGORIES
    """Number of categories of each categorical latent."""
    temperature: float = TEMPERATURE
    """Temperature of the relaxation: lower values give samples closer to one category, but noisier gradients."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require_not_negative("gamma", "categorical_gamma", "capacity", "categorical_capacity")
        if self.categorical < 1:
            raise UsageError(f"categorical must be at least 1, not {self.categorical}")
        if self.categories < 2:
            raise UsageError(f"categories must be at least 2, not {self.categories}")
        require_temperature(self.temperature)

    @property
    def bottleneck_options(self) -> dict[str, Any]:
        """The categorical latents, and the temperature."""
        return {"categorical": self.categorical, "categories": self.categories, "temperature": self.temperature}

    def check(self, data: Dataset, latents: int) -> None:
        """Raise a `UsageError` if there is no Gaussian latent."""
        if latents <= self.categorical:
            raise UsageError(
                f"joint-vae needs a Gaussian latent: with {self.categorical} categorical, latents must be larger"
                f" than {latents}"
            )

    def penalty(self, model: Model, q: Posterior, z: Tensor, step: int) -> dict[str, Tensor]:
        """Return how far each of the two KL terms is from its capacity, weighted."""
        numbers, categories = self._kl(q)
        most = self.categorical * math.log(self.categories)
        room = min(value_at(self.categorical_capacity, step), most)
        return {
            "capacity": value_at(self.gamma, step) * (numbers - value_at(self.capacity, step)).abs(),
            "categorical_capacity": value_at(self.categorical_gamma, step) * (categories - room).abs(),
        }

    def diagnostics(self, model: Model, q: Posterior, z: Tensor, step: int) -> dict[str, Tensor]:
        """Return the two KL terms themselves, in nats: they should follow their capacities."""
        numbers, categories = self._kl(q)
        return {"kl": numbers, "categorical_kl": categories}

    def _kl(self, q: Posterior) -> tuple[Tensor, Tensor]:
        """Return the KL terms of the Gaussian and of the categorical latents."""
        each = q.kl().mean(0)
        return each[: -self.categorical].sum(), each[-self.categorical :].sum()


def require_temperature(temperature: float) -> None:
    """Raise a `UsageError` if the temperature is not a positive number."""
    if not 0 < temperature < math.inf:
        raise UsageError(f"temperature must be a number above 0, not {temperature}")
