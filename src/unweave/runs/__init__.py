"""A run: a folder that can be read without unweave, and the object that reads it.

config.json          all settings that determine the result, with the run's identity
status.json          state, step, seconds, machine
log.parquet          step, loss, terms…
weights.safetensors  the model at its last checkpoint
snapshots/           the model at earlier steps, if requested
traces/              the decoder's hidden layers on fixed images during training, if requested
checkpoint.pt        needed to continue training: optimiser, random streams; about three times the size of the weights
scores.parquet       metric, value, low, high, floor, ceiling, adjusted, options, step, weights
report.html          the page written by `unweave report`

A folder that `unweave publish` wrote is a run too; its weights are called model.safetensors.
"""

from __future__ import annotations

from unweave.runs.files import (
    CHECKPOINT,
    CONFIG,
    FILES,
    LOG,
    PAGE,
    PUBLISHED,
    SCORES,
    SNAPSHOTS,
    STATUS,
    TENSORBOARD,
    WEIGHTS,
    read_json,
    snapshot_path,
    status_of,
)
from unweave.runs.inference import CHUNK
from unweave.runs.run import Run
from unweave.runs.weights import METADATA

__all__ = [
    "CHECKPOINT",
    "CHUNK",
    "CONFIG",
    "FILES",
    "LOG",
    "METADATA",
    "PAGE",
    "PUBLISHED",
    "SCORES",
    "SNAPSHOTS",
    "STATUS",
    "TENSORBOARD",
    "WEIGHTS",
    "Run",
    "read_json",
    "snapshot_path",
    "status_of",
]
