"""What a sparse autoencoder is, and how it is fitted."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from typing import Annotated, Any

from unweave.errors import UsageError, unknown
from unweave.fields import OneOf

KINDS = ("topk", "batch-topk")
SPARSE = "sparse.npz"
"""The file of sparse codes that `unweave sparsify` writes beside the autoencoder."""
BASE_RATE, BASE_FEATURES = 2e-4, 2**14
"""The learning rate at so many features; the best one falls with the square root of their number."""
MOST_RATE = 3e-3
"""The largest default: the rule is of large dictionaries, and would give a few features far more."""


@dataclass(frozen=True)
class SparseSettings:
    r"""A TopK [Gao2024]_ or BatchTopK [Bussmann2024]_ sparse autoencoder, and how it is fitted.

        z  = S( relu( W_enc (x - b) + c ) )      S keeps the k largest of each row ("topk"),
        x^ = W_dec z + b                         or the k n largest of a batch of n rows ("batch-topk")

        loss = |x - x^|^2 / |x - mean x|^2 + aux_weight |e - e^|^2 / |e - mean e|^2,      e = x - x^, held fixed

    e^ = W_dec z_aux is what the aux_k largest dead features of each row make of the error: features that have not been
    active in the last dead_after steps get a gradient again. Each feature's direction in W_dec has length 1: after the
    gradient is taken, its component along the direction is removed, and after each step of Adam the length is made 1
    again. W_enc begins as the transpose of W_dec, whose directions are drawn at random; b, which is subtracted before
    the encoder and added after the decoder, begins as the geometric median of the codes.

    A batch is no part of inference: "batch-topk" then keeps what lies above a threshold, the mean over the batches of
    their smallest positive activation,

        theta = E[ min { z_ij : z_ij > 0 } ],      a running mean that forgets by threshold_decay each step.

    References
    ----------
    .. [Gao2024] Gao et al., "Scaling and Evaluating Sparse Autoencoders", arXiv 2406.04093.
    .. [Bussmann2024] Bussmann, Leask and Nanda, "BatchTopK Sparse Autoencoders", arXiv 2412.06410.
    """

    features: int = 256
    """Number of features; usually more than codes have columns."""
    k: int = 8
    """Active features of a row; for batch-topk, their mean."""
    kind: Annotated[str, OneOf(KINDS)] = "topk"
    """topk keeps the k largest features of each row, batch-topk the k largest a row of a whole batch."""
    steps: int = 5_000
    """Number of updates."""
    batch: int = 256
    """Rows a step; an epoch is a new order of all rows."""
    lr: float | None = None
    """Learning rate of Adam; by default 2e-4 (16384 / features)^½, at most 3e-3."""
    aux_k: int | None = None
    """Dead features of a row that may explain its error; by default half as many as codes have columns; 0: none."""
    aux_weight: float = 1 / 32
    """Weight of the loss of dead features."""
    dead_after: int = 100
    """Steps without being active after which a feature is dead."""
    threshold_decay: float = 0.99
    """What the threshold of batch-topk keeps of its past at each step."""
    seed: int = 0
    """Seed of the first directions and of the order of rows."""

    def __post_init__(self) -> None:
        for name in ("features", "k", "steps", "batch", "dead_after"):
            _require_whole(name, getattr(self, name), 1)
        _require_whole("seed", self.seed, 0)
        if self.aux_k is not None:
            _require_whole("aux_k", self.aux_k, 0)
        if self.kind not in KINDS:
            raise unknown("kind of sparse autoencoder", str(self.kind), KINDS)
        if self.k > self.features:
            raise UsageError(f"k is at most the number of features, {self.features:,}, not {self.k:,}")
        if self.lr is not None and not _is_number(self.lr, above=0.0):
            raise UsageError(f"the learning rate must be positive, not {self.lr}")
        if not (self.aux_weight == 0 or _is_number(self.aux_weight, above=0.0)):
            raise UsageError(f"aux_weight must be a number from 0 up, not {self.aux_weight}")
        if not (
            self.threshold_decay == 0 or (_is_number(self.threshold_decay, above=0.0) and self.threshold_decay < 1)
        ):
            raise UsageError(f"threshold_decay must be from 0 up and below 1, not {self.threshold_decay}")

    def resolve(self, width: int) -> ResolvedSettings:
        """Return the settings with what is left to the codes, of so many columns, filled in."""
        lr = min(MOST_RATE, BASE_RATE * math.sqrt(BASE_FEATURES / self.features)) if self.lr is None else self.lr
        aux_k = max(1, width // 2) if self.aux_k is None else self.aux_k
        return ResolvedSettings(**asdict(replace(self, lr=lr, aux_k=aux_k)))

    def to_json(self) -> dict[str, Any]:
        """Return the settings as plain JSON values."""
        return asdict(self)


@dataclass(frozen=True)
class ResolvedSettings(SparseSettings):
    """Settings in which nothing is left open."""

    lr: float = MOST_RATE  # pyright: ignore[reportIncompatibleVariableOverride]
    aux_k: int = 1  # pyright: ignore[reportIncompatibleVariableOverride]


def _require_whole(name: str, value: object, least: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise UsageError(f"{name} must be a whole number from {least} up, not {value!r}")


def _is_number(value: object, above: float) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and above < value < math.inf
