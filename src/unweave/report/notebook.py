"""What a notebook shows of a run, a data set and a page."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from pathlib import Path
from shutil import copyfile

import numpy as np

from unweave.data import Dataset
from unweave.errors import UsageError
from unweave.report.grids import strip
from unweave.report.inline import png
from unweave.report.latents import traversal_rows
from unweave.report.protocols import Images, RunLike
from unweave.report.saved import saved_scores
from unweave.report.style import number
from unweave.report.surveys import survey
from unweave.text import data_name, data_options, pairs

CELL = 48
"""Side in pixels of a small picture."""
TRAVERSED = 3
"""Latents that the view of a run traverses."""
MAIN = ("mig", "sap", "dci-disentanglement", "dci-completeness", "dci-informativeness", "factor-vae-score")
"""The scores that the view of a run begins with; without any of them, the first six."""


class Page:
    """A page on disk: a path that a notebook shows as the page itself."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __repr__(self) -> str:
        return f"Page('{self.path}')"

    def __fspath__(self) -> str:
        return str(self.path)

    def save(self, path: str | Path) -> None:
        """Copy the page."""
        copyfile(self.path, path)

    def _repr_html_(self) -> str:
        page, name = escape(self.path.read_text(encoding="utf-8")), escape(str(self.path))
        return f'<iframe title="{name}" style="width:100%;height:600px;border:0" srcdoc="{page}"></iframe>'


def run_html(run: RunLike) -> str:
    """Return a run as a notebook shows it: its settings, its main scores, and traversals of a few latents."""
    method = {name: value for name, value in run.config["method"].items() if name != "name"}
    planned = run.config["training"].get("steps", run.step)
    facts = {
        "method": f"{run.config['method']['name']} {pairs(method)}",
        "data": _data_in_words(run.config["data"]),
        "state": f"{run.state}, step {number(run.step)} of {number(planned)}",
        "folder": str(run.path),
    }
    return "\n".join(filter(None, [_facts(facts), _main_scores(run), _small_traversals(run)]))


def data_html(data: Dataset) -> str:
    """Return a data set as a notebook shows it: its size, its factors, and random images."""
    shape = " × ".join(map(str, data.shape))
    factors = ", ".join(
        f"{name} ({'continuous' if name in data.continuous else number(size)})"
        for name, size in zip(data.factors.names, data.factors.sizes, strict=True)
    )
    rows = "images" if data.has_images else "vectors"
    facts = {"data": _data_in_words(data.description), rows: f"{number(len(data))} of {shape}", "factors": factors}
    if not data.has_images:
        return _facts(facts)
    images = data.images(data.sample(10, np.random.default_rng(0)))
    return f"{_facts(facts)}\n{_pictures({'': images})}"


def _main_scores(run: RunLike) -> str:
    scores = saved_scores(run).scores
    main = [score for score in scores if score["metric"] in MAIN] or scores[:6]
    if not main:
        return ""
    head = "".join(f"<th>{escape(score['metric'])}</th>" for score in main)
    values = "".join(f"<td>{score['value']:.3f}</td>" for score in main)
    return f"<table>\n<thead><tr>{head}</tr></thead>\n<tbody><tr>{values}</tr></tbody></table>"


def _small_traversals(run: RunLike) -> str:
    """Return traversals of the latents that carry most; nothing for vectors, or without the weights or the data."""
    try:
        if not run.data.has_images:
            return ""
        grid = traversal_rows(run, survey(run, samples=256), rows=TRAVERSED)
    except UsageError:
        return ""
    return _pictures({row.label: row.images for row in grid.rows})


def _data_in_words(description: Mapping[str, object]) -> str:
    """Return the name and options of a data set, without uninformative ones."""
    return data_name({"name": description["name"], **data_options(description)})


def _facts(facts: Mapping[str, str]) -> str:
    rows = "\n".join(
        f'<tr><th style="text-align:left">{escape(name)}</th><td style="text-align:left">{escape(value)}</td></tr>'
        for name, value in facts.items()
        if value
    )
    return f"<table><tbody>\n{rows}\n</tbody></table>"


def _pictures(rows: Mapping[str, Images]) -> str:
    """Return rows of small labelled pictures, in 128 colours, because a notebook stores everything it shows."""
    sources = {label: png(strip(images, cell=CELL).quantize(128)) for label, images in rows.items()}
    return "\n".join(
        '<div style="display:flex;align-items:center;gap:8px;margin:2px 0">'
        f'{escape(label)}<img alt="{escape(label or "images")}" src="{source}"></div>'
        for label, source in sources.items()
    )
