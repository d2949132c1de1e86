"""Write docs/choose-a-method.md from the stored scores of the comparison; `comparison.py store` calls this.

The text between the page's marks comes from docs/results/comparison.parquet and the plan; cells without runs are shown
as such. `ABOUT` says what each method needs and assumes; a test checks that it has every method of the plan.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pages
import polars
from methods_docs import TITLES

from unweave.study.analysis import over_seeds
from unweave.study.plan import Plan
from unweave.study.task import Task, settings_of

PAGE = Path(__file__).parents[1] / "docs" / "choose-a-method.md"
FIRST = "dci-disentanglement"
"""The score of the short table."""
LABELLED = "beta-vae + labels"
NOT_RUN = "not run"
UNDEFINED = "–"
"""A score that does not apply to a method."""
ASKS = ("nothing", "pairs", "pairs, known", "triplets", "one factor", "labels")
"""What methods need, in the order of the page."""

ABOUT: dict[str, tuple[str, str]] = {
    "vae": ("nothing", "nothing; the baseline"),
    "ae": ("nothing", "nothing; codes without noise or prior"),
    "beta-vae": ("nothing", "factors cost different numbers of nats, so that noise aligns latents with them"),
    "annealed-vae": ("nothing", "the same, learnt one after the other as the capacity grows"),
    "factor-vae": ("nothing", "factors are independent"),
    "beta-tcvae": ("nothing", "factors are independent"),
    "alpha-tcvae": ("nothing", "factors are independent, and each is worth knowing given the others"),
    "dip-vae I": ("nothing", "factors are uncorrelated; means are decorrelated"),
    "dip-vae II": ("nothing", "factors are uncorrelated; samples are decorrelated"),
    "info-vae": ("nothing", "the codes of all images together are normal"),
    "hfs": ("nothing", "every combination of factors can occur, correlated or not"),
    "qlae": ("nothing", "few values per latent suffice, and each means one thing"),
    "tripod": ("nothing", "few values per latent, independent, with effects that add up"),
    "joint-vae": ("nothing", "some factors are categories, the others numbers"),
    "vq-vae": ("nothing", "a latent is one of a few vectors"),
    "fsq": ("nothing", "a latent is one of a few levels"),
    "factor-qvae": ("nothing", "a latent is one of a few values, and factors are independent"),
    "ada-tvae-unsupervised": ("nothing", "distances between images follow the factors"),
    "pcl": ("pairs", "one image follows the other in time, and factors move independently; no decoder"),
    "lejepa": ("pairs", "codes of two images that share factors agree, and factors are normal; no decoder"),
    "slow-vae": ("pairs", "most factors change little between two images"),
    "ada-gvae": ("pairs", "two images share some factors, and differ much in others"),
    "ada-ml-vae": ("pairs", "the same"),
    "gvae": ("pairs, known", "which factors two images share is known"),
    "ml-vae": ("pairs, known", "the same"),
    "beta-tvae": ("triplets", "which of two images is nearer to a third is known"),
    "ada-tvae": ("triplets", "the same, and few factors differ"),
    "tae": ("triplets", "as β-TVAE, without noise or prior"),
    "ada-tae": ("triplets", "as Ada-TVAE, without noise or prior"),
    "ivae": ("one factor", "factors are independent given the one that is known for every image"),
    LABELLED: ("labels", "the factors of 1,000 images are known"),
}
"""What each method needs besides images, and what it assumes."""
PAGES = {"dip-vae I": "dip-vae", "dip-vae II": "dip-vae", LABELLED: "semi-supervised"}


@dataclass(frozen=True)
class Cell:
    """A method at one strength on one data set."""

    data: str
    method: str
    strength: str
    """Its settings, if those of the method differ."""
    runs: tuple[str, ...]


def method_of(settings: Mapping[str, Any]) -> str:
    """Return a method's name on the page."""
    if settings.get("count"):
        return LABELLED
    return f"dip-vae {settings['kind']}" if settings["method"] == "dip-vae" else settings["method"]


def cells_of(plan: Plan) -> list[Cell]:
    """Return the cells of the comparison in the order of the plan."""
    groups = [list(tasks) for tasks in plan.cells().values()]
    settings = [settings_of(tasks[0].config) for tasks in groups]
    alike: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for each in settings:
        alike.setdefault((each["data"], method_of(each)), []).append(each)
    return [
        _cell(each, alike[each["data"], method_of(each)], tasks) for each, tasks in zip(settings, groups, strict=True)
    ]


