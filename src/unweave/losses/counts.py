"""Losses for counts: the decoder outputs the logarithm of the mean, for rows of any total.

The encoder takes log(1 + x), because counts spread over orders of magnitude.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass

import torch
from torch import Tensor

from unweave.errors import UsageError
from unweave.losses.loss import Loss
from unweave.losses.pixelwise import total
from unweave.losses.spread import first, with_unit_spread

LEAST = 1e-6
"""Replaces a count of 0 where its logarithm is needed."""


@dataclass(frozen=True)
class Counts(ABC):
    """Counts x_i with means m_i = exp(o_i) sum_j x_j / library, with o the decoder's output.

    The means are proportional to the total of a row, for example of a cell that was sequenced more deeply, so the code
    need not encode the total. A decoded row has the total `library`.
    """

    library: float | None = None
    """Total of decoded rows; by default the median of the data set. 0: means are exp(o_i), whatever the total."""

    def __post_init__(self) -> None:
        if self.library is not None and not 0 <= self.library < math.inf:
            raise UsageError(f"library must be a number that is not negative, not {self.library}")

    @abstractmethod
    def loss(self) -> Loss:
        """Return the loss."""

    def options(self) -> dict[str, object]:
        """Return all options that determine the loss, by name."""
        return {"library": self.library}

    def log_size(self, x: Tensor) -> Tensor | float:
        """Return log(sum_j x_j / library) of every row, (n, 1); an empty row is treated as having a single count."""
        if not self.library:
            return 0.0
        return x.sum(1, keepdim=True).clamp(min=1).log() - math.log(self.library)

    def log_counts(self, x: Tensor) -> Tensor:
        """Return the outputs whose means are the counts x, in rows with the total `library`."""
        return x.clamp(min=LEAST).log() - self.log_size(x)


@dataclass(frozen=True)
class Poisson(Counts):
    r"""Poisson counts: sum_i m_i - x_i log m_i + log x_i!."""

    def loss(self) -> Loss:
        """Return the loss."""
        return Loss(self.distance, torch.exp, self.log_counts, torch.log1p, "counts")

    def distance(self, x: Tensor, output: Tensor) -> Tensor:
        """Return -log p(x) (n,) of counts and the decoder's output."""
        x, output = _wide(x), _wide(output)
        log_mean = output + self.log_size(x)
        return total(log_mean.exp() - x * log_mean + torch.lgamma(x + 1)).float()


@dataclass(frozen=True)
class NegativeBinomial(Counts):
    r"""Negative binomial counts [Lopez2018]_ with mean m and variance m + m^2 / r, r learnt for each feature.

    A feature costs -log[Gamma(x + r) / (Gamma(r) x!)] - r log[r / (r + m)] - x log[m / (r + m)].
    """

    def loss(self) -> Loss:
        """Return the loss."""
        return Loss(self.distance, self.mean, self.inverse, torch.log1p, "counts", has_spread=True)

    def mean(self, output: Tensor) -> Tensor:
        """Return the expected counts of rows with the total `library`."""
        return first(output).exp()

    def inverse(self, x: Tensor) -> Tensor:
        """Return an output whose mean is the counts x in rows of that total, with r = 1."""
        return with_unit_spread(self.log_counts(x))

    def distance(self, x: Tensor, output: Tensor) -> Tensor:
        """Return -log p(x) (n,) of counts and the decoder's output."""
        x, (log_mean, log_r) = _wide(x), _wide(output).unbind(1)
        log_mean, r = log_mean + self.log_size(x), log_r.exp()
        log_sum = torch.logaddexp(log_mean, log_r)
        ways = torch.lgamma(x + r) - torch.lgamma(r) - torch.lgamma(x + 1)
        return -total(ways + r * (log_r - log_sum) + x * (log_mean - log_sum)).float()


def _wide(values: Tensor) -> Tensor:
    """Return values in double precision if the device has it: log x! of large counts cancels digits."""
    return values.float() if values.device.type == "mps" else values.double()
