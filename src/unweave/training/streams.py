"""The random streams of a run, all from one seed: initialisation, batches, noise, labels, choices and columns.

User code may also draw from torch's own generators, as dropout does: `seeded_torch` seeds them too, and a checkpoint
saves their state.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch

STREAMS = 7
OWN = 5
"""The stream of torch's own generators."""


class Streams:
    """Independent generators derived from a seed through `numpy.random.SeedSequence`."""

    def __init__(self, seed: int, device: torch.device) -> None:
        # New streams are added at the end, so that the others do not change.
        initialisation, batches, noise, labels, choices, _, columns = np.random.SeedSequence(seed).spawn(STREAMS)
        self.initialisation = _torch_generator(initialisation, torch.device("cpu"))
        self.batches = np.random.Generator(np.random.PCG64(batches))
        self.noise = _torch_generator(noise, device)
        self.labels = np.random.Generator(np.random.PCG64(labels))
        self.choices = _torch_generator(choices, torch.device("cpu"))
        self.columns = _torch_generator(columns, torch.device("cpu"))

    def state(self) -> dict[str, Any]:
        """Return the state of the streams that are used during training."""
        return {
            "batches": self.batches.bit_generator.state,
            "noise": self.noise.get_state(),
            "labels": self.labels.bit_generator.state,
            "choices": self.choices.get_state(),
            "columns": self.columns.get_state(),
            "torch": [generator.get_state() for generator in _own_generators(self.noise.device)],
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Continue from a state that `state` returned."""
        self.batches.bit_generator.state = state["batches"]
        self.noise.set_state(state["noise"].cpu())
        if "choices" in state:  # missing in checkpoints of earlier versions
            self.labels.bit_generator.state = state["labels"]
            self.choices.set_state(state["choices"].cpu())
        if "columns" in state:  # added even later
            self.columns.set_state(state["columns"].cpu())
        for generator, own in zip(_own_generators(self.noise.device), state.get("torch", ()), strict=False):
            generator.set_state(own.cpu())


@contextmanager
def seeded_torch(seed: int, device: torch.device) -> Iterator[None]:
    """Seed torch's own generators from the run's seed, and restore them afterwards."""
    own = np.random.SeedSequence(seed).spawn(STREAMS)[OWN]
    with unchanged_torch(device):
        for generator in _own_generators(device):
            generator.manual_seed(_seed(own))
        yield


@contextmanager
def unchanged_torch(device: torch.device) -> Iterator[None]:
    """Restore torch's own generators afterwards."""
    generators = _own_generators(device)
    before = [generator.get_state() for generator in generators]
    try:
        yield
    finally:
        for generator, state in zip(generators, before, strict=True):
            generator.set_state(state)


def _own_generators(device: torch.device) -> list[torch.Generator]:
    """Return torch's default generators: of the CPU, and of a CUDA device."""
    cuda = [torch.cuda.default_generators[device.index or 0]] if device.type == "cuda" else []
    return [torch.default_generator, *cuda]


def _torch_generator(sequence: np.random.SeedSequence, device: torch.device) -> torch.Generator:
    return torch.Generator(device).manual_seed(_seed(sequence))


def _seed(sequence: np.random.SeedSequence) -> int:
    """Return a seed of 63 bits, because torch expects a signed 64-bit integer."""
    return int(sequence.generate_state(1, np.uint64)[0] >> np.uint64(1))
