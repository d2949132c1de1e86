"""The identifiable VAE: its prior depends on an auxiliary variable that is observed with the image."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np
import torch
from torch import Tensor, nn

from unweave.data import Dataset
from unweave.data.restricted import drawn_cells, reweighted
from unweave.data.table import require_factors
from unweave.errors import UsageError
from unweave.fields import later
from unweave.methods.base import Batch, Method
from unweave.nets import Gaussian, Model, Posterior
from unweave.schedules import Scheduled, value_at

MOST_VALUES = 10_000
"""Largest number of values of u: each has its own variances, learnt from the images with that value."""


@dataclass(frozen=True)
class IVAE(Method):
    r"""iVAE [Khemakhem2020]_, eq. 8: -E_q[log p(x|z)] + beta KL(q(z|x) || p(z|u)).

    u is observed in training: the values of one or more factors, such as a class, or the segment of a time series.
    p(z|u) is a Gaussian with independent latents. Its variances, and optionally its means, are learnt for each value of
    u. The encoder takes x alone, so u is not needed after training.
    """

    labelled: ClassVar[bool] = True

    beta: Scheduled = 1.0
    """Weight of the KL term; the paper uses 1."""
    auxiliary: str = ""
    """Factors that form the auxiliary variable u: comma-separated names; by default the first that varies."""
    means: bool = False
    """Also learn the mean of p(z|u) for each value of u; otherwise all means are 0."""
    columns: str = ""
    """Position and number of values of each factor in u, such as 2:8,0:4; filled in from the data set."""
    values: str = later("")
    """The values of u that training draws, such as 5,10,15; empty: all. Filled in from the data set."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require_not_negative("beta")

    def resolve(self, data: Dataset, lr: float) -> Self:
        """Return the method with the factors that form u, their numbers of values, and the values that occur."""
        require_factors(data, "the auxiliary variable of ivae")
        space = data.factors
        named = list(filter(None, map(str.strip, self.auxiliary.split(",")))) or [_first_varying(data)]
        axes = list(dict.fromkeys(space.axis(name) for name in named))
        if real := [space.names[axis] for axis in axes if space.names[axis] in data.continuous]:
            raise UsageError(f"the auxiliary variable of ivae needs classes, but '{real[0]}' is real-valued: bin it")
        values = math.prod(space.sizes[axis] for axis in axes)
        if values > MOST_VALUES:
            raise UsageError(
                f"the auxiliary variable has {values:,} values, more than {MOST_VALUES:,}: use fewer factors"
            )
        read = {
            "columns": ",".join(f"{axis}:{space.sizes[axis]}" for axis in axes),
            "values": ",".join(map(str, _drawn_values(data, axes))),
        }
        for name, value in read.items():
            if (given := getattr(self, name)) not in ("", value):
                raise UsageError(f"ivae takes {name} from the data set, {value!r}, not {given!r}: leave out {name}")
        return replace(self, auxiliary=",".join(space.names[axis] for axis in axes), **read)

    def companion(self, latents: int) -> nn.Module:
        """Return the prior p(z|u)."""
        values = [int(value) for value in self.values.split(",")] if self.values else None
        return ConditionalPrior(self._columns, latents, self.means, values)

    def terms(self, model: Model, batch: Batch, q: Posterior, z: Tensor, step: int) -> dict[str, Tensor]:
        """Return the reconstruction and the weighted KL term."""
        assert isinstance(q, Gaussian), "the bottleneck is Gaussian"
        assert batch.factors is not None, "the batch brings its factors"
        prior = conditional_prior(model)(batch.factors)
        kl = q.divergence(prior).sum(1).mean()
        return {**super().terms(model, batch, q, z, step), "kl": value_at(self.beta, step) * kl}

    def penalty(self, model: Model, q: Posterior, z: Tensor, step: int) -> dict[str, Tensor]:
        """Return no terms: the KL term needs the batch's factors, and is in `terms`."""
        return {}

    @property
    def _columns(self) -> list[tuple[int, int]]:
        """The positions and sizes of the factors that form u."""
        if not self.columns:
            raise UsageError("the auxiliary variable of ivae depends on the data set: call resolve(data, lr) first")
        return [(int(axis), int(size)) for axis, size in (part.split(":") for part in self.columns.split(","))]


class ConditionalPrior(nn.Module):
    """p(z|u) = N(mean(u), diag(variance(u))), a table with a row for each of the `values` of u; None: all.

    The decoder can absorb the scale and position of a latent, so they are fixed: the mixture over these values, with
    equal weights, has mean 0 and variance 1, like the prior of a VAE.
    """

    def __init__(
        self, columns: list[tuple[int, int]], latents: int, means: bool, values: list[int] | None = None
    ) -> None:
        super().__init__()
        self._columns, self._values = columns, values
        rows = math.prod(size for _, size in columns) if values is None else len(values)
        self.log_variance = nn.Parameter(torch.empty(rows, latents))
        self.mean = nn.Parameter(torch.empty(rows, latents)) if means else None

    def forward(self, factors: Tensor) -> Gaussian:
        """Return the prior of images with these factors (n, k)."""
        place = factors.new_zeros(len(factors), dtype=torch.long)
        for axis, size in self._columns:
            place = place * size + factors[:, axis].long()
        if self._values is not None:
            place = torch.searchsorted(place.new_tensor(self._values), place)
        every = self.table()
        return Gaussian(every.mean[place], every.log_variance[place])

    def table(self) -> Gaussian:
        """Return the prior of every row, (values, latents)."""
        mean = torch.zeros_like(self.log_variance) if self.mean is None else self.mean - self.mean.mean(0)
        spread = (self.log_variance.exp() + mean.square()).mean(0).log()  # of the mixture, (latents,)
        return Gaussian(mean * (-0.5 * spread).exp(), self.log_variance - spread)


def conditional_prior(model: Model) -> ConditionalPrior:
    """Return the model's prior, which exists if the model was built for this method."""
    if not isinstance(model.companion, ConditionalPrior):
        raise ValueError("the model was built without a conditional prior")
    return model.companion


def _drawn_values(data: Dataset, axes: list[int]) -> list[int]:
    """Return which values of u training draws, in order; empty if it draws all of them."""
    if data.is_grid and reweighted(data) is None:
        return []
    sizes = [data.factors.sizes[axis] for axis in axes]
    factors = data.values(drawn_cells(data))[:, axes].astype(np.int64)
    found = np.unique(np.ravel_multi_index(tuple(factors.T), sizes))
    return found.tolist() if len(found) < math.prod(sizes) else []


def _first_varying(data: Dataset) -> str:
    classes = zip(data.factors.names, data.factors.sizes, strict=True)
    found = [name for name, size in classes if size > 1 and name not in data.continuous]
    if not found:
        raise UsageError(f"the auxiliary variable of ivae must be a factor with classes, but {data.name} has none")
    return found[0]
