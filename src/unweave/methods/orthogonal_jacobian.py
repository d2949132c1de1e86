"""A term beside any method: the columns of the decoder's Jacobian are drawn to be orthogonal."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from unweave.errors import UsageError
from unweave.losses import Loss
from unweave.nets import Model
from unweave.penalties import orthogonal_jacobian
from unweave.schedules import Scheduled, require_not_negative, value_at

BATCHED = (nn.BatchNorm1d, nn.BatchNorm2d, nn.SyncBatchNorm)


@dataclass(frozen=True)
class OrthogonalJacobian:
    r"""Orthogonality of the decoder's Jacobian as a term beside any method's own, after [FunctionalOrthogonality2026]_:

        weight * mean over codes z and pairs i < j of cos^2(J_i, J_j),    J_i = d E[x|z] / d z_i.

    z are samples of the batch's posteriors. No gradient goes through them: the term trains the decoder alone.
    """

    weight: Scheduled = 100.0
    """Weight of the term; a number, or a schedule such as 0:100@10000."""
    columns: int = 0
    """Latents that are drawn at every step, of which all pairs are compared; 0: all."""
    codes: int = 16
    """Codes of a batch at which the Jacobian is taken; 0: at all."""

    def __post_init__(self) -> None:
        require_not_negative(self, "weight")
        for name in ("columns", "codes"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < 0:
                raise UsageError(f"{name} of the Jacobian's term is a whole number, 0 or more, not {value!r}")
        if self.columns == 1:
            raise UsageError("the Jacobian's term compares columns: draw 2 or more, or 0 for all")

    def check(self, latents: int) -> None:
        """Refuse a model whose Jacobian has no pair of columns, or fewer than are drawn."""
        if latents < 2:
            raise UsageError("the Jacobian's term compares latents: it needs 2 or more, not 1")
        if self.columns > latents:
            raise UsageError(f"the Jacobian's term draws {self.columns} columns, and there are {latents} latents")

    def check_decoder(self, model: Model) -> None:
        """Refuse a decoder of the user's that mixes the rows of a batch."""
        if any(isinstance(module, BATCHED) for module in model.decoder.modules()):
            raise UsageError(
                "the Jacobian's term takes each image from its own code, and the decoder normalises batches"
            )

    def term(self, model: Model, loss: Loss, z: Tensor, step: int, choices: torch.Generator) -> Tensor:
        """Return the weighted term at codes z (n, latents); the columns are drawn from `choices`, on the CPU."""
        chosen = z.detach()[: self.codes or None]
        columns = self.columns or None
        found = orthogonal_jacobian(lambda z: loss.mean(model.decode(z)), chosen, columns=columns, generator=choices)
        return value_at(self.weight, step) * found
