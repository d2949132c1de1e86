"""Continuous factors that are binned, with test rows and without."""

from __future__ import annotations

import numpy as np

from unweave.metrics import evaluate, mig
from unweave.metrics.inputs import bin_factors


def test_factors_are_binned_without_test_rows():
    factors = np.random.default_rng(0).normal(size=(400, 2))
    row = evaluate(factors, factors, "mig", bin_factors=5, intervals=False, floors=False).row(0, named=True)
    assert row["value"] == mig(factors, bin_factors(factors, 5))
