"""Everything that a loss sees of a data set, and which loss would see more."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from unweave.data import Data, Dataset
from unweave.perception.association import Correlation
from unweave.perception.measured import RANDOM, Measured, chosen_factors, few_pairs, mean_and_spread, measure
from unweave.perception.pairs import varying_factors
from unweave.perception.perceived import Floats, Perceived
from unweave.perception.verdict import BETTER, CLEAR, Factor, Learnable, order_of_correlation, sentence
from unweave.progress import OnProgress, reporting
from unweave.text import data_title

if TYPE_CHECKING:
    import polars

NUMBERS = ("mean", "std", "relative", "worth", "linear", "rank", "order", "signal")
"""The columns of the table that hold numbers."""
FEW = 2048
"""Largest number of pairs for comparing other losses."""


@dataclass(frozen=True)
class Perception:
    """What a loss sees of a data set."""

    data: Dataset
    loss: str
    factors: tuple[Factor, ...]
    random: tuple[float, float]
    """Mean and standard deviation of the perceived distances of random pairs."""
    random_correlation: Correlation | None
    """Linear and rank correlation over random pairs; None without factors."""
    losses: dict[str, float]
    """Mean rank correlation over factors, by loss, best first: of the loss itself and of the others tried."""
    better: dict[str, float]
    """The losses that follow the factors clearly better."""
    learnable: Learnable | None
    """The kind of loss to learn with `learn_loss`, if no loss tried sees all factors; otherwise None."""
    distances: dict[str, Floats]
    """Perceived distances of different images, by factor and for random pairs, for cumulative plots."""
    sentence: str
    """Can a VAE disentangle this data?"""
    notes: tuple[str, ...]
    """What could not be measured, one line each."""

    def table(self) -> polars.DataFrame:
        """Return one row per factor, the most important first, and one for random pairs.

        Returns
        -------
        polars.DataFrame
            factor, size, mean, std, relative, worth, linear, rank, order, signal, verdict.
        """
        import polars

        first = sorted(self.factors, key=lambda each: -(each.mean or 0.0))
        rows = [{"factor": each.name, **asdict(each), "signal": each.signal, "verdict": each.kind} for each in first]
        linear, rank = self.random_correlation or (None, None)
        of_random = {"mean": self.random[0], "std": self.random[1], "relative": 1.0, "linear": linear, "rank": rank}
        numbers = dict.fromkeys(
            ("mean", "std", "relative", "worth", "linear", "rank", "order", "signal"), polars.Float64
        )
        schema = {"factor": polars.String, "size": polars.Int64, **numbers, "verdict": polars.String}
        return polars.DataFrame([*rows, {"factor": RANDOM, **of_random}], schema=schema)


def perceive(
    data: Data,
    loss: str = "mse",
    *,
    pairs: int = 16_384,
    seed: int = 0,
    standardise: bool | None = None,
    factors: Sequence[str] | None = None,
    others: bool = True,
    progress: bool | None = None,
    on_progress: OnProgress | None = None,
) -> Perception:
    """Measure what a reconstruction loss sees of each factor, and say whether a VAE can disentangle the data.

    Parameters
    ----------
    data
        A data set, its name or path, or an array of images or vectors.
    loss
        The name of a reconstruction loss.
    pairs
        Pairs for each factor, and number of random pairs.
    seed
        Seed of the pairs.
    standardise
        Whether pixels are standardised; by default they are in [0, 1]. See `Perceived`.
    factors
        Names of the factors to measure; by default all that vary.
    others
        Whether to try other losses.
    progress, on_progress
        Whether to show a progress bar, and a function to call instead.

    Returns
    -------
    Perception
        What was measured, with `table()`, `sentence` and `notes`.

    Examples
    --------
    >>> from unweave.perception import perceive
    >>> perceive("xysquares:size=32", pairs=2048, others=False).sentence.partition(":")[0]
    'No'
    """
    seen = Perceived(data, loss, standardise=standardise)
    given = seen.data
    axes = chosen_factors(given, factors) if factors or varying_factors(given) else []
    with reporting(on_progress, progress) as told:
        found = measure(seen, axes, pairs=pairs, seed=seed, on_progress=told)
        known = _factors(seen, found)
        name = loss if loss != "auto" else seen.loss_name
        tried = _tried(name, seen, axes, min(pairs, FEW), seed, told) if others and axes else {}
    losses = {each: found.rank for each, found in tried.items()}
    better = {each: rank for each, rank in losses.items() if rank > losses[name] + BETTER}
    learnable = _learnable(seen, known, tried, next(iter(better), name)) if tried else None
    distances = {each: part.between_different for each, part in found.along.items() if part is not None}
    return Perception(
        given,
        name,
        known,
        mean_and_spread(found.random.perceived),
        found.random.correlation() if axes else None,
        losses,
        better,
        learnable,
        distances | {RANDOM: found.random.perceived},
        sentence(given, name, known, better, losses.get(name, np.nan), learnable) if axes else _untold(given),
        _notes(given, found),
    )


def candidates(data: Dataset) -> list[str]:
    """Return the losses to try: pixelwise ones and, for images, blurs with a kernel as wide as the image."""
    if not data.has_images:
        return ["mse", "mae"]
    radius = max(1, min(data.shape[:2]) // 2 - 1)
    return ["mse", "mae", f"mse-box:radius={radius}", f"mse-gauss:radius={radius}"]


class _Tried(NamedTuple):
    """How well a tried loss follows the factors."""

    rank: float
    """Mean rank correlation over factors."""
    sees_all: bool
    """Whether every factor is clearly in order."""


def _tried(
    own: str, seen: Perceived, axes: Sequence[int], pairs: int, seed: int, on_progress: OnProgress
) -> dict[str, _Tried]:
    """Return how well this loss and others follow the factors, on the same pairs, best first."""
    others = {name: Perceived(seen.data, name, standardise=seen.standardise) for name in candidates(seen.data)}
    tried = {own: seen} | {name: other for name, other in others.items() if other.loss_name != seen.loss_name}

    def result(other: Perceived) -> _Tried:
        def told(what: str, done: float, total: float | None) -> None:
            on_progress(f"{other.loss_name}: {what}", done, total)

        found = measure(other, axes, pairs=pairs, seed=seed, on_progress=told)
        known = _factors(other, found)
        return _Tried(float(np.mean([each.rank for each in known])), all(each.order >= CLEAR for each in known))

    found = {name: result(other) for name, other in tried.items()}
    return dict(sorted(found.items(), key=lambda item: -item[1].rank))


def _learnable(seen: Perceived, known: Sequence[Factor], tried: Mapping[str, _Tried], best: str) -> Learnable | None:
    """Return the kind of loss to learn: a kernel if a blur is best, otherwise an autoencoder.

    None if every factor is seen, or if the loss is already a learnt one.
    """
    done = all(each.kind == "seen" for each in known) or any(each.sees_all for each in tried.values())
    if done or not seen.data.has_images or seen.loss_name.startswith("learnt"):
        return None
    return "kernel" if best.startswith(("mse-box", "mse-gauss")) else "autoencoder"


def _factors(seen: Perceived, found: Measured) -> tuple[Factor, ...]:
    sizes = dict(zip(seen.data.factors.names, seen.data.factors.sizes, strict=True))
    random = float(found.random.perceived.mean())
    known = []
    for name, each in found.correlations().items():
        pairs, order = found.along[name], order_of_correlation(each.rank)
        mean, std, relative, pays = None, None, None, None
        if pairs is not None:
            mean, std = mean_and_spread(pairs.between_different)
            relative = mean / random if random > 0 else 0.0
            pays = seen.size * float(pairs.perceived.mean())
            in_order = pairs.order()
            order = float(mean > 0) if in_order is None else in_order  # two values are in order, if they differ
        known.append(Factor(name, sizes[name], mean, std, relative, pays, each.linear, each.rank, order))
    return tuple(known)


def _notes(data: Dataset, found: Measured) -> tuple[str, ...]:
    missing = [name for name, each in found.along.items() if each is None]
    if not data.is_labelled:
        told = f"'{data_title(data.description)}' has no factors: only the distances of random pairs are measured"
        return (f"{told}; provide a table of factors for more",)
    if not missing:
        return ()
    return (f"{few_pairs(data, missing)}: correlations are over random pairs, with the other factors held constant",)


def _untold(data: Dataset) -> str:
    what = "has no factors that distances could follow" if not data.is_labelled else "has no factor that varies"
    return f"Unknown: {data_title(data.description)} {what}."
