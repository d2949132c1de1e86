"""Checks that the files of a run are complete, from their headers: without reading tensors or loading torch.

unweave writes files atomically, but disks, copies and people can still damage them.
"""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

MAGIC = b"PAR1"
"""The first and last bytes of a Parquet file."""


def read_object(path: Path | str) -> dict[str, Any] | None:
    """Return the JSON object in a file, or None."""
    try:
        with open(path, "rb") as file:
            found = json.loads(file.read())
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) else None


def are_weights(path: Path) -> bool:
    """Return whether a safetensors file is as long as its header says."""
    try:
        with path.open("rb") as file:
            length = int.from_bytes(file.read(8), "little")
            size = path.stat().st_size
            header = json.loads(file.read(length)) if length < size else {}
        ends = [tensor["data_offsets"][1] for name, tensor in header.items() if name != "__metadata__"]
        return bool(ends) and size == 8 + length + max(ends)
    except (OSError, ValueError, TypeError, KeyError, IndexError, AttributeError):
        return False


def is_table(path: Path) -> bool:
    """Return whether a Parquet file begins and ends as it should."""
    try:
        with path.open("rb") as file:
            begins = file.read(4) == MAGIC
            file.seek(-4, 2)
            return begins and file.read(4) == MAGIC
    except OSError:
        return False


def is_checkpoint(path: Path) -> bool:
    """Return whether every part of a checkpoint matches its checksum."""
    try:
        with zipfile.ZipFile(path) as parts:
            return parts.testzip() is None
    except (OSError, ValueError, zipfile.BadZipFile, NotImplementedError):
        return False


def is_trained(folder: Path) -> bool:
    """Return whether a folder holds a finished run with complete weights, configuration and status."""
    finished = (read_object(folder / "status.json") or {}).get("state") == "finished"
    return finished and read_object(folder / "config.json") is not None and are_weights(folder / "weights.safetensors")


def can_continue(folder: Path) -> bool:
    """Return whether training can continue in a folder: it has a complete checkpoint, or nothing to lose yet."""
    if not folder.is_dir() or is_trained(folder):
        return True
    if (folder / "config.json").exists() and read_object(folder / "config.json") is None:
        return False
    if (folder / "checkpoint.pt").exists():
        return is_checkpoint(folder / "checkpoint.pt")
    status = read_object(folder / "status.json")
    return not (status["step"] if status and "step" in status else (folder / "status.json").exists())
