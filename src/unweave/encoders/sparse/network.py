"""The network of a sparse autoencoder during the fit: active features, and the two losses."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn

from unweave.encoders.sparse.settings import ResolvedSettings

NO_ERROR = 1e-12
"""Below this mean square an error is only rounding, and dead features have nothing to explain."""


class Forward(NamedTuple):
    """The result of one batch."""

    terms: dict[str, Tensor]
    """The weighted terms of the loss."""
    active: Tensor
    """Features (n, features), 0 if they are not among the k."""


class SparseNetwork(nn.Module):
    """Encoder (features, d) and decoder (features, d) with their biases, and counters for the fit.

    Inputs are standardised codes with mean 0 and mean square 1.
    """

    silent: Tensor
    smallest: Tensor
    batches: Tensor

    def __init__(self, settings: ResolvedSettings, centre: Tensor, generator: torch.Generator) -> None:
        super().__init__()
        self.settings = settings
        directions = torch.randn((settings.features, len(centre)), generator=generator)
        self.decoder = nn.Parameter(directions / directions.norm(dim=1, keepdim=True))
        self.encoder = nn.Parameter(self.decoder.detach().clone())
        self.encoder_bias = nn.Parameter(torch.zeros(settings.features))
        self.decoder_bias = nn.Parameter(centre.clone())
        self.register_buffer("silent", torch.zeros(settings.features, dtype=torch.int64))
        self.register_buffer("smallest", torch.zeros((), dtype=torch.float64))
        self.register_buffer("batches", torch.zeros((), dtype=torch.int64))

    @property
    def threshold(self) -> float:
        """The running mean over batches of the smallest positive activation."""
        kept = self.settings.threshold_decay ** int(self.batches)
        return float(self.smallest) / (1 - kept) if self.batches else 0.0

    def forward(self, x: Tensor) -> Forward:
        """Return the losses of a batch (n, d), and count which features were active."""
        positive = self.activations(x)
        active = keep_largest(positive, self.settings.k, whole_batch=self.settings.kind == "batch-topk")
        found = self.decode(active)
        self.count(active.detach())
        terms = {"reconstruction": (x - found).square().mean()}
        if self.settings.aux_k and self.settings.aux_weight:
            terms["auxiliary"] = self.settings.aux_weight * self.auxiliary((x - found).detach(), positive)
        return Forward(terms, active.detach())

    def activations(self, x: Tensor) -> Tensor:
        """Return relu(W_enc (x - b) + c), (n, features)."""
        return torch.relu(torch.addmm(self.encoder_bias, x - self.decoder_bias, self.encoder.T))

    def decode(self, active: Tensor) -> Tensor:
        """Return W_dec z + b, (n, d)."""
        return torch.addmm(self.decoder_bias, active, self.decoder)

    @property
    def dead(self) -> Tensor:
        """Which features (features,) have not been active for too many steps."""
        return self.silent >= self.settings.dead_after

    def auxiliary(self, error: Tensor, positive: Tensor) -> Tensor:
        """Return |e - e^|^2 / |e - mean e|^2 of errors (n, d), with e^ decoded from the largest dead features."""
        dead = self.dead
        count = int(dead.sum())
        variance = (error - error.mean(0)).square().mean()
        if not count or variance < NO_ERROR:
            return error.new_zeros(())
        chosen = keep_largest(positive[:, dead], min(self.settings.aux_k, count))
        return (error - chosen @ self.decoder[dead]).square().mean() / variance

    @torch.no_grad()
    def count(self, active: Tensor) -> None:
        """Count the steps since each feature was active, and let the threshold follow the smallest activation."""
        seen = (active > 0).any(0)
        self.silent.add_(1).mul_(~seen)
        if self.settings.kind == "batch-topk" and seen.any():
            decay = self.settings.threshold_decay
            least = active[active > 0].min().double()
            self.smallest.mul_(decay).add_((1 - decay) * least)
            self.batches.add_(1)

    @torch.no_grad()
    def remove_parallel_gradient(self) -> None:
        """Remove from the gradient of each direction its component along it, which would only change its length."""
        if self.decoder.grad is not None:
            along = (self.decoder.grad * self.decoder).sum(1, keepdim=True)
            self.decoder.grad.sub_(along * self.decoder)

    @torch.no_grad()
    def normalise_directions(self) -> None:
        """Give each direction length 1."""
        self.decoder.div_(self.decoder.norm(dim=1, keepdim=True))


def keep_largest(activations: Tensor, k: int, *, whole_batch: bool = False) -> Tensor:
    """Return activations (n, features) with all but the k largest of each row, or the k n largest of all, set to 0."""
    if k >= activations.shape[1]:
        return activations
    pool = activations.reshape(1, -1) if whole_batch else activations
    largest = pool.topk(k * len(activations) if whole_batch else k, dim=1, sorted=False)
    return torch.zeros_like(pool).scatter(1, largest.indices, largest.values).view_as(activations)
