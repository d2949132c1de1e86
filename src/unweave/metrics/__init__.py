"""Scores of how well codes disentangle known factors: pure functions of arrays.

>>> from unweave.metrics import mig
>>> mig([[0.0, 0.3], [0.0, 0.3], [1.0, 0.3], [1.0, 0.3]], [[0], [0], [1], [1]])
1.0
"""

from __future__ import annotations

from unweave.metrics.evaluate import evaluate
from unweave.metrics.mig import mig
from unweave.metrics.sap import sap
from unweave.metrics.table import METRICS, Metric

__all__ = ["METRICS", "Metric", "evaluate", "mig", "sap"]
