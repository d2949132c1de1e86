"""Networks: encoders and decoders of images of any size and of vectors, and the model that joins them.

To add an architecture: one function `(shape, latents, width) -> Body` in a file of its own, one line in `NETS`; its
keyword-only parameters are options, `name:option=value`. One outside unweave is two modules, or a function that makes
them under `register`: see `unweave.nets.own`.

`body` (an encoder and a decoder), `conv`, `mlp`, `qlae`, `tripod`, `vectors` (the architectures), `bottleneck` and
`bottlenecks` (from features to a posterior, and from codes to what the decoder takes; which latents are categorical),
`additive` and `broadcast` (restricted decoders), `hidden` (activations of hidden layers), `model` (the whole).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Annotated, Any

import torch
from torch import Tensor, nn

from unweave.errors import UsageError
from unweave.fields import OneOf, later
from unweave.nets.additive import additive
from unweave.nets.body import Body, Builder, Shape
from unweave.nets.bottleneck import Gaussian, Head, Point, Posterior
from unweave.nets.bottlenecks import BOTTLENECKS
from unweave.nets.broadcast import broadcast
from unweave.nets.categorical import Joint
from unweave.nets.conv import conv, disent, dlib
from unweave.nets.mlp import mlp
from unweave.nets.model import Model, VectorModel
from unweave.nets.own import (
    KIND,
    OWN,
    Modules,
    architecture_of,
    body_of,
    checked,
    copied,
    full_name,
    made,
    options_of,
    register,
)
from unweave.nets.own import weights_of as _weights_of
from unweave.nets.qlae import qlae
from unweave.nets.tripod import tripod
from unweave.options import split_options

__all__ = [
    "AUTO",
    "BOTTLENECKS",
    "NETS",
    "Body",
    "Gaussian",
    "Head",
    "Joint",
    "Model",
    "Modules",
    "Net",
    "Point",
    "Posterior",
    "Shape",
    "VectorModel",
    "register",
]

AUTO = "auto"
WIDEST, DEEPEST = 100, 20
NETS: dict[str, Builder] = {
    "additive": additive,
    "broadcast": broadcast,
    "conv": conv,
    "disent": disent,
    "dlib": dlib,
    "mlp": mlp,
    "qlae": qlae,
    "tripod": tripod,
}
DEEPER = {"additive": additive, "broadcast": broadcast, "conv": conv, "disent": disent, "dlib": dlib, "mlp": mlp}
"""Those that come in several depths."""
KIND.builtin = NETS


@dataclass(frozen=True)
class Net:
    """Which network, and how large: enough to build it again."""

    name: Annotated[str, OneOf((AUTO,), NETS)] = AUTO
    """Architecture: conv (the thesis' table A.1), disent (as its code pads it), dlib (disentanglement_lib's), mlp,
    qlae or tripod (large), additive (a sum over groups of latents; with options after a colon: additive:groups=5),
    broadcast (a code at every pixel), one that a plugin registers, or auto: conv for images, mlp for vectors."""
    latents: int = 10
    """Number of latent units."""
    width: float = 1.0
    """Multiplies the number of channels and hidden units."""
    depth: int = later(1)
    """Multiplies the number of convolutions or hidden layers (of all but qlae and tripod)."""
    architecture: str = later("")
    """Of two modules of the user's, a digest of how they print and of the shapes of their tensors."""
    weights: str = later("")
    """Of two modules of the user's, a digest of the weights that they start from."""

    def __post_init__(self) -> None:
        if self.name == OWN and not self.architecture:
            raise UsageError("two modules of your own are given in Python: train(…, net=(encoder, decoder))")
        if self.name not in (AUTO, OWN):
            object.__setattr__(self, "name", full_name(self.name))  # raises for an unknown one
        if self.latents < 1:
            raise UsageError(f"a net needs at least one latent unit, not {self.latents}")
        if not 0 < self.width <= WIDEST:
            raise UsageError(f"a net's width must be positive and at most {WIDEST}, not {self.width}")

        if isinstance(self.depth, bool) or not isinstance(self.depth, int) or not 1 <= self.depth <= DEEPEST:
            raise UsageError(f"a net's depth must be a whole number from 1 to {DEEPEST}, not {self.depth}")
        if self.depth > 1 and self._kind not in (AUTO, *DEEPER):
            raise UsageError(f"the net '{self.name}' has one depth; these have several: {', '.join(DEEPER)}")

    @classmethod
    def of(cls, modules: Modules, latents: int = 10) -> Net:
        """Return the net that two modules of the user's are, with digests of their architecture and weights.

        Parameters
        ----------
        modules
            An encoder from images (n, C, H, W) to features (n, F), and a decoder from codes (n, latents) to images.
        latents
            Number of latent units.

        Returns
        -------
        Net
            A net called "own"; `build` needs the modules.
        """
        modules = checked(modules)
        return cls(OWN, latents, architecture=architecture_of(modules), weights=_weights_of(modules))

    def resolve(self, shape: Shape) -> Net:
        """Return the net for inputs of `shape`: the one that is named, or the one that suits them.

        One of unweave's own that cannot take such inputs is refused.
        """
        net = self if self.name != AUTO else replace(self, name="conv" if len(shape) == 3 else "mlp")
        if net.is_builtin:
            with torch.device("meta"):
                net._body(shape)
        return net

    @property
    def is_builtin(self) -> bool:
        """Whether it is named, and one of unweave's own."""
        return self._kind in NETS

    def build(
        self,
        shape: Shape,
        generator: torch.Generator,
        bottleneck: str = "gaussian",
        adversary: Callable[[int], nn.Module | None] | None = None,
        modules: Modules | None = None,
        seen: Callable[[Tensor], Tensor] | None = None,
        has_spread: bool = False,
        has_decoder: bool = True,
        companion: Callable[[int], nn.Module | None] | None = None,
        **options: Any,
    ) -> Model:
        """Return a new model for images of `shape` (H, W, C), or vectors (D,).

        The layers of unweave's own nets are made on the meta device first, so that torch's own initialisation neither
        costs time nor touches the global random state.

        Parameters
        ----------
        shape
            Height, width and channels of the images, or the number of a vector's features.
        generator
            Where weights are drawn from; modules of the user's keep theirs.
        bottleneck
            The layer between encoder and decoder: a name of `BOTTLENECKS`.
        adversary
            Makes a network that is trained against the model from the number of the decoder's inputs, mostly one for
            each latent. A method says which it needs.
        modules
            The user's encoder and decoder, where the net is two modules. They are copied.
        seen, has_spread
            What the encoder is given of an input, and whether each value has a learnt spread: as the loss needs it.
        has_decoder
            Whether the model has a decoder; a method says so.
        companion
            Makes a network that the method's objective alone uses, from the number of latents.
        **options
            Options of the bottleneck.

        Returns
        -------
        Model
            The model, on the CPU.
        """
        kind_of_head = BOTTLENECKS[bottleneck]
        inputs = kind_of_head.inputs(self.latents, **options)

        def joined(body: Body) -> Model:
            layer = kind_of_head(body.features, self.latents, **options)
            opponent = adversary(inputs) if adversary else None
            beside = companion(self.latents) if companion else None
            kind = Model if len(shape) == 3 else VectorModel
            return kind(body, shape, self.latents, layer, opponent, seen, has_spread, has_decoder, beside)

        net = self.resolve(shape)
        if net.is_builtin:
            with torch.device("meta"):
                body = replace(net, latents=inputs)._body(shape)
                model = joined(body)
            model.to_empty(device="cpu")
            model.initialise(body.draw, generator)
            return model.to(memory_format=torch.channels_last)  # pyright: ignore[reportCallIssue]
        body = body_of(self._modules(shape, inputs, generator, modules), shape, inputs)
        with torch.random.fork_rng(devices=[]):
            model = joined(body)
        model.initialise(body.draw, generator, keep=("encoder.", "decoder."))
        return model

    def _body(self, shape: Shape) -> Body:
        """Return the layers of one of unweave's own nets."""
        options = options_of(self.name)
        if self.depth == 1:
            return NETS[self._kind](shape, self.latents, self.width, **options)
        return DEEPER[self._kind](shape, self.latents, self.width, self.depth, **options)

    @property
    def _kind(self) -> str:
        """The name without its options."""
        return split_options(self.name)[0]

    def _modules(self, shape: Shape, inputs: int, generator: torch.Generator, modules: Modules | None) -> Modules:
        """Return the user's encoder and decoder, which takes so many inputs, new or copied."""
        if self.name != OWN:
            return made(self.name, shape, inputs, self.width, generator)
        if modules is None:
            raise UsageError("the net is two modules of your own: give net=(encoder, decoder)")
        if architecture_of(checked(modules)) != self.architecture:
            raise UsageError("these modules are not those of the run: they print differently, or have other tensors")
        return copied(modules)
