"""Nets of the user: two modules, or a registered function that makes them.

They follow the same rules as unweave's own nets. The encoder maps images, float32 (n, C, H, W), to features (n, F),
with any F. The method adds its own layer on top, for example for the mean and the log-variance of each latent. The
decoder maps codes (n, latents) to (n, C, H, W): logits for the loss bce, means for the others.
"""

from __future__ import annotations

import hashlib
import inspect
import json
from collections.abc import Callable, Mapping
from copy import deepcopy
from typing import Any, TypeVar

import torch
from torch import Tensor, nn

from unweave.errors import UsageError, unknown
from unweave.nets.body import Body, Shape, glorot_normal
from unweave.options import read_value, split_options
from unweave.plugins import Kind
from unweave.text import data_name

Modules = tuple[nn.Module, nn.Module]
"""An encoder and a decoder."""
Factory = Callable[..., Modules]
"""Makes an encoder and a decoder from the shape of the images (H, W, C), the number of latents and a width."""
F = TypeVar("F", bound=Factory)
OWN = "own"
"""The name of a net that consists of two modules."""
ROWS = 2
"""Number of images that a net is tested on."""
KIND: Kind[Callable[..., Any]] = Kind("net")
"""The nets by name: unweave's own make a `Body`, those of users an encoder and a decoder."""


def register(name: str) -> Callable[[F], F]:
    """Register a function that makes an encoder and a decoder, so that it can be used by name like a built-in net.

    A run with such a net can be opened wherever the function is defined: in Python, or through a plugin.

    Parameters
    ----------
    name
        The name for `train(net=…)` and `--net`: lower-case letters and digits, separated by dashes.

    Returns
    -------
    callable
        A decorator for a function `(shape, latents, width) -> (encoder, decoder)`. The shape is that of the images,
        (H, W, C). Further parameters, each with a default, are options: `--net my-net:depth=3`. The modules keep
        torch's own initialisation, which depends on the run's seed.

    Examples
    --------
    >>> from torch import nn
    >>> from unweave.nets import Net, register
    >>> @register("linear")
    ... def linear(shape, latents, width, bias=True):
    ...     height, breadth, channels = shape
    ...     pixels = height * breadth * channels
    ...     encoder = nn.Sequential(nn.Flatten(), nn.Linear(pixels, 100, bias))
    ...     return encoder, nn.Sequential(nn.Linear(latents, pixels), nn.Unflatten(1, (channels, height, breadth)))
    >>> Net("linear").name
    'linear:bias=true'
    """

    def decorate(factory: F) -> F:
        if name == OWN:
            raise UsageError(f"a net cannot be called '{OWN}': the name is reserved for nets of two modules")
        KIND.define(name, factory)
        return factory

    return decorate


def full_name(text: str) -> str:
    """Return the name of a net with all its options written out, for the record of a run."""
    name, _ = split_options(text)
    return data_name({"name": name, **options_of(text)})


def made(text: str, shape: Shape, latents: int, width: float, generator: torch.Generator) -> Modules:
    """Return the modules of a registered net; torch's random numbers for them come from `generator`."""
    name, _ = split_options(text)
    seed = int(torch.randint(2**62, (1,), generator=generator))
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed)
        try:
            modules = KIND.find(name)(shape, latents, width, **options_of(text))
        except UsageError:
            raise
        except Exception as error:
            raise UsageError(f"the net {name} cannot be built for images {shape}: {_words(error)}") from error
    return checked(modules, f"the net {name}")


def checked(modules: object, what: str = "net") -> Modules:
    """Return an encoder and a decoder, or raise a `UsageError` if these are not two trainable float32 modules."""
    if not isinstance(modules, tuple | list) or len(modules) != 2 or not all(isinstance(m, nn.Module) for m in modules):
        raise UsageError(f"{what} must be two torch modules, (encoder, decoder), not {_described(modules)}")
    for role, module in zip(("encoder", "decoder"), modules, strict=True):
        if next(module.parameters(), None) is None:
            raise UsageError(f"the {role} {type(module).__name__} has no parameters, so there is nothing to train")
        for name, parameter in module.named_parameters():
            if parameter.dtype != torch.float32:
                raise UsageError(
                    f"the {role}'s {name} is {parameter.dtype}; a net is trained in float32: call .float()"
                )
    return modules[0], modules[1]


def copied(modules: Modules) -> Modules:
    """Return a copy on the CPU, so that the user's modules do not change; shared weights stay shared."""
    try:
        encoder, decoder = deepcopy(modules)
    except Exception as error:
        raise UsageError(f"the modules of the net cannot be copied: {_words(error)}") from error
    return encoder.cpu().train(), decoder.cpu().train()


