"""Networks: encoders and decoders for images of any size and for vectors, and the model that joins them.

Notes
-----
To add an architecture, write a function `(shape, latents, width) -> Body` in a new file and add a line to `NETS`. Its
keyword-only parameters are options, `name:option=value`. Your own net is two modules, or a function under `register`
that makes them: see `unweave.nets.own`.

`body` (an encoder and a decoder), `conv`, `mlp`, `qlae`, `tripod`, `vectors` (the architectures), `bottleneck` and
`bottlenecks` (from features to a posterior, and from codes to what the decoder takes; which latents are categorical),
`additive` and `broadcast` (restricted decoders), `hidden` (activations of hidden layers), `model` (the whole).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
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
"""The nets that support `depth`."""
BY_LATENT = {"additive"}
"""The nets that take the number of the decoder's inputs for each latent, not only their sum."""
KIND.builtin = NETS


@dataclass(frozen=True)
class Net:
    """The name and size of a network: enough to build it again."""

    name: Annotated[str, OneOf((AUTO,), NETS)] = AUTO
    """Architecture: conv (table A.1 of the thesis), disent (with the padding of its code), dlib (disentanglement_lib),
    mlp, qlae or tripod (large), additive (a sum over groups of latents; options follow a colon: additive:groups=5),
    broadcast (the code at every pixel), a net registered by a plugin, or auto: conv for images, mlp for vectors."""
    latents: int = 10
    """Number of latents."""
    width: float = 1.0
    """Factor for the number of channels and hidden units."""
    depth: int = later(1)
    """Factor for the number of convolutions or hidden layers (not for qlae and tripod)."""
    architecture: str = later("")
    """For two modules of the user: a digest of their printed form and of the shapes of their tensors."""
    weights: str = later("")
    """For two modules of the user: a digest of their initial weights."""

    def __post_init__(self) -> None:
        if self.name == OWN and not self.architecture:
            raise UsageError("pass two modules of your own in Python: train(…, net=(encoder, decoder))")
        if self.name not in (AUTO, OWN):
            object.__setattr__(self, "name", full_name(self.name))  # raises for an unknown one
        if self.latents < 1:
            raise UsageError(f"a net needs at least one latent, not {self.latents}")
        if not 0 < self.width <= WIDEST:
            raise UsageError(f"a net's width must be positive and at most {WIDEST}, not {self.width}")

        if isinstance(self.depth, bool) or not isinstance(self.depth, int) or not 1 <= self.depth <= DEEPEST:
            raise UsageError(f"a net's depth must be an integer from 1 to {DEEPEST}, not {self.depth}")
        if self.depth > 1 and self._kind not in (AUTO, *DEEPER):
            raise UsageError(f"the net '{self.name}' does not support depth; these do: {', '.join(DEEPER)}")

    @classmethod
    def of(cls, modules: Modules, latents: int = 10) -> Net:
        """Return the net of two modules of the user, with digests of their architecture and weights.

        Parameters
        ----------
        modules
            An encoder from images (n, C, H, W) to features (n, F), and a decoder from codes (n, latents) to images.
        latents
            Number of latents.

        Returns
        -------
        Net
            A net with the name "own"; `build` needs the modules.
        """
        modules = checked(modules)
        return cls(OWN, latents, architecture=architecture_of(modules), weights=_weights_of(modules))

    def resolve(self, shape: Shape) -> Net:
        """Return the net with its name filled in, and check that it accepts inputs of this shape.

        Parameters
        ----------
        shape
            Height, width and channels of the images, or the number of a vector's features.

        Returns
        -------
        Net
            The same net; "auto" becomes conv for images and mlp for vectors. If a built-in net does not accept such
            inputs, a `UsageError` says so.
        """
        net = self if self.name != AUTO else replace(self, name="conv" if len(shape) == 3 else "mlp")
        if net.is_builtin:
            with torch.device("meta"):
                net._body(shape)
        return net

    @property
    def is_builtin(self) -> bool:
        """Whether this is one of unweave's own nets."""
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

        The layers of unweave's own nets are first made on the meta device, so torch's own initialisation neither costs
        time nor changes the global random state.

        Parameters
        ----------
        shape
            Height, width and channels of the images, or the number of a vector's features.
        generator
            Generator of the initial weights; modules of the user keep theirs.
        bottleneck
            The layer between encoder and decoder: a name in `BOTTLENECKS`.
        adversary
            Function that makes a network to train against the model, from the number of the decoder's inputs (usually
            one for each latent). The method provides it.
        modules
            The user's encoder and decoder, if the net is two modules. They are copied.
        seen, has_spread
            Transformation of the encoder's input, and whether each value has a learnt spread, as the loss requires.
        has_decoder
            Whether the model has a decoder, as the method requires.
        companion
            Function that makes a network for the method's objective alone, from the number of latents.
        **options
            Options of the bottleneck.

        Returns
        -------
        Model
            The model, on the CPU.
        """
        kind_of_head = BOTTLENECKS[bottleneck]
        widths = kind_of_head.widths(self.latents, **options)
        inputs = sum(widths)

        def joined(body: Body) -> Model:
            layer = kind_of_head(body.features, self.latents, **options)
            opponent = adversary(inputs) if adversary else None
            beside = companion(self.latents) if companion else None
            kind = Model if len(shape) == 3 else VectorModel
            return kind(body, shape, self.latents, layer, opponent, seen, has_spread, has_decoder, beside)

        net = self.resolve(shape)
        if net.is_builtin:
            with torch.device("meta"):
                body = net._body(shape, widths)
                model = joined(body)
            model.to_empty(device="cpu")
            model.initialise(body.draw, generator)
            return model.to(memory_format=torch.channels_last)  # pyright: ignore[reportCallIssue]
        body = body_of(self._modules(shape, inputs, generator, modules), shape, inputs)
        with torch.random.fork_rng(devices=[]):
            model = joined(body)
        model.initialise(body.draw, generator, keep=("encoder.", "decoder."))
        return model

    def _body(self, shape: Shape, widths: Sequence[int] | None = None) -> Body:
        """Return the layers of one of unweave's own nets; each latent has one decoder input, or those of `widths`."""
        options, widths = options_of(self.name), widths or (1,) * self.latents
        inputs = widths if self._kind in BY_LATENT else sum(widths)
        if self.depth == 1:
            return NETS[self._kind](shape, inputs, self.width, **options)
        return DEEPER[self._kind](shape, inputs, self.width, self.depth, **options)

    @property
    def _kind(self) -> str:
        """The name without its options."""
        return split_options(self.name)[0]

    def _modules(self, shape: Shape, inputs: int, generator: torch.Generator, modules: Modules | None) -> Modules:
        """Return the user's encoder and decoder, new or copied; the decoder takes `inputs` numbers."""
        if self.name != OWN:
            return made(self.name, shape, inputs, self.width, generator)
        if modules is None:
            raise UsageError("the net consists of two modules of your own: give net=(encoder, decoder)")
        if architecture_of(checked(modules)) != self.architecture:
            raise UsageError("these modules differ from those of the run: they have other layers or other tensors")
        return copied(modules)
