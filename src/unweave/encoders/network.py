"""Torch networks as encoders: every module is a layer, read by a hook."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from torch import nn

from unweave.encoders.encoder import POOLED, SIDE, Encoder, Shape
from unweave.encoders.preprocessing import Preprocessing
from unweave.encoders.weights import digest_of_network
from unweave.errors import UsageError

TOKENS = "tokens"
"""The last layer that gives tokens (n, T, d)."""
Forward = Callable[[np.ndarray], Any]


class Network(Encoder):
    """A torch network as an encoder.

    Parameters
    ----------
    name
        Its name in records.
    module
        The network: images (n, C, H, W) to codes, maps or tokens.
    preprocessing
        How images become its input.
    random_weights
        Whether its weights are a control.
    device
        Where to run it; by default its current device.
    forward
        A function from uint8 images to the network's output, if that is more than a call of it.
    takes
        The shape of images that it was trained on, if it takes no other.
    source
        What built it, if its weights alone decide its codes, which are then cached. None: its program may change.
    """

    def __init__(
        self,
        name: str,
        module: nn.Module,
        preprocessing: Preprocessing,
        *,
        random_weights: bool = False,
        device: torch.device | None = None,
        forward: Forward | None = None,
        takes: Shape | None = None,
        source: str | None = None,
    ) -> None:
        self.name, self.random_weights = name, random_weights
        self.module = module if device is None else module.to(device)
        first = next(self.module.parameters(), None)
        self._device = device or (torch.device("cpu") if first is None else first.device)
        self._preprocessing = preprocessing
        side = preprocessing.size or SIDE
        self.takes = takes or (side, side, preprocessing.channels or 3)
        self._forward = forward or (lambda images: self.module(preprocessing(images, self._device)))
        self.preprocessing = preprocessing.record
        self.weights = digest_of_network(module)
        self.identity = None if source is None else f"{source}:{self.weights}"
        self.parameters = sum(weight.numel() for weight in module.parameters())
        self._modules = {name: part for name, part in module.named_modules() if name}
        self._aliases: dict[str, str] = {}

    def codes(self, images: np.ndarray, layers: Sequence[str], pooling: str) -> dict[str, np.ndarray]:
        """Return by layer the codes of images, all from one pass."""
        found: dict[str, torch.Tensor] = {}

        def keep(layer: str, part: nn.Module, output: Any) -> None:
            found[layer] = pooled(first_tensor(output), pooling, getattr(part, "output_fmt", None))

        with self._reading(layers, keep), _evaluating(self.module), torch.inference_mode():
            output = self._forward(images)
            if POOLED in layers:
                found[POOLED] = pooled(first_tensor(output), "mean", None)
        if missing := [layer for layer in layers if layer not in found]:
            raise UsageError(f"{self.name} did not use its layer {missing[0]} on these images")
        return {layer: found[layer].float().cpu().numpy() for layer in layers}

    def shapes(self, shape: Shape) -> dict[str, Shape]:
        """Return the modules that give one tensor per image, in the order in which they finish, and the output."""
        blank = np.zeros((3, *shape), np.uint8)
        found: dict[str, Shape] = {}

        def keep(layer: str, part: nn.Module, output: Any) -> None:
            tensor = first_tensor(output)
            if tensor is not None and tensor.ndim in (2, 3, 4) and len(tensor) == len(blank):
                found.pop(layer, None)
                found[layer] = tuple(tensor.shape[1:])

        with self._reading(self._modules, keep), _evaluating(self.module), torch.inference_mode():
            output = first_tensor(self._forward(blank))
        if output is None:
            raise UsageError(f"{self.name} must return a tensor")
        tokens = [layer for layer, given in found.items() if len(given) == 2 and given[0] > 1]
        if tokens and TOKENS not in found:
            self._aliases[TOKENS] = tokens[-1]
            found[TOKENS] = found[tokens[-1]]
        return {**found, POOLED: tuple(pooled(output, "mean", None).shape[1:])}

    @contextmanager
    def _reading(self, layers: Sequence[str] | dict[str, nn.Module], keep: Callable[..., None]) -> Iterator[None]:
        """Pass the outputs of layers to `keep` while images go through the network."""
        handles = []
        try:
            for layer in layers:
                part = self._modules.get(self._aliases.get(layer, layer))
                if part is not None:

                    def hook(part: nn.Module, inputs: Any, output: Any, layer: str = layer) -> None:
                        keep(layer, part, output)

                    handles.append(part.register_forward_hook(hook))
            yield
        finally:
            for handle in handles:
                handle.remove()


def first_tensor(output: Any) -> torch.Tensor | None:
    """Return a module's output, or the first part of it, if that is a tensor."""
    while isinstance(output, tuple | list) and output:
        output = output[0]
    return output if isinstance(output, torch.Tensor) else None


def pooled(values: torch.Tensor | None, pooling: str, layout: str | None) -> torch.Tensor:
    """Return maps (n, C, H, W) or tokens (n, T, d) as codes (n, d), immediately, as the next layer may work in place.

    "mean" and "max" are taken over space or tokens; "first" is the first token, often the class token, or the corner
    pixel; "flatten" keeps all.
    """
    if values is None or values.ndim not in (2, 3, 4):
        given = "something that is not a tensor" if values is None else f"shape {tuple(values.shape)}"
        raise UsageError(f"an encoder must give codes (n, d), tokens (n, T, d) or maps (n, C, H, W), not {given}")
    if values.ndim == 2:
        return values.clone()
    if pooling == "flatten":
        return values.flatten(1).clone()
    if values.ndim == 4 and str(layout).upper() != "NHWC":
        values = values.permute(0, 2, 3, 1)
    cells = values.flatten(1, -2)  # (n, cells, d)
    if pooling == "first":
        return cells[:, 0].clone()
    return cells.amax(1) if pooling == "max" else cells.mean(1)


def width_of(shape: Shape, pooling: str) -> int:
    """Return the width of a layer's codes: channels of maps (C, H, W), features of tokens (T, d).

    >>> width_of((512, 7, 7), "mean"), width_of((50, 768), "mean"), width_of((50, 768), "flatten")
    (512, 768, 38400)
    """
    return math.prod(shape) if pooling == "flatten" else shape[0] if len(shape) == 3 else shape[-1]


@contextmanager
def _evaluating(module: nn.Module) -> Iterator[None]:
    """Put a network into evaluation mode, and restore the modes of its parts afterwards."""
    training = [part for part in module.modules() if part.training]
    module.eval()
    try:
        yield
    finally:
        for part in training:
            part.training = True
