"""A task: one run of a study, as plain JSON that can be sent to any worker."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from unweave.text import data_name

JSON = dict[str, Any]


@dataclass(frozen=True)
class Task:
    """One run: its name, which is also its folder's, and its canonical configuration."""

    name: str
    config: Mapping[str, Any]

    @property
    def seed(self) -> int:
        """The seed of training, the unit of replication."""
        return self.config["training"]["seed"]

    @property
    def cell(self) -> str:
        """The identity of everything but the seed: runs of one cell are replicates."""
        training = {key: value for key, value in self.config["training"].items() if key != "seed"}
        return digest({**self.config, "training": training})


def task_of(config: Mapping[str, Any], identity: str) -> Task:
    """Return the task of a canonical configuration with its identity."""
    method, data = config["method"]["name"], config["data"]["name"]
    return Task(f"{method}-{data}-seed{config['training']['seed']}-{identity[:12]}", config)


def digest(value: object) -> str:
    """Return the first 16 digits of the SHA-256 of a JSON value, whatever the order of its keys."""
    canonical = json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(canonical.encode()).hexdigest()[:16]


def settings_of(config: Mapping[str, Any]) -> JSON:
    """Return a run's settings as flat columns: data, method, seed, then every field of method, net and training.

    Fields of the method keep their names; a field of another part that has the same name is called part.field. What a
    record leaves out at its default is filled in.

    >>> config = {"method": {"name": "vae", "loss": "mse"}, "data": {"name": "xysquares", "size": 32},
    ...           "net": {"name": "conv"}, "training": {"seed": 0, "steps": 10}}
    >>> list(settings_of(config))
    ['data', 'method', 'seed', 'loss', 'net', 'depth', 'steps', 'weight_decay', 'clip']
    >>> settings_of(config)["data"], settings_of(config)["depth"]
    ('xysquares:size=32', 1)
    """
    method = dict(config["method"])
    flat: JSON = {"data": data_name(config["data"]), "method": method.pop("name"), "seed": config["training"]["seed"]}
    for part in ("method", "net", "training", "labels", "jacobian"):
        given = config.get(part) or {}
        missing = {field: value for field, value in UNWRITTEN.get(part, {}).items() if field not in given}
        for field, value in {**given, **missing}.items():
            if field == "seed" or (part == "method" and field == "name"):
                continue
            name = part if field == "name" else f"{part}.{field}" if part == "jacobian" else field
            flat[f"{part}.{field}" if name in flat else name] = value
    return flat


def differing(settings: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return the settings, besides data, method and seed, that take several values on one data set.

    A field that only some methods have does not differ for that reason; neither does a setting, such as the loss, that
    only follows the data set. If one of two runs of a method lacks a field, because it is at its default, that counts
    as a separate value.

    >>> differing([{"method": "vae", "data": "a"}, {"method": "beta-vae", "data": "a", "beta": 1},
    ...            {"method": "beta-vae", "data": "a", "beta": 4}])
    ['beta']
    """
    rows = list(settings)
    fields: dict[str, dict[str, None]] = {}  # of each method, in order of appearance
    for row in rows:
        fields.setdefault(row["method"], {}).update(dict.fromkeys(row))
    seen: dict[str, dict[tuple[str, str], set[str]]] = {}
    for row in rows:
        for name in fields[row["method"]]:
            if name not in ("data", "method", "seed"):
                group = (row["data"], "" if name in SHARED else row["method"])
                seen.setdefault(name, {}).setdefault(group, set()).add(repr(row.get(name)))  # fast: tables are long
    return [name for name, groups in seen.items() if any(len(values) > 1 for values in groups.values())]


UNWRITTEN: Mapping[str, JSON] = {"net": {"depth": 1}, "training": {"weight_decay": 0.0, "clip": 0.0}}
"""Settings that a record leaves out at these values."""
SHARED = frozenset(
    ["net", "latents", "width", "depth", "steps", "batch", "lr", "standardise", "precision", "weight_decay", "clip"]
)
"""Settings that every method has: they also differ if they differ between methods."""
