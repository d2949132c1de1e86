"""Write docs/choose-a-method.md from the stored scores of the comparison; `comparison.py store` calls this.

The text between the page's marks comes from docs/results/comparison.parquet and the plan; cells without runs are shown
as such. The table of the Jacobian term is also on its own page. `ABOUT` says what each method needs and assumes; a test
checks that it has every method of the plan. `comparison_figure.py` draws the page's picture.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pages
import polars
from methods_docs import TITLES

from unweave.study.analysis import over_seeds
from unweave.study.plan import Plan
from unweave.study.task import Task, settings_of

DOCS = Path(__file__).parents[1] / "docs"
PAGE = DOCS / "choose-a-method.md"
JACOBIAN_PAGE = DOCS / "methods" / "orthogonal-jacobian.md"
DISENTANGLEMENT, INFORMATIVENESS = "dci-disentanglement", "dci-informativeness"
"""The scores of the short table."""
UNTRAINED = "untrained"
LABELLED = "beta-vae + labels"
JACOBIAN = "beta-vae + jacobian"
HFS_TC = "hfs + tc"
NOT_RUN = "not run"
UNDEFINED = "–"
"""A score that does not apply to a method."""
ASKS = ("nothing", "pairs", "pairs, known", "triplets", "one factor", "labels")
"""What methods need, in the order of the page."""

ABOUT: dict[str, tuple[str, str]] = {
    UNTRAINED: ("nothing", "nothing; a VAE with its first, random weights: what scores are without learning"),
    "vae": ("nothing", "nothing; the baseline"),
    "ae": ("nothing", "nothing; codes without noise or prior"),
    "beta-vae": ("nothing", "factors cost different numbers of nats, so that noise aligns latents with them"),
    JACOBIAN: ("nothing", "the same, and factors change images in different directions"),
    "annealed-vae": ("nothing", "as beta-vae, and factors are learnt one after the other as the capacity grows"),
    "factor-vae": ("nothing", "factors are independent"),
    "beta-tcvae": ("nothing", "factors are independent"),
    "alpha-tcvae": ("nothing", "factors are independent, and each is worth knowing given the others"),
    "dip-vae I": ("nothing", "factors are uncorrelated; means are decorrelated"),
    "dip-vae II": ("nothing", "factors are uncorrelated; samples are decorrelated"),
    "info-vae": ("nothing", "the codes of all images together are normal"),
    "hfs": ("nothing", "every combination of factors can occur, correlated or not"),
    HFS_TC: ("nothing", "factors are independent, and every combination of them can occur"),
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
PAGES = {
    UNTRAINED: "vae",
    "dip-vae I": "dip-vae",
    "dip-vae II": "dip-vae",
    LABELLED: "semi-supervised",
    JACOBIAN: "orthogonal-jacobian",
    HFS_TC: "hfs",
}
"""The pages of methods whose name is not that of their page."""


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
    if settings.get("jacobian.weight"):
        return JACOBIAN
    if settings.get("tc"):
        return HFS_TC
    if settings["steps"] == 1:
        return UNTRAINED
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
    text = ", ".join(f"{name.rpartition('.')[2]} {_short(settings[name])}" for name in moving)
    return Cell(settings["data"].partition(":")[0], method_of(settings), text, tuple(task.name for task in tasks))


def _short(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def shown(table: polars.DataFrame, cell: Cell, metric: str) -> str:
    """Return the mean over the seeds of a cell with its interval, or that it was not run."""
    values = scores_of_cell(table, cell, metric)
    if not len(values):
        return NOT_RUN
    if values.null_count() == len(values):
        return UNDEFINED
    found = over_seeds(values.drop_nulls().to_numpy())
    if found.low is None or found.high is None:
        return f"{found.value:.2f} ({found.seeds} of {len(cell.runs)} seeds)"
    return f"{found.value:.2f} [{found.low:.2f}, {found.high:.2f}]"


def scores_of_cell(table: polars.DataFrame, cell: Cell, metric: str) -> polars.Series:
    """Return a score of a cell's runs."""
    return table.filter(polars.col("run").is_in(cell.runs), metric=metric)["value"]


def seconds_of(table: polars.DataFrame, cells: list[Cell]) -> float | None:
    """Return the median training time of a method's runs."""
    runs = [run for cell in cells for run in cell.runs]
    return table.filter(polars.col("run").is_in(runs)).unique("run")["seconds"].median()  # pyright: ignore


def cells_like(cells: list[Cell], method: str) -> list[Cell]:
    """Return the cells of a method."""
    return [cell for cell in cells if cell.method == method]


def usual(cells: list[Cell], method: str, data: str) -> Cell:
    """Return a method's cell at its usual strength on a data set."""
    own = [cell for cell in cells_like(cells, method) if cell.data == data]
    return own[len(own) // 2]  # the second of three, or the only one


def by_need() -> Iterator[tuple[str, str]]:
    """Return each kind of supervision with each method that needs it, in the order of the page."""
    return ((asks, method) for asks in ASKS for method, (wanted, _) in ABOUT.items() if wanted == asks)


def sets_of(cells: list[Cell]) -> list[str]:
    """Return the data sets in the order of the plan."""
    return list(dict.fromkeys(cell.data for cell in cells))


def short_table(table: polars.DataFrame, cells: list[Cell]) -> str:
    """Return one line per method: what it needs and assumes, its cost, and D and I at the usual strength."""
    columns = [
        (title, metric, data)
        for data in sets_of(cells)
        for title, metric in (("D", DISENTANGLEMENT), ("I", INFORMATIVENESS))
    ]
    columns = [column for column in columns if column[0] == "D" or column[2] == "rooms3d"]
    head = ["method", "asks for", "assumes", "time", *(f"{title} on {data}" for title, _, data in columns)]
    lines = [row(head), "|---" * len(head) + "|"]
    for asks, method in by_need():
        times = relative_time(table, cells, cells_like(cells, method))
        link = f"[{method}](methods/{PAGES.get(method, method)}.md)"
        scores = [shown(table, usual(cells, method, data), metric) for _, metric, data in columns]
        lines.append(row([link, asks, ABOUT[method][1], times, *scores]))
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
    by_data = {data: [cell for cell in cells if cell.data == data] for data in sets_of(cells)}
    return {
        "state": state,
        "methods": short_table(table, cells),
        **{data: long_table(table, some) for data, some in by_data.items()},
    }


def jacobian_table(table: polars.DataFrame, cells: list[Cell]) -> str:
    """Return the scores of a β-VAE without and with the Jacobian term, on every data set."""
    lines = [row(["data", "weight", *TITLES.values()]), "|---" * (len(TITLES) + 2) + "|"]
    for data in sets_of(cells):
        with_term = [cell for cell in cells_like(cells, JACOBIAN) if cell.data == data]
        for cell in (usual(cells, "beta-vae", data), *with_term):
            weight = cell.strength.removeprefix("weight ") if cell in with_term else "0"
            lines.append(row([data, weight, *(shown(table, cell, metric) for metric in TITLES)]))
    return "\n".join(lines)


def write(table: polars.DataFrame, plan: Plan, page: Path = PAGE, jacobian_page: Path = JACOBIAN_PAGE) -> None:
    """Write the tables of both pages."""
    pages.put_all(page, blocks(table, plan))
    pages.put(jacobian_page, "result", jacobian_table(table, cells_of(plan)))
