"""The model that every method trains: encoder, bottleneck, usually a decoder, and the scale of its inputs."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor, nn

from unweave.errors import UsageError
from unweave.nets.body import Body, Draw, Shape, tensor_shape
from unweave.nets.bottleneck import Head, Posterior


class NoDecoder(nn.Module):
    """Replaces the decoder in a model that has none."""

    def forward(self, z: Tensor) -> Tensor:
        """Raise a `UsageError`: codes cannot be decoded."""
        raise UsageError("this model has no decoder: its method learns only codes, which cannot be decoded")


class Model(nn.Module):
    """Maps images to posteriors, and codes to images.

    Inside the model a pixel is (value / 255 - pixel_mean) / pixel_deviation, per channel. The two buffers are 0 and 1
    unless images are standardised, and are saved with the weights.
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
        """Join the parts; the reconstruction loss determines `seen` and `has_spread`.

        The method determines `has_decoder`, and the `companion` that its objective needs.
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
        """The device of the model's weights."""
        return self.pixel_mean.device

    def own_parameters(self) -> list[nn.Parameter]:
        """Return the weights of the model, without those of its adversary."""
        return [weight for name, weight in self.named_parameters() if not name.startswith("adversary.")]

    def initialise(self, draw: Draw, generator: torch.Generator, keep: tuple[str, ...] = ()) -> None:
        """Draw every weight matrix from `generator`, set biases to zero, and leave pixels unscaled.

        Parameters whose names begin with one of `keep` do not change.
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
        """Standardise by these constants, one for each channel (for values in [0, 1]) or feature of vectors."""
        for buffer, values in ((self.pixel_mean, mean), (self.pixel_deviation, deviation)):
            constants = torch.tensor(values, dtype=buffer.dtype)
            buffer.copy_(constants.view(-1, *buffer.shape[1:]).expand_as(buffer))

    def checked(self, images: np.ndarray) -> np.ndarray:
        """Return images in the form that `pixels` accepts, or raise a `UsageError` that says what they must be."""
        images = np.ascontiguousarray(images)
        if images.dtype != np.uint8 or images.shape[1:] != self.shape:
            raise UsageError(f"images must be uint8 of shape {self._expected}, not {images.dtype} {images.shape}")
        return images

    def pixels(self, images: np.ndarray) -> Tensor:
        """Return uint8 images (n, H, W, C) as the model's input: float (n, C, H, W), channels last in memory."""
        # A constant for every pixel, not for every channel: the loops over a whole image are four times as fast.
        scale, shift = (each.flatten().expand(self.shape).contiguous() for each in (self._scale, self._shift))
        x = torch.from_numpy(images).to(self.device).float()
        return x.mul_(scale).sub_(shift).permute(0, 3, 1, 2)

    def images(self, pixels: Tensor) -> np.ndarray:
        """Return the model's pixels as uint8 images: the inverse of `pixels`, clipped to 0 … 255."""
        values = pixels.float() * self.pixel_deviation + self.pixel_mean
        values = values.mul(255).round_().clamp_(0, 255).to(torch.uint8)
        return values.permute(0, 2, 3, 1).cpu().numpy()

    def encode(self, x: Tensor) -> Posterior:
        """Return the posterior q(z|x) of pixels (n, C, H, W)."""
        return self.bottleneck(self.encoder(self._seen(x)))

    def embed(self, codes: Tensor) -> Tensor:
        """Return the decoder's input (n, inputs) for codes (n, latents): a category becomes its vector."""
        return self.bottleneck.embed(codes)

    def decode(self, z: Tensor) -> Tensor:
        """Return the decoder's output (n, C, H, W): logits or means, depending on the reconstruction loss.

        The input (n, inputs) is a sample of posteriors, or the result of `embed` for codes. A model without a decoder
        raises a `UsageError`.

        With a learnt spread the output is (n, 2, C, H, W): it also contains the parameter of each pixel's spread.
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
    """Maps vectors (n, D) to posteriors, and codes to vectors: the "pixels" are features, each with its own scale."""

    def checked(self, images: np.ndarray) -> np.ndarray:
        """Return vectors as float32, or raise a `UsageError` that says what they must be."""
        rows = np.asarray(images)
        if rows.dtype.kind not in "biuf" or rows.shape[1:] != self.shape:
            raise UsageError(f"vectors must be numbers of shape {self._expected}, not {rows.dtype} {rows.shape}")
        rows = np.ascontiguousarray(rows, dtype=np.float32)
        if not np.isfinite(rows).all():
            raise UsageError("vectors must be finite numbers: they contain a NaN or an infinity")
        return rows

    def pixels(self, images: np.ndarray) -> Tensor:
        """Return vectors (n, D) as the model's input."""
        return (torch.from_numpy(images).to(self.device) - self.pixel_mean) / self.pixel_deviation

    def images(self, pixels: Tensor) -> np.ndarray:
        """Return the model's values as float32 vectors in their original units: the inverse of `pixels`."""
        return (pixels.float() * self.pixel_deviation + self.pixel_mean).cpu().numpy()
