"""Normalisation layers with correct derivatives of every order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from torch import Tensor
from torch.nn import functional
from torch.overrides import TorchFunctionMode


class WrittenOut(TorchFunctionMode):
    """Context in which layer and instance normalisation are written out in terms of other functions.

    In the derivatives of these two layers, torch treats the moments as constants, so the gradient of a function of a
    Jacobian would be silently wrong. All other layers that the tests try are correct, including group normalisation.
    """

    def __torch_function__(
        self, func: Callable[..., Any], types: object, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Call a function of torch, or its replacement."""
        kwargs = kwargs or {}
        if func is functional.layer_norm:
            return layer_norm(*args, **kwargs)
        if func is functional.instance_norm:
            return instance_norm(*args, **kwargs)
        return func(*args, **kwargs)


def layer_norm(
    input: Tensor,
    normalized_shape: Sequence[int],
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    """Return (input - mean) / sqrt(variance + eps) * weight + bias, with moments over the last axes."""
    axes = tuple(range(-len(normalized_shape), 0))
    centred = input - input.mean(axes, keepdim=True)
    scaled = centred / (centred.square().mean(axes, keepdim=True) + eps).sqrt()
    scaled = scaled if weight is None else scaled * weight
    return scaled if bias is None else scaled + bias


def instance_norm(
    input: Tensor,
    running_mean: Tensor | None = None,
    running_var: Tensor | None = None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    use_input_stats: bool = True,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """Return each channel normalised over its pixels: group normalisation with one group for each channel."""
    if use_input_stats and running_mean is None:
        return functional.group_norm(input, input.shape[1], weight, bias, eps)
    return functional.instance_norm(input, running_mean, running_var, weight, bias, use_input_stats, momentum, eps)
