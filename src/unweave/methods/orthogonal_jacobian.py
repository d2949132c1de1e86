"""A term for any method that makes the columns of the decoder's Jacobian orthogonal."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from unweave.errors import UsageError
from unweave.fields import check_types
from unweave.losses import Loss
from unweave.nets import Model
from unweave.penalties import orthogonal_jacobian
from unweave.schedules import Scheduled, require_not_negative, value_at

BATCHED = (nn.BatchNorm1d, nn.BatchNorm2d, nn.SyncBatchNorm)


@dataclass(frozen=True)
class OrthogonalJacobian:
    r"""Orthogonality of the decoder's Jacobian, a term for any method, after [FunctionalOrthogonality2026]_:

        weight * mean over codes z and pairs i < j of cos^2(J_i, J_j),    J_i = d E[x|z] / d z_i.

    z are samples of the batch's posteriors. No gradient flows through them: the term trains only the decoder.
    """

    weight: Scheduled = 100.0
    """Weight of the term; a number, or a schedule such as 0:100@10000."""
    columns: int = 0
    """Number of decoder inputs (latents, or their categories) drawn at every step and compared; 0: all."""
    codes: int = 16
    """Number of codes of a batch at which the Jacobian is computed; 0: all."""

    def __post_init__(self) -> None:
        check_types(self)
        require_not_negative(self, "weight")
        for name in ("columns", "codes"):
            if (value := getattr(self, name)) < 0:
                raise UsageError(f"{name} of the Jacobian term must be 0 or more, not {value}")
        if self.columns == 1:
            raise UsageError("the Jacobian term compares columns: use 2 or more, or 0 for all")

    def check(self, inputs: int) -> None:
        """Raise a `UsageError` if the decoder has fewer than two inputs, or fewer than the columns to draw."""
        if inputs < 2:
            raise UsageError("the Jacobian term compares latents: it needs 2 or more, not 1")
        if self.columns > inputs:
            raise UsageError(
                f"the Jacobian term draws {self.columns} columns, but the decoder has only {inputs} inputs"
            )

    def check_decoder(self, model: Model) -> None:
        """Raise a `UsageError` for a user's decoder that mixes the rows of a batch."""
        if any(isinstance(module, BATCHED) for module in model.decoder.modules()):
            raise UsageError(
                "the Jacobian term needs a decoder without batch normalisation, which mixes the images of a batch"
            )

    def term(self, model: Model, loss: Loss, z: Tensor, step: int, choices: torch.Generator) -> Tensor:
        """Return the weighted term at codes z (n, latents); the columns are drawn from `choices`, on the CPU."""
        chosen = z.detach()[: self.codes or None]
        columns = self.columns or None
        found = orthogonal_jacobian(lambda z: loss.mean(model.decode(z)), chosen, columns=columns, generator=choices)
        return value_at(self.weight, step) * found
