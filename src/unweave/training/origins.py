"""Record where a user's method, net and data set come from."""

from __future__ import annotations

from pathlib import Path

from unweave.config import Config
from unweave.data import Dataset, Wrapper
from unweave.nets import Modules
from unweave.nets.own import KIND
from unweave.options import split_options
from unweave.origins import Origin, origin_of


def origins_of(config: Config, data: Dataset, modules: Modules | None, folder: Path) -> dict[str, Origin]:
    """Return the origins of a user's parts, by the part of the configuration; paths are relative to the folder."""
    found = {
        "method": origin_of(type(config.method), folder),
        "data": _of_data(data, folder),
        "net": _of_net(config, modules, folder),
    }
    return {part: origin for part, origin in found.items() if origin is not None}


def _of_data(data: Dataset, folder: Path) -> Origin | None:
    """Return the origin of a data set or, if it is built in, of the data set that it wraps."""
    origin = origin_of(type(data), folder)
    return _of_data(data.base, folder) if origin is None and isinstance(data, Wrapper) else origin


def _of_net(config: Config, modules: Modules | None, folder: Path) -> Origin | None:
    if modules is None:
        return origin_of(KIND.find(split_options(config.net.name)[0]), folder)
    kinds = [type(module) for module in modules]
    weights = {id(weight): weight.numel() for module in modules for weight in module.parameters()}
    return {
        "name": " and ".join(kind.__qualname__ for kind in kinds),
        "modules": [kind.__module__ for kind in kinds],
        "parameters": sum(weights.values()),
    }
