"""The model every method trains: encoder, bottleneck, decoder, and the scale of its pixels."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn

from unweave.nets.body import Body, Draw, Shape
from unweave.nets.bottleneck import Posterior


class Model(nn.Module):
    """Images to posteriors and codes to images.

    Inside the model a pixel is (value / 255 - pixel_mean) / pixel_deviation, per channel; the two buffers
    are 0 and 1 unless images are standardised, and are saved with the weights.
    """

    pixel_mean: Tensor
    pixel_deviation: Tensor

    def __init__(
        self, body: Body, shape: Shape, latents: int, bottleneck: nn.Module, adversary: nn.Module | None = None
    ) -> None:
        super().__init__()
        self.shape = shape
        self.latents = latents
        self.encoder = body.encoder
        self.bottleneck = bottleneck
        self.decoder = body.decoder
        self.adversary = adversary
        self.register_buffer("pixel_mean", torch.zeros(shape[2], 1, 1))
        self.register_buffer("pixel_deviation", torch.ones(shape[2], 1, 1))

    @property
    def device(self) -> torch.device:
        """Where the model's weights are."""
        return self.pixel_mean.device

    def own_parameters(self) -> list[nn.Parameter]:
        """Return the weights of the model without those of its adversary."""
        return [weight for name, weight in self.named_parameters() if not name.startswith("adversary.")]

    def initialise(self, draw: Draw, generator: torch.Generator) -> None:
        """Draw every weight matrix from `generator`, set biases to zero and pixels to be taken as they are."""
        for name, parameter in self.named_parameters():
            if not name.endswith("weight"):
                nn.init.zeros_(parameter)
            elif parameter.ndim == 1:  # the scale of a normalisation
                nn.init.ones_(parameter)
            else:
                draw(parameter, generator)
        self.set_pixel_scale([0.0], [1.0])

    def set_pixel_scale(self, mean: list[float], deviation: list[float]) -> None:
        """Standardise pixels by these constants per channel, given for values in [0, 1]."""
        self.pixel_mean.copy_(torch.tensor(mean).view(-1, 1, 1).expand_as(self.pixel_mean))
        self.pixel_deviation.copy_(torch.tensor(deviation).view(-1, 1, 1).expand_as(self.pixel_deviation))

    def pixels(self, images: np.ndarray) -> Tensor:
        """Return uint8 images (n, H, W, C) as the model sees them: float (n, C, H, W), channels last in memory."""
        x = torch.from_numpy(images).to(self.device).permute(0, 3, 1, 2)
        return x.float().mul_(self._scale).sub_(self._shift)

    def images(self, pixels: Tensor) -> np.ndarray:
        """Return the model's pixels as uint8 images: the inverse of `pixels`, clipped to what can be shown."""
        values = pixels.float() * self.pixel_deviation + self.pixel_mean
        values = values.mul(255).round_().clamp_(0, 255).to(torch.uint8)
        return values.permute(0, 2, 3, 1).cpu().numpy()

    def encode(self, x: Tensor) -> Posterior:
        """Return the posterior q(z|x) of pixels (n, C, H, W)."""
        return self.bottleneck(self.encoder(x))

    def decode(self, z: Tensor) -> Tensor:
        """Return the decoder's output (n, C, H, W): logits or means, as the reconstruction loss reads it."""
        return self.decoder(z)

    @property
    def _scale(self) -> Tensor:
        return 1 / (255 * self.pixel_deviation)

    @property
    def _shift(self) -> Tensor:
        return self.pixel_mean / self.pixel_deviation
