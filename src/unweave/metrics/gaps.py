"""The gap between the two best latents of a factor, which MIG and SAP share."""

from __future__ import annotations

import numpy as np


def top_gap(scores: np.ndarray) -> np.ndarray:
    """Return the best minus the second-best latent's score: (d, ...) to (...). A missing second latent has 0."""
    if len(scores) == 1:
        return scores[0]
    ordered = np.partition(scores, -2, axis=0)
    return ordered[-1] - ordered[-2]
