"""What a reconstruction loss is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from torch import Tensor


@dataclass(frozen=True)
class Loss:
    """A reconstruction loss and the meaning it gives to the decoder's output."""

    distance: Callable[[Tensor, Tensor], Tensor]
    """(pixels, decoder output), both (n, C, H, W), to one number an image, (n,): summed over pixels."""
    mean: Callable[[Tensor], Tensor]
    """Decoder output to the expected pixels."""
