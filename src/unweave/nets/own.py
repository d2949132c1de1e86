"""Nets of the user's own: two modules, or a registered function that makes them.

The contract is that of unweave's own nets. The encoder maps images, float32 (n, C, H, W), to features (n, F), any F:
the method puts its own layer on top of them, for the mean and the log-variance of each latent, say. The decoder maps
codes (n, latents) to (n, C, H, W): logits for the loss bce, means for the others.
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
"""The name of a net that is two modules."""
ROWS = 2
"""Images that a net is tried on."""
KIND: Kind[Callable[..., Any]] = Kind("net")
"""The nets by name: unweave's make a `Body`, those of users an encoder and a decoder."""


def register(name: str) -> Callable[[F], F]:
    """Give a function that makes an encoder and a decoder a name, so that it is a net as unweave's own are.

    A run of such a net can be opened again wherever the function is defined: in Python, or by a plugin.

    Parameters
    ----------
    name
        What `train(net=…)` and `--net` call it: lower-case letters and digits, with dashes between.

    Returns
    -------
    callable
        A decorator for a function `(shape, latents, width) -> (encoder, decoder)`. The shape is that of the images,
        (H, W, C). Further parameters, each with a default, are options: `--net my-net:depth=3`. torch's own
        initialisation stays, and comes from the run's seed.

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
            raise UsageError(f"a net cannot be called '{OWN}': that is what two modules are called")
        KIND.define(name, factory)
        return factory

    return decorate


def full_name(text: str) -> str:
    """Return the name of a net with all of its options written out, for the record of a run."""
    name, _ = split_options(text)
    return data_name({"name": name, **options_of(text)})


def made(text: str, shape: Shape, latents: int, width: float, generator: torch.Generator) -> Modules:
    """Return the modules of a registered net; what torch draws for them comes from `generator`."""
    name, _ = split_options(text)
    seed = int(torch.randint(2**62, (1,), generator=generator))
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed)
        try:
            modules = KIND.find(name)(shape, latents, width, **options_of(text))
        except UsageError:
            raise
        except Exception as error:
            raise UsageError(f"the net {name} cannot be made for images {shape}: {_words(error)}") from error
    return checked(modules, f"the net {name}")


def checked(modules: object, what: str = "net") -> Modules:
    """Return what should be an encoder and a decoder, if it is."""
    if not isinstance(modules, tuple | list) or len(modules) != 2 or not all(isinstance(m, nn.Module) for m in modules):
        raise UsageError(f"{what} must be two torch modules, (encoder, decoder), not {_described(modules)}")
    for role, module in zip(("encoder", "decoder"), modules, strict=True):
        if next(module.parameters(), None) is None:
            raise UsageError(f"the {role} {type(module).__name__} has no parameters: there is nothing to train in it")
        for name, parameter in module.named_parameters():
            if parameter.dtype != torch.float32:
                raise UsageError(
                    f"the {role}'s {name} is {parameter.dtype}; a net is trained in float32: call .float()"
                )
    return modules[0], modules[1]


def copied(modules: Modules) -> Modules:
    """Return a copy on the CPU, weights that both share still shared, so that the user's modules stay as they are."""
    try:
        encoder, decoder = deepcopy(modules)
    except Exception as error:
        raise UsageError(f"the modules of the net cannot be copied: {_words(error)}") from error
    return encoder.cpu().train(), decoder.cpu().train()


def body_of(modules: Modules, shape: Shape, latents: int) -> Body:
    """Return two modules as a body, tried on a batch of zeros: what does not fit is said in one line."""
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
    """Give images to an encoder row by row: unweave's own are channels last in memory, which `view` does not take."""
    return tuple(x.contiguous() for x in inputs)


def architecture_of(modules: Modules) -> str:
    """Return a digest of the architecture: how the modules print, and the shapes of their tensors."""
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
    """Return the tensors of both modules by name; anything else in their state could not be saved."""
    found = nn.ModuleList(modules).state_dict()
    for name, value in found.items():
        if not isinstance(value, Tensor):
            raise UsageError(f"the state of a net holds tensors only, and its {name} is {_described(value)}")
    return found


def _tried(module: nn.Module, x: Tensor, role: str, what: str) -> Tensor:
    """Return what a module makes of a batch, in evaluation mode, so that nothing in it changes."""
    training = module.training
    try:
        with torch.no_grad(), torch.random.fork_rng(devices=[]):
            y = module.eval()(x)
    except Exception as error:
        latents = "; `latents` says how many latents there are" if what == "codes" else ""
        raise UsageError(f"the {role} fails on {what} {_shape(x)}: {_words(error)}{latents}") from error
    finally:
        module.train(training)
    if not isinstance(y, Tensor) or not y.is_floating_point():
        raise UsageError(f"the {role} must return a tensor of floats, not {_described(y)}")
    return y


def options_of(text: str) -> dict[str, Any]:
    """Return every option of a net: those written, and the defaults of the others."""
    name, written = split_options(text)
    known = _defaults(name)
    if written and not known:
        raise UsageError(f"the net '{name}' takes no options, and '{text}' has some")
    for option in written:
        if option not in known:
            raise unknown(f"option of {name}", option, known)
    return {**known, **{option: read_value(value) for option, value in written.items()}}


def _defaults(name: str) -> Mapping[str, Any]:
    """Return the options of a net: the keyword-only parameters of unweave's, all behind the width of the user's."""
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
