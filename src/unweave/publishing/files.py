"""The files of a published folder: which ones belong to it, and which are left over from its use."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from unweave.files import is_held
from unweave.options import split_options
from unweave.runs import CONFIG, LOG, PAGE, PUBLISHED, SCORES, STATUS, read_json

CARD = "README.md"
PICTURE = "traversals.png"
OWN = (CARD, CONFIG, LOG, PICTURE, PUBLISHED, SCORES, STATUS)
"""The files of any published run; some runs lack some of them."""


def published_files(folder: Path) -> list[str]:
    """Return the names of the files that `publish` wrote in a folder; whatever else lies there is not published."""
    config = read_json(folder / CONFIG)
    plugins = [str(origin["file"]) for origin in config.get("origins", {}).values() if "file" in origin]
    loss = split_options(config["method"].get("loss", ""))[1].get("path")
    names = {*OWN, *plugins, *([str(loss)] if loss else [])}
    return sorted(name for name in names if (folder / name).is_file())


def remove_leftovers(folder: Path, written: Collection[str]) -> None:
    """Remove what an earlier publication and its use left: older files and the report, and lock files.

    Files of the user stay, and so does a lock that a process holds.
    """
    for name in {*OWN, PAGE} - {*written}:
        (folder / name).unlink(missing_ok=True)
    for lock in folder.glob(".*.parquet.lock"):
        if not is_held(lock):
            lock.unlink(missing_ok=True)
