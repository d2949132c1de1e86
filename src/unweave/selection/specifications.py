"""Runs below a folder, grouped into specifications: runs that differ only in their seed."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from unweave.data.identity import data_identity
from unweave.errors import UsageError, called
from unweave.study.folder import PLAN, StudyFolder
from unweave.study.integrity import are_weights, read_object
from unweave.study.task import differing, digest, settings_of
from unweave.text import data_name, data_title

if TYPE_CHECKING:
    from unweave.data import Data, Dataset
    from unweave.runs import Run


@dataclass(frozen=True)
class Specification:
    """Runs that differ only in their seed."""

    data: str
    """The name of their data set."""
    label: str
    """The method and the settings that differ."""
    runs: tuple[Run, ...]
    """The runs, in order of their seeds."""


Groups = Mapping[str, Sequence[Specification]]
"""Specifications by data set."""


def run_folders(folder: Path) -> list[Path]:
    """Return the folders of all runs below a folder; for a study, those in its plan."""
    if not folder.is_dir():
        what = "is a file: name a folder" if folder.is_file() else "does not exist: name a folder"
        raise UsageError(f"'{folder}' {what} with runs below it")
    if (folder / PLAN).is_file():
        study = StudyFolder(folder)
        found = [study.run_of(task) for task in study.read_plan().tasks if study.run_of(task).is_dir()]
    else:
        found = sorted(_below(folder))
    if not found:
        raise UsageError(f"there is no run below '{folder}'; train some: unweave train --help")
    return found


def _below(folder: Path) -> Iterator[Path]:
    for place, inner, files in os.walk(folder):
        ours = "config.json" in files and "unweave" in (read_object(Path(place) / "config.json") or {})
        if ours or {"config.json", "status.json", "weights.safetensors"} <= set(files):  # the second is a damaged run
            inner.clear()
            yield Path(place)
        inner[:] = [name for name in inner if not name.startswith(".") and name != "replaced"]


def opened(given: Iterable[Run | str | Path], data: Data | None = None) -> tuple[list[Run], list[str]]:
    """Return the finished runs among runs or run folders, and notes on those that are left out."""
    from unweave.runs import Run

    runs: list[Run] = []
    unfinished: list[Path] = []
    notes: list[str] = []
    loaded: dict[str, Dataset] = {}
    for each in given:
        try:
            run = Run.open(each) if isinstance(each, str | Path) else each
            if run.state != "finished":
                unfinished.append(run.path)
                continue
            if not are_weights(run.path / "weights.safetensors"):
                raise UsageError(f"'{run.path / 'weights.safetensors'}' is damaged or missing")
            if not _is_finite(run.path / "weights.safetensors"):
                raise UsageError(f"'{run.path}' has weights that are NaN or infinite: its training failed")
            with called(str(run.path)):
                runs.append(Run.open(run.path, data=_shared(run, loaded, data)) if run is not each else run)
        except UsageError as error:
            notes.append(f"left out: {error}")
    if unfinished:
        notes.insert(0, f"left out, {_count(len(unfinished), 'unfinished run')}, the first '{unfinished[0]}'")
    return runs, notes


def _is_finite(path: Path) -> bool:
    from safetensors.numpy import load_file

    return all(np.isfinite(tensor).all() for tensor in load_file(path).values())


def _shared(run: Run, loaded: dict[str, Dataset], data: Data | None) -> Data:
    """Return the data set of a run, loaded once for all runs on it."""
    if data is not None:
        return data
    key = digest(data_identity(run.settings.data))
    if key not in loaded:
        loaded[key] = run.data
    return loaded[key]


def without_copies(runs: Sequence[Run]) -> tuple[list[Run], list[str]]:
    """Return each run once, and a note on copies, which would seem to agree."""
    kept: dict[tuple[str, str | None], Run] = {}
    for run in runs:
        kept.setdefault((run.id, run.weights), run)
    left = len(runs) - len(kept)
    return list(kept.values()), [f"left out, {_count(left, 'copy of a run', 'copies of runs')}"] if left else []


def specifications(runs: Sequence[Run]) -> dict[str, list[Specification]]:
    """Return the specifications on each data set, in the order of the runs."""
    settings = {id(run): _settings(run) for run in runs}
    columns = [name for name in differing(settings.values()) if name not in ("weights", "architecture")]
    groups: dict[str, dict[str, list[Run]]] = {}
    for run in runs:
        data = digest(data_identity(run.settings.data))
        groups.setdefault(data, {}).setdefault(_identity(run), []).append(run)
    found: dict[str, list[Specification]] = {}
    for cells in groups.values():
        name = settings[id(next(iter(cells.values()))[0])]["data"]
        name = name if name not in found else f"{name} ({len(found) + 1})"
        found[name] = [_specification(name, members, settings, columns) for members in cells.values()]
    return found


def _specification(
    data: str, runs: list[Run], settings: Mapping[int, Mapping[str, Any]], columns: Sequence[str]
) -> Specification:
    ordered = sorted(runs, key=lambda run: run.settings.training.seed)
    told = settings[id(ordered[0])]
    label = " ".join([told["method"], *(f"{key}={_setting(told[key])}" for key in columns if key in told)])
    return Specification(data, label, tuple(ordered))


def _settings(run: Run) -> dict[str, Any]:
    """Return a run's settings as flat columns, with its data set by name."""
    description = run.settings.data
    own = "path" in description or "digest" in description
    return {**settings_of(run.settings.to_json()), "data": data_title(description) if own else data_name(description)}


def _identity(run: Run) -> str:
    """Return what decides a run's result besides its seed; a user's modules may start from other weights."""
    values = run.settings.to_json()
    training = {key: value for key, value in values["training"].items() if key != "seed"}
    net = {key: value for key, value in values["net"].items() if key != "weights"}
    return digest({**values, "training": training, "net": net, "data": data_identity(run.settings.data)})


def _setting(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _count(number: int, what: str, several: str = "") -> str:
    return f"{number} {what if number == 1 else several or what + 's'}"
