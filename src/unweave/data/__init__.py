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
from unweave.data.xyobject import XYObject, XYObjectShaded
from unweave.data.xysquares import XYSquares
from unweave.errors import UsageError, unknown

__all__ = ["DATASETS", "Dataset", "FactorSpace", "Statistics", "load"]

DATASETS: dict[str, type[Dataset]] = {
    "xysquares": XYSquares,
    "xyobject": XYObject,
    "xyobject-shaded": XYObjectShaded,
    "shapes2d": Shapes2D,
    "rooms3d": Rooms3D,
}


def load(name: str, **options: Any) -> Dataset:
    """Return a data set by its name, with its options given here or after the name.

    >>> load("xysquares:spacing=1,size=32").description == load("xysquares", spacing=1, size=32).description
    True
    """
    name, _, written = str(name).partition(":")
    if name not in DATASETS:
        raise unknown("data set", name, DATASETS)
    for option, value in _parse(written):
        if option in options:
            raise UsageError(f"the option {option} of {name} is given twice")
        options[option] = value
    known = inspect.signature(DATASETS[name]).parameters
    for option in options:
        if option not in known:
            raise unknown(f"option of {name}", option, known)
    return DATASETS[name](**options)


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
