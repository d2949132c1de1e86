"""Optional mirrors of the log: TensorBoard and Weights & Biases."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

from unweave.config import Config
from unweave.errors import UsageError, unknown
from unweave.runs import TENSORBOARD


class Tracker(Protocol):
    """Receives every row of the log."""

    def log(self, row: dict[str, float]) -> None:
        """Take one row: step, seconds, loss and terms."""
        ...

    def close(self) -> None:
        """Finish writing."""
        ...


class TensorBoard:
    """Writes event files into the run's folder `tensorboard`."""

    def __init__(self, folder: Path, config: Config) -> None:
        try:
            from torch.utils.tensorboard.writer import SummaryWriter
        except ImportError:
            raise UsageError("TensorBoard is not installed; run: pip install 'unweave[tensorboard]'") from None
        self._writer = SummaryWriter(str(folder / TENSORBOARD))

    def log(self, row: dict[str, float]) -> None:
        """Write every term as a scalar."""
        for name, value in _terms(row).items():
            self._writer.add_scalar(name, value, int(row["step"]))

    def close(self) -> None:
        """Flush the event file."""
        self._writer.close()


class WandB:
    """Sends the log to Weights & Biases, under the run's identity."""

    def __init__(self, folder: Path, config: Config) -> None:
        try:
            import wandb  # pyright: ignore[reportMissingImports]
        except ImportError:
            raise UsageError("Weights & Biases is not installed; run: pip install 'unweave[wandb]'") from None
        self._run: Any = wandb.init(
            project="unweave",
            id=config.id,
            name=folder.name,
            dir=str(folder),
            config=config.to_json(),
            resume="allow",
        )

    def log(self, row: dict[str, float]) -> None:
        """Send every term."""
        self._run.log(_terms(row), step=int(row["step"]))

    def close(self) -> None:
        """Finish the upload."""
        self._run.finish()


TRACKERS: dict[str, type[TensorBoard] | type[WandB]] = {"tensorboard": TensorBoard, "wandb": WandB}


def check(names: Sequence[str]) -> None:
    """Raise a `UsageError` for a tracker that does not exist."""
    for name in names:
        if name not in TRACKERS:
            raise unknown("tracker", name, TRACKERS)


def start(names: Sequence[str], folder: Path, config: Config) -> list[Tracker]:
    """Return the trackers of these names."""
    return [TRACKERS[name](folder, config) for name in names]


def _terms(row: dict[str, float]) -> dict[str, float]:
    return {name: value for name, value in row.items() if name not in ("step", "seconds")}
