"""Table 6.1: how distances under hand-made and learnt losses follow the factors of xysquares."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar

from unweave.progress import OnProgress
from unweave.reproduce.frame import Findings, Row
from unweave.reproduce.parts import Kept, compute_always
from unweave.reproduce.thesis.chapter6 import PUBLISHED_KERNEL
from unweave.reproduce.thesis.experiment import LEARNT
from unweave.reproduce.thesis.printed import BY_LOSS, FACTOR, RANDOM, Four
from unweave.reproduce.thesis.table import WITH_SELF, Distances, Draws, ThesisTable, largest_difference, row
from unweave.reproduce.thesis.tables import RANDOM_PAIRS, correlated

LOSSES = ("mse", "mse-gauss:radius=31", "mse-box:radius=31", f"{LEARNT}:radius=31", f"{LEARNT}:radius=63")
COLUMNS = {FACTOR: 0, WITH_SELF: 2, RANDOM: None}
"""The columns of a row's two numbers in the thesis."""


class LossCorrelations(ThesisTable):
    """Table 6.1."""

    source: ClassVar[str] = "[Michlo2022]_, table 6.1 (section 6.1)"
    summary: ClassVar[str] = "A learnt kernel makes distances on xysquares follow its factors better than other losses."
    presets: ClassVar[Mapping[str, Distances]] = {
        "smoke": Distances(
            ("xysquares:size=16",),
            pairs=1_024,
            draws=2,
            losses=("mse", "mse-box:radius=7", f"{LEARNT}:radius=7"),
            kernel={"steps": 3, "batch": 64, "pairs": 256},
        ),
        "small": Distances(("xysquares",), pairs=16_384, draws=5, losses=LOSSES),
        "paper": Distances(("xysquares",), pairs=1_048_576, draws=1, losses=LOSSES, kernel=PUBLISHED_KERNEL),
    }

    def run(self, settings: Distances, *, seed: int, on_progress: OnProgress, kept: Kept = compute_always) -> Findings:
        """Learn the kernels, and correlate distances under every loss with those of factors."""
        from unweave.reproduce.thesis.dots import dots

        (data,) = settings.data
        found: dict[str, Draws] = {}
        with self._place() as folder:
            for done, loss in enumerate(settings.losses):
                on_progress(loss.partition(":")[0], done, len(settings.losses))
                learnt = _kernel(folder, data, loss, seed, settings.kernel, on_progress)
                found[title(loss)] = kept(loss, lambda learnt=learnt: correlated(data, learnt, settings, seed))
        printed = BY_LOSS if data == "xysquares" else {}
        rows = [each for name, draws in found.items() for each in _rows(name, draws, printed.get(name))]
        notes = (*_compared(found), RANDOM_PAIRS, largest_difference(rows))
        return Findings(tuple(rows), notes, {"correlations": dots(rows, "correlation")})

    @contextmanager
    def _place(self) -> Iterator[Path]:
        """Yield the folder of the kernels: the result's, or a temporary one."""
        if self.folder is not None:
            yield self.folder
            return
        with TemporaryDirectory() as folder:
            yield Path(folder)


def title(loss: str) -> str:
    """Return the name of a loss in the thesis' table.

    >>> title("mse"), title("mse-box:radius=31")
    ('mse', 'mse-box, radius 31')
    """
    return loss.replace(":radius=", ", radius ")


def _kernel(folder: Path, data: str, loss: str, seed: int, settings: Mapping[str, Any], on_progress: OnProgress) -> str:
    """Return the name of a loss; for a learnt loss, the path of its file, which is written once."""
    name, _, radius = loss.partition(":radius=")
    if name != LEARNT:
        return loss
    path = folder / f"{LEARNT}-{radius}.loss"
    if not path.is_file():
        from unweave.perception import learn_loss

        folder.mkdir(parents=True, exist_ok=True)
        learn_loss(data, out=path, radius=int(radius), seed=seed, on_progress=on_progress, **settings)
    return str(path)


def _rows(name: str, found: Draws, printed: Four | None) -> list[Row]:
    """Return the linear and the rank correlation along factors, and of random pairs with and without self-pairs."""
    rows = []
    for pairs, first in COLUMNS.items():
        for place, kind in enumerate(("linear", "rank")):
            beside = printed[first + place] if printed and first is not None else None
            rows.append(row(f"{name}, {pairs}: {kind} correlation", beside, found[pairs][:, place]))
    return rows


def _compared(found: Mapping[str, Draws]) -> list[str]:
    """Return the number of correlations that are higher with each learnt kernel than with the box."""
    box = next(draws for name, draws in found.items() if name.startswith("mse-box"))
    notes = []
    for name, own in found.items():
        if name.startswith(LEARNT):
            pairs = [(own[part][:, k].mean(), box[part][:, k].mean()) for part in (FACTOR, WITH_SELF) for k in (0, 1)]
            higher = sum(ours >= theirs for ours, theirs in pairs)
            notes.append(
                f"Thesis: the learnt kernel exceeds the box on all four correlations. Here {name} reaches at least the "
                f"box on {higher} of 4; along factors it has {pairs[0][0]:.3f} (linear) and "
                f"{pairs[1][0]:.3f} (rank)."
            )
    return notes
