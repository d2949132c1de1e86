"""Reconstruction losses by name.

Notes
-----
To add one, write a function and add a line to `LOSSES`. For a loss with options, write a dataclass with `loss()` and
`options()`, and add a line to `FAMILIES`.

`learnt` reads a learnt loss from its file (`loss_file`): a kernel, or the weights of an `autoencoder`.
"""

from __future__ import annotations

from unweave.losses.loss import Loss
from unweave.losses.names import FAMILIES, LOSSES, content_name, full_name, loss_of

__all__ = ["FAMILIES", "LOSSES", "Loss", "content_name", "full_name", "loss_of"]
