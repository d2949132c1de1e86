"""The log of a training run: the mean of every term over each window of steps."""

from __future__ import annotations

from typing import Any

import polars
import torch
from torch import Tensor

WATCHED = "watched/"
"""How the names of columns begin that are no part of the loss; TensorBoard shows them as a group."""


class History:
    """Rows of (step, loss, terms…, what is watched…), and the running sums of the window under way.

    The loss is the sum of the terms. What is only watched has a name that says so.
    """

    def __init__(self, every: int, rows: list[dict[str, float]] | None = None) -> None:
        self.every = every
        self.rows = rows or []
        self._sums: dict[str, Tensor] = {}
        self._count = 0

    def add(self, loss: Tensor, terms: dict[str, Tensor], watched: dict[str, Tensor]) -> None:
        """Add the terms of one step, and what is watched, without waiting for the device."""
        aside = {f"{WATCHED}{name}": value for name, value in watched.items()}
        for name, value in {"loss": loss, **terms, **aside}.items():
            # Double sums where the device has doubles: the mean does not depend on the window's length.
            value = value.detach() if value.device.type == "mps" else value.detach().double()
            self._sums[name] = self._sums[name] + value if name in self._sums else value
        self._count += 1

    def due(self, step: int) -> bool:
        """Tell whether a window ends after this many steps."""
        return step % self.every == 0

    def close_window(self, step: int, seconds: float) -> dict[str, float]:
        """Turn the window's sums into a row, and return it with the time, which is not kept: equal runs, equal logs."""
        means = {name: value.item() / self._count for name, value in self._sums.items()}
        self.rows.append({"step": step, **means})
        self._sums, self._count = {}, 0
        return {"step": step, "seconds": seconds, **means}

    def finite(self) -> bool:
        """Tell whether the loss of every step in the window is a finite number."""
        return "loss" not in self._sums or bool(torch.isfinite(self._sums["loss"]).item())

    def table(self) -> polars.DataFrame:
        """Return the rows as a table."""
        return polars.DataFrame(self.rows or {"step": []}, schema_overrides={"step": polars.Int64})

    def state(self) -> dict[str, Any]:
        """Return the window under way, for a checkpoint."""
        return {"sums": dict(self._sums), "count": self._count}

    def restore(self, state: dict[str, Any], device: torch.device) -> None:
        """Continue with a window that `state` returned."""
        self._sums = {name: value.to(device) for name, value in state["sums"].items()}
        self._count = state["count"]
