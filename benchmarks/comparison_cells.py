"""The methods of the comparison, what each needs and assumes, and its cells: a method, a strength and a data set.

A test checks that `ABOUT` has every method of the plan.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import polars

from unweave.study.plan import Plan
from unweave.study.task import Task, settings_of

DISENTANGLEMENT, INFORMATIVENESS = "dci-disentanglement", "dci-informativeness"
"""D and I on the page."""
UNTRAINED = "untrained"
LABELLED = "beta-vae + labels"
JACOBIAN = "beta-vae + jacobian"
HFS_TC = "hfs + tc"
ASKS = {
    "nothing": "Images alone",
    "pairs": "Pairs of images",
    "pairs, known": "Pairs whose shared factors are known",
    "triplets": "Triplets of images",
    "one factor": "One factor of every image",
    "labels": "All factors of some images",
}
"""What methods need, in the order of the page, and how the page says it."""

ABOUT: dict[str, tuple[str, str]] = {
    UNTRAINED: ("nothing", "nothing; a VAE with its first, random weights: the scores without learning"),
    "vae": ("nothing", "nothing; the baseline"),
    "ae": ("nothing", "nothing; codes without noise or prior"),
    "beta-vae": (
        "nothing",
        "factors change images by different amounts; the noise of codes then aligns latents with factors",
    ),
    JACOBIAN: ("nothing", "as beta-vae, and factors change images in different directions"),
    "annealed-vae": ("nothing", "as beta-vae, and factors are learnt one after the other as the capacity grows"),
    "factor-vae": ("nothing", "factors are independent"),
    "beta-tcvae": ("nothing", "factors are independent"),
    "alpha-tcvae": ("nothing", "factors are independent, and none follows from the others"),
    "dip-vae I": ("nothing", "factors are uncorrelated; means are decorrelated"),
    "dip-vae II": ("nothing", "factors are uncorrelated; samples are decorrelated"),
    "info-vae": ("nothing", "the codes of all images together are normally distributed"),
    "hfs": ("nothing", "every combination of factors can occur, correlated or not"),
    HFS_TC: ("nothing", "factors are independent, and every combination of them can occur"),
    "qlae": ("nothing", "few values per latent suffice, and each means the same in every code"),
    "tripod": ("nothing", "as qlae; latents are independent, and their effects on the image add up"),
    "joint-vae": ("nothing", "some factors are categories, the others numbers"),
    "vq-vae": ("nothing", "a latent takes one of a few vectors"),
    "fsq": ("nothing", "a latent takes one of a few levels"),
    "factor-qvae": ("nothing", "a latent takes one of a few values, and factors are independent"),
    "ada-tvae-unsupervised": ("nothing", "distances between images follow the factors"),
    "pcl": ("pairs", "one image follows the other in time, and factors move independently; no decoder"),
    "lejepa": (
        "pairs",
        "as pcl, but factors are normally distributed (not here), and found up to a rotation; no decoder",
    ),
    "slow-vae": ("pairs", "most factors change little between two images; here one or more take new values"),
    "ada-gvae": ("pairs", "two images share some factors, and differ much in others"),
    "ada-ml-vae": ("pairs", "as ada-gvae"),
    "gvae": ("pairs, known", "which factors two images share is known"),
    "ml-vae": ("pairs, known", "as gvae"),
    "beta-tvae": ("triplets", "which of two images is nearer to a third is known"),
    "ada-tvae": ("triplets", "as beta-tvae, and few factors differ"),
    "tae": ("triplets", "as beta-tvae, without noise or prior"),
    "ada-tae": ("triplets", "as ada-tvae, without noise or prior"),
    "ivae": (
        "one factor",
        "an observed variable changes the variance of every factor; not here, where it is one factor, "
        "independent of the others",
    ),
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


def scores_of_cell(table: polars.DataFrame, cell: Cell, metric: str) -> polars.Series:
    """Return a score of a cell's runs."""
    return table.filter(polars.col("run").is_in(cell.runs), metric=metric)["value"]


def cells_like(cells: list[Cell], method: str) -> list[Cell]:
    """Return the cells of a method."""
    return [cell for cell in cells if cell.method == method]


def usual(cells: list[Cell], method: str, data: str) -> Cell:
    """Return a method's cell at its usual strength on a data set."""
    own = [cell for cell in cells_like(cells, method) if cell.data == data]
    return own[len(own) // 2]  # the second of three, or the only one


def by_need() -> Iterator[tuple[str, str]]:
    """Return each kind of supervision with each method that needs it, in the order of the page."""
    return ((asks, method) for asks in ASKS for method in methods_with(asks))


def methods_with(asks: str) -> list[str]:
    """Return the methods that need this kind of supervision."""
    return [method for method, (wanted, _) in ABOUT.items() if wanted == asks]


def sets_of(cells: list[Cell]) -> list[str]:
    """Return the data sets in the order of the plan."""
    return list(dict.fromkeys(cell.data for cell in cells))
