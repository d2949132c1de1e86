"""What a data set is, wherever it lies, and how a run names the place of one."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from unweave.data.own import FORMATS

PLACE = ("path",)
READING = ("path", "size", "factors", "features", "ignore", "layer", "standardise", "corrupt", "shape")
"""Options that say where own images lie and how they are read; what was read is known by its digest."""


def data_identity(description: Mapping[str, Any]) -> dict[str, Any]:
    """Return the part of a description that decides the images and factors: of own data the digest, and no path.

    The same arrays are the same data set, whether they come from a table, an npz or a folder.

    >>> data_identity({"name": "npz", "path": "/tmp/my.npz", "size": 0, "digest": "08f7"})
    {'name': 'own', 'digest': '08f7'}
    """
    kind, dash, wrappers = str(description["name"]).partition("-")
    own = kind in FORMATS and "digest" in description
    kept = {key: value for key, value in description.items() if key not in (READING if own else PLACE)}
    return {**kept, "name": f"own{dash}{wrappers}"} if own else kept


def holds_arrays(description: Mapping[str, Any]) -> bool:
    """Tell whether a description is that of arrays, which no file holds: the command line cannot load it."""
    kind = str(description["name"]).partition("-")[0]
    return kind in FORMATS and "digest" in description and not description.get("path")


def with_relative_path(description: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """Return a description whose path is relative to the folder of a run, so that both can move together."""
    if not description.get("path"):
        return dict(description)
    try:
        return {**description, "path": os.path.relpath(str(description["path"]), folder)}
    except ValueError:  # on another drive
        return dict(description)


def with_absolute_path(description: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """Return the description that `with_relative_path` was given; an absolute path stays as it is."""
    if not description.get("path"):
        return dict(description)
    return {**description, "path": os.path.abspath(folder / str(description["path"]))}
