"""The state of a sparse autoencoder's fit, and saving and restoring it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import polars
import torch
from safetensors.numpy import save as save_arrays

from unweave.encoders.sparse.folder import AGAIN
from unweave.encoders.sparse.network import SparseNetwork
from unweave.encoders.sparse.scaling import Scaling, geometric_median
from unweave.encoders.sparse.settings import ResolvedSettings
from unweave.errors import UsageError
from unweave.files import write_atomically
from unweave.runs import CHECKPOINT, LOG, METADATA, WEIGHTS
from unweave.tables import read_log, write_table
from unweave.training.history import History
from unweave.training.state import rebuilt

FIRST, ORDER = 0, 1
"""Random streams of the seed: the first directions, and the order of rows in each epoch."""
EPSILON = 6.25e-10
"""Of Adam, as published [Gao2024]_."""
MEDIAN_ROWS = 32_768
"""Largest number of rows for the geometric median."""


@dataclass
class SparseState:
    """Weights, optimiser and log after `step` steps."""

    network: SparseNetwork
    optimiser: torch.optim.Optimizer
    history: History
    scaling: Scaling
    step: int = 0

    @classmethod
    def initial(cls, settings: ResolvedSettings, x: np.ndarray, scaling: Scaling, log_every: int) -> SparseState:
        """Return the state before the first step on scaled codes (n, d)."""
        sequence = np.random.SeedSequence(settings.seed, spawn_key=(FIRST,))
        generator = torch.Generator().manual_seed(int(sequence.generate_state(1, np.uint64)[0] >> np.uint64(1)))
        median = torch.from_numpy(geometric_median(x[:MEDIAN_ROWS]).astype(np.float32))
        network = SparseNetwork(settings, median, generator)
        optimiser = torch.optim.Adam(network.parameters(), lr=settings.lr, eps=EPSILON, fused=True)
        return cls(network, optimiser, History(log_every), scaling)

    def weights(self) -> dict[str, np.ndarray]:
        """Return the arrays that inference needs, by name."""
        return {
            **{name: value.detach().numpy().copy() for name, value in self.network.named_parameters()},
            "threshold": np.array(self.network.threshold),
            "centre": self.scaling.centre,
            "scale": np.array(self.scaling.scale),
        }

    def save(self, folder: Path, *, last: bool) -> None:
        """Write log, weights and checkpoint, each atomically; only the checkpoint is needed to continue."""
        write_table(folder / LOG, self.history.table(self.step if last else None))
        # One key of metadata: several would be written in random order.
        write_atomically(folder / WEIGHTS, save_arrays(self.weights(), {METADATA: json.dumps({"step": self.step})}))
        values = {
            "network": self.network.state_dict(),
            "optimiser": self.optimiser.state_dict(),
            "window": self.history.state(),
            "step": self.step,
        }
        buffer = BytesIO()
        torch.save(rebuilt(values), buffer)
        write_atomically(folder / CHECKPOINT, buffer.getvalue())

    def restore(self, folder: Path) -> None:
        """Continue from the folder's checkpoint, if there is one."""
        path = folder / CHECKPOINT
        if not path.is_file():
            return
        try:
            self._restore(torch.load(path, weights_only=True))
        except Exception as error:  # torch raises many kinds for a damaged file
            raise UsageError(f"'{path}' is damaged; {AGAIN}") from error
        if not (folder / LOG).is_file():
            raise UsageError(f"'{folder / LOG}' is missing; put it back, or {AGAIN}")
        closed = self.step - self.history.under_way  # a row at this step belongs to an incomplete window
        self.history.rows = read_log(folder / LOG).filter(polars.col("step") <= closed).to_dicts()

    def _restore(self, values: dict[str, Any]) -> None:
        self.network.load_state_dict(values["network"])
        self.optimiser.load_state_dict(values["optimiser"])
        self.history.restore(values["window"], torch.device("cpu"))
        self.step = int(values["step"])


class RowOrder:
    """Rows of each step: epoch after epoch, in a random order that depends only on seed and epoch."""

    def __init__(self, rows: int, batch: int, seed: int) -> None:
        self._rows, self._batch, self._seed = rows, batch, seed
        self._orders: dict[int, np.ndarray] = {}

    def __call__(self, step: int) -> np.ndarray:
        """Return the rows (batch,) of a step; one batch may end an epoch and begin the next."""
        places = np.arange(step * self._batch, (step + 1) * self._batch)
        epochs = places // self._rows
        needed = range(int(epochs[0]), int(epochs[-1]) + 1)
        self._orders = {epoch: self._order(epoch) for epoch in needed}
        return np.concatenate([self._orders[epoch][places[epochs == epoch] % self._rows] for epoch in needed])

    def _order(self, epoch: int) -> np.ndarray:
        if epoch in self._orders:
            return self._orders[epoch]
        sequence = np.random.SeedSequence(self._seed, spawn_key=(ORDER, epoch))
        return np.random.default_rng(sequence).permutation(self._rows)
