"""The random images to encode: drawn once for all runs on a data set."""

from __future__ import annotations

import json
import threading
from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from unweave.errors import UsageError
from unweave.explorer.opened import Array

if TYPE_CHECKING:
    from unweave.data import Dataset
    from unweave.runs import Run

KEPT = 4
CHUNK = 256
"""Images drawn at once."""


@dataclass(frozen=True)
class Drawn:
    """Random images, or vectors, of a data set."""

    data: Dataset
    indices: Array
    inputs: Array
    values: Array


_lock = threading.Lock()
_kept: OrderedDict[tuple[str, int], Drawn] = OrderedDict()


def sampled(total: int, samples: int) -> Array:
    """Return the indices of random images without repetition, the same for all runs on a data set."""
    return np.random.default_rng(0).choice(total, size=min(samples, total), replace=False)


def draw(run: Run, samples: int) -> Drawn:
    """Return random images of a run's data set."""
    key = (json.dumps(run.settings.data, sort_keys=True, default=str), samples)
    with _lock:
        if key in _kept:
            _kept.move_to_end(key)
            return _kept[key]
    drawn = _draw(run.data, samples)
    with _lock:
        _kept[key] = drawn
        while len(_kept) > KEPT:
            _kept.popitem(last=False)
    return drawn


def _draw(data: Dataset, samples: int) -> Drawn:
    if not len(data):
        raise UsageError("its data set is empty")
    indices = sampled(len(data), samples)
    parts = [data.inputs(indices[start : start + CHUNK]) for start in range(0, len(indices), CHUNK)]
    return Drawn(data, indices, np.concatenate(parts), data.values(indices))
