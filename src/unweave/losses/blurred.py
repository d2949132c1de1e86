"""Squared errors of images plus squared errors of blurred images: a loss that depends on how far apart objects are."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from unweave.errors import UsageError
from unweave.losses.blur import Weights, separable_blur
from unweave.losses.loss import Loss
from unweave.losses.pixelwise import total

WIDEST = 1023


@dataclass(frozen=True)
class Blurred(ABC):
    r"""MSE + weight * MSE of blurred images [Michlo2022]_, eq. 3.8 and 6.3: |x - y|^2 + weight |K * x - K * y|^2.

    Both terms are sums over pixels. In the thesis both are means over the same pixels, so its α is our `weight`.
    """

    def loss(self) -> Loss:
        """Return the loss."""
        return Loss(self.distance, needs_images=True, features=self.features)

    def distance(self, x: Tensor, mean: Tensor) -> Tensor:
        """Return the loss (n,) between pixels and the decoder's output, summed over pixels."""
        # Blurring is linear: the difference of blurred images is the blurred difference.
        with torch.autocast(x.device.type, enabled=False):
            difference = mean.float() - x
            blurred = self.blur(difference)
            return total(difference.square()) + self.alpha * total(blurred.square())

    def features(self, x: Tensor) -> Tensor:
        """Return pixels and weighted blurred pixels (n, 2 C, H, W), whose squared distance is the loss."""
        return torch.cat([x, math.sqrt(self.alpha) * self.blur(x)], 1)

    @abstractmethod
    def blur(self, images: Tensor) -> Tensor:
        """Return images (n, C, H, W) blurred channel by channel."""

    @property
    @abstractmethod
    def alpha(self) -> float:
        """Return the weight of the blurred term."""

    @abstractmethod
    def options(self) -> dict[str, object]:
        """Return all options that determine the loss, by name."""

    def __post_init__(self) -> None:
        if not 0 <= self.alpha < math.inf:
            raise UsageError(f"weight must be a number that is not negative, not {self.alpha}")


@dataclass(frozen=True)
class SeparableBlurred(Blurred):
    """A blur with the same weights along both axes, which add up to one."""

    radius: int = 31
    """Pixels from the kernel's centre to its edge; the kernel is 2 radius + 1 wide."""
    weight: float | None = None
    """Weight of the blurred term; by default the number of cells of the kernel."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 1 <= self.radius <= WIDEST:
            raise UsageError(f"radius must be between 1 and {WIDEST}, not {self.radius}")

    @property
    def alpha(self) -> float:
        """Return the weight of the blurred term."""
        return float((2 * self.radius + 1) ** 2) if self.weight is None else self.weight

    def options(self) -> dict[str, object]:
        """Return all options that determine the loss, by name."""
        return {"radius": self.radius, "weight": self.alpha}

    def blur(self, images: Tensor) -> Tensor:
        """Return images (n, C, H, W) blurred channel by channel."""
        return separable_blur(images, self.weights())

    @abstractmethod
    def weights(self) -> Weights:
        """Return the kernel along one axis."""


@dataclass(frozen=True)
class BoxBlurred(SeparableBlurred):
    r"""MSE and MSE after a box blur [Michlo2022]_, section 3.4: every cell of the kernel is 1 / (2 radius + 1)^2."""

    def weights(self) -> Weights:
        """Return the kernel along one axis."""
        side = 2 * self.radius + 1
        return (1 / side,) * side


@dataclass(frozen=True)
class GaussBlurred(SeparableBlurred):
    r"""MSE and MSE after a Gaussian blur [Michlo2022]_, section 6.1, of standard deviation radius / 4."""

    def weights(self) -> Weights:
        """Return the kernel along one axis."""
        places = np.arange(-self.radius, self.radius + 1)
        heights = np.exp(-0.5 * (places / (self.radius / 4)) ** 2)
        return tuple((heights / heights.sum()).tolist())
