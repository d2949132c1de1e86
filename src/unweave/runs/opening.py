"""Opening a run: from the files in its folder to its settings, its data set and its model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from unweave.config import Config
from unweave.data import recorded
from unweave.data.identity import with_absolute_path
from unweave.errors import UnknownName, UsageError
from unweave.losses.names import with_absolute_file
from unweave.nets import Model, Modules
from unweave.nets.own import OWN
from unweave.origins import Origin, how_to_load
from unweave.runs.files import CONFIG, WEIGHTS, read_json, repair, status_of
from unweave.runs.weights import DamagedWeights, load_model


def read_config(folder: Path) -> dict[str, Any]:
    """Return the configuration of the run in a folder."""
    if not folder.is_dir():
        raise UsageError(f"there is no folder '{folder}'")
    if not (folder / CONFIG).is_file():
        raise UsageError(f"'{folder}' is not a run: it has no {CONFIG}")
    return read_json(folder / CONFIG)


def settings_of(config: Mapping[str, Any], folder: Path) -> Config:
    """Return the settings of a configuration; paths that are relative to the folder become absolute."""
    with naming_origin(config, folder):
        settings = Config.from_json(config)
    method, loss = settings.method, with_absolute_file(settings.method.loss, folder)
    method = method if loss == method.loss else replace(method, loss=loss)
    return replace(settings, method=method, data=with_absolute_path(settings.data, folder))


def recorded_origins(config: Mapping[str, Any]) -> dict[str, Origin]:
    """Return where the method, net and data set come from, if they are a user's own."""
    found = config.get("origins")
    return {part: origin for part, origin in found.items() if isinstance(origin, dict)} if found else {}


@contextmanager
def naming_origin(config: Mapping[str, Any], folder: Path) -> Iterator[None]:
    """For an unknown name, raise a `UsageError` that names the plugin that defines it, if the run recorded it."""
    try:
        yield
    except UnknownName as error:
        origin = recorded_origins(config).get("data" if error.kind == "data set" else error.kind)
        if origin is None:
            raise
        raise UsageError(f"its {error.kind} is {how_to_load(origin, folder)}") from error


def find_data(settings: Config, folder: Path) -> dict[str, Any]:
    """Return the description of the data set with its path: relative to the run, or where it was in training."""
    description = recorded(settings.data)
    if "path" not in description or Path(description["path"]).exists():
        return description
    former = status_of(folder).get("data")
    if isinstance(former, str) and Path(former).exists():
        return {**description, "path": former}
    raise UsageError(
        f"the data of '{folder}' are not at '{description['path']}'; say where they are: --data PATH "
        "(in Python: Run.open(folder, data=PATH))"
    )


def open_model(
    weights: Path, settings: Config, origins: Mapping[str, Origin], modules: Modules | None, folder: Path
) -> tuple[Model, int, str]:
    """Return the model with the weights in a file, and their step and identity."""
    if not weights.is_file():
        raise UsageError(f"'{folder}' has no {WEIGHTS}; {repair(folder)}")
    if settings.net.name == OWN and modules is None:
        name = origins.get("net", {}).get("name", "an encoder and a decoder")
        needed = f"unweave.Run.open('{folder}', net=(encoder, decoder))"
        raise UsageError(f"the net of '{folder}' consists of your modules {name}: open it with {needed}")
    try:
        return load_model(weights, settings, modules)
    except DamagedWeights as error:
        raise UsageError(f"'{weights}' does not hold this run's weights ({error}); {repair(folder)}") from error
