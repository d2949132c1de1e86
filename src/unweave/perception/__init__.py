"""What a reconstruction loss sees of a data set: distances between images, compared with those between factors.

>>> from unweave.perception import importance
>>> importance("xysquares", pairs=1024, factors=["x_R"])["std"][0]
0.0

Notes
-----
- Distances: `perceived` (with `squares`, the numba kernel), `ground_truth`, `pairs` (random pairs, or two images of a
  traversal), `matrices` (distance matrices at every level of a model).
- What they say: `measured` with `association`, `correlations`, `importance`; `perceive` with `verdict` (all of it, and
  one sentence); `predicted` (the sentence compared with what runs learnt).
- Learning a loss: `learning`, `trainable` (what is learnt), `batches` and `pair_squares` (its distances on a batch),
  `soft_rank`, and `agreement` (how well the result follows the factors).
"""

from __future__ import annotations

from unweave.perception.correlations import correlations
from unweave.perception.ground_truth import ground_truth_distance
from unweave.perception.importance import importance
from unweave.perception.learning import Learning, LearntLoss, learn_loss
from unweave.perception.matrices import distance_matrices
from unweave.perception.measured import FewPairs
from unweave.perception.perceive import Perception, perceive
from unweave.perception.perceived import Perceived, perceived_distance, perceived_overlap
from unweave.perception.predicted import Predictions, predicted_and_learned
from unweave.perception.soft_rank import soft_rank, soft_spearman

__all__ = [
    "FewPairs",
    "Learning",
    "LearntLoss",
    "Perceived",
    "Perception",
    "Predictions",
    "correlations",
    "distance_matrices",
    "ground_truth_distance",
    "importance",
    "learn_loss",
    "perceive",
    "perceived_distance",
    "perceived_overlap",
    "predicted_and_learned",
    "soft_rank",
    "soft_spearman",
]
