"""From a name, a path, a module or a function to an encoder."""

from __future__ import annotations

import copy
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from unweave.encoders.encoder import Encoder, Function, Pixels
from unweave.encoders.table import ENCODERS, FAMILIES, Known
from unweave.errors import UsageError, unknown
from unweave.options import read_value, split_options

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torch import nn

    from unweave.encoders.preprocessing import Preprocessing
    from unweave.runs import Run

Given: TypeAlias = "str | Path | nn.Module | Run | Encoder | Callable[[np.ndarray], Any]"
"""What can be opened as an encoder."""


def open_encoder(
    encoder: Given,
    *,
    random_weights: bool = False,
    seed: int = 0,
    device: str = "auto",
    preprocessing: Preprocessing | None = None,
) -> Encoder:
    """Open an encoder.

    Parameters
    ----------
    encoder
        A name of `ENCODERS`, with options after a colon ("vgg16-shift:size=128"); "timm:NAME",
        "open-clip:NAME:pretrained=TAG" (or weights=FILE); the path of an .onnx file ("onnx:FILE:pixels=imagenet") or of
        a run's folder; a run; a torch module; or a function from uint8 images (n, H, W, C) to codes.
    random_weights
        Use the same network with random weights from the seed, as a control.
    seed
        Seed of random weights.
    device
        Where networks run: "auto", "cpu", "cuda", "mps". With "auto", your own module stays where it is.
    preprocessing
        The input of your own module; by default pixels in [0, 1] at the images' own size and channels.

    Returns
    -------
    Encoder
        With `codes(images, layers, pooling)` and `shapes(shape)`.

    Examples
    --------
    >>> images = unweave.load("xysquares:size=32").images([0, 1])
    >>> open_encoder("pixels").codes(images, ["pooled"], "mean")["pooled"].shape
    (2, 3072)
    """
    if isinstance(encoder, Encoder):
        return encoder
    if preprocessing is not None and isinstance(encoder, str | Path):
        raise UsageError("preprocessing is for your own module; a name takes options: vgg16-shift:size=128")
    if isinstance(encoder, str | Path):
        return _by_text(str(encoder), random_weights, seed, device)
    from torch import nn

    from unweave.runs import Run

    if isinstance(encoder, Run):
        return _of_run(encoder, random_weights, seed, device)
    if isinstance(encoder, nn.Module):
        return _of_module(encoder, preprocessing, random_weights, seed, device)
    if not callable(encoder):
        raise UsageError(f"an encoder is a name, a path, a torch module or a function, not {type(encoder).__name__}")
    if random_weights or preprocessing is not None:
        raise UsageError("a function takes neither random_weights nor preprocessing")
    return Function(encoder)


def _by_text(text: str, random_weights: bool, seed: int, device: str) -> Encoder:
    family, colon, rest = text.partition(":")
    name, written = split_options(rest if colon and family in FAMILIES else text)
    options = {option: value if option == "weights" else read_value(value) for option, value in written.items()}
    if family in FAMILIES and not name:
        raise UsageError(f"write {family}:{'FILE' if family == 'onnx' else 'NAME'}")
    if family == "onnx" or name.lower().endswith(".onnx"):
        return _of_onnx(Path(name), options, random_weights)
    if family in FAMILIES and colon:
        return _of_library(family, name, options, random_weights, seed, device)
    if name in ENCODERS:
        return _known(name, ENCODERS[name], options, random_weights, seed, device)
    if Path(name).is_dir():
        return _of_folder(Path(name), options, random_weights, seed, device)
    if Path(name).is_file():
        raise UsageError(f"'{name}' is not an encoder: give an .onnx file or the folder of a run")
    if "/" in name:
        raise UsageError(f"there is no folder '{name}', and no encoder of this name")
    known = [*ENCODERS, "timm:NAME", "open-clip:NAME", "FILE.onnx", "the folder of a run"]
    raise UsageError(f"{unknown('encoder', name, known)}; for a timm model, write timm:{name}")


def _known(name: str, known: Known, options: dict[str, Any], random_weights: bool, seed: int, device: str) -> Encoder:
    """Return a built-in encoder; its one option is the image size."""
    for option in options:
        if option != "size":
            raise unknown(f"option of {name}", option, ["size"])
    called = f"{name}:size={options['size']}" if options else name
    if known.weights is None:
        if random_weights:
            raise UsageError(f"{name} has no weights; leave out random_weights")
        return Pixels(called, known.projection, options.get("size"))
    if not known.build:
        return _sscd(called, known, options, random_weights, seed, device)
    from unweave.devices import choose_device
    from unweave.encoders.network import Network
    from unweave.encoders.weights import file_in_package, fill, read_weights

    where = choose_device(device)
    module, function = known.build.split(":")
    with seeded(seed):
        network: Any = getattr(import_module(f"unweave.encoders.{module}"), function)(**known.arguments)
    if not random_weights:
        path = file_in_package(known.weights, name)
        fill(network, network.renamed(read_weights(path)), f"'{path}'")
    _channels_last(network)
    preprocessing = replace(known.preprocessing, **options)
    return Network(called, network, preprocessing, random_weights=random_weights, device=where, source="unweave")


