"""Multinomial logistic regression with a penalty chosen by cross-validation: scikit-learn's estimate in less time."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np

from unweave.late import importing
from unweave.metrics.scaling import standardise

STRENGTHS = np.logspace(-4, 4, 10)
"""Values of C tried, from the strongest penalty |weights|² / 2 against C times the sum of the losses."""
WAYPOINTS = STRENGTHS[4::2]
"""A fit with a given C first passes through these: Newton steps from zero weights would overshoot."""
FOLDS = 5
CLOSE = 1e-8
"""A fit ends when a step lowers the mean loss by less than half of this."""
STEPS, HESSIANS = 7, 20
"""Steps with one Hessian before it is computed again, and the most times that it is."""
MANY, MANY_CLOSE, MANY_STEPS = 700, 1e-4, 100
"""Above this many weights a Hessian costs more than it saves: fits take more steps without it, and end less exactly."""
FEW = 500
"""Up to this many rows the losses are computed in double precision, which then costs little."""
JITTER = 1e-6
"""Added to a Hessian, in units of the codes' variances: along some directions the loss does not curve at all."""

Solve: TypeAlias = Callable[[np.ndarray], np.ndarray]
"""A function from the gradient, in the shape of the weights, to the inverse Hessian times it."""


def predict_logistic(
    codes: np.ndarray, factor: np.ndarray, test_codes: np.ndarray, strength: float | None = None
) -> tuple[np.ndarray, float]:
    """Return the class that the regression fitted to codes (n, d) and classes (n,) gives each test row, and its C.

    It is the estimate of scikit-learn's LogisticRegressionCV(Cs=10, cv=KFold(5)): C is the first of ten values with the
    best mean accuracy on five folds of consecutive rows, unless `strength` gives it. Only the computation differs: the
    codes are standardised (the penalty still applies to the weights of the original codes), and all folds and penalties
    share a few Hessians and converge further. A class that a fold lacks has probability 0 there; a latent that is
    constant among the fitted rows has no weight.
    """
    values, labels = np.unique(factor, return_inverse=True)
    if len(values) == 1 or len(codes) == 1:
        return np.full(len(test_codes), values[0]), float(STRENGTHS[0])
    scores, strength = _test_scores(codes, labels, test_codes, strength)
    return values[scores.argmax(axis=0)], strength


def class_scores(codes: np.ndarray, labels: np.ndarray, test_codes: np.ndarray, strength: float) -> np.ndarray:
    """Return log P of each class (classes, rows) for test rows, up to a constant per row, with C = `strength`.

    Labels (n,) number the classes, at least two. It is scikit-learn's LogisticRegression(C=strength), converged.
    """
    return _test_scores(codes, labels, test_codes, strength)[0]


def _test_scores(
    codes: np.ndarray, labels: np.ndarray, test_codes: np.ndarray, strength: float | None
) -> tuple[np.ndarray, float]:
    """Return the scores (classes, rows) of test rows, and the C given or chosen."""
    scaled, scaled_test = standardise((codes, labels), (test_codes, labels))
    moving = scaled.any(axis=0)  # along the weights of constant latents the loss has no curvature
    precision = np.float64 if len(codes) <= FEW else np.float32
    rows = _Rows(_with_constant(scaled[:, moving]).astype(precision), labels, int(labels.max()) + 1)
    ridge = np.append(1.0 / codes[:, moving].std(axis=0, dtype=np.float64) ** 2, 0.0)
    ridge *= 2 if rows.classes == 2 else 1  # scikit-learn has one row of weights for two classes: half as many
    if strength is None:
        strength, weights = _choose(rows, ridge)
    else:
        fit = _Fit(np.zeros((rows.classes, len(ridge))))
        for weaker in (*WAYPOINTS[strength > WAYPOINTS], strength):
            fit = _fit(rows, ridge / (weaker * len(codes)), fit)
        weights = fit.weights
    return weights @ _with_constant(scaled_test[:, moving]).T, strength


def _with_constant(codes: np.ndarray) -> np.ndarray:
    return np.hstack([codes, np.ones((len(codes), 1))])


