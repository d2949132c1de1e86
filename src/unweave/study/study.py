"""A study: many runs given as data, their engine, and the table of their scores."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unweave.errors import UsageError, unknown
from unweave.hardware import cores
from unweave.plugins import loaded
from unweave.progress import OnProgress, silent
from unweave.study.engines.table import engine_of
from unweave.study.folder import StudyFolder
from unweave.study.plan import Changes, Plan, changes
from unweave.study.running import perform
from unweave.study.status import Status
from unweave.study.table import Records, read_records, score_table
from unweave.study.task import Task, differing, digest, settings_of
from unweave.study.work import Job, Outcome

if TYPE_CHECKING:
    import polars

    from unweave.data import Dataset
    from unweave.methods import Method
    from unweave.report import Page, Section


class Study:
    """Data sets × methods × settings × seeds, run in a folder."""

    def __init__(
        self,
        *,
        data: str | Dataset | Mapping[str, Any] | Sequence[str | Dataset | Mapping[str, Any]],
        methods: Sequence[Method | str | dict[str, Any]],
        seeds: int | Sequence[int] = 1,
        metrics: str | Sequence[str] = (),
        snapshots: Sequence[int] = (),
        trace_every: int | None = None,
        trace_samples: int | None = None,
        evaluate: dict[str, Any] | None = None,
        out: str | Path | None = None,
        **options: Any,
    ) -> None:
        """Describe a study; `run` runs it.

        Parameters
        ----------
        data
            Data sets, or their names with options after a colon.
        methods
            Methods, or mappings such as {"name": "beta-vae", "beta": [1, 4]}, where a list is a dimension of the grid.
        seeds
            Seeds of training, or how many: 5 is 0 to 4.
        metrics
            Names of metrics and groups, as for `unweave.evaluate`; none: train only.
        snapshots
            Steps at which weights are also saved and scored.
        trace_every, trace_samples
            Steps between traces of the decoder's hidden layers, and images in each, as for `unweave.train`.
        evaluate
            How runs are scored: samples, test_samples, preset, intervals, floors …
        out
            The study's folder; by default one below `studies/`, named after its content.
        **options
            Options of `unweave.train` for all methods: steps, batch, lr, net, latents, width …; a list is a dimension.
        """
        from unweave.data import Dataset
        from unweave.study.grid import Grid, seeds_of

        grid = Grid(
            [data] if isinstance(data, str | Dataset | Mapping) else data,
            methods,
            seeds_of(seeds),
            [metrics] if isinstance(metrics, str) else metrics,
            snapshots,
            evaluate or {},
            options,
            trace_every,
            trace_samples,
        )
        self._set(grid.plan(), out)

    def _set(self, plan: Plan, out: str | Path | None, file: str | Path | None = None) -> None:
        self.plan = plan
        self.path = Path(out) if out is not None else Path("studies", digest(plan.to_json())[:8])
        self.folder = StudyFolder(self.path)
        self.file = None if file is None else Path(file)

    @classmethod
    def read(cls, file: str | Path, out: str | Path | None = None) -> Study:
        """Return the study that a TOML file describes.

        Parameters
        ----------
        file
            The TOML file.
        out
            The study's folder; by default `studies/` and the file's name.

        Returns
        -------
        Study
            The study; `run` runs it.
        """
        from unweave.study.grid import read_grid

        study = cls.__new__(cls)
        study._set(read_grid(Path(file)).plan(), out if out is not None else Path("studies", Path(file).stem), file)
        return study

    @classmethod
    def open(cls, folder: str | Path) -> Study:
        """Return the study that was run in a folder, without loading data sets or torch.

        Parameters
        ----------
        folder
            The study's folder.

        Returns
        -------
        Study
            The study with its last plan.
        """
        study = cls.__new__(cls)
        study._set(StudyFolder(Path(folder)).read_plan(), folder)
        return study

    def __repr__(self) -> str:
        return f"Study('{self.path}', {len(self.plan.tasks)} runs of {len(self.plan.cells())} cells)"

    def status(self) -> Status:
        """Return which runs are done, failed, running and to do.

        Returns
        -------
        Status
            The state of every run, and who runs the study.
        """
        return Status(self.folder.states(self.plan), self.folder.driver())

    def changes(self) -> Changes | None:
        """Return how the study differs from the last plan in its folder; None if there is none.

        Returns
        -------
        Changes or None
            The cells that are new, and those that were removed.
        """
        try:
            return changes(self.folder.read_plan(), self.plan)
        except UsageError:  # a new study, or a damaged plan, which is written again
            return None

    def labels(self) -> dict[str, str]:
        """Return a label for each cell: the method, the settings that differ, the data set.

        Returns
        -------
        dict
            Labels by cell.
        """
        first = {cell: settings_of(tasks[0].config) for cell, tasks in self.plan.cells().items()}
        columns = differing(first.values())
        return {
            cell: " ".join(
                [found["method"], *(f"{key}={found[key]}" for key in columns if key in found), f"on {found['data']}"]
            )
            for cell, found in first.items()
        }

    def run(
        self,
        *,
        engine: str = "local",
        workers: int | None = None,
        redo: str | Sequence[str] = (),
        stop_on_failure: bool = False,
        device: str = "auto",
        on_progress: OnProgress | None = None,
        on_result: Callable[[Outcome], object] | None = None,
        **options: Any,
    ) -> Status:
        """Train and score what is missing.

        Parameters
        ----------
        engine
            "local": processes on this machine; "ray": tasks on a Ray cluster; "slurm": arrays of Slurm jobs.
        workers
            Number of runs at a time; by default the number of cores, or as many as fit on the cluster.
        redo
            What to run again: "failed", "stale" (made by another version), names of runs, or labels of cells.
        stop_on_failure
            Start no further run after one has failed.
        device
            "auto", "cpu", "cuda" …
        on_progress, on_result
            Called as `on_progress(what, done, total)` while the study runs, and with the `Outcome` of each task.
        **options
            Options of the engine: see `Ray` and `Slurm` in `unweave.study.engines.table`.

        Returns
        -------
        Status
            Which runs are done, failed and to do afterwards.
        """
        chosen = engine_of(engine, options)
        workers = cores() if workers is None and engine == "local" else workers
        if workers is not None and workers < 1:
            raise UsageError(f"a study needs at least one worker, not {workers}")
        with self.folder.driving(workers, engine) as driver:
            driver.record |= {"file": str(self.file)} if self.file else {}
            self.plan = replace(self.plan, plugins=loaded())
            self.folder.write_plan(self.plan)
            self._redo([redo] if isinstance(redo, str) else redo)
            wanted = self.plan.wanted()
            todo = [task for task in self.plan.tasks if self._is_todo(task, wanted)]
            job_of = partial(self._job, device=device)
            tell = on_progress or silent
            perform(todo, job_of, self.folder, chosen, workers, driver, stop_on_failure, tell, on_result)
        return self.status()

    def _is_todo(self, task: Task, wanted: dict[str, str]) -> bool:
        failed = self.folder.failure_of(task).is_file()
        return not failed and not self.folder.is_done(task, self.plan, wanted)

    def _job(self, task: Task, device: str) -> Job:
        folder, plan = self.folder.run_of(task), self.plan
        return Job(task, folder, plan.scoring, plan.snapshots, plan.tracing, device=device, plugins=plan.plugins)

    def _redo(self, wanted: Iterable[str]) -> None:
        """Make existing or failed runs count as missing."""
        labels = {label: cell for cell, label in self.labels().items()}
        by_name = {task.name: task for task in self.plan.tasks}
        for what in wanted:
            if what == "failed":
                chosen = [task for task in self.plan.tasks if self.folder.failure_of(task).is_file()]
            elif what == "stale":
                chosen = self.stale()
            elif what in labels:
                chosen = self.plan.cells()[labels[what]]
            elif what in by_name:
                chosen = [by_name[what]]
            else:
                raise unknown("cell or run", what, ["failed", "stale", *labels])
            for task in chosen:
                self.folder.forget(task, restart=what != "failed" or not self.folder.can_continue(task, self.plan))

    def stale(self) -> list[Task]:
        """Return the tasks whose runs were made by other versions of unweave or torch.

        Returns
        -------
        list
            The tasks.
        """
        from unweave.study.table import versions_of
        from unweave.versions import versions

        ours = json.dumps(versions())
        made = versions_of(read_records(self.path / "runs"))
        return [task for task in self.plan.tasks if made.get(task.name, ours) not in (ours, "null")]

    def scores(self) -> polars.DataFrame:
        """Return all scores as one tidy table.

        Returns
        -------
        polars.DataFrame
            run, data, method, the settings that differ, seed, step, metric, value, low, high, floor, ceiling; low to
            high is the interval over images of that one run.
        """
        return score_table(self.records(), [task.name for task in self.plan.tasks])

    def records(self) -> Records:
        """Return what all run folders hold: states, times, machines, and raw scores.

        Returns
        -------
        Records
            Tables of runs and of scores.
        """
        return read_records(self.path / "runs")

    def report(self, out: str | Path | None = None, *, extra: Sequence[Section] = ()) -> Page:
        """Draw the page of the study.

        Parameters
        ----------
        out
            The HTML file; by default report.html in the study's folder.
        extra
            Your own sections (`unweave.report.Section`), such as a table of published scores.

        Returns
        -------
        Page
            The page and its path.
        """
        from unweave.report import Page, write_study_page

        return Page(write_study_page(self, None if out is None else Path(out), extra=extra))
