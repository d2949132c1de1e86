"""Can a VAE disentangle this data? What distances say about each factor, before any training."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from unweave.data import Dataset
from unweave.text import data_title

ORDERED = 2 / 3
"""A loss confuses a factor if a smaller share of triplets is in order. Chance, and equal distances as in xysquares,
give one half; hues, which form a circle and which VAEs learn, 0.8."""
CLEAR = 0.925
"""A loss sees a factor if a larger share of triplets is in order, and half sees one between the two limits.

Halfway between spacing 4 and spacing 2 of xysquares (0.865 and 0.987 at 16 pixels), where the best latent of the 20
runs of Ada-GVAE of figure 3.10 holds 25 % and 82 % of a factor's entropy; docs/perception.md tests it on other runs."""
BETA = 4.0
"""A loss overlooks a factor that is not worth learning at this β, the default of beta-vae."""
BETTER = 0.05
"""How much higher the mean rank correlation of another loss must be for it to be advised: twice the standard error of
a correlation from 2,048 pairs."""

Kind = Literal["seen", "half seen", "confused", "overlooked", "unknown"]
WORDS: dict[Kind, str] = {
    "seen": "sees",
    "half seen": "half sees",
    "confused": "confuses",
    "overlooked": "overlooks",
    "unknown": "says nothing certain about",
}
Learnable = Literal["kernel", "autoencoder"]
"""A kind of loss that may be worth learning."""


@dataclass(frozen=True)
class Factor:
    """What a loss sees of one factor."""

    name: str
    size: int
    """The number of its values."""
    mean: float | None
    """Mean perceived distance of images that differ only in it; None if unknown, as are the next two."""
    std: float | None
    """Standard deviation of these distances."""
    relative: float | None
    """The mean distance divided by that of random pairs."""
    worth: float | None
    """The largest β at which learning it would pay if its images lay on a line: the mean distance summed over values.

    A linear VAE with the loss mse keeps a direction of variance λ if λ > β / 2, as probabilistic PCA does
    [Tipping1999]_; two independent images on a line are 2 λ apart on average.
    """
    linear: float
    """Pearson correlation of perceived and ground-truth distances."""
    rank: float
    """Spearman correlation of the same."""
    order: float
    """How often, of three images of a traversal, the one nearer in the factor is also nearer by the loss."""

    @property
    def signal(self) -> float | None:
        """How much the factor changes the image, as far as distances are in order: worth · (2 order - 1), or 0."""
        return None if self.worth is None else self.worth * max(0.0, 2 * self.order - 1)

    @property
    def kind(self) -> Kind:
        """Whether the loss sees the factor, half sees it, confuses its values, or overlooks it.

        Unknown if too few images differ only in the factor: a correlation over other pairs is no substitute.
        """
        return "unknown" if self.worth is None else kind_of(self.order, self.worth)


def kind_of(order: float, worth: float) -> Kind:
    """Return what a loss sees of a factor, from the share of triplets in order and its worth."""
    if worth < BETA:
        return "overlooked"
    return "seen" if order >= CLEAR else "half seen" if order >= ORDERED else "confused"


def order_of_correlation(rank: float) -> float:
    r"""Return the share of pairs in order that a correlation implies for Gaussians: 1/2 + arcsin(rank) / pi.

    >>> order_of_correlation(0.0), round(order_of_correlation(0.5), 4)
    (0.5, 0.6667)
    """
    return 0.5 + math.asin(rank) / math.pi


def sentence(
    data: Dataset,
    loss: str,
    factors: Sequence[Factor],
    better: Mapping[str, float],
    mean_rank: float,
    learnable: Learnable | None = None,
) -> str:
    """Return the answer in one sentence.

    Factors with more signal come first; those with unknown signal come last. `better` are other losses, best first, by
    their mean rank correlation, and `learnable` is a kind of loss to learn if none of them is enough.
    """
    first = sorted(factors, key=lambda each: -(each.signal or 0.0))
    kinds: dict[Kind, list[str]] = {kind: [each.name for each in first if each.kind == kind] for kind in WORDS}
    seen = len(kinds["seen"])
    answer = "Yes" if seen == len(factors) else "In part" if seen else "Hardly" if kinds["half seen"] else "No"
    answer = "Unknown" if not seen and kinds["unknown"] else answer
    parts = [
        f"{WORDS[kind]} {_all(names, len(factors))}" + (REASONS[kind] if not seen else "")
        for kind, names in kinds.items()
        if names
    ]
    told = f"{answer}: on {data_title(data.description)}, the loss {loss} {_joined(parts, 'but' if seen else 'and')}"
    return f"{told}; {_advice(better, mean_rank, learnable, done=seen == len(factors))}."


REASONS: dict[Kind, str] = {
    "seen": "",
    "half seen": ", because only some distances are in order",
    "confused": ", because distances do not follow the values",
    "overlooked": ", because too little changes to be worth a latent",
    "unknown": ", because too few images differ in one of them alone",
}


def _advice(better: Mapping[str, float], mean_rank: float, learnable: Learnable | None, *, done: bool) -> str:
    if not better and done:
        return "no other loss is needed"
    command = "unweave learn-loss" + (f" --kind {learnable}" if learnable != "kernel" else "")
    if not better:
        learn = f"; a learnt loss may: {command}" if learnable else ""
        return f"no other loss tried follows the factors better{learn}"
    name, rank = next(iter(better.items()))
    learn = f", and a learnt loss may do more: {command}" if learnable else ""
    return f"{name} follows the factors better (mean rank correlation {rank:.2f}, not {mean_rank:.2f}){learn}"


def _all(names: Sequence[str], count: int) -> str:
    if len(names) < count or count == 1:
        return _joined(names, "and")
    return f"all {count} factors ({', '.join(names)})"


def _joined(parts: Sequence[str], word: str) -> str:
    """Return parts as a list of words.

    >>> _joined(["x"], "and"), _joined(["x", "y", "scale"], "and")
    ('x', 'x, y and scale')
    """
    return f" {word} ".join(filter(None, [", ".join(parts[:-1]), parts[-1]]))
