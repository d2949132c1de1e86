"""Choosing a model without labels: label-free scores as pure functions of codes, traces of training and models.

>>> import numpy as np
>>> from unweave.selection import udr
>>> codes = np.random.default_rng(0).normal(size=(1000, 3))
>>> udr([codes, -codes[:, [2, 0, 1]], codes], kind="lasso").round(2)
array([0.9, 0.9, 0.9])
"""

from __future__ import annotations

from unweave.selection.agreement import agreement, agreement_pairs
from unweave.selection.centrality import Coder, centrality, centrality_pairs
from unweave.selection.dynamics import Dynamics, dynamics, dynamics_embedding, dynamics_pairs
from unweave.selection.mmd import mmd2
from unweave.selection.udr import udr, udr_pairs

__all__ = [
    "Coder",
    "Dynamics",
    "agreement",
    "agreement_pairs",
    "centrality",
    "centrality_pairs",
    "dynamics",
    "dynamics_embedding",
    "dynamics_pairs",
    "mmd2",
    "udr",
    "udr_pairs",
]
