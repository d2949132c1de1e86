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
    """Return the files of a run; hidden ones, such as locks, stay."""
    found = (path for path in sorted(folder.rglob("*")) if path.is_file() and not path.name.startswith("."))
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in found}


def unpack(files: Files, folder: Path) -> None:
    """Put a folder with these files in the place of the one that is there; it appears whole or not at all."""
    fresh = folder.with_name(f".{folder.name}.incoming")
    shutil.rmtree(fresh, ignore_errors=True)  # of a process that was killed
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
    """Make the run in `folder`, whose configuration names its data as seen from `before`, name it from `after`."""
    config = read_object(folder / "config.json")
    if config and config.get("data", {}).get("path"):
        data = with_relative_path(with_absolute_path(config["data"], before), after)
        write_json(folder / "config.json", {**config, "data": data})