def body_of(modules: Modules, shape: Shape, latents: int) -> Body:
    """Return two modules as a body after testing them on a batch of zeros; a `UsageError` reports a mismatch."""
    encoder, decoder = modules
    encoder.register_forward_pre_hook(_plain_layout)
    pixels = torch.zeros(ROWS, shape[-1], *shape[:-1])
    features = _tried(encoder, pixels, "encoder", "images")
    if features.ndim != 2 or len(features) != ROWS or not features.shape[1]:
        hint = "; put nn.Flatten() at its end" if features.ndim > 2 and len(features) == ROWS else ""
        wanted = f"images {_shape(pixels)} to features ({ROWS}, F)"
        raise UsageError(f"the encoder must map {wanted}, but gives {_shape(features)}{hint}")
    drawn = _tried(decoder, torch.zeros(ROWS, latents), "decoder", "codes")
    if drawn.shape != pixels.shape:
        wanted = f"codes ({ROWS}, {latents}) to images {_shape(pixels)}"
        raise UsageError(f"the decoder must map {wanted}, but gives {_shape(drawn)}")
    return Body(encoder, decoder, features.shape[1], glorot_normal)


def _plain_layout(module: nn.Module, inputs: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
    """Make an encoder's input contiguous: unweave's images are channels last in memory, which `view` rejects."""
    return tuple(x.contiguous() for x in inputs)


def architecture_of(modules: Modules) -> str:
    """Return a digest of the architecture: the printed form of the modules, and the shapes of their tensors."""
    shapes = [[name, list(value.shape), str(value.dtype)] for name, value in _tensors(modules).items()]
    return hashlib.sha256(json.dumps([[repr(m) for m in modules], shapes]).encode()).hexdigest()[:16]


def weights_of(modules: Modules) -> str:
    """Return a digest of all weights and buffers."""
    content = hashlib.sha256()
    for name, value in _tensors(modules).items():
        content.update(name.encode())
        content.update(value.detach().cpu().contiguous().flatten().view(torch.uint8).numpy().tobytes())
    return content.hexdigest()[:16]


def _tensors(modules: Modules) -> dict[str, Tensor]:
    """Return the tensors of both modules by name; nothing else in their state can be saved."""
    found = nn.ModuleList(modules).state_dict()
    for name, value in found.items():
        if not isinstance(value, Tensor):
            raise UsageError(f"the state of a net may hold only tensors, but its {name} is {_described(value)}")
    return found


def _tried(module: nn.Module, x: Tensor, role: str, what: str) -> Tensor:
    """Return a module's output for a batch, in evaluation mode, so that the module does not change."""
    training = module.training
    try:
        with torch.no_grad(), torch.random.fork_rng(devices=[]):
            y = module.eval()(x)
    except Exception as error:
        latents = "; `latents` sets the number of latents" if what == "codes" else ""
        raise UsageError(f"the {role} fails on {what} {_shape(x)}: {_words(error)}{latents}") from error
    finally:
        module.train(training)
    if not isinstance(y, Tensor) or not y.is_floating_point():
        raise UsageError(f"the {role} must return a tensor of floats, not {_described(y)}")
    return y


def options_of(text: str) -> dict[str, Any]:
    """Return all options of a net: the given ones, and the defaults of the others."""
    name, written = split_options(text)
    known = _defaults(name)
    if written and not known:
        raise UsageError(f"the net '{name}' has no options, but '{text}' gives some")
    for option in written:
        if option not in known:
            raise unknown(f"option of {name}", option, known)
    return {**known, **{option: read_value(value) for option, value in written.items()}}


def _defaults(name: str) -> Mapping[str, Any]:
    """Return the options of a net: keyword-only parameters of a built-in net, all after the width of a user's net."""
    parameters = list(inspect.signature(KIND.find(name)).parameters.values())
    if name in KIND.builtin:
        parameters = [parameter for parameter in parameters if parameter.kind is parameter.KEYWORD_ONLY]
    else:
        parameters = parameters[3:]
    return {parameter.name: parameter.default for parameter in parameters}


def _words(error: Exception) -> str:
    lines = str(error).splitlines()
    return lines[0] if lines else type(error).__name__


def _described(value: object) -> str:
    if isinstance(value, Tensor):
        return f"{value.dtype} {tuple(value.shape)}"
    if isinstance(value, tuple | list):
        return f"({', '.join(type(part).__name__ for part in value)})"
    return type(value).__name__


def _shape(x: Tensor) -> str:
    return str(tuple(x.shape))
