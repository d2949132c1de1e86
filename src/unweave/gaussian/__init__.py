"""The linear-Gaussian laboratory: what can be computed exactly from covariances.

>>> from unweave.gaussian import im_score
>>> im_score([[1.0]], [[0.6]], [[1.0]]).groups
(frozenset({0}),)
"""

from __future__ import annotations

from unweave.gaussian.im import ImScore, im_score

__all__ = ["ImScore", "im_score"]
