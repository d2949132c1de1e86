"""What a reproduction of a published result is, and the table it ends in."""

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
    """As printed, or as claimed exactly; None where the source has no number."""
    ours: float
    low: float
    high: float
    """The 95 % interval of ours, from `low` on."""
    published_interval: tuple[float, float] | None = None
    """That of the published number, where it can be known."""

    @property
    def difference(self) -> float | None:
        """Ours less the published one."""
        return None if self.published is None else self.ours - self.published


@dataclass(frozen=True)
class Findings:
    """What came out: numbers, remarks, figures by the names of their files, and tables too long to be printed."""

    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()
    figures: Mapping[str, Figure] = field(default_factory=dict)
    tables: Mapping[str, str] = field(default_factory=dict)
    """The texts of further files, such as scores.csv."""


class Reproduction(ABC):
    """A published result, computed again. One class a result, in a file of its own, and a line in `RESULTS`."""

    source: ClassVar[str]
    """Where it is printed: "[Vu2024]_, tables 1 and 2"."""
    summary: ClassVar[str]
    """What it says, in one line."""
    presets: ClassVar[Mapping[str, Any]]
    """Settings by name, of a type of the result's own: smoke (seconds), small (minutes) and paper (as published)."""
    variants: ClassVar[tuple[str, ...]] = ()
    """Names of the experiments that it can be run as, the usual one first. Settings then have a field `setting`."""

    def __init__(self, folder: Path | None = None, workers: int | None = None) -> None:
        self.folder = folder
        """Where the result will be saved; a study, which needs a folder, is run there."""
        self.workers = workers
        """Processes at a time, where the result has use for several."""

    @abstractmethod
    def run(self, settings: Any, *, seed: int, on_progress: OnProgress, kept: Kept = compute_always) -> Findings:
        """Compute the result. Everything random comes from `seed`; `on_progress` is called before each part.

        `kept(name, compute)` returns a part that was computed before, or computes it: a dataclass of this package,
        numbers, texts and arrays, also in tuples, lists and dicts.
        """

    def cost(self, settings: Any) -> str:
        """Return what the result would take, in a sentence or two, after measuring a little."""
        raise UsageError("the cost of this result cannot be told in advance; see its page in docs/reproduce")
