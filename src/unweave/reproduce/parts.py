"""The finished parts of a reproduction, stored in its folder until all are finished, so that it can be continued."""

from __future__ import annotations

import hashlib
import json
from base64 import b64decode, b64encode
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from importlib import import_module
from pathlib import Path
from time import perf_counter
from typing import Any, Protocol, TypeVar

import numpy as np

from unweave.files import is_temporary, write_atomically

T = TypeVar("T")
FOLDER = "parts"
"""The folder of parts, within the result's."""


class Kept(Protocol):
    """Returns the result of a function, or its stored result under this name."""

    def __call__(self, name: str, compute: Callable[[], T], /) -> T:
        """Return the part called `name`."""
        ...


def compute_always(name: str, compute: Callable[[], T], /) -> T:
    """Compute every part; keep nothing."""
    return compute()


class Parts:
    """Parts in a folder under a key: everything they depend on. With another key, parts are computed again."""

    def __init__(self, folder: Path, key: dict[str, Any]) -> None:
        self._folder = folder / FOLDER
        self._key = json.dumps(key, sort_keys=True, default=str)
        self.seconds = 0.0
        """Seconds that the stored parts took."""

    def __call__(self, name: str, compute: Callable[[], T], /) -> T:
        """Return a part: read it, or compute and keep it.

        Computed parts also go through JSON, so that they equal stored ones.
        """
        path = self._folder / f"{hashlib.sha256(name.encode()).hexdigest()[:16]}.json"
        try:
            record = json.loads(path.read_text(encoding="utf-8"))
            if (record["key"], record["name"]) == (self._key, name):
                value = _read(record["value"])
                self.seconds += float(record["seconds"])
                return value
        except (OSError, ValueError, KeyError, TypeError, AttributeError, ImportError):
            pass  # missing or damaged: compute it
        start = perf_counter()
        value = _plain(compute())
        record = {"key": self._key, "name": name, "seconds": perf_counter() - start, "value": value}
        self._folder.mkdir(parents=True, exist_ok=True)
        write_atomically(path, json.dumps(record).encode())
        return _read(value)

    def remove(self) -> None:
        """Remove all parts, and nothing else, once the result is saved."""
        if not self._folder.is_dir():
            return
        for path in self._folder.iterdir():
            if path.suffix == ".json" or is_temporary(path):
                path.unlink()
        if not any(self._folder.iterdir()):
            self._folder.rmdir()


def finished(folder: Path) -> list[Any]:
    """Return the parts of an unfinished result in its folder."""
    paths = sorted((folder / FOLDER).glob("*.json"))
    return [_read(json.loads(path.read_text(encoding="utf-8"))["value"]) for path in paths]


def _plain(value: Any) -> Any:
    """Return a value as JSON; other types become an object with their kind."""
    if isinstance(value, np.ndarray | np.generic) and not isinstance(value, float):
        data = b64encode(np.ascontiguousarray(value).tobytes()).decode()
        return {"array": data, "dtype": value.dtype.str, "shape": list(value.shape)}
    if is_dataclass(value) and not isinstance(value, type):
        return {"kind": _name(value), "fields": [_plain(getattr(value, spec.name)) for spec in fields(value)]}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return {"kind": _name(value), "fields": [_plain(part) for part in value]}
    if isinstance(value, tuple):
        return {"tuple": [_plain(part) for part in value]}
    if isinstance(value, dict):
        return {"dict": [[_plain(key), _plain(part)] for key, part in value.items()]}
    if isinstance(value, list):
        return [_plain(part) for part in value]
    return float(value) if isinstance(value, float) else value  # numpy.float64 is a float too


def _read(value: Any) -> Any:
    """Return the value that `_plain` wrote; only our own kinds are built."""
    if isinstance(value, list):
        return [_read(part) for part in value]
    if not isinstance(value, dict):
        return value
    if "array" in value:
        found = np.frombuffer(b64decode(value["array"]), value["dtype"]).reshape(value["shape"]).copy()
        return found if value["shape"] else found[()]
    if "tuple" in value:
        return tuple(_read(part) for part in value["tuple"])
    if "dict" in value:
        return {_read(key): _read(part) for key, part in value["dict"]}
    return _kind(value["kind"])(*(_read(part) for part in value["fields"]))


def _name(value: object) -> str:
    return f"{type(value).__module__}:{type(value).__qualname__}"


def _kind(name: str) -> type:
    """Return one of the classes that parts are made of."""
    module, _, kind = name.partition(":")
    found = getattr(import_module(module), kind) if module.startswith("unweave.reproduce.") else None
    if not isinstance(found, type) or not (is_dataclass(found) or issubclass(found, tuple)):
        raise ValueError(f"'{name}' is not a part of a result")
    return found
