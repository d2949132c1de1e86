"""Choosing a model without labels: `select` ranks the runs below a folder by any label-free score.

Below it are pure functions of codes, traces of training and models. To add a score: a function of these, an entry in
`SCORES`, and a line in `Measured` that gives it what it needs.

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
from unweave.selection.result import Choice, Selection
from unweave.selection.select import select
from unweave.selection.table import DEFAULT, SCORES, LabelFree
from unweave.selection.udr import udr, udr_pairs

__all__ = [
    "DEFAULT",
    "SCORES",
    "Choice",
    "Coder",
    "Dynamics",
    "LabelFree",
    "Selection",
    "agreement",
    "agreement_pairs",
    "centrality",
    "centrality_pairs",
    "dynamics",
    "dynamics_embedding",
    "dynamics_pairs",
    "mmd2",
    "select",
    "udr",
    "udr_pairs",
]
