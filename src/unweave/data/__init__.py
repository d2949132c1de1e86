"""Data sets: grids of ground-truth factors and the images they generate."""

from __future__ import annotations

import inspect
import json
from typing import Any

from unweave.data.dataset import Dataset
from unweave.data.factors import FactorSpace
from unweave.data.rooms3d import Rooms3D
from unweave.data.shapes2d import Shapes2D
from unweave.data.statistics import Statistics
from unweave.data.wrapper import Wrapper
from unweave.data.xyobject import XYObject, XYObjectShaded
from unweave.data.xysquares import XYSquares
from unweave.errors import UsageError, unknown

__all__ = ["DATASETS", "WRAPPERS", "Dataset", "FactorSpace", "Statistics", "Wrapper", "load"]

DATASETS: dict[str, type[Dataset]] = {
    "xysquares": XYSquares,
    "xyobject": XYObject,
    "xyobject-shaded": XYObjectShaded,
    "shapes2d": Shapes2D,
    "rooms3d": Rooms3D,
}
WRAPPERS: dict[str, type[Wrapper]] = {}
"""By the suffix of the name: `load("shapes2d-noisy")` is `WRAPPERS["noisy"](load("shapes2d"))`."""


def load(name: str, **options: Any) -> Dataset:
    """Return a data set by its name, with its options given here or after the name.

    A name may end in wrappers, as in "shapes2d-noisy"; an option goes to the outermost part that has it.

    >>> load("xysquares:spacing=1,size=32").description == load("xysquares", spacing=1, size=32).description
    True
    """
    name, _, written = str(name).partition(":")
    for option, value in _parse(written):
        if option in options:
            raise UsageError(f"the option {option} of {name} is given twice")
        options[option] = value
    base, wrappers = _split(name)
    kinds = [*reversed(wrappers), base]
    given: list[dict[str, Any]] = [{} for _ in kinds]
    known = [_options(kind) for kind in kinds]
    for option, value in options.items():
        owner = next((i for i, names in enumerate(known) if option in names), None)
        if owner is None:
            raise unknown(f"option of {name}", option, dict.fromkeys(flag for names in known for flag in names))
        given[owner][option] = value
    data = base(**given[-1])
    for kind, own in zip(wrappers, reversed(given[:-1]), strict=True):
        data = kind(data, **own)
    return data


def _split(name: str) -> tuple[type[Dataset], list[type[Wrapper]]]:
    """Return the data set of a name and the wrappers that follow it, innermost first."""
    suffixes: list[type[Wrapper]] = []
    rest = name
    while rest not in DATASETS:
        suffix = next((suffix for suffix in WRAPPERS if rest.endswith(f"-{suffix}")), None)
        if suffix is None:
            raise unknown("data set", name, DATASETS)
        suffixes.insert(0, WRAPPERS[suffix])
        rest = rest.removesuffix(f"-{suffix}")
    return DATASETS[rest], suffixes


def _options(kind: type[Dataset]) -> list[str]:
    return [name for name in inspect.signature(kind).parameters if name != "base"]


def _parse(written: str) -> list[tuple[str, Any]]:
    """Read "spacing=1,size=32". A value is a JSON number, true or false, or else plain text."""
    pairs = []
    for part in filter(None, written.split(",")):
        option, equals, text = part.partition("=")
        if not equals:
            raise UsageError(f"options are written name:option=value,…, but '{part}' has no '='")
        try:
            pairs.append((option.strip(), json.loads(text)))
        except json.JSONDecodeError:
            pairs.append((option.strip(), text.strip()))
    return pairs
