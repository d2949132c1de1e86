"""The random streams of a run, each from the one seed: initialisation, batches, noise, labels, choices and columns.

What users write may also draw from torch's own generators, as dropout does: `seeded_torch` has them begin at the seed
too, and a checkpoint keeps where they stand.
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
        # A new stream goes to the end: the ones before it stay what they are.
        initialisation, batches, noise, labels, choices, _, columns = np.random.SeedSequence(seed).spawn(STREAMS)
        self.initialisation = _torch_generator(initialisation, torch.device("cpu"))
        self.batches = np.random.Generator(np.random.PCG64(batches))
        self.noise = _torch_generator(noise, device)
        self.labels = np.random.Generator(np.random.PCG64(labels))
        self.choices = _torch_generator(choices, torch.device("cpu"))
        self.columns = _torch_generator(columns, torch.device("cpu"))

    def state(self) -> dict[str, Any]:
        """Return where the streams that go on during training stand."""
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
        if "choices" in state:  # a checkpoint of an earlier version knows neither of the two
            self.labels.bit_generator.state = state["labels"]
            self.choices.set_state(state["choices"].cpu())
        if "columns" in state:  # later still
            self.columns.set_state(state["columns"].cpu())
        for generator, own in zip(_own_generators(self.noise.device), state.get("torch", ()), strict=False):
            generator.set_state(own.cpu())


@contextmanager
def seeded_torch(seed: int, device: torch.device) -> Iterator[None]:
    """Have torch's own generators begin at the run's seed, and put them back afterwards."""
    own = np.random.SeedSequence(seed).spawn(STREAMS)[OWN]
    with unchanged_torch(device):
        for generator in _own_generators(device):
            generator.manual_seed(_seed(own))
        yield


@contextmanager
def unchanged_torch(device: torch.device) -> Iterator[None]:
    """Put torch's own generators back afterwards."""
    generators = _own_generators(device)
    before = [generator.get_state() for generator in generators]
    try:
        yield
    finally:
        for generator, state in zip(generators, before, strict=True):
            generator.set_state(state)


def _own_generators(device: torch.device) -> list[torch.Generator]:
    """Return the generators that torch draws from where it is given none: of the CPU, and of a CUDA device."""
    cuda = [torch.cuda.default_generators[device.index or 0]] if device.type == "cuda" else []
    return [torch.default_generator, *cuda]


def _torch_generator(sequence: np.random.SeedSequence, device: torch.device) -> torch.Generator:
    return torch.Generator(device).manual_seed(_seed(sequence))


def _seed(sequence: np.random.SeedSequence) -> int:
    """Return a seed of 63 bits: torch takes a signed 64-bit one."""
    return int(sequence.generate_state(1, np.uint64)[0] >> np.uint64(1))
