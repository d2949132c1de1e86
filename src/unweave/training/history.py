"""The log of a training run: the mean of every term over each window of steps."""

from __future__ import annotations

from typing import Any

import polars
import torch
from torch import Tensor

DIAGNOSTICS = "diagnostics/"
"""Prefix of columns that are not part of the loss; TensorBoard shows them as a group."""


class History:
    """Rows of (step, loss, terms…, diagnostics…), and the running sums of the current window.

    The loss is the sum of the terms. Diagnostics are not part of it, as their names show.
    """

    def __init__(self, every: int, rows: list[dict[str, float]] | None = None) -> None:
        self.every = every
        self.rows = rows or []
        self._sums: dict[str, Tensor] = {}
        self._count = 0

    def add(self, loss: Tensor, terms: dict[str, Tensor], diagnostics: dict[str, Tensor]) -> None:
        """Add the terms of one step, and the diagnostics, without waiting for the device."""
        named = {f"{DIAGNOSTICS}{name}": value for name, value in diagnostics.items()}
        for name, value in {"loss": loss, **terms, **named}.items():
            # Sums in double precision if the device has it, so that the mean does not depend on the window's length.
            value = value.detach() if value.device.type == "mps" else value.detach().double()
            self._sums[name] = self._sums[name] + value if name in self._sums else value
        self._count += 1

    def due(self, step: int) -> bool:
        """Return whether a window ends after this many steps."""
        return step % self.every == 0

    @property
    def under_way(self) -> bool:
        """Whether a window has begun but not ended."""
        return self._count > 0

    def row(self, step: int) -> dict[str, float]:
        """Return the means over the window so far."""
        return {"step": step, **{name: value.item() / self._count for name, value in self._sums.items()}}

    def close_window(self, step: int) -> None:
        """Turn the window's sums into a row of the table."""
        self.rows.append(self.row(step))
        self._sums, self._count = {}, 0

    def finite(self) -> bool:
        """Return whether the loss of every step in the window is finite."""
        return "loss" not in self._sums or bool(torch.isfinite(self._sums["loss"]).item())

    def table(self, last: int | None = None) -> polars.DataFrame:
        """Return the rows as a table; after the `last` step, with a row for the incomplete window."""
        rows = [*self.rows, self.row(last)] if last is not None and self.under_way else self.rows
        return polars.DataFrame(rows or {"step": []}, schema_overrides={"step": polars.Int64})

    def state(self) -> dict[str, Any]:
        """Return the current window, for a checkpoint."""
        return {"sums": dict(self._sums), "count": self._count}

    def restore(self, state: dict[str, Any], device: torch.device) -> None:
        """Continue with a window that `state` returned."""
        self._sums = {name: value.to(device) for name, value in state["sums"].items()}
        self._count = state["count"]
