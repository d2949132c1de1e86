"""The folder of a run as bytes, for nodes that do not share a file system."""

from __future__ import annotations

import shutil
from pathlib import Path

from unweave.data.identity import with_absolute_path, with_relative_path
from unweave.files import write_json
from unweave.study.folder import read_object

Files = dict[str, bytes]
"""Contents by path below the folder."""


def pack(folder: Path) -> Files:
    """Return the files of a run, without hidden ones such as locks."""
    found = (path for path in sorted(folder.rglob("*")) if path.is_file() and not path.name.startswith("."))
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in found}


def unpack(files: Files, folder: Path) -> None:
    """Replace a folder by one with these files, atomically."""
    fresh = folder.with_name(f".{folder.name}.incoming")
    shutil.rmtree(fresh, ignore_errors=True)  # left by a killed process
    try:
        fresh.mkdir(parents=True)
        for name, content in files.items():
            (fresh / name).parent.mkdir(parents=True, exist_ok=True)
            (fresh / name).write_bytes(content)
        if folder.exists():
            shutil.rmtree(folder)
        fresh.rename(folder)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


def move_paths(folder: Path, before: Path, after: Path) -> None:
    """Rewrite the data path in the configuration of the run in `folder` from relative to `before` to `after`."""
    config = read_object(folder / "config.json")
    if config and config.get("data", {}).get("path"):
        data = with_relative_path(with_absolute_path(config["data"], before), after)
        write_json(folder / "config.json", {**config, "data": data})
