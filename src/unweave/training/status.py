"""The status of a run in training: how far it is, where it is trained, and why it failed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import torch

from unweave.data import Dataset
from unweave.errors import UsageError
from unweave.files import write_json
from unweave.hardware import machine
from unweave.penalties.checks import NotFinite
from unweave.runs import STATUS, status_of
from unweave.training.state import TrainingState
from unweave.versions import versions


def write_status(state: TrainingState, data: Dataset, folder: Path, phase: str) -> None:
    """Write the status of a run that is "unfinished" or "finished"."""
    device = state.model.device
    status = {
        "state": phase,
        "step": state.step,
        "seconds": round(state.seconds, 3),
        "device": torch.cuda.get_device_name(device) if device.type == "cuda" else device.type,
        "threads": torch.get_num_threads(),
        "machine": machine(),
        "versions": versions(),
    }
    if path := data.options.get("path"):
        status["data"] = path  # the absolute path; the configuration has it relative to the run
    write_json(folder / STATUS, status)


def diverged(state: TrainingState, folder: Path) -> UsageError:
    """Record in the status that the run failed, and return the error."""
    reason = f"the loss or a weight is no longer finite after step {state.step}"
    status = status_of(folder)
    write_json(folder / STATUS, {**status, "state": "failed", "reason": reason})
    kept = f"the checkpoint of step {status['step']} is saved" if status["step"] else "no checkpoint is saved"
    return UsageError(f"{reason}; {kept} in '{folder}'; try a smaller lr, or another seed")


@contextmanager
def reported_as_diverged(state: TrainingState, folder: Path) -> Iterator[None]:
    """Within this context, codes that are not finite make the run fail."""
    try:
        yield
    except NotFinite as error:
        raise diverged(state, folder) from error
