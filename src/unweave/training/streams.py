"""The random streams of a run, each from the one seed: initialisation, batches, noise, labels and choices."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch


class Streams:
    """Independent generators derived from a seed through `numpy.random.SeedSequence`."""

    def __init__(self, seed: int, device: torch.device) -> None:
        # A new stream goes to the end: the ones before it stay what they are.
        initialisation, batches, noise, labels, choices = np.random.SeedSequence(seed).spawn(5)
        self.initialisation = _torch_generator(initialisation, torch.device("cpu"))
        self.batches = np.random.Generator(np.random.PCG64(batches))
        self.noise = _torch_generator(noise, device)
        self.labels = np.random.Generator(np.random.PCG64(labels))
        self.choices = _torch_generator(choices, torch.device("cpu"))

    def state(self) -> dict[str, Any]:
        """Return where the streams that go on during training stand."""
        return {
            "batches": self.batches.bit_generator.state,
            "noise": self.noise.get_state(),
            "labels": self.labels.bit_generator.state,
            "choices": self.choices.get_state(),
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Continue from a state that `state` returned."""
        self.batches.bit_generator.state = state["batches"]
        self.noise.set_state(state["noise"].cpu())
        if "choices" in state:  # a checkpoint of an earlier version knows neither of the two
            self.labels.bit_generator.state = state["labels"]
            self.choices.set_state(state["choices"].cpu())


def _torch_generator(sequence: np.random.SeedSequence, device: torch.device) -> torch.Generator:
    # 63 bits: torch takes a signed 64-bit seed.
    return torch.Generator(device).manual_seed(int(sequence.generate_state(1, np.uint64)[0] >> np.uint64(1)))
