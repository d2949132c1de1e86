"""The scores of the large published study by their plain definitions: scikit-learn as disentanglement_lib calls it.

Written for clarity, not for speed: `metrics.py --plain` measures against them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.linalg
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV
from sklearn.metrics import mutual_info_score, roc_auc_score
from sklearn.model_selection import KFold
from sklearn.preprocessing import StandardScaler, label_binarize
from sklearn.svm import LinearSVC

Inputs = dict[str, Any]
IMPORTANCES: list[np.ndarray] = []
"""The matrices, (codes, factors), that `dci` came by."""


def binned(codes: np.ndarray) -> np.ndarray:
    return np.stack([np.digitize(code, np.histogram(code, 20)[1][:-1]) for code in codes.T])


def information(codes: np.ndarray, factors: np.ndarray) -> np.ndarray:
    return np.array([[mutual_info_score(factor, code) for factor in factors.T] for code in binned(codes)])


def mig(inputs: Inputs) -> list[float]:
    known = np.sort(information(inputs["codes"], inputs["factors"]), axis=0)
    entropy = [mutual_info_score(factor, factor) for factor in inputs["factors"].T]
    return [float(np.mean((known[-1] - known[-2]) / entropy))]


def modularity(inputs: Inputs) -> list[float]:
    squared = information(inputs["codes"], inputs["factors"]) ** 2
    most = squared.max(axis=1)
    return [float(np.mean(1 - (squared.sum(axis=1) - most) / (most * (squared.shape[1] - 1))))]


def explicitness(inputs: Inputs) -> list[float]:
    scaler = StandardScaler().fit(inputs["codes"])
    codes, (test_codes, test_factors) = scaler.transform(inputs["codes"]), inputs["test"]
    areas = []
    for factor, test in zip(inputs["factors"].T, test_factors.T, strict=True):
        model = LogisticRegression().fit(codes, factor)
        likely = model.predict_proba(scaler.transform(test_codes))
        areas.append(roc_auc_score(label_binarize(test, classes=model.classes_), likely, average="macro"))
    return [float(np.mean(areas))]


def sap(inputs: Inputs) -> list[float]:
    codes, factors, (test_codes, test_factors) = inputs["codes"], inputs["factors"], inputs["test"]
    right = np.zeros((codes.shape[1], factors.shape[1]))
    for j, k in np.ndindex(right.shape):
        model = LinearSVC(C=0.01, class_weight="balanced").fit(codes[:, [j]], factors[:, k])
        right[j, k] = np.mean(model.predict(test_codes[:, [j]]) == test_factors[:, k])
    right.sort(axis=0)
    return [float(np.mean(right[-1] - right[-2]))]


def dci(inputs: Inputs) -> list[float]:
    test_codes, test_factors = inputs["test"]
    columns, right = [], []
    for k, factor in enumerate(inputs["factors"].T):
        model = GradientBoostingClassifier(random_state=0).fit(inputs["codes"], factor)
        columns.append(model.feature_importances_)
        right.append(np.mean(model.predict(test_codes) == test_factors[:, k]))
    IMPORTANCES.append(np.array(columns).T)
    matrix = np.array(columns).T + 1e-11
    rows, total = matrix / matrix.sum(axis=1, keepdims=True), matrix.sum()
    spread = 1 + (rows * np.log(rows)).sum(axis=1) / np.log(matrix.shape[1])
    columnwise = matrix / matrix.sum(axis=0)
    packed = 1 + (columnwise * np.log(columnwise)).sum(axis=0) / np.log(len(matrix))
    weights = matrix.sum(axis=1) / total, matrix.sum(axis=0) / total
    return [float(weights[0] @ spread), float(weights[1] @ packed), float(np.mean(right))]


def total_correlation(inputs: Inputs) -> list[float]:
    covariance = np.cov(inputs["codes"].T)
    return [float(0.5 * (np.log(np.diag(covariance)).sum() - np.linalg.slogdet(covariance)[1]))]


def wasserstein(inputs: Inputs) -> list[float]:
    covariance = np.cov(inputs["codes"].T)
    root = scipy.linalg.sqrtm(np.diag(np.diag(covariance)) @ covariance)
    distance = float(2 * np.trace(covariance) - 2 * np.trace(root).real)
    return [distance, distance / float(np.trace(covariance))]


def pairwise_mi(inputs: Inputs) -> list[float]:
    bins = binned(inputs["codes"])
    known = [mutual_info_score(a, b) for i, a in enumerate(bins) for j, b in enumerate(bins) if i != j]
    return [float(np.mean(known))]


def draw(inputs: Inputs, n: int, rng: np.random.Generator, kept: int | None = None) -> np.ndarray:
    """Return codes of n random cells that share the value of one factor."""
    sizes = inputs["encode"].sizes
    factors = rng.integers(sizes, size=(n, len(sizes)))
    if kept is not None:
        factors[:, kept] = factors[0, kept]
    return inputs["encode"].codes(np.ravel_multi_index(tuple(factors.T), sizes))


def beta_vae(inputs: Inputs) -> list[float]:
    rng, k = np.random.default_rng(0), len(inputs["encode"].sizes)
    points, kept = [], rng.integers(k, size=15_000)
    for factor in kept:
        sizes = inputs["encode"].sizes
        pair = rng.integers(sizes, size=(2, 64, k))
        pair[1, :, factor] = pair[0, :, factor]
        a, b = (inputs["encode"].codes(np.ravel_multi_index(tuple(half.T), sizes)) for half in pair)
        points.append(np.abs(a - b).mean(axis=0))
    model = LogisticRegression().fit(points[:10_000], kept[:10_000])
    return [float(model.score(points[10_000:], kept[10_000:]))]


def factor_vae(inputs: Inputs) -> list[float]:
    rng, k = np.random.default_rng(0), len(inputs["encode"].sizes)
    spread = draw(inputs, 10_000, rng).var(axis=0, ddof=1)
    active = np.sqrt(spread) >= 0.05
    votes = np.zeros((2, active.sum(), k), dtype=int)
    for vote in range(15_000):
        factor = int(rng.integers(k))
        within = draw(inputs, 64, rng, kept=factor).var(axis=0, ddof=1)
        votes[int(vote >= 10_000), np.argmin((within / spread)[active]), factor] += 1
    chosen = votes[0].argmax(axis=1)
    return [float(votes[1][np.arange(len(chosen)), chosen].sum() / votes[1].sum())]


def irs(inputs: Inputs) -> list[float]:
    codes, factors = inputs["codes"], inputs["factors"].astype(float)
    for k, factor in enumerate(factors.T):
        factors[:, k] = np.digitize(factor, np.histogram(factor, 20)[1][:-1])
    largest = np.abs(codes - codes.mean(axis=0)).max(axis=0)
    moved = np.zeros((codes.shape[1], factors.shape[1]))
    for k, factor in enumerate(factors.T):
        worst = []
        for value in np.unique(factor):
            inside = codes[factor == value]
            worst.append(np.percentile(np.abs(inside - inside.mean(axis=0)), 99, axis=0))
        moved[:, k] = np.mean(worst, axis=0)
    best = (1 - moved / largest[:, None]).max(axis=1)
    return [float(np.average(best, weights=largest))]


def downstream(inputs: Inputs, learner: Callable[[], Any]) -> list[float]:
    test_codes, test_factors = inputs["test"]
    accuracies = []
    for size in (10, 100, 1_000, 10_000):
        right = []
        for k, factor in enumerate(inputs["factors"][:size].T):
            model = learner().fit(inputs["codes"][:size], factor)
            right.append(np.mean(model.predict(test_codes) == test_factors[:, k]))
        accuracies.append(float(np.mean(right)))
    return [*accuracies, accuracies[1] / accuracies[3]]


PLAIN: dict[str, Callable[[Inputs], list[float]]] = {
    "mig": mig,
    "modularity": modularity,
    "explicitness": explicitness,
    "sap": sap,
    "irs": irs,
    "total-correlation": total_correlation,
    "wasserstein": wasserstein,
    "pairwise-mi": pairwise_mi,
    "beta-vae-score": beta_vae,
    "factor-vae-score": factor_vae,
    "downstream-logistic": lambda inputs: downstream(inputs, lambda: LogisticRegressionCV(Cs=10, cv=KFold(5))),
    "downstream-gbt": lambda inputs: downstream(inputs, lambda: GradientBoostingClassifier(random_state=0)),
    "dci": dci,
}
