"""Train on vectors instead of images: a table of counts, a β-VAE with a negative binomial loss, its scores and report.

Replace `counts` with your own matrix (n, D); factors are optional.
"""

from __future__ import annotations

import numpy as np

import unweave
from unweave.data import Vectors
from unweave.methods import BetaVAE

# 2,000 "cells" with 60 "genes": two programmes of ten genes each, forty constant genes, and a varying depth.
rng = np.random.default_rng(0)
programmes = rng.integers(0, 5, size=(2000, 2))
activity = np.concatenate([np.repeat(programmes / 2, 10, axis=1), np.ones((2000, 40))], axis=1)
depth = rng.lognormal(sigma=0.5, size=(2000, 1))
counts = rng.negative_binomial(20, 20 / (20 + depth * np.exp(1 + activity)))

data = Vectors(counts, programmes, names=["first", "second"], features=[f"gene{number}" for number in range(60)])
run = unweave.train(BetaVAE(beta=1, loss="nb"), data=data, latents=4, width=0.05, steps=600, lr=3e-3, out="runs/counts")

codes = run.encode(counts[:5])  # (5, 4)
print("counts at the median depth, decoded from five codes:", run.decode(codes).shape)
print(run.evaluate(["mig", "mcc", "elbo"], samples=1500, test_samples=500).select("metric", "value"))
print("wrote", unweave.report.write_page(run))
