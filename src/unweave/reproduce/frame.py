"""The interface of a reproduction of a published result, and the table it returns."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from unweave.errors import UsageError
from unweave.progress import OnProgress
from unweave.reproduce.parts import Kept, compute_always

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Row:
    """One line of the table: a published number beside ours."""

    what: str
    published: float | None
    """The printed number, or an exact claim; None if the source has no number."""
    ours: float
    low: float
    high: float
    """The 95 % interval of our number."""
    published_interval: tuple[float, float] | None = None
    """The interval of the published number, if it is known."""

    @property
    def difference(self) -> float | None:
        """Our number minus the published one."""
        return None if self.published is None else self.ours - self.published


@dataclass(frozen=True)
class Findings:
    """The findings: numbers, notes, figures by file name, and tables that are too long to print."""

    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()
    figures: Mapping[str, Figure] = field(default_factory=dict)
    tables: Mapping[str, str] = field(default_factory=dict)
    """The texts of further files, such as scores.csv."""


class Reproduction(ABC):
    """A published result, computed again: one class per result, in its own file, and a line in `RESULTS`."""

    source: ClassVar[str]
    """Where it was published: "[Vu2024]_, tables 1 and 2"."""
    summary: ClassVar[str]
    """The result in one line."""
    presets: ClassVar[Mapping[str, Any]]
    """Settings by name, of a type that the result defines: smoke (seconds), small (minutes) and paper (as
    published)."""
    variants: ClassVar[tuple[str, ...]] = ()
    """Names of its experiments, the usual one first. Settings then have a field `setting`."""

    def __init__(self, folder: Path | None = None, workers: int | None = None) -> None:
        self.folder = folder
        """Where the result will be saved; a study, which needs a folder, is run there."""
        self.workers = workers
        """Number of parallel processes, if the result can use several."""

    @abstractmethod
    def run(self, settings: Any, *, seed: int, on_progress: OnProgress, kept: Kept = compute_always) -> Findings:
        """Compute the result. Everything random comes from `seed`; `on_progress` is called before each part.

        `kept(name, compute)` returns a part that was computed before, or computes it: a dataclass of this package,
        numbers, texts and arrays, also in tuples, lists and dicts.
        """

    def cost(self, settings: Any) -> str:
        """Return an estimate of the cost in a sentence or two, after a short measurement."""
        raise UsageError("the cost of this result cannot be estimated in advance: see its page in docs/reproduce")
