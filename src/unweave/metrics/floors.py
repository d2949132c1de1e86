"""The bounds of a score: its floor, from shuffled factors, and its ceiling, from the factors as codes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from unweave.metrics.codebook import Codebook, DerivedBook
from unweave.metrics.inputs import FLOOR, generator
from unweave.metrics.metric import Metric
from unweave.metrics.pool import Pool, Source

LEAST_GAP = 0.02
"""A ceiling that exceeds its floor by less than this share of itself leaves no room to adjust a score."""
LARGE = 20_000
"""With at least this many cells or rows, one shuffle of a codebook or pool is as good as the mean of several."""
EACH = 20
"""Rows of each value that a ceiling from fewer rows needs."""


class Bounds(NamedTuple):
    """Floor and ceiling of each part of a score, (parts,): NaN where there is none."""

    floor: np.ndarray
    ceiling: np.ndarray

    @classmethod
    def unknown(cls, parts: int) -> Bounds:
        """Return the bounds of a score that has none, or whose bounds are not requested."""
        return cls(np.full(parts, np.nan), np.full(parts, np.nan))

    def adjust(self, values: np.ndarray, metric: Metric[..., Any]) -> np.ndarray:
        """Return (value - floor) / (ceiling - floor): 0 for codes that hold nothing, 1 for the factors themselves.

        NaN where that is meaningless: the ceiling does not exceed the floor, or the score of noise varies too much.
        """
        steady = np.array([part not in metric.unsteady for part in metric.parts or ("",)])
        gap = self.ceiling - self.floor
        least = LEAST_GAP * np.maximum(np.abs(self.ceiling), np.abs(self.floor))
        with np.errstate(invalid="ignore", divide="ignore"):
            beats = (-gap if metric.higher_is_better is False else gap) > least
            return np.where(steady & beats, (values - self.floor) / gap, np.nan)


def bounds(metric: Metric[..., Any], inputs: Mapping[str, Any], settings: Mapping[str, Any]) -> Bounds:
    """Return the floor and the ceiling of a metric, with the same options and seed.

    They are computed on the same rows, or on fewer (`floor_rows`, `ceiling_rows`), and with the metric's cheaper
    options, except for options that the user set.
    """
    nothing = Bounds.unknown(max(1, len(metric.parts)))
    if not metric.supervised:
        return nothing
    inputs = {name: inputs[name] for name in ("seed", "codes", "categorical", *metric.needs) if name in inputs}
    rng = generator(inputs["seed"], FLOOR)
    fewer = some_rows(inputs, metric.floor_rows, rng)
    options = _cheaper(metric, settings, metric.floor_options)
    floors = [_score(metric, shuffled(fewer, rng), options) for _ in range(_shuffles(metric, inputs))]
    steady = np.array([part not in metric.no_floor for part in metric.parts or ("",)])
    floor = np.where(steady, np.mean(floors, axis=0), np.nan)
    return Bounds(floor, _ceiling(metric, inputs, settings) if metric.has_ceiling else nothing.ceiling)


def _cheaper(metric: Metric[..., Any], settings: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings with the changes applied to options that still have their default."""
    return {**settings, **{name: new for name, new in changes.items() if settings[name] == metric.options[name]}}


def _shuffles(metric: Metric[..., Any], inputs: Mapping[str, Any]) -> int:
    sources = [inputs[name] for name in ("encode", "source") if inputs.get(name) is not None]
    return 1 if any(len(source) >= LARGE for source in sources) else metric.shuffles


def _ceiling(metric: Metric[..., Any], inputs: Mapping[str, Any], settings: Mapping[str, Any]) -> np.ndarray:
    fewer = some_rows(inputs, metric.ceiling_rows, generator(inputs["seed"], FLOOR))
    enough = metric.ceiling_rows is not None and _has_all_values(fewer, inputs)
    return _score(metric, perfect(fewer if enough else inputs), _cheaper(metric, settings, metric.ceiling_options))


