"""The model every method trains: encoder, bottleneck, most often a decoder, and the scale of its inputs."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor, nn

from unweave.errors import UsageError
from unweave.nets.body import Body, Draw, Shape, tensor_shape
from unweave.nets.bottleneck import Head, Posterior


class NoDecoder(nn.Module):
    """Stands in the place of a decoder where there is none."""

    def forward(self, z: Tensor) -> Tensor:
        """Refuse: nothing can be drawn from codes."""
        raise UsageError("this model has no decoder: its method learns codes alone, and nothing can be drawn from them")


class Model(nn.Module):
    """Images to posteriors and codes to images.

    Inside the model a pixel is (value / 255 - pixel_mean) / pixel_deviation, per channel; the two buffers
    are 0 and 1 unless images are standardised, and are saved with the weights.
    """

    pixel_mean: Tensor
    pixel_deviation: Tensor

    def __init__(
        self,
        body: Body,
        shape: Shape,
        latents: int,
        bottleneck: Head,
        adversary: nn.Module | None = None,
        seen: Callable[[Tensor], Tensor] | None = None,
        has_spread: bool = False,
        has_decoder: bool = True,
        companion: nn.Module | None = None,
    ) -> None:
        """Join the parts; a reconstruction loss says what of the pixels is `seen`, and whether it `has_spread`.

        A method says whether the model `has_decoder`, and which `companion` its objective needs.
        """
        super().__init__()
        self.shape = shape
        self.latents = latents
        self.encoder = body.encoder
        self.bottleneck = bottleneck
        self.decoder = body.decoder if has_decoder else NoDecoder()
        self.companion = companion
        self.adversary = adversary
        self.spread = nn.Parameter(torch.empty(tensor_shape(shape))) if has_spread else None
        self._seen = seen or (lambda x: x)
        channels = (shape[-1], *(1 for _ in shape[1:]))
        self.register_buffer("pixel_mean", torch.zeros(channels))
        self.register_buffer("pixel_deviation", torch.ones(channels))

    @property
    def device(self) -> torch.device:
        """Where the model's weights are."""
        return self.pixel_mean.device

    def own_parameters(self) -> list[nn.Parameter]:
        """Return the weights of the model without those of its adversary."""
        return [weight for name, weight in self.named_parameters() if not name.startswith("adversary.")]

    def initialise(self, draw: Draw, generator: torch.Generator, keep: tuple[str, ...] = ()) -> None:
        """Draw every weight matrix from `generator`, set biases to zero and pixels to be taken as they are.

        Parameters whose names begin with one of `keep` stay as they are.
        """
        for name, parameter in self.named_parameters():
            if name.startswith(keep):
                continue
            if not name.endswith("weight"):
                nn.init.zeros_(parameter)
            elif parameter.ndim == 1:  # the scale of a normalisation
                nn.init.ones_(parameter)
            else:
                draw(parameter, generator)
        self.bottleneck.initialise(generator)
        self.set_pixel_scale([0.0], [1.0])

    def set_pixel_scale(self, mean: list[float], deviation: list[float]) -> None:
        """Standardise by these constants: of each channel, for values in [0, 1], or of each feature of vectors."""
        for buffer, values in ((self.pixel_mean, mean), (self.pixel_deviation, deviation)):
            constants = torch.tensor(values, dtype=buffer.dtype)
            buffer.copy_(constants.view(-1, *buffer.shape[1:]).expand_as(buffer))

    def checked(self, images: np.ndarray) -> np.ndarray:
        """Return images as `pixels` takes them, or say what they must be."""
        images = np.ascontiguousarray(images)
        if images.dtype != np.uint8 or images.shape[1:] != self.shape:
            raise UsageError(f"images must be uint8 of shape {self._expected}, not {images.dtype} {images.shape}")
        return images

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
        return self.bottleneck(self.encoder(self._seen(x)))

    def embed(self, codes: Tensor) -> Tensor:
        """Return codes (n, latents) as the decoder takes them, (n, inputs): the number of a category as its vector."""
        return self.bottleneck.embed(codes)

    def decode(self, z: Tensor) -> Tensor:
        """Return the decoder's output (n, C, H, W): logits or means, as the reconstruction loss reads it.

        What is decoded, (n, inputs), are samples of posteriors, or what `embed` makes of codes. A model without a
        decoder raises a `UsageError`.

        With a spread it is (n, 2, C, H, W): beside the output the parameter of each pixel's spread.
        """
        output = self.decoder(z)
        return output if self.spread is None else torch.stack([output, self.spread.expand_as(output)], 1)

    @property
    def _expected(self) -> str:
        return "(n, " + ", ".join(map(str, self.shape)) + ")"

    @property
    def _scale(self) -> Tensor:
        return 1 / (255 * self.pixel_deviation)

    @property
    def _shift(self) -> Tensor:
        return self.pixel_mean / self.pixel_deviation


class VectorModel(Model):
    """Vectors (n, D) to posteriors and codes to vectors: the "pixels" are features, with a scale each."""

    def checked(self, images: np.ndarray) -> np.ndarray:
        """Return vectors as float32, or say what they must be."""
        rows = np.asarray(images)
        if rows.dtype.kind not in "biuf" or rows.shape[1:] != self.shape:
            raise UsageError(f"vectors must be numbers of shape {self._expected}, not {rows.dtype} {rows.shape}")
        rows = np.ascontiguousarray(rows, dtype=np.float32)
        if not np.isfinite(rows).all():
            raise UsageError("vectors must be finite numbers: they hold a NaN or an infinity")
        return rows

    def pixels(self, images: np.ndarray) -> Tensor:
        """Return vectors (n, D) as the model sees them."""
        return (torch.from_numpy(images).to(self.device) - self.pixel_mean) / self.pixel_deviation

    def images(self, pixels: Tensor) -> np.ndarray:
        """Return what the model sees as vectors in their own units, float32: the inverse of `pixels`."""
        return (pixels.float() * self.pixel_deviation + self.pixel_mean).cpu().numpy()
