"""The settings of a sparse autoencoder and of its fit."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from typing import Annotated, Any

from unweave.errors import UsageError, unknown
from unweave.fields import OneOf

KINDS = ("topk", "batch-topk")
SPARSE = "sparse.npz"
"""The file of sparse codes that `unweave sparsify` writes next to the autoencoder."""
BASE_RATE, BASE_FEATURES = 2e-4, 2**14
"""The learning rate at this number of features; the best rate falls with the square root of the number."""
MOST_RATE = 3e-3
"""The largest default: the rule is for large dictionaries and would give far more for few features."""


@dataclass(frozen=True)
class SparseSettings:
    r"""A TopK [Gao2024]_ or BatchTopK [Bussmann2024]_ sparse autoencoder, and how it is fitted.

        z  = S( relu( W_enc (x - b) + c ) )      S keeps the k largest of each row ("topk"),
        x^ = W_dec z + b                         or the k n largest of a batch of n rows ("batch-topk")

        loss = |x - x^|^2 / |x - mean x|^2 + aux_weight |e - e^|^2 / |e - mean e|^2,      e = x - x^, held fixed

    e^ = W_dec z_aux is the reconstruction of the error from the aux_k largest dead features of each row, so that
    features that have not been active in the last dead_after steps get a gradient again. Each feature's direction in
    W_dec has length 1: the component of its gradient along the direction is removed, and after each step of Adam the
    direction is normalised. W_enc starts as the transpose of W_dec, whose directions are random; b, which is subtracted
    before the encoder and added after the decoder, starts as the geometric median of the codes.

    Inference does not depend on a batch: "batch-topk" then keeps what exceeds a threshold, the mean over batches of
    their smallest positive activation,

        theta = E[ min { z_ij : z_ij > 0 } ],      a running mean with decay threshold_decay.

    References
    ----------
    .. [Gao2024] Gao et al., "Scaling and Evaluating Sparse Autoencoders", arXiv 2406.04093.
    .. [Bussmann2024] Bussmann, Leask and Nanda, "BatchTopK Sparse Autoencoders", arXiv 2412.06410.
    """

    features: int = 256
    """Number of features; usually more than the columns of the codes."""
    k: int = 8
    """Number of active features per row; for batch-topk, the mean number."""
    kind: Annotated[str, OneOf(KINDS)] = "topk"
    """topk keeps the k largest features of each row, batch-topk the k n largest of a batch of n rows."""
    steps: int = 5_000
    """Number of updates."""
    batch: int = 256
    """Rows per step; each epoch has a new order of all rows."""
    lr: float | None = None
    """Learning rate of Adam; by default 2e-4 (16384 / features)^½, at most 3e-3."""
    aux_k: int | None = None
    """Number of dead features per row that may explain its error; by default half the columns of the codes; 0: none."""
    aux_weight: float = 1 / 32
    """Weight of the loss of dead features."""
    dead_after: int = 100
    """Steps without being active after which a feature is dead."""
    threshold_decay: float = 0.99
    """Decay of the running mean that gives the threshold of batch-topk."""
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
            raise UsageError(f"k must be at most the number of features, {self.features:,}, not {self.k:,}")
        if self.lr is not None and not _is_number(self.lr, above=0.0):
            raise UsageError(f"the learning rate must be positive, not {self.lr}")
        if not (self.aux_weight == 0 or _is_number(self.aux_weight, above=0.0)):
            raise UsageError(f"aux_weight must be 0 or more, not {self.aux_weight}")
        if not (
            self.threshold_decay == 0 or (_is_number(self.threshold_decay, above=0.0) and self.threshold_decay < 1)
        ):
            raise UsageError(f"threshold_decay must be at least 0 and below 1, not {self.threshold_decay}")

    def resolve(self, width: int) -> ResolvedSettings:
        """Return the settings with the defaults that depend on the number of columns filled in.

        Parameters
        ----------
        width
            The number of columns of the codes.

        Returns
        -------
        ResolvedSettings
            The complete settings.
        """
        lr = min(MOST_RATE, BASE_RATE * math.sqrt(BASE_FEATURES / self.features)) if self.lr is None else self.lr
        aux_k = max(1, width // 2) if self.aux_k is None else self.aux_k
        return ResolvedSettings(**asdict(replace(self, lr=lr, aux_k=aux_k)))

    def to_json(self) -> dict[str, Any]:
        """Return the settings as plain JSON values.

        Returns
        -------
        dict
            The settings by name.
        """
        return asdict(self)


@dataclass(frozen=True)
class ResolvedSettings(SparseSettings):
    """Settings with all defaults filled in."""

    lr: float = MOST_RATE  # pyright: ignore[reportIncompatibleVariableOverride]
    aux_k: int = 1  # pyright: ignore[reportIncompatibleVariableOverride]


def _require_whole(name: str, value: object, least: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise UsageError(f"{name} must be a whole number from {least} up, not {value!r}")


def _is_number(value: object, above: float) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and above < value < math.inf
