"""Data sets by name: drawn on demand, published, your own, and variants of any of them.

Notes
-----
To add one, write a subclass of `Dataset` and add a line to `DATASETS`, or of `Wrapper` and add a line to `WRAPPERS`.
Your own subclass is available by name as soon as it is defined.

The files:

- `factors` (index ↔ factors, traversals, distances), `dataset` (what every data set offers), `statistics`, `ceilings`
  (the highest score that any codes can reach, over all images) with `ceilings.json` (written by
  `benchmarks/ceilings.py --write`), `identity` (what a data set is, wherever its files are).
- Drawn sets, one file each: `xysquares`, `xyobject`, `shapes2d`, `scenes2d`, `rooms3d` with `rooms3d_scene` and
  `solids`, `objects3d` with `meshes`, `mesh_files` and the compiled `raster`.
- Published sets, one file each, with `sources`, `download` and `files` (where files come from and are kept) and
  `stored`, `conversion`, `npz`, `hdf5` (files converted once into memory-mapped rows).
- Your own: `table`, and what reads files into it: `folder` with `listing` and `columns`, `encoded`, `table_files`,
  `parquet`. For vectors: `vectors` with `vector_files` and `h5ad`.
- Sets made from others: `wrapper`, `variants`, `restricted`, `subset`.
- Drawing: `sampling` (pairs, groups, triplets) with `changes` (what differs within a pair), `consecutive` (neighbours
  in time) and `labels` (a few labels, exact or noisy).
"""

from __future__ import annotations

import inspect
from collections import ChainMap
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from unweave.data.cars3d import Cars3D
from unweave.data.dataset import KIND, Dataset
from unweave.data.dsprites import DSprites
from unweave.data.factors import FactorSpace
from unweave.data.identity import data_identity
from unweave.data.labels import Labels
from unweave.data.mpi3d import MPI3DComplex, MPI3DReal, MPI3DRealistic, MPI3DToy
from unweave.data.objects3d import Objects3D
from unweave.data.own import FORMATS, data_of_path
from unweave.data.restricted import Correlated, Restricted
from unweave.data.rooms3d import Rooms3D
from unweave.data.scenes2d import Scenes2D
from unweave.data.shapes2d import Shapes2D
from unweave.data.shapes3d import Shapes3D
from unweave.data.smallnorb import SmallNORB
from unweave.data.statistics import Statistics
from unweave.data.subset import Subset
from unweave.data.table import Table
from unweave.data.table_files import FileTable
from unweave.data.variants import Color, Noisy, PicturesBehind, PicturesWithin, Scream
from unweave.data.vectors import Vectors
from unweave.data.wrapper import SUFFIXES, Wrapper
from unweave.data.xyobject import XYObject, XYObjectShaded
from unweave.data.xysquares import XYSquares
from unweave.errors import UsageError, unknown
from unweave.options import read_value, split_options
from unweave.progress import OnProgress, silent
from unweave.text import data_name

__all__ = [
    "DATASETS",
    "FORMATS",
    "WRAPPERS",
    "Data",
    "Dataset",
    "FactorSpace",
    "Labels",
    "Statistics",
    "Table",
    "Vectors",
    "Wrapper",
    "as_dataset",
    "load",
    "load_again",
    "recorded",
]

DATASETS: dict[str, type[Dataset]] = {
    "xysquares": XYSquares,
    "xyobject": XYObject,
    "xyobject-shaded": XYObjectShaded,
    "shapes2d": Shapes2D,
    "rooms3d": Rooms3D,
    "objects3d": Objects3D,
    "scenes2d": Scenes2D,
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
    "subset": Subset,
}
"""Wrappers by the suffix of the name: `load("shapes2d-noisy")` is `WRAPPERS["noisy"](load("shapes2d"))`."""
KIND.builtin = ChainMap(FORMATS, DATASETS)
SUFFIXES.builtin = WRAPPERS

Data = Dataset | str | Path | ArrayLike
"""Accepted as data: a data set, its name or path, or an array of images or vectors."""
LISTS = ("factors", "features", "ignore")
"""Options whose value is a comma-separated list of names."""