def _cell(settings: Mapping[str, Any], alike: list[dict[str, Any]], tasks: list[Task]) -> Cell:
    moving = [name for name in settings if len({repr(other.get(name)) for other in alike}) > 1]
    text = ", ".join(f"{name} {_short(settings[name])}" for name in moving)
    return Cell(settings["data"].partition(":")[0], method_of(settings), text, tuple(task.name for task in tasks))


def _short(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def shown(table: polars.DataFrame, cell: Cell, metric: str) -> str:
    """Return the mean over the seeds of a cell with its interval, or that it was not run."""
    values = table.filter(polars.col("run").is_in(cell.runs), metric=metric)["value"]
    if not len(values):
        return NOT_RUN
    if values.null_count() == len(values):
        return UNDEFINED
    found = over_seeds(values.drop_nulls().to_numpy())
    if found.low is None or found.high is None:
        return f"{found.value:.2f} ({found.seeds} of {len(cell.runs)} seeds)"
    return f"{found.value:.2f} [{found.low:.2f}, {found.high:.2f}]"


def seconds_of(table: polars.DataFrame, cells: list[Cell]) -> float | None:
    """Return the median training time of a method's runs."""
    runs = [run for cell in cells for run in cell.runs]
    return table.filter(polars.col("run").is_in(runs)).unique("run")["seconds"].median()  # pyright: ignore


def cells_like(cells: list[Cell], method: str) -> list[Cell]:
    """Return the cells of a method."""
    return [cell for cell in cells if cell.method == method]


def short_table(table: polars.DataFrame, cells: list[Cell]) -> str:
    """Return one line per method: what it needs and assumes, its cost, and D at the usual strength."""
    sets = list(dict.fromkeys(cell.data for cell in cells))
    head = ["method", "asks for", "assumes", "time", *(f"D on {data}" for data in sets)]
    lines = [row(head), "|---" * len(head) + "|"]
    for asks in ASKS:
        for method in (name for name, (wanted, _) in ABOUT.items() if wanted == asks):
            own = cells_like(cells, method)
            by_data = [[cell for cell in own if cell.data == data] for data in sets]
            usual = [some[len(some) // 2] for some in by_data]  # the second of three, or the only one
            times = relative_time(table, cells, own)
            link = f"[{method}](methods/{PAGES.get(method, method)}.md)"
            lines.append(row([link, asks, ABOUT[method][1], times, *(shown(table, cell, FIRST) for cell in usual)]))
    return "\n".join(lines)


def relative_time(table: polars.DataFrame, cells: list[Cell], own: list[Cell]) -> str:
    """Return the training time relative to the VAE's, averaged over data sets that have both."""
    ratios = []
    for data in dict.fromkeys(cell.data for cell in own):
        ours, usual = (
            seconds_of(table, [cell for cell in some if cell.data == data]) for some in (own, cells_like(cells, "vae"))
        )
        if ours and usual:
            ratios.append(ours / usual)
    return f"{sum(ratios) / len(ratios):.1f} ×" if ratios else NOT_RUN


def long_table(table: polars.DataFrame, cells: list[Cell]) -> str:
    """Return one line per cell of a data set, with every score."""
    lines = [row(["method", "strength", *TITLES.values()]), "|---" * (len(TITLES) + 2) + "|"]
    for cell in cells:
        scores = [shown(table, cell, metric) for metric in TITLES]
        if set(scores) == {NOT_RUN}:  # said once
            scores[1:] = [""] * (len(scores) - 1)
        lines.append(row([cell.method, cell.strength or "–", *scores]))
    return "\n".join(lines)


def row(parts: list[str]) -> str:
    """Return a line of a Markdown table."""
    return "| " + " | ".join(parts) + " |"


def blocks(table: polars.DataFrame, plan: Plan) -> dict[str, str]:
    """Return the texts between the marks of the page, by name."""
    cells = cells_of(plan)
    names = [task.name for task in plan.tasks]
    done = table.filter(polars.col("run").is_in(names))["run"].n_unique()
    state = f"{done} of {len(names)} runs are stored."
    by_data = {
        data: [cell for cell in cells if cell.data == data] for data in dict.fromkeys(cell.data for cell in cells)
    }
    return {
        "state": state,
        "methods": short_table(table, cells),
        **{data: long_table(table, some) for data, some in by_data.items()},
    }


def write(table: polars.DataFrame, plan: Plan, page: Path = PAGE) -> None:
    """Write the page's tables."""
    pages.put_all(page, blocks(table, plan))
