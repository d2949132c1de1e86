"""Data sets, by name: drawn on demand, published, your own, and what is made from any of them.

To add one: a file with a subclass of `Dataset`, and a line in `DATASETS`; of `Wrapper`, and a line in `WRAPPERS`.
"""

from __future__ import annotations

import inspect
import json
from typing import Any

from unweave.data.cars3d import Cars3D
from unweave.data.dataset import Dataset
from unweave.data.dsprites import DSprites
from unweave.data.factors import FactorSpace
from unweave.data.labels import Labels
from unweave.data.mpi3d import MPI3DComplex, MPI3DReal, MPI3DRealistic, MPI3DToy
from unweave.data.objects3d import Objects3D
from unweave.data.own import FORMATS, data_of_path
from unweave.data.restricted import Correlated, Restricted
from unweave.data.rooms3d import Rooms3D
from unweave.data.shapes2d import Shapes2D
from unweave.data.shapes3d import Shapes3D
from unweave.data.smallnorb import SmallNORB
from unweave.data.statistics import Statistics
from unweave.data.table import Table
from unweave.data.variants import Color, Noisy, PicturesBehind, PicturesWithin, Scream
from unweave.data.wrapper import Wrapper
from unweave.data.xyobject import XYObject, XYObjectShaded
from unweave.data.xysquares import XYSquares
from unweave.errors import UsageError, unknown

__all__ = [
    "DATASETS",
    "FORMATS",
    "WRAPPERS",
    "Dataset",
    "FactorSpace",
    "Labels",
    "Statistics",
    "Table",
    "Wrapper",
    "load",
]

DATASETS: dict[str, type[Dataset]] = {
    "xysquares": XYSquares,
    "xyobject": XYObject,
    "xyobject-shaded": XYObjectShaded,
    "shapes2d": Shapes2D,
    "rooms3d": Rooms3D,
    "objects3d": Objects3D,
    "dsprites": DSprites,
    "shapes3d": Shapes3D,
    "cars3d": Cars3D,
    "smallnorb": SmallNORB,
    "mpi3d-toy": MPI3DToy,
    "mpi3d-realistic": MPI3DRealistic,
    "mpi3d-real": MPI3DReal,
    "mpi3d-complex": MPI3DComplex,
}
WRAPPERS: dict[str, type[Wrapper]] = {
    "color": Color,
    "noisy": Noisy,
    "scream": Scream,
    "images-bg": PicturesBehind,
    "images-fg": PicturesWithin,
    "correlated": Correlated,
    "restricted": Restricted,
}
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
    base, wrappers, path = _split(name)
    if path:
        options.setdefault("path", path)
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


def _split(name: str) -> tuple[type[Dataset], list[type[Wrapper]], str]:
    """Return the data set of a name, the wrappers that follow it, innermost first, and the path, if it is one."""
    known = {**DATASETS, **FORMATS}
    suffixes: list[type[Wrapper]] = []
    rest = name
    while rest not in known:
        if kind := data_of_path(rest):
            return FORMATS[kind], suffixes, rest
        suffix = next((suffix for suffix in WRAPPERS if rest.endswith(f"-{suffix}")), None)
        if suffix is None:
            raise unknown("data set", name, known)
        suffixes.insert(0, WRAPPERS[suffix])
        rest = rest.removesuffix(f"-{suffix}")
    return known[rest], suffixes, ""


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
