"""A published result that is a study: many runs, and an analysis of their scores."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from unweave.errors import UsageError
from unweave.progress import OnProgress, silent
from unweave.reproduce.frame import Findings, Reproduction
from unweave.reproduce.parts import Kept, compute_always

if TYPE_CHECKING:
    from unweave.study import Study

FOLDER = "study"
"""The study's folder, within the result's."""


class StudyReproduction(Reproduction):
    """A result whose runs are a study. The study's folder is kept, and finished runs are not repeated."""

    def __init__(self, folder: Path | None = None, workers: int | None = None) -> None:
        super().__init__(folder, workers)
        self.seed, self.on_progress, self.kept = 0, silent, compute_always
        """The arguments of `run`, for `findings` that compute more than the table."""

    @abstractmethod
    def study(self, settings: Any, *, seed: int, out: Path) -> Study:
        """Return the study in the folder `out`; its training seeds start at `seed`."""

    @abstractmethod
    def findings(self, settings: Any, study: Study) -> Findings:
        """Analyse the scores of the study."""

    def run(self, settings: Any, *, seed: int, on_progress: OnProgress, kept: Kept = compute_always) -> Findings:
        """Run the missing runs of the study, and analyse its table."""
        self.seed, self.on_progress, self.kept = seed, on_progress, kept
        with self._place() as place:
            study = self.study(settings, seed=seed, out=place)
            status = study.run(workers=self.workers, on_progress=on_progress)
            counts = status.counts
            if not counts["done"]:
                reason = study.folder.failure(study.plan.tasks[0])
                raise UsageError(f"no run has finished; the first one: {reason}")
            found = self.findings(settings, study)
        if not counts["failed"]:
            return found
        missing = f"{counts['failed']} of {sum(counts.values())} runs failed and are left out; see {place / 'failures'}"
        return Findings(found.rows, (missing, *found.notes), found.figures, found.tables)

    @contextmanager
    def _place(self) -> Iterator[Path]:
        """Yield the study's folder: in the result's folder, or a temporary one."""
        if self.folder is not None:
            yield self.folder / FOLDER
            return
        with TemporaryDirectory() as folder:
            yield Path(folder, FOLDER)
