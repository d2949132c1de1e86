"""Gradient-boosted trees on binned codes: scikit-learn's rules in a fraction of the time."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from unweave.errors import UsageError
from unweave.late import importing
from unweave.metrics.inputs import whole_number

NOWHERE = 2**31 - 1
"""The position of a cut above all values: such a split leaves every row below."""


class BoostedTrees:
    """A classifier with the rules of scikit-learn's GradientBoostingClassifier() [Friedman2001]_.

    Each of `rounds` rounds fits one regression tree per class (two classes: one tree) of `depth` levels to y - p, the
    residuals of the multinomial deviance. It splits where their sum of squares falls most, and adds `rate` times a
    Newton step in each leaf. `feature_importances_` are the shares of that fall, summed over all trees.

    It differs in three ways. First, a latent with more than `bins` distinct values (2 to 256) is cut into that many
    parts with nearly equal numbers of rows. The search for a split looks between parts first, and then between any two
    values within the parts next to a good cut or at the end of a node's range; scikit-learn looks everywhere. Trees
    that are not `thorough` look only beside the best cut, which hardly affects predictions but affects importances.
    Second, the data break ties between splits, not a seed: the importances depend on neither the order of rows and
    latents nor the sign, shift and scale of a latent. Third, no leaf moves a log-probability by more than 20 in a
    round; without this limit classes of a few rows can diverge, as in scikit-learn.

    As in scikit-learn, codes are converted to single precision, so that noise in the last digits of float64 causes no
    split. Values close to 0, where single precision is finer, are rounded to a part in 2³² of the largest value.

    >>> BoostedTrees(rounds=5).fit([[0.0], [1.0], [2.0], [3.0]], [7, 7, 9, 9]).predict([[0.4], [5.0]]).tolist()
    [7, 9]
    """

    def __init__(
        self, rounds: int = 100, rate: float = 0.1, depth: int = 3, bins: int = 256, thorough: bool = True
    ) -> None:
        self.rounds, self.rate, self.depth, self.bins, self.thorough = rounds, rate, depth, bins, thorough

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the options, as scikit-learn's `clone` asks for them."""
        return {name: getattr(self, name) for name in ("rounds", "rate", "depth", "bins", "thorough")}

    def set_params(self, **options: Any) -> BoostedTrees:
        """Set options by name."""
        for name, value in options.items():
            if name not in self.get_params():
                raise UsageError(f"BoostedTrees has no option {name!r}")
            setattr(self, name, value)
        return self

    def fit(self, X: ArrayLike, y: ArrayLike) -> BoostedTrees:
        """Fit codes (n, d) to classes (n,). With a single class, `predict` returns it for every row."""
        codes = _codes(X)
        self.classes_, labels = np.unique(np.asarray(y), return_inverse=True)
        if labels.shape != (len(codes),):
            raise UsageError(f"X has {len(codes)} rows but y has shape {np.shape(y)}")
        self._check_options()
        n, d = codes.shape
        classes = len(self.classes_)
        trees, nodes = (classes if classes > 2 else classes - 1), (1 << self.depth) - 1
        self._exponents = np.frexp(np.abs(codes).max(axis=0))[1]
        parts = Parts(_rounded(codes, self._exponents), self.bins)
        self._signs = _orientation(parts, labels)
        for j in np.flatnonzero(self._signs < 0).tolist():
            parts.turn(j)
        self._splits = np.tile(np.array([0, n - 1, NOWHERE], np.int32), (self.rounds, trees, nodes, 1))
        self._steps = np.zeros((self.rounds, trees, nodes + 1))
        gains = np.zeros(d)
        prior = np.bincount(labels) / n
        self._start = np.log(prior)
        if trees:
            if trees == 1:  # the only tree is that of the second class, so that class goes first
                prior, labels = prior[::-1], 1 - labels
            shrinkage = (classes - 1) / classes if trees > 1 else 1.0  # the papers' factor, which scikit-learn keeps
            rate = shrinkage * float(self.rate)
            _boost(parts, labels, prior, rate, bool(self.thorough), self._splits, self._steps, gains)
        self._thresholds = _thresholds(self._splits, parts.rising)
        self.feature_importances_ = gains / gains.sum() if gains.sum() > 0 else gains
        self.n_features_in_ = d
        return self

    def predict_proba(self, X: ArrayLike) -> np.ndarray:
        """Return the probability of each class, (n, classes)."""
        raw = self._raw(X)
        raw -= raw.max(axis=0)
        np.exp(raw, out=raw)
        return (raw / raw.sum(axis=0)).T

    def predict(self, X: ArrayLike) -> np.ndarray:
        """Return the likeliest class of each row, (n,)."""
        likeliest = np.argmax(self._raw(X), axis=0)
        return self.classes_[likeliest]

    def _raw(self, X: ArrayLike) -> np.ndarray:
        """Return the logarithms of the probabilities up to a constant, (classes, n)."""
        if not hasattr(self, "classes_"):
            raise UsageError("BoostedTrees is not fitted yet: call fit first")
        codes = _codes(X)
        if codes.shape[1] != self.n_features_in_:
            raise UsageError(f"X has {codes.shape[1]} columns but {self.n_features_in_} were fitted")
        raw = np.repeat(self._start[:, None], len(codes), axis=1)
        if len(self.classes_) > 1:
            with importing():
                from unweave.metrics.tree_answers import CHUNK, add_steps

            moved = raw[1:] if len(self.classes_) == 2 else raw
            columns = np.ascontiguousarray((_rounded(codes, self._exponents) * self._signs).T)
            trees = (_by_class(each) for each in (self._splits[..., 0], self._thresholds, self._steps))
            add_steps(columns, *trees, np.empty((self._thresholds.shape[2], CHUNK)), moved)
        return raw

    def _check_options(self) -> None:
        whole_number(self.rounds, "rounds", 1)
        for name, least, most in (("depth", 1, 7), ("bins", 2, 256)):
            if whole_number(getattr(self, name), name, least) > most:
                raise UsageError(f"{name} must be at most {most}, got {getattr(self, name)}")


