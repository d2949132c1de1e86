"""A fitted sparse autoencoder: codes to features and back, and its folder, which can be read without unweave."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import ArrayLike

from unweave.encoders.sparse.folder import read_settings, read_weights
from unweave.encoders.sparse.network import keep_largest
from unweave.encoders.sparse.scaling import Scaling
from unweave.encoders.sparse.settings import SparseSettings
from unweave.encoders.sparse.statistics import SparseStatistics, StatisticsSums
from unweave.errors import UsageError
from unweave.metrics.inputs import check_codes

ROWS = 4096
"""Number of rows encoded at once."""


@dataclass(frozen=True, eq=False)
class SparseAutoencoder:
    """A fitted sparse autoencoder. Its features are in units of the scaled codes, x = (codes - centre) scale."""

    settings: SparseSettings
    encoder: np.ndarray
    """W_enc (features, d), float32."""
    encoder_bias: np.ndarray
    """c (features,)."""
    decoder: np.ndarray
    """The direction of each feature, (features, d), of length 1."""
    decoder_bias: np.ndarray
    """b (d,)."""
    threshold: float
    """A feature of "batch-topk" is active above it; "topk" does not use it."""
    scaling: Scaling

    @classmethod
    def open(cls, folder: str | Path) -> SparseAutoencoder:
        """Return the sparse autoencoder in a folder that `fit_sparse` or `unweave sparsify` wrote.

        Parameters
        ----------
        folder
            The folder.

        Returns
        -------
        SparseAutoencoder
            The autoencoder at its last checkpoint.
        """
        place = Path(folder)
        return cls.of(read_settings(place), read_weights(place))

    @classmethod
    def of(cls, settings: SparseSettings, weights: dict[str, np.ndarray]) -> SparseAutoencoder:
        """Return the sparse autoencoder with these settings and weights.

        Parameters
        ----------
        settings
            The settings of the fit.
        weights
            The arrays of the file of weights, by name.

        Returns
        -------
        SparseAutoencoder
            The sparse autoencoder.
        """
        scaling = Scaling(weights["centre"], float(weights["scale"]))
        own = {name: weights[name] for name in ("encoder", "encoder_bias", "decoder", "decoder_bias")}
        return cls(settings, **own, threshold=float(weights["threshold"]), scaling=scaling)

    @property
    def width(self) -> int:
        """The number of columns of codes."""
        return self.encoder.shape[1]

    def encode(self, codes: ArrayLike) -> np.ndarray:
        """Return the features of codes.

        Parameters
        ----------
        codes
            Codes (n, d).

        Returns
        -------
        numpy.ndarray
            Features (n, features), float32, from 0 up: most are 0.
        """
        values = self._checked(codes)
        found = np.empty((len(values), len(self.encoder)), np.float32)
        for rows in _parts(len(values)):
            found[rows] = self._encode(values[rows])
        return found

    def decode(self, features: ArrayLike) -> np.ndarray:
        """Return the reconstruction of codes from features.

        Parameters
        ----------
        features
            Features (n, features).

        Returns
        -------
        numpy.ndarray
            Codes (n, d), float64.
        """
        given = np.asarray(features, np.float32)
        if given.ndim != 2 or given.shape[1] != len(self.decoder):
            raise UsageError(f"features must have shape (n, {len(self.decoder)}), not {given.shape}")
        return self.scaling.undo((given @ self.decoder + self.decoder_bias).astype(np.float64))

    def statistics(self, codes: ArrayLike) -> SparseStatistics:
        """Return how well features represent codes, and how many are active.

        Parameters
        ----------
        codes
            Codes (n, d), from the fit or others.

        Returns
        -------
        SparseStatistics
            The unexplained share of the variance, the mean number of active features, and the share of features
            that are active in no row.
        """
        values = self._checked(codes)
        sums = StatisticsSums(values.mean(axis=0))
        for rows in _parts(len(values)):
            features = self._encode(values[rows])
            sums.add(values[rows], features, self.decode(features))
        return sums.result()

    def _checked(self, codes: ArrayLike) -> np.ndarray:
        values = check_codes(codes)
        if values.shape[1] != self.width:
            raise UsageError(f"the sparse autoencoder takes codes of {self.width:,} columns, not {values.shape[1]:,}")
        return values

    def _encode(self, codes: np.ndarray) -> np.ndarray:
        x = self.scaling.apply(codes) - self.decoder_bias
        positive = np.maximum(x @ self.encoder.T + self.encoder_bias, 0.0)
        if self.settings.kind == "batch-topk":
            return np.where(positive > self.threshold, positive, np.float32(0))
        return keep_largest(torch.from_numpy(positive), self.settings.k).numpy()


def _parts(n: int) -> Iterator[slice]:
    return (slice(start, start + ROWS) for start in range(0, n, ROWS))
