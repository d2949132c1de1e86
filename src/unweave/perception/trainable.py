"""The learnable part of a loss: the parameters of h in its second term."""

from __future__ import annotations

from abc import ABC, abstractmethod

import torch
from torch import Tensor

from unweave.data.dataset import Images
from unweave.data.factors import Integers
from unweave.losses.autoencoder import autoencode, autoencoder_depth, initial_autoencoder
from unweave.losses.blur import fourier_blur, full_fourier_blur
from unweave.perception.batches import PairedRows, distinct_planes, whole_images
from unweave.perception.pair_squares import pair_squares

TOGETHER = 64
"""Number of planes blurred at once: four times as fast if they fit into the processor's cache."""


class Trainable(ABC):
    """A loss |x - y|^2 + weight |h(x) - h(y)|^2 whose h has parameters."""

    parameters: list[Tensor]

    def distances(self, images: Images, pairs: Integers, weight: float) -> Tensor:
        """Return the perceived distances (m,), means over pixels, of pairs (m, 2) of a batch (n, H, W, C)."""
        batch = self.paired(images, pairs)
        plain = pair_squares(batch.rows.flatten(1), batch.pairs)
        seen = pair_squares(self.augmented(batch.rows).flatten(1), batch.pairs)
        return (plain + weight * seen)[batch.places].sum(1) / images[0].size

    @abstractmethod
    def paired(self, images: Images, pairs: Integers) -> PairedRows:
        """Return the rows to which h is applied."""

    @abstractmethod
    def augmented(self, rows: Tensor) -> Tensor:
        """Return h of rows (n, c, H, W)."""

    @abstractmethod
    def penalties(self, symmetry: float, shrinkage: float) -> Tensor:
        """Return what is added to the objective."""

    @abstractmethod
    def tensors(self) -> dict[str, Tensor]:
        """Return what a loss file holds."""


class TrainableKernel(Trainable):
    r"""A convolution of every channel with one kernel k = |theta|, (2 r + 1) x (2 r + 1) [Michlo2022]_, section 6.1.

    It starts as |1 + 0.001 n| / sum, n standard normal: nearly a box blur that adds up to one. With the extent "full",
    what it spreads beyond the border is also compared.
    """

    def __init__(self, radius: int, generator: torch.Generator, extent: str = "same") -> None:
        side = 2 * radius + 1
        noisy = 1 + 0.001 * torch.randn(side, side, generator=generator)
        self.theta = (noisy / noisy.sum()).abs().requires_grad_()
        self.parameters = [self.theta]
        self.blur = full_fourier_blur if extent == "full" else fourier_blur

    def paired(self, images: Images, pairs: Integers) -> PairedRows:
        """Return the distinct planes of a batch."""
        return distinct_planes(images, pairs)

    def augmented(self, rows: Tensor) -> Tensor:
        """Return blurred planes."""
        kernel = self.theta.abs()
        return torch.cat([self.blur(part, kernel) for part in rows.split(TOGETHER)])

    def penalties(self, symmetry: float, shrinkage: float) -> Tensor:
        r"""Return symmetry * sum of mean |f(k) - k'| + shrinkage * mean k^2, f(k) either mirror image, k' k and k^T."""
        kernel = self.theta.abs()
        mirrored = kernel.flip(0), kernel.flip(1)
        uneven = [(image - other).abs().mean() for other in (kernel, kernel.T) for image in mirrored]
        return symmetry * torch.stack(uneven).sum() + shrinkage * kernel.square().mean()

    def tensors(self) -> dict[str, Tensor]:
        """Return the kernel."""
        return {"kernel": self.theta.detach().abs()}


class TrainableAutoencoder(Trainable):
    """A small convolutional autoencoder, for what one kernel cannot see: colours, shapes, sizes."""

    def __init__(self, shape: tuple[int, ...], generator: torch.Generator) -> None:
        height, width, channels = shape
        drawn = initial_autoencoder(channels, autoencoder_depth(height, width), generator)
        self.weights = {name: tensor.requires_grad_() for name, tensor in drawn.items()}
        self.parameters = list(self.weights.values())

    def paired(self, images: Images, pairs: Integers) -> PairedRows:
        """Return the images themselves."""
        return whole_images(images, pairs)

    def augmented(self, rows: Tensor) -> Tensor:
        """Return decoded images."""
        return autoencode(rows, self.weights)

    def penalties(self, symmetry: float, shrinkage: float) -> Tensor:
        """Return shrinkage * mean square of the weights; there is no symmetry term."""
        flat = torch.cat([tensor.flatten() for tensor in self.parameters])
        return shrinkage * flat.square().mean()

    def tensors(self) -> dict[str, Tensor]:
        """Return all weights."""
        return {name: tensor.detach() for name, tensor in self.weights.items()}