@dataclass(frozen=True)
class _Fit:
    """Weights (classes, d + 1), and the Hessian of the loss that led there: that of zero weights if it is None."""

    weights: np.ndarray
    hessian: np.ndarray | None = None


@dataclass(frozen=True)
class _Rows:
    """Rows to fit: standardised codes and a constant (n, d + 1), and which of the classes each row has."""

    inputs: np.ndarray
    labels: np.ndarray
    classes: int

    @cached_property
    def moments(self) -> np.ndarray:
        """Return the mean of inputs inputsᵀ, (d + 1, d + 1)."""
        inputs = self.inputs.astype(np.float64)
        return inputs.T @ inputs / len(inputs)

    @cached_property
    def present(self) -> np.ndarray:
        """Return whether any row has a class, (classes, 1)."""
        return np.bincount(self.labels, minlength=self.classes)[:, None] > 0

    def chances(self, weights: np.ndarray) -> np.ndarray:
        """Return p (classes, n), the softmax of weights · inputs over the classes that are present."""
        scores = weights.astype(self.inputs.dtype) @ self.inputs.T
        scores[~self.present[:, 0]] = -np.inf
        scores -= scores.max(axis=0)
        np.exp(scores, out=scores)
        scores /= scores.sum(axis=0)
        return scores

    def gradient(self, weights: np.ndarray, ridge: np.ndarray) -> np.ndarray:
        """Return (p - y) · inputs / n + ridge weights, y being 1 for a row's own class.

        A common change of all classes' weights changes no probability: that part is removed, or rounding errors would
        grow in it.
        """
        error = self.chances(weights)
        error[self.labels, np.arange(len(self.labels))] -= 1
        gradient = self.present * ((error @ self.inputs) / len(self.labels) + ridge * weights)
        return gradient - self.present * (gradient.sum(axis=0) / self.present.sum())

    def hessian(self, weights: np.ndarray) -> np.ndarray:
        """Return that of the mean loss: for classes k and l the mean of (p_k [k = l] - p_k p_l) inputs inputsᵀ."""
        p, (n, width) = self.chances(weights), self.inputs.shape
        hessian, own = np.zeros((self.classes * width, self.classes * width)), np.zeros((self.classes * width, width))
        for start in range(0, n, 500):  # this many rows at a time fit into the cache
            some, inputs = p[:, None, start : start + 500], self.inputs[start : start + 500]
            products = (some * inputs.T).reshape(len(hessian), -1)
            hessian -= products @ products.T
            own += (some * (1 - some) * inputs.T).reshape(len(own), -1) @ inputs
        k = np.arange(self.classes)
        blocks = hessian.reshape(self.classes, width, self.classes, width)
        blocks[k, :, k] = own.reshape(self.classes, width, width)  # p (1 - p) has more digits than p - p²
        return hessian / n

    def without(self, held: np.ndarray) -> _Rows:
        return _Rows(np.delete(self.inputs, held, axis=0), np.delete(self.labels, held), self.classes)


def _choose(rows: _Rows, ridge: np.ndarray) -> tuple[float, np.ndarray]:
    """Return the C of the best mean accuracy on the folds, and the weights fitted to all rows with it.

    From one penalty to the next the weights of a fold move about as those of all rows do, so they share the Hessian of
    all rows. A fold that needs its own Hessian keeps it, and then starts from its own weights; so do all folds if there
    are too many weights for a Hessian.
    """
    n, zero = len(rows.labels), np.zeros((rows.classes, len(ridge)))
    parts = np.array_split(np.arange(n), min(FOLDS, n))
    kept = [rows.without(held) for held in parts]
    fits, whole, best = [_Fit(zero)] * len(parts), _Fit(zero), (-1.0, 0.0, zero)
    alone = [zero.size > MANY] * len(parts)
    for strength in STRENGTHS:
        before, whole = whole, _fit(rows, ridge / (strength * n), whole)
        accuracy = 0.0
        for i, held in enumerate(parts):
            start = fits[i] if alone[i] else _Fit(fits[i].weights + whole.weights - before.weights, whole.hessian)
            fits[i] = _fit(kept[i], ridge / (strength * (n - len(held))), start)
            alone[i] |= fits[i].hessian is not start.hessian
            scores = np.where(kept[i].present, fits[i].weights @ rows.inputs[held].T, -np.inf)
            accuracy += np.mean(scores.argmax(axis=0) == rows.labels[held])
        if accuracy > best[0]:
            best = accuracy, float(strength), whole.weights
        if accuracy == len(parts):  # no weaker penalty does better
            break
    return best[1:]