def load(name: str | Path, *, on_progress: OnProgress = silent, **options: Any) -> Dataset:
    """Load a data set by its name, or your own data by their path.

    Parameters
    ----------
    name
        The name, with options after a colon, as in "xysquares:spacing=4", or the path of a file or folder. A name may
        end in the suffixes of wrappers, as in "shapes2d-noisy".
    on_progress
        Called with the number of images read so far, for your own files.
    **options
        Options of the data set, instead of after the name. An option goes to the outermost wrapper that has it.

    Returns
    -------
    Dataset
        The data set.

    Examples
    --------
    >>> load("xysquares:spacing=1,size=32").description == load("xysquares", spacing=1, size=32).description
    True
    """
    name, written = split_options(str(name), LISTS)
    for option, value in written.items():
        if option in options:
            raise UsageError(f"the option {option} of {name} is given twice")
        options[option] = value if option in LISTS else read_value(value)
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
    watched: dict[str, Any] = {"on_progress": on_progress} if issubclass(base, FileTable) else {}
    data = base(**given[-1], **watched)
    for kind, own in zip(wrappers, reversed(given[:-1]), strict=True):
        data = kind(data, **own)
    return data


def as_dataset(data: Data) -> Dataset:
    """Return data as a data set.

    Parameters
    ----------
    data
        A data set, its name or path, or an array of images or vectors without factors.

    Returns
    -------
    Dataset
        The data set.

    Examples
    --------
    >>> import numpy as np
    >>> data = as_dataset(np.zeros((5, 32, 32, 3), dtype=np.uint8))
    >>> len(data), data.shape
    (5, (32, 32, 3))
    """
    if isinstance(data, Dataset):
        return data
    if isinstance(data, str | Path):
        return load(data)
    return Vectors(data) if len(np.shape(data)) == 2 else Table(data)


def load_again(description: Mapping[str, Any], given: Data) -> Dataset:
    """Load the data set of a run that has moved, and check that it is the same.

    Parameters
    ----------
    description
        The description of the data set in the run's record.
    given
        The data set, or where it is now. A path is read with the options of the description, unless it has options.

    Returns
    -------
    Dataset
        The data set; other images or factors raise a `UsageError`.
    """
    description = recorded(description)
    data = as_dataset(given if (moved := _moved(description, given)) is None else load(**moved))
    ours, theirs = data_identity(description), data_identity(data.description)
    if ours == theirs:
        return data
    differ = f"the run was trained on {_called(ours)}, but the given data are {_called(theirs)}"
    raise UsageError(f"{differ}; give the data that it was trained on")


def _called(identity: Mapping[str, Any]) -> str:
    """Return the name of a data set for error messages; own data are identified by their digest."""
    plain = identity["name"] == "own"
    return f"the data with the digest {identity['digest']}" if plain else data_name(identity)


def _moved(description: Mapping[str, Any], given: object) -> dict[str, Any] | None:
    """Return the description with the given path, if it is of the same kind of files."""
    if not isinstance(given, str | Path) or ":" in str(given):
        return None
    kind = str(description["name"]).partition("-")[0]
    same = kind == "vectors" or (kind in FORMATS and data_of_path(str(given)) == kind)
    return {**description, "path": str(given)} if same else None


def recorded(description: Mapping[str, Any]) -> dict[str, Any]:
    """Return the description of a data set in a run's record, with options that were added later.

    Parameters
    ----------
    description
        The recorded name and options.

    Returns
    -------
    dict
        The description with all options.

    Examples
    --------
    >>> recorded({"name": "shapes2d", "size": 32})["turn"], load("shapes2d").description["turn"]
    (40, 41)
    """
    try:
        base, wrappers, _ = _split(str(description["name"]))
    except UsageError:  # defined only in the process that made it
        return dict(description)
    later = {name: value for kind in (base, *wrappers) for name, value in kind.earlier.items()}
    return {**description, **{name: value for name, value in later.items() if name not in description}}


def _split(name: str) -> tuple[type[Dataset], list[type[Wrapper]], str]:
    """Return the data set of a name, its wrappers, innermost first, and the path, if the name is a path."""
    if all(Path(name, part).is_file() for part in ("config.json", "status.json")):
        raise UsageError(f"'{name}' is a run, not a data set: open it with unweave.Run.open('{name}')")
    wrappers = {**WRAPPERS, **SUFFIXES.own}
    suffixes: list[type[Wrapper]] = []
    rest = name
    while rest not in KIND.builtin and rest not in KIND.own:
        if kind := data_of_path(rest):
            return FORMATS[kind], suffixes, rest
        suffix = next((suffix for suffix in wrappers if rest.endswith(f"-{suffix}")), None)
        if suffix is None:
            return KIND.find(name), [], ""  # from an installed package; otherwise it raises
        suffixes.insert(0, wrappers[suffix])
        rest = rest.removesuffix(f"-{suffix}")
    return KIND.find(rest), suffixes, ""


def _options(kind: type[Dataset]) -> list[str]:
    return [name for name in inspect.signature(kind).parameters if name not in ("base", "on_progress")]
