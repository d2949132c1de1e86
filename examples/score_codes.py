"""Score the codes of any encoder. All you need is two arrays, codes (n, d) and factors (n, k).

The encoder here is principal component analysis; replace it with your own.
"""

from __future__ import annotations

import numpy as np
from sklearn.decomposition import PCA

import unweave

data = unweave.load("xyobject")
rng = np.random.default_rng(0)
indices = rng.choice(len(data), size=1500, replace=False)

images = data.images(indices).reshape(len(indices), -1) / 255.0
codes = PCA(n_components=6, svd_solver="randomized", random_state=0).fit_transform(images)
factors = data.factors.from_index(indices)

# Scores with their 95 % intervals, floors and ceilings. Metrics that fit a predictor test it on a third of the rows.
# Without `metrics`, all metrics that need only codes and factors are computed.
scores = unweave.evaluate(codes, factors, metrics=["mig", "sap", "dci", "modularity", "total-correlation"])
print(scores)

# One score, with your own train and test rows.
score = unweave.metrics.sap(codes[:1000], factors[:1000], test=(codes[1000:], factors[1000:]))
print(f"SAP, tested on the last 500 rows: {score:.3f}")
