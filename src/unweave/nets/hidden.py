"""The hidden layers of any decoder: what comes out of its non-linearities."""

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
"""What is kept of a layer's output: a copy, since a later layer may write over it."""


def hidden_activations(decoder: nn.Module, z: Tensor, keep: Keep) -> dict[str, Tensor]:
    """Return what is kept of each hidden layer for codes (n, latents), in the order of computation.

    A hidden layer is called by its non-linearity, as `named_modules` names it; one that is used again has `:2` and so
    on behind its name. In a decoder that has non-linearities of torch's nowhere (they may be functions), it is a layer
    with parameters instead. What the decoder returns is its output, and no hidden layer. A decoder that codes modulate
    has its conditions, and what comes out of each stage but the last. A layer of an additive decoder is that of all
    groups, one after another.
    """
    if isinstance(decoder, AdditiveDecoder):
        groups = zip(decoder.parts(), decoder.split(z), strict=True)
        parts = [hidden_activations(part, own, torch.clone) for part, own in groups]
        return {name: keep(torch.cat([part[name].flatten(1) for part in parts], 1)) for name in parts[0]}
    for modules in _candidates(decoder):
        if found := _outputs(decoder, modules, z, keep):
            return found
    raise UsageError(f"the decoder {type(decoder).__name__} has no hidden layer, and so nothing to trace")


def _candidates(decoder: nn.Module) -> list[dict[str, nn.Module]]:
    """Return the modules whose outputs are hidden layers: the second kind where the first gives none."""
    if isinstance(decoder, ModulatedDecoder):
        stages = {f"stages.{number}": stage for number, stage in enumerate(decoder.stages)}
        return [{"condition": decoder.condition, **stages}]
    leaves = {name: module for name, module in decoder.named_modules() if not [*module.children()]}
    return [
        {name: module for name, module in leaves.items() if _is_non_linear(module)},
        {name: module for name, module in leaves.items() if [*module.parameters()]},
    ]


def _is_non_linear(module: nn.Module) -> bool:
    """Tell whether a module is an activation function of torch's."""
    return type(module).__module__ == nn.ReLU.__module__ and not isinstance(module, nn.MultiheadAttention)


def _outputs(decoder: nn.Module, modules: dict[str, nn.Module], z: Tensor, keep: Keep) -> dict[str, Tensor]:
    """Return what is kept of the outputs of these modules, without that which is the decoder's output."""
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
    if last is not None and memory[last] == end.data_ptr():  # a view of it too, or one that was changed in place
        del found[last]
    return found
