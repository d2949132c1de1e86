"""Networks: encoders and decoders of any image size, and the model that joins them.

To add an architecture: one function `(shape, width) -> Body` in a file of its own, one line in `NETS`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import nn

from unweave.errors import UsageError, unknown
from unweave.nets.body import Body, Builder, Shape
from unweave.nets.bottleneck import Gaussian, Point, Posterior
from unweave.nets.bottlenecks import BOTTLENECKS
from unweave.nets.conv import conv, disent, dlib
from unweave.nets.mlp import mlp
from unweave.nets.model import Model
from unweave.nets.qlae import qlae
from unweave.nets.tripod import tripod

__all__ = ["BOTTLENECKS", "NETS", "Body", "Gaussian", "Model", "Net", "Point", "Posterior", "Shape"]

WIDEST = 100
NETS: dict[str, Builder] = {
    "conv": conv,
    "disent": disent,
    "dlib": dlib,
    "mlp": mlp,
    "qlae": qlae,
    "tripod": tripod,
}


@dataclass(frozen=True)
class Net:
    """Which network, and how large: enough to build it again."""

    name: str = "conv"
    """Architecture: conv (the thesis' table A.1), disent (as its code pads it), dlib (disentanglement_lib's), mlp,
    qlae or tripod (large)."""
    latents: int = 10
    """Number of latent units."""
    width: float = 1.0
    """Multiplies the number of channels and hidden units."""

    def __post_init__(self) -> None:
        if self.name not in NETS:
            raise unknown("net", self.name, NETS)
        if self.latents < 1:
            raise UsageError(f"a net needs at least one latent unit, not {self.latents}")
        if not 0 < self.width <= WIDEST:
            raise UsageError(f"a net's width must be positive and at most {WIDEST}, not {self.width}")

    def build(
        self,
        shape: Shape,
        generator: torch.Generator,
        bottleneck: str = "gaussian",
        adversary: Callable[[int], nn.Module | None] | None = None,
        **options: int,
    ) -> Model:
        """Return a new model for images of `shape` (H, W, C), its weights drawn from `generator`.

        `bottleneck` names the layer between encoder and decoder, which takes the `options`; `adversary` makes a
        network that is trained against the model from the number of latents. A method says which it needs.

        The layers are made on the meta device first, so that torch's own initialisation neither
        costs time nor touches the global random state.
        """
        with torch.device("meta"):
            body = NETS[self.name](shape, self.latents, self.width)
            layer = BOTTLENECKS[bottleneck](body.features, self.latents, **options)
            model = Model(body, shape, self.latents, layer, adversary(self.latents) if adversary else None)
        model.to_empty(device="cpu")
        model.initialise(body.draw, generator)
        return model.to(memory_format=torch.channels_last)  # pyright: ignore[reportCallIssue]
