"""The identity of a data set, independent of its location, and how a run records the location."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from unweave.data.own import FORMATS

PLACE = ("path",)
READING = ("path", "size", "factors", "features", "ignore", "layer", "standardise", "corrupt", "shape")
"""Options for the location and reading of own data; the result of reading is identified by its digest."""


def data_identity(description: Mapping[str, Any]) -> dict[str, Any]:
    """Return the part of a description that determines images and factors: for own data the digest, without a path.

    The same arrays are the same data set, whether they come from a table, an npz or a folder.

    >>> data_identity({"name": "npz", "path": "/tmp/my.npz", "size": 0, "digest": "08f7"})
    {'name': 'own', 'digest': '08f7'}
    """
    kind, dash, wrappers = str(description["name"]).partition("-")
    own = kind in FORMATS and "digest" in description
    kept = {key: value for key, value in description.items() if key not in (READING if own else PLACE)}
    return {**kept, "name": f"own{dash}{wrappers}"} if own else kept


def holds_arrays(description: Mapping[str, Any]) -> bool:
    """Return whether a description is of arrays, which are in no file, so the command line cannot load them."""
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
    """Return the inverse of `with_relative_path`; an absolute path does not change."""
    if not description.get("path"):
        return dict(description)
    return {**description, "path": os.path.abspath(folder / str(description["path"]))}