def _fit(rows: _Rows, ridge: np.ndarray, start: _Fit) -> _Fit:
    """Return the weights that minimise the mean loss + sum of ridge weights² / 2.

    It takes quasi-Newton steps on a Hessian, and computes the Hessian again if a few steps do not suffice.
    """
    weights, hessian, few = start.weights, start.hessian, start.weights.size <= MANY
    close, steps = (CLOSE, STEPS) if few else (MANY_CLOSE, MANY_STEPS)
    for _ in range(HESSIANS):
        weights, done = _descend(rows, ridge, weights, _solver(hessian, rows, ridge), close, steps)
        if done or not few:
            break
        hessian = rows.hessian(weights)
    return _Fit(weights, hessian)


def _solver(hessian: np.ndarray | None, rows: _Rows, ridge: np.ndarray) -> Solve:
    """Return the function that applies the inverse of hessian + ridge.

    Without a hessian it is that of zero weights on gradients that sum to 0 over the classes: moments / classes + ridge
    for each class.
    """
    with importing():
        from scipy.linalg import get_lapack_funcs

    potrf, potrs = get_lapack_funcs(("potrf", "potrs"), dtype=np.float64)
    ridge = ridge + JITTER * np.diag(rows.moments)
    if hessian is not None:
        penalised = hessian.copy()
        penalised.flat[:: len(hessian) + 1] += np.tile(ridge, rows.classes)
        factor, failed = potrf(penalised.T, lower=1, clean=0, overwrite_a=1)  # in LAPACK's order: no second copy
        if not failed:
            return lambda gradient: potrs(factor, gradient.ravel(), lower=1)[0].reshape(gradient.shape)
    factor, _ = potrf(rows.moments / rows.classes + np.diag(ridge), lower=1)
    return lambda gradient: potrs(factor, gradient.T, lower=1)[0].T


def _descend(
    rows: _Rows, ridge: np.ndarray, weights: np.ndarray, solve: Solve, close: float, steps: int
) -> tuple[np.ndarray, bool]:
    """Return the weights after L-BFGS steps that begin with the inverse Hessian `solve`, and whether they are close.

    The loss is convex, so gradients suffice: a step is too long if the slope at its end has the opposite sign and is
    more than half as steep as at its start.
    """
    gradient, pairs = rows.gradient(weights, ridge), deque[tuple[np.ndarray, np.ndarray, float]](maxlen=10)
    for _ in range(steps):
        step = -_newton(gradient, pairs, solve)
        slope = float(np.vdot(gradient, step))
        if slope >= -close:
            return weights + step, True
        after = rows.gradient(weights + step, ridge)
        while (turned := float(np.vdot(after, step))) > -0.5 * slope:
            fraction = slope / (slope - turned)  # where a linear slope would be 0
            step, slope = fraction * step, fraction * slope
            after = rows.gradient(weights + step, ridge)
        curvature = float(np.vdot(after - gradient, step))
        if curvature > 0:
            pairs.append((step, after - gradient, 1 / curvature))
        weights, gradient = weights + step, after
    return weights, False


def _newton(gradient: np.ndarray, pairs: Iterable[tuple[np.ndarray, np.ndarray, float]], solve: Solve) -> np.ndarray:
    """Return the inverse Hessian times the gradient, by L-BFGS's two loops over steps and changes of the gradient."""
    shares = []
    for step, change, scale in reversed(list(pairs)):
        shares.append(scale * np.vdot(step, gradient))
        gradient = gradient - shares[-1] * change
    found = solve(gradient)
    for (step, change, scale), share in zip(pairs, reversed(shares), strict=True):
        found = found + (share - scale * np.vdot(change, found)) * step
    return found
