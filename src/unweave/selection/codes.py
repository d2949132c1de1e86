"""Codes of the same samples by several models, checked, and which of their latents are informative."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from unweave.errors import UsageError, called
from unweave.metrics.inputs import check_codes

KL_THRESHOLD = 0.01
"""A latent with at most this KL, in nats, is not informative [Duan2020]_."""


def informative_codes(codes: Sequence[ArrayLike], kl: Sequence[ArrayLike] | None = None) -> list[np.ndarray]:
    """Return the codes (n, d_r) of every model with only its informative latents: those that vary and, with `kl`, carry
    information.

    Parameters
    ----------
    codes
        Codes (n, d_r) of the same samples by two models or more.
    kl
        For every model the mean KL divergence (d_r,) of each latent's posterior from the prior, in nats.

    Returns
    -------
    list
        Codes as float64; a model without an informative latent has none, (n, 0).
    """
    models = [_checked(each, place) for place, each in enumerate(codes)]
    if len(models) < 2:
        raise UsageError(f"a comparison needs the codes of at least two models, got {len(models)}")
    for place, each in enumerate(models):
        if len(each) != len(models[0]):
            counts = f"model 1 has {len(models[0]):,} rows, model {place + 1} has {len(each):,}"
            raise UsageError(f"codes must be of the same samples in the same order: {counts}")
    return [each[:, kept] for each, kept in zip(models, _informative(models, kl), strict=True)]


def _checked(codes: ArrayLike, place: int) -> np.ndarray:
    with called(f"model {place + 1}"):
        return check_codes(codes)


def _informative(models: list[np.ndarray], kl: Sequence[ArrayLike] | None) -> list[np.ndarray]:
    varies = [(each != each[0]).any(axis=0) for each in models]
    if kl is None:
        return varies
    if len(kl) != len(models):
        raise UsageError(f"kl must have one entry for each of the {len(models)} models, got {len(kl)}")
    return [moves & (_nats(kl[r], len(moves), r) > KL_THRESHOLD) for r, moves in enumerate(varies)]


def _nats(kl: ArrayLike, latents: int, place: int) -> np.ndarray:
    values = np.asarray(kl, dtype=np.float64)
    if values.shape != (latents,):
        raise UsageError(f"model {place + 1}: kl must have shape ({latents},), one per latent, got {values.shape}")
    if np.isnan(values).any():
        raise UsageError(f"model {place + 1}: kl of latent {int(np.isnan(values).argmax()) + 1} is NaN")
    return values


def off_diagonal(pairs: np.ndarray) -> np.ndarray:
    """Return the off-diagonal entries (R - 1, R) of a matrix of pairs, column by column."""
    count = len(pairs)
    return pairs.T[~np.eye(count, dtype=bool)].reshape(count, count - 1).T
