"""The random streams of a run: initialisation, batches and noise, each from the one seed."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch


class Streams:
    """Independent generators derived from a seed through `numpy.random.SeedSequence`."""

    def __init__(self, seed: int, device: torch.device) -> None:
        initialisation, batches, noise = np.random.SeedSequence(seed).spawn(3)
        self.initialisation = _torch_generator(initialisation, torch.device("cpu"))
        self.batches = np.random.Generator(np.random.PCG64(batches))
        self.noise = _torch_generator(noise, device)

    def state(self) -> dict[str, Any]:
        """Return where the streams that go on during training stand."""
        return {"batches": self.batches.bit_generator.state, "noise": self.noise.get_state()}

    def restore(self, state: dict[str, Any]) -> None:
        """Continue from a state that `state` returned."""
        self.batches.bit_generator.state = state["batches"]
        self.noise.set_state(state["noise"].cpu())


def _torch_generator(sequence: np.random.SeedSequence, device: torch.device) -> torch.Generator:
    # 63 bits: torch takes a signed 64-bit seed.
    return torch.Generator(device).manual_seed(int(sequence.generate_state(1, np.uint64)[0] >> np.uint64(1)))
