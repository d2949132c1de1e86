"""What a reconstruction loss is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from torch import Tensor

Transform = Callable[[Tensor], Tensor]


def identity(values: Tensor) -> Tensor:
    """Return the values themselves."""
    return values


def any_images(shape: tuple[int, ...], standardise: bool) -> None:
    """Refuse no images."""


@dataclass(frozen=True)
class Loss:
    """A reconstruction loss and the meaning it gives to the decoder's output.

    Values are those of images (n, C, H, W) or of vectors (n, D).
    """

    distance: Callable[[Tensor, Tensor], Tensor]
    """(values, decoder output) to one number an image or vector, (n,): summed over its values."""
    mean: Transform = identity
    """Decoder output to the expected values."""
    inverse: Transform = identity
    """Values to a decoder output whose mean they are."""
    seen: Transform = identity
    """Values to what the encoder is given of them."""
    domain: str = "real"
    """What values may be: real (standardised or not), unit (from 0 to 1) or counts (0, 1, 2, …)."""
    needs_images: bool = False
    """True where the distance looks at pixels that are neighbours."""
    has_spread: bool = False
    """True where the output is (n, 2, …): means, and a parameter of their spread, learnt for each value."""
    check: Callable[[tuple[int, ...], bool], None] = any_images
    """Given the shape of images and whether they are standardised: raises where the distance cannot compare them."""
    features: Transform | None = None
    """Values to features (n, …) whose squared ℓ2 distance is the loss, where there are such: many pairs of a few images
    are then compared without a blur for each pair."""
