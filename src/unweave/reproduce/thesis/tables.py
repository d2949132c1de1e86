"""Tables 3.1, 4.1 and 4.2: how far apart images are along factors, and whether that follows the factors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import ClassVar

import numpy as np

from unweave.progress import OnProgress
from unweave.reproduce.frame import Findings, Row
from unweave.reproduce.parts import Kept, compute_always
from unweave.reproduce.thesis.experiment import FIVE_SETS
from unweave.reproduce.thesis.printed import BY_SPACING, CORRELATIONS, FACTOR, IMPORTANCE, RANDOM
from unweave.reproduce.thesis.table import (
    SELF_PAIRS,
    WITH_SELF,
    Distances,
    Draws,
    ThesisTable,
    here,
    is_squares,
    largest_difference,
    measured,
    parts,
    row,
)

THOUSAND = 1000
"""Distances are small: multiplied by a thousand, the four decimals that the thesis prints are visible."""
DRAWN = ("xysquares", "xyobject", "shapes2d", "rooms3d")


class Importance(ThesisTable):
    """Table 3.1."""

    source: ClassVar[str] = "[Michlo2022]_, table 3.1 (section 3.5)"
    summary: ClassVar[str] = "Pixel distances between images along each factor, which predict what a VAE learns first."
    presets: ClassVar[Mapping[str, Distances]] = {
        "smoke": Distances(("xysquares", "xyobject:size=32"), pairs=2_000, draws=2, losses=("mse",)),
        "small": Distances(DRAWN, pairs=50_000, draws=5, losses=("mse",)),
        "paper": Distances(FIVE_SETS, pairs=50_000, draws=5, losses=("mse",)),
    }

    def run(self, settings: Distances, *, seed: int, on_progress: OnProgress, kept: Kept = compute_always) -> Findings:
        """Measure the mean and the deviation of perceived distances."""
        from unweave.perception import importance
        from unweave.reproduce.thesis.dots import dots

        data, notes = here(settings.data)
        rows: list[Row] = []
        for name, loss in parts(data, settings.losses, on_progress):
            found = kept(
                name,
                lambda name=name, loss=loss: measured(
                    lambda draw: importance(name, loss, pairs=settings.pairs, seed=draw, progress=False),
                    seed,
                    settings.draws,
                    alike=is_squares(name),
                ),
            )
            rows += _importance_rows(name, found)
            notes.append(_nearer_than_random(name, found))
        notes.append(largest_difference(rows))
        return Findings(tuple(rows), tuple(notes), {"distances": dots(rows, "perceived distance")})


def _importance_rows(name: str, found: Draws) -> list[Row]:
    """Return mean and deviation of each factor, the most important first."""
    printed = IMPORTANCE.get(name, {})
    order = sorted(found, key=lambda factor: (factor != RANDOM, -found[factor][:, 0].mean()))
    rows = []
    for factor in order:
        for place, what in enumerate(("mean distance", "deviation")):
            beside = round(THOUSAND * printed[factor][place], 1) if factor in printed else None
            rows.append(row(f"{name}, {factor}: {what} × {THOUSAND}", beside, THOUSAND * found[factor][:, place]))
    return rows


def _nearer_than_random(name: str, found: Draws) -> str:
    """Return whether images that differ in one factor are closer to each other than random ones."""
    factors = [factor for factor in found if factor != RANDOM]
    nearer = sum(found[factor][:, 0].mean() < found[RANDOM][:, 0].mean() for factor in factors)
    return (
        f"Thesis: images along a factor are usually nearer to each other than random ones. Here, on {name}, they are "
        f"for {nearer} of {len(factors)} factors."
    )


class Correlations(ThesisTable):
    """Table 4.1."""

    source: ClassVar[str] = "[Michlo2022]_, table 4.1 (section 4.2)"
    summary: ClassVar[str] = "Whether perceived distances follow those of factors, by mse and by a box blur."
    presets: ClassVar[Mapping[str, Distances]] = {
        "smoke": Distances(("xysquares", "xyobject:size=32"), pairs=2_000, draws=2, losses=("mse",)),
        "small": Distances(DRAWN, pairs=16_384, draws=5),
        "paper": Distances(FIVE_SETS, pairs=1_048_576, draws=1),
    }

    def run(self, settings: Distances, *, seed: int, on_progress: OnProgress, kept: Kept = compute_always) -> Findings:
        """Correlate perceived distances with those of factors."""
        from unweave.reproduce.thesis.dots import dots

        data, notes = here(settings.data)
        rows: list[Row] = []
        for name, loss in parts(data, settings.losses, on_progress):
            found = kept(f"{name} {loss}", lambda name=name, loss=loss: correlated(name, loss, settings, seed))
            rows += correlation_rows(f"{name}, ", found, loss, CORRELATIONS.get(name, {}))
        notes += [_highest(rows, name, loss) for name in data for loss in settings.losses]
        notes += [RANDOM_PAIRS, largest_difference(rows)]
        return Findings(tuple(rows), tuple(notes), {"correlations": dots(rows, "correlation")})


RANDOM_PAIRS = (
    "The thesis draws random pairs within batches of 32, so 1 of 32 pairs an image with itself, which raises the "
    "correlation. Its number is compared with ours for such pairs; ours for different images comes after it."
)


def correlated(name: str, loss: str, settings: Distances, seed: int) -> dict[str, np.ndarray]:
    """Return the linear and rank correlation of each factor and of random pairs, with and without self-pairs."""
    from unweave.perception import correlations

    alike = is_squares(name)
    options = {"pairs": settings.pairs, "progress": False}
    one = ["x_R"] if alike else None  # as in the author's script: they are all equivalent
    found = measured(
        lambda draw: correlations(name, loss, seed=draw, factors=one, **options), seed, settings.draws, alike=alike
    )
    with_self = measured(
        lambda draw: correlations(name, loss, seed=draw, factors=[], self_pairs=SELF_PAIRS, **options),
        seed,
        settings.draws,
        alike=False,
    )
    factors = {factor: draws for factor, draws in found.items() if factor != RANDOM}
    return {**factors, WITH_SELF: with_self[RANDOM], RANDOM: found[RANDOM]}


def correlation_rows(prefix: str, found: Draws, loss: str, printed: Mapping[str, Sequence[float]]) -> list[Row]:
    """Return the linear and the rank correlation of each factor, with the printed numbers of mse or the box blur."""
    short = loss.partition(":")[0]
    first = 2 * (short == "mse-box")
    rows = []
    for factor, draws in found.items():
        beside = printed.get({WITH_SELF: RANDOM, RANDOM: ""}.get(factor, factor))
        for place, kind in enumerate(("linear", "rank")):
            what = f"{prefix}{factor}: {kind} correlation, {short}"
            rows.append(row(what, beside[first + place] if beside else None, draws[:, place]))
    return rows


def _highest(rows: Sequence[Row], name: str, loss: str) -> str:
    """Return the factors that the loss sees best and worst, by rank correlation."""
    short = loss.partition(":")[0]
    own = [
        each for each in rows if each.what.startswith(f"{name}, ") and each.what.endswith(f"rank correlation, {short}")
    ]
    factors = {each.what.removeprefix(f"{name}, ").partition(":")[0]: each.ours for each in own}
    factors = {factor: value for factor, value in factors.items() if not factor.startswith(RANDOM)}
    best, worst = max(factors, key=factors.__getitem__), min(factors, key=factors.__getitem__)
    if best == worst:
        return f"On {name}, {short} follows {best} with a rank correlation of {factors[best]:.2f}."
    return f"On {name}, {short} follows {best} best ({factors[best]:.2f}) and {worst} least ({factors[worst]:.2f})."


class OverlapCorrelations(ThesisTable):
    """Table 4.2."""

    source: ClassVar[str] = "[Michlo2022]_, table 4.2 (section 4.2)"
    summary: ClassVar[str] = (
        "The more positions of xysquares overlap, the better distances follow factors; a blur helps."
    )
    presets: ClassVar[Mapping[str, Distances]] = {
        "smoke": Distances(tuple(f"xysquares:spacing={spacing}" for spacing in (1, 8)), pairs=1_024, draws=2),
        "small": Distances(tuple(f"xysquares:spacing={spacing}" for spacing in BY_SPACING), pairs=16_384, draws=5),
        "paper": Distances(tuple(f"xysquares:spacing={spacing}" for spacing in BY_SPACING), pairs=1_048_576, draws=1),
    }

    def run(self, settings: Distances, *, seed: int, on_progress: OnProgress, kept: Kept = compute_always) -> Findings:
        """Correlate perceived distances with those of factors, at each spacing."""
        from unweave.reproduce.thesis.dots import dots

        rows: list[Row] = []
        for name, loss in parts(settings.data, settings.losses, on_progress):
            found = kept(f"{name} {loss}", lambda name=name, loss=loss: along_factors(name, loss, settings, seed))
            spacing = int(name.rpartition("=")[2])
            rows += correlation_rows(f"spacing {spacing}, ", found, loss, {FACTOR: BY_SPACING[spacing]})
        notes = (_rises(rows, "mse"), _blur_helps(rows), largest_difference(rows))
        return Findings(tuple(rows), notes, {"correlations": dots(rows, "correlation")})


def along_factors(name: str, loss: str, settings: Distances, seed: int) -> dict[str, np.ndarray]:
    """Return the linear and rank correlation along a factor of xysquares: all are equivalent."""
    from unweave.perception import correlations

    found = measured(
        lambda draw: correlations(name, loss, pairs=settings.pairs, seed=draw, factors=["x_R"], progress=False),
        seed,
        settings.draws,
        alike=True,
    )
    return {FACTOR: found[FACTOR]}


def _of(rows: Sequence[Row], ending: str) -> dict[int, float]:
    """Return our numbers by spacing, from the rows with this ending."""
    found = [each for each in rows if each.what.endswith(ending)]
    return {int(each.what.split(",")[0].removeprefix("spacing ")): each.ours for each in found}


def _rises(rows: Sequence[Row], loss: str) -> str:
    """Return whether correlations rise as the spacing falls."""
    linear = _of(rows, f"linear correlation, {loss}")
    ordered = [linear[spacing] for spacing in sorted(linear)]
    steps = sum(after <= before for before, after in pairwise(ordered))
    return (
        f"Thesis: correlations rise as the spacing falls. Here the linear one, with {loss}, rises or stays at "
        f"{steps} of {len(ordered) - 1} steps: from {ordered[-1]:.2f} to {ordered[0]:.2f}."
    )


def _blur_helps(rows: Sequence[Row]) -> str:
    """Return a sentence: at which spacings the box blur has the higher rank correlation."""
    mse, box = (_of(rows, f"rank correlation, {loss}") for loss in ("mse", "mse-box"))
    better = [spacing for spacing in sorted(box) if box[spacing] > mse[spacing]]
    listed = ", ".join(map(str, better)) or "none"
    return (
        f"Thesis: the box blur improves correlations. Here the rank correlation is higher with it at spacings {listed}."
    )
