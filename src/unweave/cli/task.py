"""`unweave task …`: measure how useful the codes of runs are to an agent."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from tyro.conf import Positional, arg

from unweave.cli.arrays import check_scores_path, write_scores
from unweave.cli.parsing import Flag, Plugins, parse, refuse_below
from unweave.errors import UsageError, unknown
from unweave.fields import OneOf
from unweave.progress import Bar
from unweave.text import facts, table, to_json

if TYPE_CHECKING:
    import polars

WAYS = ("colour", "shape", "position")
NUMBERS = ("steps", "fewest", "most", "reached", "accuracy")


@dataclass(frozen=True)
class Clustering:
    """Measure how many steps of exploration a reward predictor needs on the frozen codes of runs on scenes2d.

    The task is to move sprites until those of one colour or shape lie together. A fixed policy explores; after each
    step a small network is updated to recognise clustered scenes. Fewer steps are better. The runs store the results.
    """

    runs: Annotated[Positional[tuple[Path, ...]], arg(metavar="RUN ...")]
    """Runs, folders of runs, or studies."""
    by: Annotated[str, OneOf(WAYS)] = "colour"
    """Which sprites belong together: those of one colour, of one shape, or, by position, any two pairs."""
    target: float = 0.9
    """The balanced accuracy to reach on held-out scenes; chance is 0.5."""
    max_steps: int = 10_000
    """Steps after which a predictor that has not reached the target stops."""
    every: int = 250
    """Steps between two measurements of the accuracy."""
    seeds: int = 5
    """Initialisations of the predictor."""
    seed: int = 0
    """Seed of the exploration and of the predictors."""
    again: Flag = False
    """Compute scores again that the runs already have."""
    out: Annotated[Path | None, arg(metavar="FILE", help_behavior_hint="(optional)")] = None
    """Also write every initialisation to a .csv, .parquet or .json file."""
    plugin: Plugins = ()
    """Load methods, nets, metrics and data sets from a Python file or module."""
    json: Flag = False
    """Print one JSON object instead of a table."""

    def __post_init__(self) -> None:
        if self.by not in WAYS:
            raise unknown("way to cluster", self.by, WAYS)
        refuse_below(0, seed=self.seed)
        refuse_below(1, max_steps=self.max_steps, every=self.every, seeds=self.seeds)
        if not 0.5 < self.target <= 1:
            raise UsageError(f"--target must be above 0.5, which is chance, and at most 1, not {self.target:g}")
        if self.out:
            check_scores_path(self.out)


def clustering(words: list[str]) -> None:
    """Run `unweave task clustering`."""
    options = parse(Clustering, words, "task clustering")
    from unweave.tasks import sample_efficiency_table

    with Bar("the clustering task") as bar:
        found = sample_efficiency_table(
            options.runs,
            by=options.by,
            again=options.again,
            on_progress=bar,
            target=options.target,
            max_steps=options.max_steps,
            every=options.every,
            seeds=options.seeds,
            seed=options.seed,
        )
    if options.out:
        write_scores(found, options.out)
    if options.json:
        settings = {"by": options.by, "target": options.target, "max_steps": options.max_steps}
        return print(to_json({**settings, "results": found.to_dicts()}))
    reading = {
        "steps": f"mean over {options.seeds} initialisations until {options.target:.0%} accuracy, by {options.by}; "
        f"{options.max_steps:,} if that is not reached",
        "accuracy": "mean of the last ones; chance is 0.500",
    }
    first = shlex.quote(str(options.runs[0]))
    print(_text(found), facts(reading), f"next: unweave evaluate {first}", sep="\n\n")


def _text(found: polars.DataFrame) -> str:
    """Return a line for each run."""
    rows = []
    for (run,), part in found.group_by("run", maintain_order=True):
        steps, reached = part["steps"].to_numpy(), part["reached"].to_numpy()
        rows.append(
            {
                "run": str(run),
                "steps": f"{steps.mean():,.0f}",
                "fewest": f"{steps.min():,.0f}",
                "most": f"{steps.max():,.0f}",
                "reached": f"{reached.sum()} of {len(reached)}",
                "accuracy": f"{part['accuracy'].to_numpy().mean():.3f}",
            }
        )
    return table(rows, numbers=NUMBERS)
