"""Record the decoder's hidden layers on a few fixed images during training."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from unweave.data import Dataset
from unweave.data.factors import Integers
from unweave.errors import UsageError
from unweave.nets import Model
from unweave.nets.hidden import hidden_activations
from unweave.runs import CHUNK, Run
from unweave.tracing import Moment, Tracing, read_about, trace_path, traced_steps, write_moment
from unweave.training.streams import unchanged_torch

UNITS = 256
"""Layers with more units are projected to this number."""
SEED = 2210
"""Seed of the trace images and the projections: a constant, so that all runs on a data set are comparable."""
DRAWS = 1000
"""Number of attempts to draw enough distinct images."""


class Tracer:
    """Writes the trace of a model at the requested steps."""

    def __init__(self, tracing: Tracing, data: Dataset, steps: int) -> None:
        self._indices = trace_indices(data, tracing.samples)
        self._images = data.inputs(self._indices)
        self._moments = frozenset(tracing.moments(steps))
        self._steps = steps

    def is_due(self, step: int) -> bool:
        """Return whether the model is traced after this step."""
        return step in self._moments

    def begin(self, model: Model, step: int, folder: Path) -> None:
        """Trace a new run; for a run that ended here and continues, remove its last trace unless it is due."""
        if step == 0:
            self.save(model, step, folder)
        elif step < self._steps and not self.is_due(step):
            trace_path(folder, step).unlink(missing_ok=True)

    def save(self, model: Model, step: int, folder: Path) -> None:
        """Write the current trace of the model, without changing the model or torch's random streams."""
        with _evaluated(model):
            parts = [_layers(model, self._images[start : start + CHUNK]) for start in self._starts]
        layers = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
        write_moment(folder, Moment(step, tuple(map(int, self._indices)), layers))

    @property
    def _starts(self) -> range:
        return range(0, len(self._images), CHUNK)


def trace_indices(data: Dataset, samples: int) -> Integers:
    """Return the indices (samples,) of the distinct images that every run on this data set is traced on.

    They are drawn like training images, with a constant seed. A smaller sample is the beginning of a larger one.
    """
    if samples > len(data):
        raise UsageError(f"'{data.name}' has only {len(data):,} images, not {samples:,} to trace: lower trace_samples")
    rng, found = np.random.default_rng(SEED), np.empty(0, dtype=np.int64)
    for _ in range(DRAWS):
        drawn = np.concatenate([found, data.sample(1024, rng)])
        found = drawn[np.sort(np.unique(drawn, return_index=True)[1])]
        if len(found) >= samples:
            return found[:samples]
    raise UsageError(f"'{data.name}' draws only {len(found):,} images, not {samples:,} to trace: lower trace_samples")


def check_traces(tracing: Tracing | None, run: Run, steps: int) -> None:
    """Raise a `UsageError` for traces that this run can no longer have."""
    if tracing is None or not run.step:
        return
    there = traced_steps(run.path)
    if passed := [step for step in tracing.moments(steps) if step <= run.step and step not in there]:
        late = f"'{run.path}' has passed step {passed[0]:,} without a trace"
        raise UsageError(f"{late}; train again in another folder")
    kept = len(read_about(trace_path(run.path, there[0]))["indices"])
    if kept != tracing.samples:
        others = f"the traces of '{run.path}' have {kept} images, not {tracing.samples}"
        raise UsageError(f"{others}: set trace_samples to {kept}")


def check_hidden(model: Model) -> None:
    """Raise a `UsageError` for a decoder without a hidden layer."""
    with _evaluated(model):
        codes = torch.zeros(2, model.latents, device=model.device)
        hidden_activations(model.decoder, model.embed(codes), torch.clone)


def _layers(model: Model, images: np.ndarray) -> dict[str, np.ndarray]:
    """Return the activations (n, at most UNITS) of each hidden layer of the decoder for images' posterior means."""
    codes = model.encode(model.pixels(model.checked(images))).mean
    return {
        name: x.cpu().numpy() for name, x in hidden_activations(model.decoder, model.embed(codes), _projected).items()
    }


def _projected(activations: Tensor) -> Tensor:
    """Return activations (n, ...) as (n, units); for wide layers, UNITS random sums, which preserve distances.

    Each unit, with a random sign, is added to one of UNITS sums of equal size [Charikar2002]_. Squared distances are
    preserved on average, with a relative variance of at most 2 / UNITS, the same as for a Gaussian matrix, which needs
    UNITS times the work and memory.
    """
    x = activations.detach().float().flatten(1)
    if x.shape[1] <= UNITS:
        return x.clone()
    places, signs = (torch.from_numpy(part).to(x.device) for part in _sums(x.shape[1]))
    return (x[:, places] * signs).unflatten(1, (-1, UNITS)).sum(1)


@lru_cache(maxsize=32)
def _sums(width: int) -> tuple[Integers, np.ndarray]:
    """Return which units are summed, in rows of UNITS, and their signs: 0 where there is no unit."""
    rng = np.random.default_rng([SEED, width])
    places = rng.permutation(-(-width // UNITS) * UNITS)
    signs = rng.choice(np.array([-1, 1], dtype=np.float32), len(places))
    return np.minimum(places, width - 1), np.where(places < width, signs, np.float32(0))


@contextmanager
def _evaluated(model: Model) -> Iterator[None]:
    """Put a model into evaluation mode without gradients, and restore it and torch's random streams afterwards."""
    modes = [(module, module.training) for module in model.modules()]
    with torch.no_grad(), unchanged_torch(model.device):
        model.eval()
        try:
            yield
        finally:
            for module, training in modes:
                module.training = training
