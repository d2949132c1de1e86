"""What a run needs to be opened elsewhere: a configuration without paths of this machine, and the files it names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from unweave.errors import UsageError
from unweave.losses.names import with_path
from unweave.options import split_options
from unweave.origins import plugin_path
from unweave.runs import Run
from unweave.text import data_title


@dataclass
class Beside:
    """Files that are copied beside the configuration, by the names they have there."""

    files: dict[str, bytes] = field(default_factory=dict)

    def add(self, path: Path) -> str:
        """Copy a file, and return its name; a second file of the same name gets a number."""
        content = path.read_bytes()
        name, number = path.name, 2
        while self.files.get(name, content) != content:
            name, number = f"{path.stem}-{number}{path.suffix}", number + 1
        self.files[name] = content
        return name


def portable_config(run: Run) -> tuple[dict[str, Any], dict[str, bytes]]:
    """Return the configuration of a run to be opened anywhere, and the files that it needs beside it by name.

    A data set of the user is not copied: only its name is stored, and whoever opens the run gives its path.
    """
    beside = Beside()
    config = dict(run.config)
    config["method"] = {**config["method"], "loss": _loss(config["method"].get("loss", ""), beside)}
    if config["data"].get("path"):
        config["data"] = {**config["data"], "path": data_title(config["data"])}
    if run.origins:
        config["origins"] = {part: _origin(origin, run.path, beside) for part, origin in run.origins.items()}
    return config, beside.files


def _loss(name: str, beside: Beside) -> str:
    """Return a loss whose file, if it has one, lies beside the configuration."""
    path = split_options(name)[1].get("path")
    if not path:
        return name
    try:
        return with_path(name, beside.add(Path(path)))
    except OSError as error:
        raise UsageError(f"the run's loss is in '{path}', which cannot be read: {error.strerror}") from error


def _origin(origin: Mapping[str, Any], folder: Path, beside: Beside) -> dict[str, Any]:
    """Return where a part of the user's comes from: a file is copied; what a session defined has no file."""
    if "file" not in origin:
        return dict(origin)
    file = Path(plugin_path(origin, folder))
    if not file.is_file():
        raise UsageError(f"the run needs {origin['name']} in '{origin['file']}', which is missing: put it back")
    return {**origin, "file": beside.add(file)}
