"""The linear-Gaussian laboratory: losses, solutions and scores, exact from covariances.

>>> from unweave.gaussian import im_score
>>> im_score([[1.0]], [[0.6]], [[1.0]]).groups
(frozenset({0}),)
"""

from __future__ import annotations

from unweave.gaussian.bounds import ImBounds, im_bounds
from unweave.gaussian.descent import descend
from unweave.gaussian.im import ImScore, im_score
from unweave.gaussian.information import mutual_information
from unweave.gaussian.iterations import Solutions, blahut_arimoto
from unweave.gaussian.matching import MatchedInformation, matched_information
from unweave.gaussian.model import Decoder, Encoder, World, independent_groups, loss
from unweave.gaussian.scenarios import SCENARIOS, Scenario
from unweave.gaussian.scores import Scores, score

__all__ = [
    "SCENARIOS",
    "Decoder",
    "Encoder",
    "ImBounds",
    "ImScore",
    "MatchedInformation",
    "Scenario",
    "Scores",
    "Solutions",
    "World",
    "blahut_arimoto",
    "descend",
    "im_bounds",
    "im_score",
    "independent_groups",
    "loss",
    "matched_information",
    "mutual_information",
    "score",
]