def some_rows(inputs: Mapping[str, Any], most: int | None, rng: np.random.Generator) -> Mapping[str, Any]:
    """Return the inputs with at most this many random rows, and twice as many test rows."""
    if most is None:
        return inputs
    kept = _choice(len(inputs["codes"]), most, rng)
    changed = {**inputs, **{name: inputs[name][kept] for name in ("codes", "means", "factors") if name in inputs}}
    if inputs.get("test") is not None:
        kept = _choice(len(inputs["test"][0]), 2 * most, rng)
        changed["test"] = tuple(np.asarray(part)[kept] for part in inputs["test"])
    return changed


def _choice(rows: int, most: int, rng: np.random.Generator) -> np.ndarray:
    return np.sort(rng.choice(rows, size=min(most, rows), replace=False))


def _has_all_values(fewer: Mapping[str, Any], inputs: Mapping[str, Any]) -> bool:
    """Return whether the chosen rows have every value of every factor often enough to learn it."""
    for some, column in zip(fewer["factors"].T, inputs["factors"].T, strict=True):
        values, counts = np.unique(some, return_counts=True)
        if counts.min() < EACH or len(values) < len(np.unique(column)):
            return False
    return True


def _score(metric: Metric[..., Any], inputs: Mapping[str, Any], settings: Mapping[str, Any]) -> np.ndarray:
    return np.atleast_1d(metric.sampled(inputs, settings).score)


def shuffled(inputs: Mapping[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    """Return the same codes with the factors of other rows, and a codebook with the codes of other cells."""
    changed = dict(inputs)
    if inputs.get("factors") is not None:
        changed["factors"] = rng.permutation(inputs["factors"])
    if inputs.get("test") is not None:
        codes, factors = inputs["test"]
        changed["test"] = codes, rng.permutation(np.asarray(factors))
    for name in ("encode", "source"):
        if inputs.get(name) is not None:
            changed[name] = _shuffled_source(inputs[name], rng)
    return changed


def perfect(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Return the factors themselves as codes, padded with constant latents to the same width."""
    changed = {**inputs, "categorical": ()}
    width = inputs["codes"].shape[1]
    if inputs.get("factors") is not None:
        changed["codes"] = changed["means"] = padded(inputs["factors"], width)
    if inputs.get("test") is not None and inputs.get("factors") is not None:
        _, factors = inputs["test"]
        changed["test"] = padded(factors, width), factors
    for name in ("encode", "source"):
        if inputs.get(name) is not None:
            changed[name] = _perfect_source(inputs[name], width)
    return changed


def padded(factors: ArrayLike, width: int) -> np.ndarray:
    """Return factors (..., k) as codes (..., d), d being `width`, or k where there are more factors."""
    values = np.asarray(factors, dtype=np.float64)
    missing = max(0, width - values.shape[-1])
    return np.concatenate([values, np.zeros((*values.shape[:-1], missing))], axis=-1)


class _ShuffledBook(DerivedBook):
    """Every cell has the codes of another cell, among those encoded so far."""

    def __init__(self, book: Codebook, rng: np.random.Generator) -> None:
        super().__init__(book)
        self._order = rng.permutation(len(book))

    def codes(self, cells: ArrayLike) -> np.ndarray:
        return self._book.of_rows(self._order[self._book.rows(cells) % len(self._order)])


class _FactorBook(DerivedBook):
    """The codes of a cell are its factors."""

    def __init__(self, book: Codebook, width: int) -> None:
        super().__init__(book)
        self._width = width

    def prepare(self, cells: ArrayLike) -> None:
        """Do nothing: there is nothing to encode."""

    def codes(self, cells: ArrayLike) -> np.ndarray:
        return padded(np.stack(np.unravel_index(np.asarray(cells), self.sizes), axis=-1), self._width)


def _shuffled_source(source: Source, rng: np.random.Generator) -> Source:
    if isinstance(source, Pool):
        return Pool(source.table, rng.permutation(source.factors))
    return _ShuffledBook(source, rng)


def _perfect_source(source: Source, width: int) -> Source:
    if isinstance(source, Pool):
        return Pool(padded(source.factors, width), source.factors)
    return _FactorBook(source, width)
