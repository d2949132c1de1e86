"""Training: one loop for every method.

Notes
-----
`train` resolves a `Config`, claims the run's folder (`folder`), builds a `TrainingState` (`state`: model, optimiser,
random streams, log) and runs the loop (`loop`) over steps (`step`). Six random streams come from the seed (`streams`):
initialisation, batches, noise, labels, the choices of methods, and columns of a Jacobian. A checkpoint holds the whole
state, so an interrupted run ends with the same weights, bit for bit.

Also here: `by_name` and `resolve` (names and defaults that depend on the data), `supervision` (supervised terms),
`history` (the log), `diagnosis` (warns of trouble, once), `traces` (the decoder's hidden layers during training),
`status` (what status.json says), `interrupt` (signals), `trackers` (TensorBoard, Weights & Biases), `origins`.

Training is fast by default (`benchmarks/train.py`): glibc keeps freed memory between steps, tensors are channels-last,
Adam is fused, activations are in place. None of these is an option, because none changes a result.
"""

from __future__ import annotations

from unweave.training.loop import train

__all__ = ["train"]