def _boost(
    cut: Parts,
    labels: np.ndarray,
    prior: np.ndarray,
    rate: float,
    thorough: bool,
    splits: np.ndarray,
    steps: np.ndarray,
    importance: np.ndarray,
) -> None:
    """Fit all trees; the results go into the last three arguments.

    labels (n,) are classes, prior (classes,) their shares, rate the share of a Newton step. splits, (rounds, trees,
    nodes, 3), receive each node's latent and the positions beside its cut among the sorted values; steps, (rounds,
    trees, leaves), what a leaf adds; importance (d,) the gains.
    """
    with importing():
        from unweave.metrics.trees import BINS, CHUNK, COPIES, GROUP, LANES, boost

    n, d = cut.rows.shape
    lanes, leaves, cells = int(LANES), steps.shape[2], d * int(BINS)
    share = np.zeros((-(-len(prior) // lanes) * lanes, n))  # probabilities, up to a factor per row
    share[: len(prior)] = prior[:, None]
    bits = n.bit_length()
    unit = 2.0 ** min(62 - 2 * bits, 48)  # n residuals shifted by the bits of a count stay below 2**62
    given = cut.rows, np.ascontiguousarray(cut.rows.T), cut.sizes, cut.order, cut.rising, cut.starts
    packed, together = np.empty((lanes, n), np.int64), _aligned(int(CHUNK), lanes)
    root, tables = _aligned(cells, lanes), np.empty((lanes + leaves - 2, cells), np.int64)
    by_row = np.concatenate([np.zeros(n, np.uint8), np.full(GROUP, 255, np.uint8)])[:n]
    by_leaf = np.empty(leaves, np.int64), np.zeros((COPIES + 1, leaves))
    by_bin = np.empty((d, int(BINS)), np.int64), np.empty((d, int(BINS))), np.empty(d)
    inside = np.empty(n + 1, np.int64), np.empty(n + 1, np.int32), np.empty(n + 1), np.zeros(leaves, np.int64)
    work = share, np.ones(n), np.ones(n), packed, together, root, tables, by_row, *by_leaf, *by_bin, *inside
    keys = _keys(cut.rows, cut.sizes, labels)
    boost(*given, keys, labels, bits, unit, rate, thorough, *work, splits, steps, importance)


def _aligned(rows: int, width: int) -> np.ndarray:
    """Return zeros (rows, width) aligned to a cache line, so that no eight of them straddle two lines."""
    memory = np.zeros(rows * width + 8, np.int64)
    start = -memory.ctypes.data % 64 // 8
    return memory[start : start + rows * width].reshape(rows, width)


def _by_class(trees: np.ndarray) -> np.ndarray:
    """Reorder the arrays of trees (rounds, classes, m) by class, then by round: (trees, m)."""
    return np.ascontiguousarray(trees.swapaxes(0, 1)).reshape(-1, trees.shape[2])


def _keys(rows: np.ndarray, sizes: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Return a number for each latent, (d,), to break ties: it depends on the values, not on position or sign."""
    sums = (labels + 1.0) ** 2 @ np.abs(2.0 * rows + 1 - sizes)
    _, same, counts = np.unique(sums, return_inverse=True, return_counts=True)
    before = np.array([np.sum(same[:j] == same[j]) for j in range(len(sums))])  # duplicates take turns
    return (sums + 0.5 * before / counts.max()).view(np.uint64)


class Parts:
    """Latents (n, d) cut into at most 256 parts: one per value if these are few, else of nearly equal counts."""

    def __init__(self, codes: np.ndarray, bins: int) -> None:
        n, d = codes.shape
        self.rows = np.empty((n, d), dtype=np.uint8)
        """The part of every latent."""
        self.sizes = np.empty(d, dtype=np.int64)
        """How many parts each latent has."""
        columns = np.ascontiguousarray(codes.T)
        order = np.argsort(columns, axis=1)
        self.order = order.astype(np.uint32)
        """The rows of each latent by value."""
        self.rising = np.take_along_axis(columns, order, axis=1)
        """The values of these rows."""
        self.starts = np.full((d, 257), n)
        """How many of these rows come before each part."""
        for j in range(d):
            begins = np.flatnonzero(np.append(True, self.rising[j, 1:] != self.rising[j, :-1]))
            counts = np.diff(begins, append=n)
            first = np.arange(len(counts)) if len(counts) <= bins else _even_starts(counts, bins)
            self.sizes[j] = len(first)
            self.starts[j, : len(first)] = begins[first]
            self.rows[order[j], j] = np.repeat(np.arange(len(first)), np.diff(begins[first], append=n))

    def turn(self, j: int) -> None:
        """Replace latent j by its negative: it has the same parts in the opposite order."""
        size = self.sizes[j]
        self.rows[:, j] = size - 1 - self.rows[:, j]
        self.order[j], self.rising[j] = self.order[j, ::-1].copy(), -self.rising[j, ::-1]
        self.starts[j, : size + 1] = len(self.rows) - self.starts[j, : size + 1][::-1]


def _even_starts(counts: np.ndarray, bins: int) -> np.ndarray:
    """Return which values begin a part, so that the parts have nearly equal numbers of rows."""
    upto = np.cumsum(counts)
    n, parts = upto[-1], (bins - 1) | 1  # odd: a cut in the middle would differ between z and -z
    wanted = np.arange(1, parts) * n  # rows below cuts, in units of 1 / parts
    upto *= parts
    above = np.clip(np.searchsorted(upto, wanted), 1, len(counts) - 1)  # the cut is after value above, or above - 1
    nearer = np.sign(upto[above] + upto[above - 1] - 2 * wanted)
    ends = np.unique(above - np.where(nearer == 0, 2 * wanted < n * parts, nearer > 0))
    return np.append(0, ends[ends < len(counts) - 1] + 1)


def _orientation(parts: Parts, labels: np.ndarray) -> np.ndarray:
    """Return a sign for each latent, (d,), that makes a latent and its negative equal."""
    tilt = (labels + 1.0) ** 2 @ (2.0 * parts.rows + 1 - parts.sizes)
    return np.where(tilt < 0, np.float32(-1), np.float32(1))


def _thresholds(splits: np.ndarray, rising: np.ndarray) -> np.ndarray:
    """Return the value up to which a node's rows go left: halfway between the values beside its cut, rounded down."""
    code, low, high = np.moveaxis(splits, -1, 0)
    last = rising.shape[1] - 1
    middle = (rising[code, low].astype(np.float64) + rising[code, np.minimum(high, last)]) / 2
    nearest = middle.astype(np.float32)
    down = np.where(nearest > middle, np.nextafter(nearest, np.float32(-np.inf)), nearest)
    return np.where(high > last, np.float32(np.inf), down)


def _rounded(codes: np.ndarray, exponents: np.ndarray) -> np.ndarray:
    """Return codes in single precision, each scaled by a power of two so that the largest fitted value is about 2³².

    The power of two keeps the values within range and changes no digit; rounding to whole numbers trims small ones.
    """
    with np.errstate(over="ignore"):  # values far above the fitted ones become infinite: right of every cut
        return np.rint(np.ldexp(codes, 32 - exponents).astype(np.float32))


def _codes(X: ArrayLike) -> np.ndarray:
    codes = np.asarray(X, dtype=np.float64)
    if codes.ndim != 2 or 0 in codes.shape:
        raise UsageError(f"X must have two non-empty dimensions (samples, codes), got shape {codes.shape}")
    if not np.isfinite(codes).all():
        raise UsageError("X holds NaN or an infinity: leave out or replace such rows")
    return codes
