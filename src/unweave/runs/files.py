"""The files of a run's folder: their names, the content of status.json, and how to repair damaged files."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from unweave.again import train_command
from unweave.config import Config
from unweave.data.identity import holds_arrays, with_absolute_path
from unweave.errors import UsageError
from unweave.files import is_whole_archive
from unweave.nets.own import OWN
from unweave.origins import plugins_of

CONFIG = "config.json"
STATUS = "status.json"
LOG = "log.parquet"
WEIGHTS = "weights.safetensors"
PUBLISHED = "model.safetensors"
"""What the weights are called in a folder that `unweave.publish` wrote, as the hub expects it."""
CHECKPOINT = "checkpoint.pt"
SCORES = "scores.parquet"
PAGE = "report.html"
FILES = (STATUS, LOG, WEIGHTS, CHECKPOINT, SCORES, PAGE, CONFIG)
"""All files of a run; the last one marks the folder as a run."""
SNAPSHOTS = "snapshots"
TENSORBOARD = "tensorboard"
"""The subfolder for TensorBoard."""


def snapshot_path(folder: Path, step: int) -> Path:
    """Return the path of a run's weights at this step."""
    return folder / SNAPSHOTS / f"{step}.safetensors"


def status_of(folder: Path) -> dict[str, Any]:
    """Return the content of status.json in a run's folder; it does not exist before the first checkpoint."""
    path = folder / STATUS
    return _checked_status(path, read_json(path)) if path.is_file() else {"state": "unfinished", "step": 0}


def _checked_status(path: Path, status: dict[str, Any]) -> dict[str, Any]:
    """Return a status after checking its entries and their types."""
    state, step, seconds = status.get("state"), status.get("step"), status.get("seconds", 0.0)
    if not (isinstance(state, str) and _is_count(step) and isinstance(seconds, int | float) and seconds >= 0):
        raise UsageError(f"'{path}' is damaged: it must hold state, step and seconds; {repair(path.parent)}")
    return status


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def read_json(path: Path) -> dict[str, Any]:
    """Return the object in a JSON file of a run."""
    try:
        values = json.loads(path.read_text())
    except (OSError, ValueError) as error:
        raise UsageError(f"'{path}' cannot be read as JSON: {error}") from error
    if not isinstance(values, dict):
        raise UsageError(f"'{path}' does not hold a JSON object")
    return values


def repair(folder: Path) -> str:
    """Return the command that restores damaged or missing files, from the checkpoint or else by training again.

    A published run has no checkpoint and is not trained.
    """
    if (folder / PUBLISHED).is_file():
        return "download it again, or publish the run again"
    values = read_json(folder / CONFIG)
    config, kept = Config.from_json(values), is_whole_archive(folder / CHECKPOINT)
    config = replace(config, data=with_absolute_path(config.data, folder))
    objects = [*(["modules"] if config.net.name == OWN else []), *(["arrays"] if holds_arrays(config.data) else [])]
    if objects:
        return f"train it again with the same {' and '.join(objects)}{'' if kept else ', and overwrite=True'}"
    plugins = [word for plugin in plugins_of(values.get("origins", {}), folder) for word in ("--plugin", plugin)]
    if kept:
        return f"its checkpoint still has what is missing: {train_command(config, folder, *plugins)}"
    return f"train it again: {train_command(config, folder, *plugins, '--overwrite')}"
