"""The file of a run's weights: its header, and the identity of its tensors."""

from __future__ import annotations

import hashlib
import json
from functools import lru_cache
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load as load_tensors

from unweave.config import Config
from unweave.errors import UsageError
from unweave.nets import Model, Modules, Shape

METADATA = "unweave"
"""The key of the metadata that holds the step and the shape of the images, as JSON."""


class DamagedWeights(Exception):
    """A file that does not hold the weights of this model; the message says why."""


def load_model(path: Path, settings: Config, modules: Modules | None) -> tuple[Model, int, str]:
    """Return the model of a run with its weights, and their step and identity."""
    content = path.read_bytes()
    try:
        step, shape = _metadata(content)
        model = settings.build(shape, torch.Generator(), modules)
        tensors = load_tensors(content)
        model.load_state_dict(tensors)
    except UsageError:
        raise
    except (SafetensorError, KeyError, TypeError, ValueError, RuntimeError) as error:
        raise DamagedWeights(str(error).splitlines()[0].rstrip(":")) from error
    if not all(tensor.isfinite().all() for tensor in tensors.values()):
        raise UsageError(f"'{path}' contains weights that are not finite; train again with a smaller lr")
    return model, step, _identity(content)


def _metadata(content: bytes) -> tuple[int, Shape]:
    """Return the step of the weights in a safetensors file, and the shape of the images."""
    found = json.loads(content[8 : _start_of_tensors(content)])["__metadata__"]
    # Earlier versions used separate keys.
    found = json.loads(found[METADATA]) if METADATA in found else {**found, "shape": found["shape"].split(",")}
    return int(found["step"]), tuple(map(int, found["shape"]))


def _start_of_tensors(content: bytes) -> int:
    """Return the end of the header of a safetensors file, whose length is in the first eight bytes."""
    return 8 + int.from_bytes(content[:8], "little")


def _identity(content: bytes) -> str:
    """Return a hash of the tensors of a safetensors file, without its header, whose order is random."""
    return hashlib.sha256(content[_start_of_tensors(content) :]).hexdigest()[:16]


@lru_cache(maxsize=256)
def identity_of_file(path: Path, *state: int) -> str:
    """Return the hash of a file in this state; a file that has changed is read again."""
    return _identity(path.read_bytes())