def _sscd(name: str, known: Known, options: dict[str, Any], random_weights: bool, seed: int, device: str) -> Encoder:
    """Return an encoder whose weights are an ONNX file in a package; its random control is a timm network."""
    from unweave.encoders.weights import file_in_package

    size = options.get("size", known.preprocessing.size)
    if random_weights:
        control = _of_library("timm", known.control, {"size": size}, True, seed, device)
        control.name = name
        return control
    from unweave.encoders.onnx_file import OnnxFile

    assert known.weights is not None
    found = OnnxFile(name, file_in_package(known.weights, name), size)
    found.parameters = known.parameters
    return found


def _of_onnx(path: Path, options: dict[str, Any], random_weights: bool) -> Encoder:
    from unweave.encoders.libraries import refuse_others
    from unweave.encoders.onnx_file import OnnxFile

    if random_weights:
        raise UsageError(f"'{path}' is an ONNX file without a random control; build it in torch")
    refuse_others(str(path), options, ("size", "pixels"))
    return OnnxFile(path.name, path, **options)


def _of_library(
    family: str, name: str, options: dict[str, Any], random_weights: bool, seed: int, device: str
) -> Encoder:
    from unweave.devices import choose_device
    from unweave.encoders.libraries import open_clip_network, timm_network
    from unweave.encoders.network import Network

    where = choose_device(device)
    with seeded(seed):
        build = timm_network if family == "timm" else open_clip_network
        network, preprocessing = build(name, options, random_weights)
    _channels_last(network)
    size = options.get("size")
    preprocessing = preprocessing if size is None else replace(preprocessing, size=size)
    tag = f":pretrained={options['pretrained']}" if "pretrained" in options and not random_weights else ""
    called = f"{family}:{name}{tag}"
    return Network(called, network, preprocessing, random_weights=random_weights, device=where, source=family)


def _of_folder(path: Path, options: dict[str, Any], random_weights: bool, seed: int, device: str) -> Encoder:
    """Return the encoder of a run, or of its snapshot after the option `step`."""
    from unweave.encoders.libraries import refuse_others
    from unweave.runs import Run

    refuse_others(str(path), options, ("step",))
    run = Run.open(path, device=device)
    return _of_run(run if "step" not in options else run.at(options["step"]), random_weights, seed, device)


def _of_run(run: Run, random_weights: bool, seed: int, device: str) -> Encoder:
    """Return the encoder of a run: posterior means, and the layers of its network."""
    import torch

    from unweave.encoders.network import Network
    from unweave.encoders.preprocessing import Preprocessing

    model = run.model
    if random_weights:
        shape = model.shape
        model = run.settings.build(shape, torch.Generator().manual_seed(seed)).to(model.device)
    preprocessing = Preprocessing(channels=None)
    name = str(run.path) if run.step == run.status["step"] else f"{run.path}:step={run.step}"
    found = Network(
        name,
        model,
        preprocessing,
        random_weights=random_weights,
        takes=model.shape,
        source="run" if _is_ours(model) else None,
        forward=lambda images: model.encode(model.pixels(model.checked(images))).mean,
    )
    found.parameters = sum(weight.numel() for part in (model.encoder, model.bottleneck) for weight in part.parameters())
    return found


def _is_ours(model: nn.Module) -> bool:
    """Return whether all code of a model is unweave's or torch's; a plugin's may change while weights do not."""
    return all(type(part).__module__.partition(".")[0] in ("unweave", "torch") for part in model.modules())


def _of_module(
    module: nn.Module, preprocessing: Preprocessing | None, random_weights: bool, seed: int, device: str
) -> Encoder:
    from unweave.devices import choose_device
    from unweave.encoders.network import Network
    from unweave.encoders.preprocessing import Preprocessing

    where = None if device == "auto" else choose_device(device)
    network = _with_random_weights(module, seed) if random_weights else module
    preprocessing = preprocessing or Preprocessing(channels=None)
    return Network(type(module).__name__, network, preprocessing, random_weights=random_weights, device=where)


def _with_random_weights(module: nn.Module, seed: int) -> nn.Module:
    """Return a copy of a module with weights drawn again by torch's rules."""
    network = copy.deepcopy(module)
    drawn: set[int] = set()
    with seeded(seed):
        for part in network.modules():
            reset = getattr(part, "reset_parameters", None)
            if callable(reset):
                reset()
                drawn |= {id(weight) for weight in part.parameters(recurse=False)}
    for name, weight in network.named_parameters():
        if id(weight) not in drawn:
            raise UsageError(
                f"'{name}' of {type(module).__name__} cannot be initialised again: give it reset_parameters()"
            )
    return network


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Seed torch's global generator temporarily."""
    import torch

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        yield


def _channels_last(network: nn.Module) -> None:
    """Store weights channels-last, like images, because convolutions on a CPU are then faster."""
    import torch

    network.to(memory_format=torch.channels_last)  # pyright: ignore[reportCallIssue]
