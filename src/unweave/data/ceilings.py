"""The highest scores that any codes can reach on a data set: no encoder can distinguish images that look the same."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unweave.data.dataset import Dataset
from unweave.data.factors import Integers
from unweave.data.files import data_folder
from unweave.data.restricted import drawn_cells
from unweave.files import write_json
from unweave.progress import OnProgress

CHUNK = 256
"""Images drawn at once."""
LOOKED_AT = 256
"""Number of images in the fingerprint that links saved ceilings to a data set."""
SHIPPED = Path(__file__).with_name("ceilings.json")
"""Ceilings of drawn sets with their default options, written by `python benchmarks/ceilings.py --write`."""


@dataclass(frozen=True)
class Ceiling:
    """The most that an image can reveal about one factor."""

    factor: str
    accuracy: float
    """The best accuracy of predicting the factor: for each image, its most frequent value is predicted."""
    information: float
    """I(image; factor) in nats."""
    entropy: float
    """H(factor) in nats: the information if all images looked different."""

    @property
    def share(self) -> float:
        """The information as a share of the entropy; 1 for a factor that never changes."""
        return self.information / self.entropy if self.entropy else 1.0


@dataclass(frozen=True)
class Ceilings:
    """The number of different images in a data set, and the ceiling of each factor if all images are equally likely."""

    images: int
    distinct: int
    factors: tuple[Ceiling, ...]


def three_digits(share: float) -> str:
    """Return a share with three digits, rounded down, so that no share below 1 is shown as 1.

    >>> three_digits(1.0), three_digits(0.9999), three_digits(0.5)
    ('1.000', '0.999', '0.500')
    """
    return f"{math.floor(1000 * share + 1e-9) / 1000:.3f}"


def ceilings(data: Dataset, on_progress: OnProgress | None = None) -> Ceilings | None:
    """Return the ceilings of a data set, exact over all images; None if images contain noise besides the factors.

    If the set draws only some of its cells, the others do not count.
    """
    if not has_ceilings(data):
        return None
    cells = drawn_cells(data)
    groups, distinct = _groups(data, cells, on_progress)
    values = data.values(cells)
    found = (_ceiling(name, groups, values[:, axis]) for axis, name in enumerate(data.factors.names))
    return Ceilings(len(cells), distinct, tuple(found))


def has_ceilings(data: Dataset) -> bool:
    """Return whether a data set has ceilings: not if its images contain noise besides the factors."""
    return data.is_function or not data.is_grid


def cached_ceilings(data: Dataset, on_progress: OnProgress | None = None) -> Ceilings | None:
    """Return the ceilings of a data set as `ceilings` does, but compute them only once on this machine."""
    if not has_ceilings(data):
        return None
    name = fingerprint(data)
    if (known := _known(name)) is not None:
        return known
    found = ceilings(data, on_progress)
    with suppress(OSError):  # in a read-only folder they are computed each time
        place = _place(name)
        place.parent.mkdir(parents=True, exist_ok=True)
        write_json(place, asdict(found) if found else None)
    return found


def known_ceilings(data: Dataset) -> Ceilings | None:
    """Return the ceilings of a data set without computing them: shipped with unweave or saved on this machine."""
    return _known(fingerprint(data)) if has_ceilings(data) else None


def shipped_ceilings() -> dict[str, Ceilings]:
    """Return the ceilings that come with unweave, by the fingerprint of their data set."""
    with suppress(OSError, ValueError, TypeError, KeyError):
        return {name: _from_plain(known) for name, known in json.loads(SHIPPED.read_text("utf-8")).items()}
    return {}


def _known(name: str) -> Ceilings | None:
    if (shipped := shipped_ceilings().get(name)) is not None:
        return shipped
    with suppress(OSError, ValueError, TypeError, KeyError):
        return _from_plain(json.loads(_place(name).read_text("utf-8")))
    return None


def _place(name: str) -> Path:
    return data_folder() / "ceilings" / f"{name}.json"


def _from_plain(known: Mapping[str, Any]) -> Ceilings:
    factors = tuple(Ceiling(**factor) for factor in known["factors"])
    return Ceilings(int(known["images"]), int(known["distinct"]), factors)


def fingerprint(data: Dataset) -> str:
    """Return a hash of the description, of all factors' names and sizes, and of images spread over the whole set."""
    cells = drawn_cells(data)
    some = cells[np.linspace(0, len(cells) - 1, min(LOOKED_AT, len(cells))).astype(np.int64)]
    head = [data.description, data.factors.names, data.factors.sizes, len(cells)]
    content = hashlib.sha256(json.dumps(head, sort_keys=True).encode())
    content.update(data.inputs(some).data)
    return content.hexdigest()[:16]


def _groups(data: Dataset, cells: Integers, on_progress: OnProgress | None) -> tuple[Integers, int]:
    """Return for each image the number of its group of equal images, and the number of groups."""
    digests = np.empty((len(cells), 20), dtype=np.uint8)
    for start in range(0, len(cells), CHUNK):
        images = data.inputs(cells[start : start + CHUNK])
        for row, image in enumerate(images, start):
            digests[row] = np.frombuffer(hashlib.sha1(image.data, usedforsecurity=False).digest(), np.uint8)
        if on_progress:
            on_progress(f"comparing the images of {data.name}", min(start + CHUNK, len(cells)), len(cells))
    found, groups = np.unique(digests.view(np.dtype("V20")).ravel(), return_inverse=True)
    return groups.ravel(), len(found)


def _ceiling(name: str, groups: Integers, values: NDArray[Any]) -> Ceiling:
    """Return the ceiling of a factor, from its value and the group of each image.

    In a group of n images, of which n_v have the value v, the best prediction is right for max_v n_v images, and the
    group adds sum_v n_v log(n / n_v) nats to what remains unknown.
    """
    rows = len(groups)
    if not np.issubdtype(values.dtype, np.integer):
        values = np.unique(values, return_inverse=True)[1].ravel()
    cells, counts = np.unique(groups * (values.max() + 1) + values, return_counts=True)
    _, starts = np.unique(cells // (values.max() + 1), return_index=True)
    sizes = np.add.reduceat(counts, starts)
    unknown = (counts * np.log(np.repeat(sizes, np.diff([*starts, len(cells)])) / counts)).sum() / rows
    _, whole = np.unique(values, return_counts=True)
    entropy = float((whole * np.log(rows / whole)).sum() / rows)
    accuracy = np.maximum.reduceat(counts, starts).sum() / rows
    return Ceiling(name, float(accuracy), max(entropy - float(unknown), 0.0), entropy)
