"""What a reconstruction loss sees of a data set: distances between images, beside those between their factors.

>>> from unweave.perception import importance
>>> importance("xysquares", pairs=1024, factors=["x_R"])["std"][0]
0.0
"""

from __future__ import annotations

from unweave.perception.correlations import FewPairs, correlations
from unweave.perception.ground_truth import ground_truth_distance
from unweave.perception.importance import importance
from unweave.perception.perceived import Perceived, perceived_distance, perceived_overlap

__all__ = [
    "FewPairs",
    "Perceived",
    "correlations",
    "ground_truth_distance",
    "importance",
    "perceived_distance",
    "perceived_overlap",
]
