"""Measure the time of a training step of each method of the comparison: `python benchmarks/comparison_times.py`.

It stores CPU times on one thread in docs/results/comparison-times.csv: medians of three rounds, in which the methods
take turns. `python benchmarks/comparison.py store` then writes them on the page.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import polars
from comparison_cells import UNTRAINED, Cell, by_need, sets_of, usual

from unweave.reproduce.study_cost import seconds_of_a_step
from unweave.study.plan import Plan

STORE = Path(__file__).parents[1] / "docs" / "results" / "comparison-times.csv"
COLUMNS = {"data": polars.String, "method": polars.String, "milliseconds": polars.Float64}
ROUNDS, FEW, MORE = 3, 20, 170
BASELINE = "vae"

Config = Mapping[str, Any]


def read(path: Path = STORE) -> polars.DataFrame:
    """Return the stored times: milliseconds per step, by data set and method."""
    return polars.read_csv(path, schema=COLUMNS) if path.is_file() else polars.DataFrame(schema=COLUMNS)


def measured(plan: Plan, cells: list[Cell], step: Callable[[Config], float]) -> polars.DataFrame:
    """Return the median time of a step of each method at its usual strength on each data set."""
    configs = {task.name: task.config for task in plan.tasks}
    rows = [
        {"data": data, "method": method, "milliseconds": 1000 * step(configs[usual(cells, method, data).runs[0]])}
        for _ in range(ROUNDS)
        for data in sets_of(cells)
        for _, method in by_need()
        if method != UNTRAINED
    ]
    table = polars.DataFrame(rows, schema=COLUMNS)
    return table.group_by("data", "method", maintain_order=True).agg(polars.col("milliseconds").median().round(3))


def relative_time(times: polars.DataFrame, method: str) -> float | None:
    """Return the time of a method relative to the VAE's, averaged over the data sets; None if not measured."""
    both = times.filter(method=method).join(times.filter(method=BASELINE), on="data", suffix="_vae")
    return (both["milliseconds"] / both["milliseconds_vae"]).mean()  # pyright: ignore[reportReturnType]


def main() -> None:
    from comparison import plan_of
    from comparison_cells import cells_of

    with TemporaryDirectory() as folder:
        count = iter(range(10**6))

        def step(config: Config) -> float:
            return seconds_of_a_step(config, Path(folder, str(next(count))), FEW, MORE)

        measured(plan_of(), cells_of(plan_of()), step).write_csv(STORE)


if __name__ == "__main__":
    main()
