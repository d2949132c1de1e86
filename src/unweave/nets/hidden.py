"""The hidden layers of any decoder: the outputs of its non-linearities."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any

import torch
from torch import Tensor, nn

from unweave.errors import UsageError
from unweave.nets.additive import AdditiveDecoder
from unweave.nets.modulated import ModulatedDecoder

Keep = Callable[[Tensor], Tensor]
"""Copies the part of a layer's output to keep; a copy, because a later layer may overwrite it."""


def hidden_activations(decoder: nn.Module, z: Tensor, keep: Keep) -> dict[str, Tensor]:
    """Return the kept part of each hidden layer for codes (n, latents), in the order of computation.

    A hidden layer has the name of its non-linearity in `named_modules`; if a module is used again, `:2` and so on is
    appended. If the decoder has no torch modules that are non-linearities (they may be functions), its layers with
    parameters count instead. The decoder's output is not a hidden layer. For a modulated decoder, the hidden layers are
    the conditions and the output of each stage but the last. For an additive decoder, a layer concatenates those of all
    groups.
    """
    if isinstance(decoder, AdditiveDecoder):
        groups = zip(decoder.parts(), decoder.split(z), strict=True)
        parts = [hidden_activations(part, own, torch.clone) for part, own in groups]
        return {name: keep(torch.cat([part[name].flatten(1) for part in parts], 1)) for name in parts[0]}
    for modules in _candidates(decoder):
        if found := _outputs(decoder, modules, z, keep):
            return found
    raise UsageError(f"the decoder {type(decoder).__name__} has no hidden layer, so there is nothing to trace")


def _candidates(decoder: nn.Module) -> list[dict[str, nn.Module]]:
    """Return the modules whose outputs are hidden layers; the second group applies if the first is empty."""
    if isinstance(decoder, ModulatedDecoder):
        stages = {f"stages.{number}": stage for number, stage in enumerate(decoder.stages)}
        return [{"condition": decoder.condition, **stages}]
    leaves = {name: module for name, module in decoder.named_modules() if not [*module.children()]}
    return [
        {name: module for name, module in leaves.items() if _is_non_linear(module)},
        {name: module for name, module in leaves.items() if [*module.parameters()]},
    ]


def _is_non_linear(module: nn.Module) -> bool:
    """Return whether a module is an activation function of torch."""
    return type(module).__module__ == nn.ReLU.__module__ and not isinstance(module, nn.MultiheadAttention)


def _outputs(decoder: nn.Module, modules: dict[str, nn.Module], z: Tensor, keep: Keep) -> dict[str, Tensor]:
    """Return the kept part of the outputs of these modules, except for the decoder's own output."""
    found: dict[str, Tensor] = {}
    memory: dict[str, int] = {}

    def hook(name: str) -> Callable[[nn.Module, Any, Any], None]:
        numbers = count(1)

        def watch(module: nn.Module, inputs: Any, output: Any) -> None:
            number = next(numbers)
            if isinstance(output, Tensor) and output.is_floating_point() and len(output) == len(z):
                called = name if number == 1 else f"{name}:{number}"
                found[called], memory[called] = keep(output), output.data_ptr()

        return watch

    handles = [module.register_forward_hook(hook(name)) for name, module in modules.items()]
    try:
        end = decoder(z)
    finally:
        for handle in handles:
            handle.remove()
    last = next(reversed(found), None)
    if last is not None and memory[last] == end.data_ptr():  # also if it is a view, or was changed in place
        del found[last]
    return found
