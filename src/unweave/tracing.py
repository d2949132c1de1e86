"""Traces: the activations of a decoder's hidden layers on a few fixed images, saved during training.

traces/000500.safetensors is the trace after 500 steps. For each hidden layer it has two tensors, the mean over images
and the deviations from it: activations are `mean + scale * deviations`, with the scale in the metadata. If a decoder
almost ignores its codes, its activations are nearly constant, and plain float16 would lose the differences.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unweave.errors import UsageError, unknown
from unweave.files import write_atomically

TRACES = "traces"
SAMPLES = 100
"""Default number of traced images."""
METADATA = "unweave"
"""The key in the metadata of safetensors that holds step, indices and layers, as JSON."""
MEAN = ":mean"
"""The suffix of the name of a layer's mean."""
TOP = 2.0**14
"""Upper bound of the stored deviations; the largest float16 is 65,504."""
Floats = NDArray[np.float32]


@dataclass(frozen=True)
class Tracing:
    """When training is traced, and on how many images."""

    every: int
    """Steps between two traces."""
    samples: int = SAMPLES
    """Number of images; they are the same for all runs on a data set."""

    def __post_init__(self) -> None:
        for name, least in (("every", 1), ("samples", 2)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < least:
                raise UsageError(f"trace_{name} must be a whole number, {least} or more, not {value!r}")

    @classmethod
    def of(cls, every: int | None, samples: int | None) -> Tracing | None:
        """Return the tracing that `trace_every` and `trace_samples` define; None without `trace_every`."""
        if every is None:
            if samples is not None:
                raise UsageError("trace_samples needs trace_every, the steps between two traces")
            return None
        return cls(every) if samples is None else cls(every, samples)

    def moments(self, steps: int) -> list[int]:
        """Return the steps after which a run of `steps` steps is traced: 0, every, 2 every, … and the last.

        >>> Tracing(20).moments(50)
        [0, 20, 40, 50]
        """
        return [*range(0, steps, self.every), steps]


@dataclass(frozen=True)
class Moment:
    """The activations of a decoder's hidden layers at one step."""

    step: int
    indices: tuple[int, ...]
    """Indices of the images in the data set, in the order of rows."""
    layers: Mapping[str, Floats]
    """Activations (images, units) of each layer, in the order of the decoder."""


def trace_path(folder: Path, step: int) -> Path:
    """Return the path of a run's trace at this step."""
    return folder / TRACES / f"{step:06d}.safetensors"


def traced_steps(folder: Path) -> list[int]:
    """Return the steps at which a run has traces."""
    return sorted(int(path.stem) for path in (folder / TRACES).glob("[0-9]*.safetensors"))


def write_moment(folder: Path, moment: Moment) -> None:
    """Write a trace, atomically."""
    from safetensors.numpy import save

    tensors: dict[str, NDArray[Any]] = {}
    scales: dict[str, float] = {}
    for name, values in moment.layers.items():
        mean = values.mean(axis=0)
        deviations = values - mean
        scales[name] = _scale(float(np.abs(deviations).max()))
        tensors[name + MEAN] = mean
        tensors[name] = (deviations / scales[name]).astype(np.float16)
    # One key: safetensors writes several keys in random order, but equal runs must have equal files.
    about = {"step": moment.step, "indices": list(moment.indices), "layers": scales}
    path = trace_path(folder, moment.step)
    path.parent.mkdir(exist_ok=True)
    write_atomically(path, save(tensors, {METADATA: json.dumps(about)}))


def _scale(largest: float) -> float:
    """Return the power of two that scales the largest value to just below TOP; dividing by it rounds nothing."""
    return 2.0 ** np.ceil(np.log2(largest / TOP)) if largest > 0 else 1.0


def read_about(path: Path) -> dict[str, Any]:
    """Return the step, indices, layers and scales of a trace without reading its tensors."""
    try:
        with path.open("rb") as file:
            header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
        about = json.loads(header["__metadata__"][METADATA])
        return {"step": int(about["step"]), "indices": [*map(int, about["indices"])], "layers": dict(about["layers"])}
    except (OSError, ValueError, KeyError, TypeError, OverflowError, MemoryError) as error:
        raise _damaged(path) from error


def read_moment(path: Path, layers: Sequence[str]) -> Moment:
    """Return the trace in a file, for some of its layers."""
    from safetensors import SafetensorError, safe_open

    about = read_about(path)
    try:
        with safe_open(path, "numpy") as file:
            found = {
                name: file.get_tensor(name + MEAN) + np.float32(about["layers"][name]) * file.get_tensor(name)
                for name in layers
            }
    except (SafetensorError, OSError, KeyError, ValueError, TypeError) as error:
        raise _damaged(path) from error
    return Moment(about["step"], tuple(about["indices"]), found)


def about_traces(folder: Path) -> dict[str, Any]:
    """Return the indices and the layers of a run's traces, read from the first trace."""
    if not (steps := traced_steps(folder)):
        raise UsageError(f"'{folder}' has no traces; train it again with trace_every (--trace-every N)")
    return read_about(trace_path(folder, steps[0]))


def read_traces(folder: Path, layers: Sequence[str] | None = None) -> list[Moment]:
    """Return all traces of a run in the order of their steps; they have the same images and layers."""
    about = about_traces(folder)
    chosen = list(about["layers"]) if layers is None else list(layers)
    if not chosen:
        raise UsageError(f"choose at least one layer: {', '.join(about['layers'])}")
    for name in chosen:
        if name not in about["layers"]:
            raise unknown("layer", name, about["layers"])
    moments = [read_moment(trace_path(folder, step), chosen) for step in traced_steps(folder)]
    shapes = {name: moments[0].layers[name].shape for name in chosen}
    for moment in moments:
        if moment.indices != moments[0].indices or {name: x.shape for name, x in moment.layers.items()} != shapes:
            raise UsageError(f"'{trace_path(folder, moment.step)}' has different images from the traces before it")
    return moments


def _damaged(path: Path) -> UsageError:
    return UsageError(f"'{path}' cannot be read as a trace; train again in another folder")
