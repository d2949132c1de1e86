"""The interface of reconstruction losses."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from torch import Tensor

Transform = Callable[[Tensor], Tensor]


def identity(values: Tensor) -> Tensor:
    """Return the values themselves."""
    return values


def any_images(shape: tuple[int, ...], standardise: bool) -> None:
    """Accept all images."""


@dataclass(frozen=True)
class Loss:
    """A reconstruction loss, and how it interprets the decoder's output.

    Values are those of images (n, C, H, W) or of vectors (n, D).
    """

    distance: Callable[[Tensor, Tensor], Tensor]
    """Maps values and the decoder's output to one number for each image or vector, (n,), summed over its values."""
    mean: Transform = identity
    """Maps the decoder's output to the expected values."""
    inverse: Transform = identity
    """Maps values to a decoder output with these values as its mean."""
    seen: Transform = identity
    """Maps values to the encoder's input."""
    domain: str = "real"
    """The values it accepts: real (standardised or not), unit (from 0 to 1) or counts (0, 1, 2, …)."""
    needs_images: bool = False
    """True if the distance compares neighbouring pixels."""
    has_spread: bool = False
    """True if the output is (n, 2, …): means, and a learnt parameter of the spread of each value."""
    check: Callable[[tuple[int, ...], bool], None] = any_images
    """Raises a `UsageError` for images that it cannot compare, from their shape and whether they are standardised."""
    features: Transform | None = None
    """Maps values to features (n, …) whose squared ℓ2 distance is the loss, if possible: many pairs of a few images can
    then be compared without a blur for each pair."""
