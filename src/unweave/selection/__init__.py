"""Choosing a model without labels: `select` ranks the runs below a folder by any label-free score.

>>> import numpy as np
>>> from unweave.selection import udr
>>> codes = np.random.default_rng(0).normal(size=(1000, 3))
>>> udr([codes, -codes[:, [2, 0, 1]], codes], kind="lasso").round(2)
array([0.9, 0.9, 0.9])

Notes
-----
To add a score: a pure function, an entry in `SCORES`, and a line in `Measured` that passes it what it needs.

- The interface: `ranking` (over a folder of runs), `table` (the scores by name), `specifications` (runs that differ
  only in their seed), `traced` (whose traces can be compared), `measured` (encodes each run once), `saved` (scores that
  a run already has), `estimates` (resamples seeds), `correlation` (with supervised scores), `result`.
- Pure functions: `udr` with `lasso` (regressions from correlations), `agreement`, `codes` (informative latents),
  `centrality`; `dynamics` (the training-dynamics score and its options) with `multislice` (the kernel by its blocks),
  `diffusion` (the walk as an operator), `embedding` (block Krylov singular vectors, threads) and `mmd`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from unweave.late import public_name
from unweave.selection.agreement import agreement, agreement_pairs
from unweave.selection.centrality import Coder, centrality, centrality_pairs
from unweave.selection.dynamics import Dynamics, dynamics, dynamics_embedding, dynamics_pairs
from unweave.selection.mmd import mmd2
from unweave.selection.table import DEFAULT, SCORES, LabelFree
from unweave.selection.udr import udr, udr_pairs

if TYPE_CHECKING:
    from unweave.selection.ranking import select as select
    from unweave.selection.result import Choice as Choice
    from unweave.selection.result import Selection as Selection

_LATER = {"Choice": "result", "Selection": "result", "select": "ranking"}
"""What needs polars, and where it is."""

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


def __getattr__(name: str) -> object:
    """Import what ranks runs on first use: the pure functions need neither tables nor torch."""
    return public_name(__name__, _LATER, name)
