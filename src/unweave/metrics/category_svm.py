"""A linear support vector machine that sees one categorical latent, as a column for each category."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from unweave.late import importing

TOLERANCE = 1e-8


class CategoryCode:
    """A categorical latent (n,), ready to predict any factor from it: `SortedCode` for categories.

    Rows of one category and one class are identical. Each such pair becomes one weighted row, so that the time of a fit
    depends on the number of pairs, not of rows.
    """

    def __init__(self, code: np.ndarray) -> None:
        self._values, self._labels = np.unique(code, return_inverse=True)

    def predict(self, factor: np.ndarray, test_code: np.ndarray, penalty: float) -> np.ndarray:
        """Return the predictions of scikit-learn's LinearSVC, with this C and balanced classes, for test codes (m,)."""
        classes, numbered = np.unique(factor, return_inverse=True)
        if len(classes) == 1:
            return np.full(len(test_code), classes[0])
        pairs, counts = np.unique(self._labels * len(classes) + numbered, return_counts=True)
        category, label = np.divmod(pairs, len(classes))
        balanced = len(factor) / (len(classes) * np.bincount(numbered))

        with importing():
            from sklearn.exceptions import ConvergenceWarning
            from sklearn.svm import LinearSVC

        weights = dict(enumerate(balanced.tolist()))
        primal: Any = False  # scikit-learn's annotation lists only "auto"
        model = LinearSVC(C=penalty, class_weight=weights, dual=primal, tol=TOLERANCE, max_iter=10_000)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(np.eye(len(self._values))[category], label, sample_weight=counts)
        columns = (test_code[:, None] == self._values).astype(np.float64)
        return classes[model.predict(columns)]
