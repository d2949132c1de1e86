"""The linear support vector machine of a single latent, solved to rounding error, all classes of a factor at once."""

from __future__ import annotations

import numpy as np

STEPS, HALVINGS = 100, 40
"""The most Newton steps. About ten are needed, rarely shortened ones; the rest is a safety margin."""
SCORES = 2**20
"""How many scores of a row and a class are held at once."""
NARROW = 1e-150
"""A latent of a smaller range counts as constant: the square of its range would underflow."""


class SortedCode:
    """One sorted latent (n,), with the running sums that make the cost of a solver step independent of n."""

    def __init__(self, code: np.ndarray) -> None:
        width = float(np.ptp(code))
        self.centre, self.width = float(code.mean()), width if width > NARROW else 1.0
        scaled = self.scale(code)
        self.order = np.argsort(scaled, kind="stable")
        self.values = scaled[self.order]
        self.sums = _running_sums(self.values)

    def scale(self, code: np.ndarray) -> np.ndarray:
        """Return u = (latent - centre) / width, whose sums lose no digits, whatever the scale of the latent."""
        return (code - self.centre) / self.width

    def predict(self, factor: np.ndarray, test_code: np.ndarray, penalty: float) -> np.ndarray:
        """Return the predicted value of the factor for each test row, (n,): that of LinearSVC, see `_Lines`."""
        classes, labels = np.unique(factor, return_inverse=True)
        if len(classes) == 1:  # an unlucky split can leave one class to fit on
            return np.full(len(test_code), classes[0])
        slope, height = _Lines(self, labels, len(classes), penalty).solve().T
        places = self.scale(test_code)
        if len(classes) == 2:
            return classes[(places * slope[0] + height[0] > 0).astype(np.intp)]
        parts = np.array_split(places, 1 + len(places) * len(classes) // SCORES)
        return classes[np.concatenate([(part[:, None] * slope + height).argmax(axis=1) for part in parts])]


class _Lines:
    r"""The lines, one for each class, of scikit-learn's LinearSVC(C=penalty, class_weight="balanced") of one latent x.

    For each class against the rest, with y = 1 for the class and -1 for the rest, it minimises

        (w^2 + b^2) / 2 + C sum over rows i of c_i max(0, 1 - y_i (w x_i + b))^2

    where c is n / (classes n_class) for the class and 1 for the rest; with two classes the second is the class, and
    both have their weight. The rows with a loss lie on one side of a point of the line, so the sums over them are
    differences of running sums. The unknowns are the slope s and the height h of the line over u: w x + b = s u + h.
    """

    def __init__(self, code: SortedCode, labels: np.ndarray, classes: int, penalty: float) -> None:
        n = len(labels)
        self.code, self.stride = code, n + 1
        ranked = labels[code.order]
        by_class = np.argsort(ranked.astype(np.uint16) if classes < 2**16 else ranked, kind="stable")  # radix sort
        self.keys = ranked[by_class] * self.stride + by_class  # ascending: by class, then by rank
        self.sums = _running_sums(code.values[by_class])
        balance = n / (classes * np.bincount(labels, minlength=classes))
        self.classes = np.arange(classes) if classes > 2 else np.array([1])
        self.own = 2 * penalty * balance[self.classes]
        self.rest = 2 * penalty * (np.ones(classes) if classes > 2 else balance[:1])
        offset = code.centre / code.width  # w = s / width and b = h - s offset
        self.ridge = np.array([code.width**-2 + offset**2, -offset, 1.0])

    def solve(self) -> np.ndarray:
        """Return each class's slope and height, (classes, 2), by Newton's method with backtracking."""
        lines = np.zeros((len(self.classes), 2))
        loss, gradient, bend = self._loss(lines)
        for _ in range(STEPS):
            step = _newton_step(gradient, bend)
            promised = (gradient * step).sum(axis=1)
            length = np.ones(len(lines))
            trial, found = lines + step, self._loss(lines + step)
            for _ in range(HALVINGS):
                worse = found[0] > loss + 1e-4 * length * promised + 1e-14 * loss  # the last term is rounding
                if not worse.any():
                    break
                length[worse] /= 2
                trial = lines + length[:, None] * step
                found = self._loss(trial)
            moved = np.abs(trial - lines).max(axis=1) > 1e-15 * np.abs(trial).max(axis=1)
            helped = -promised > 1e-17 * loss  # a smaller decrease means that rounding allows no further step
            lines, (loss, gradient, bend) = trial, found
            if not (moved & helped).any():
                break
        return lines

    def _loss(self, lines: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return each class's loss (c,), its gradient (c, 2) and its second derivatives ss, sh and hh: (3, c)."""
        inside = self._class_sums(*self._below_one(lines))
        first, last = self._below_one(-lines)
        outside = self.code.sums[:, last] - self.code.sums[:, first] - self._class_sums(first, last)
        bend = self.ridge[:, None] + self.own * inside + self.rest * outside
        pull = (self.rest * outside - self.own * inside)[1:].T  # of s and h
        slope, height = lines.T
        curve = np.stack([bend[0] * slope + bend[1] * height, bend[1] * slope + bend[2] * height], axis=1)
        at_zero = self.own * inside[2] + self.rest * outside[2]
        loss = at_zero / 2 + (lines * (curve / 2 + pull)).sum(axis=1)
        return loss, curve + pull, bend

    def _below_one(self, lines: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the ranks, from first to before last, of the rows where the class's line is below 1."""
        slope, height = lines.T
        flat = slope == 0
        cut = (1.0 - height) / np.where(flat, 1.0, slope)
        first = np.where(slope < 0, np.searchsorted(self.code.values, cut, side="right"), 0)
        last = np.where(slope > 0, np.searchsorted(self.code.values, cut, side="left"), self.stride - 1)
        return first, np.where(flat & (height >= 1.0), 0, last)

    def _class_sums(self, first: np.ndarray, last: np.ndarray) -> np.ndarray:
        """Return the sums over the class's own rows whose ranks lie from first to before last."""
        first, last = np.searchsorted(self.keys, self.classes * self.stride + np.stack([first, last]))
        return self.sums[:, last] - self.sums[:, first]


def _newton_step(gradient: np.ndarray, bend: np.ndarray) -> np.ndarray:
    """Return minus the inverse of the second derivatives times the gradient, for all classes."""
    product = bend[0] * bend[2]
    determinant = np.maximum(product - bend[1] ** 2, 1e-16 * product)  # positive but for rounding
    by_slope, by_height = gradient.T
    steps = [bend[1] * by_height - bend[2] * by_slope, bend[1] * by_slope - bend[0] * by_height]
    return (np.stack(steps) / determinant).T


def _running_sums(u: np.ndarray) -> np.ndarray:
    """Return the sums of u^2, u and 1 over the first 0, 1, ... n rows: (3, n + 1)."""
    sums = np.zeros((3, len(u) + 1))
    np.cumsum(u * u, out=sums[0, 1:])
    np.cumsum(u, out=sums[1, 1:])
    sums[2] = np.arange(len(u) + 1)
    return sums
