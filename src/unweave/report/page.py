"""The page of a run: one HTML file with its pictures inside, which needs neither network nor unweave."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Sequence
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from unweave.files import write_atomically
from unweave.report.association import association_figure
from unweave.report.curves import terms, training_curve
from unweave.report.grids import Grid, Row, strip
from unweave.report.inline import png, svg
from unweave.report.latents import Survey, reconstruction_rows, survey, traversal_rows
from unweave.report.protocols import RunLike
from unweave.report.scores import score_table
from unweave.report.style import DARK, LIGHT, number, variables

SAMPLES = 2000
"""Random images behind the mean KL and the correlations on the page."""
LATENTS = 16
"""At most so many latents are drawn: those that carry most."""


def write_page(run: RunLike, out: Path | None = None) -> Path:
    """Write the page of a run, by default as report.html in its folder, and return its path.

    It shows scores, reconstructions, traversals, factors against latents, the training curve and the
    configuration. The same run gives the same bytes.
    """
    path = run.path / "report.html" if out is None else Path(out)
    page = render(run)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, page.encode())
    return path


def render(run: RunLike) -> str:
    """Return the page of a run as HTML text."""
    seen = survey(run, samples=SAMPLES)
    sections = [
        _scores(run),
        _reconstructions(run),
        _traversals(run, seen),
        _association(run, seen),
        _curves(run),
    ]
    return _document(_title(run), [_header(run, seen), *sections, _configuration(run)])


def _document(title: str, parts: Iterable[str]) -> str:
    style = files("unweave.report").joinpath("page.css").read_text(encoding="utf-8")
    dark = f"@media (prefers-color-scheme: dark) {{ :root {{ {variables(DARK)} }} }}"
    body = "\n".join(parts)
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(title)}</title>
<style>
:root {{ {variables(LIGHT)} }}
{dark}
{style}</style>
</head>
<body>
{body}
</body>
</html>
"""


def _title(run: RunLike) -> str:
    return f"{run.config['method']['name']} on {run.config['data']['name']}"


def _header(run: RunLike, seen: Survey) -> str:
    method, data, training = (run.config[part] for part in ("method", "data", "training"))
    planned = training.get("steps", run.step)
    facts = [
        *((name, _value(value)) for name, value in method.items() if name != "name"),
        *((f"data {name}", _value(value)) for name, value in data.items() if name != "name"),
        *((f"labels {name}", _value(value)) for name, value in run.config.get("labels", {}).items()),
        ("latents", number(len(seen.kl))),
        ("steps", number(run.step) if run.step == planned else f"{number(run.step)} of {number(planned)}"),
        ("seed", str(training.get("seed", "–"))),
        ("state", run.state),
        ("run", run.id),
    ]
    listed = "\n".join(f"<div><dt>{escape(key)}</dt><dd>{escape(value)}</dd></div>" for key, value in facts)
    title = f"{escape(method['name'])} <small>on</small> {escape(data['name'])}"
    return f"<header>\n<h1>{title}</h1>\n<dl>\n{listed}\n</dl>\n</header>"


def _scores(run: RunLike) -> str:
    scores = run.scores()
    if scores is None or not len(scores):
        command = f"unweave evaluate {shlex.quote(str(run.path))}"
        return _section("Scores", f"None yet: <code>{escape(command)}</code> computes them.")
    return _section("Scores", "The codes against the true factors, with 95 % intervals.", score_table(scores))


def _reconstructions(run: RunLike) -> str:
    about = "Random images, and what the model makes of them from their codes alone."
    return _section("Reconstructions", about, _grid(reconstruction_rows(run)))


def _traversals(run: RunLike, seen: Survey) -> str:
    grid = traversal_rows(run, seen, rows=LATENTS)
    about = (
        f"One image's code, decoded with one latent at a time set from {grid.header[0]} to "
        f"{grid.header[-1]}. The latents that carry most come first: beside each stands its mean KL "
        f"divergence from the prior over {number(len(seen.codes))} random images."
    )
    hidden = len(seen.kl) - len(grid.rows)
    if hidden:
        about += f" The last {hidden} are not shown."
    return _section("Traversals", about, _grid(grid))


def _association(run: RunLike, seen: Survey) -> str:
    if not len(seen.used):
        return _section("Factors × latents", "No latent carries anything: there is nothing to compare.")
    names = run.data.factors.names
    figure = association_figure(seen.codes, seen.factors, names, latents=seen.used[:LATENTS])
    about = (
        f"Absolute rank correlation over {number(len(seen.codes))} random images, the latents in use in "
        "the same order. One dark cell a row, each in a column of its own, is a disentangled code. A factor on a "
        "circle (a hue, an angle) or without an order (a shape) can be encoded well and still look pale."
    )
    described = "Heat map of the absolute rank correlation of every factor with every latent"
    return _section("Factors × latents", about, f'<div class="scroll">{svg(figure, "association", described)}</div>')


def _curves(run: RunLike) -> str:
    log = run.log()
    names = terms(log)
    if not names:
        return _section("Training curve", "Nothing has been logged yet.")
    charts = ""
    for place, name in enumerate(names):
        figure = Figure(figsize=(3.8, 2.5), layout="constrained")
        training_curve(figure.add_subplot(), log, name)
        charts += svg(figure, f"curve{place}", f"{name} over the steps of training") + "\n"
    about = "The loss and the terms it is the sum of, and what is only watched; the last value stands at the right."
    return _section("Training curve", about, f'<div class="charts">\n{charts}</div>')


def _configuration(run: RunLike) -> str:
    text = escape(json.dumps(run.config, indent=2, ensure_ascii=False))
    return f"<section>\n<details>\n<summary>Configuration</summary>\n<pre>{text}</pre>\n</details>\n</section>"


def _section(title: str, about: str, content: str = "") -> str:
    """Return a section; `about` and `content` are HTML already."""
    return f"<section>\n<h2>{title}</h2>\n<p>{about}</p>\n{content}\n</section>"


def _grid(grid: Grid) -> str:
    rows = "\n".join(_grid_row(row, grid.header) for row in grid.rows)
    if not grid.header:
        return rows
    ticks = "".join(f"<span>{escape(text)}</span>" for text in grid.header)
    header = f'<div class="row header" aria-hidden="true"><div></div><div class="ticks">{ticks}</div></div>'
    return f"{header}\n{rows}"


def _grid_row(row: Row, header: Sequence[str]) -> str:
    note = f"<span>{escape(row.note)}</span>" if row.note else ""
    extent = f"from {header[0]} to {header[-1]}" if header else f"{len(row.images)} pictures"
    described = ", ".join(filter(None, [row.label, row.note, extent]))
    return (
        f'<div class="row{" muted" if row.muted else ""}">'
        f'<div class="label"><strong>{escape(row.label)}</strong>{note}</div>'
        f'<img alt="{escape(described)}" src="{png(strip(row.images))}"></div>'
    )


def _value(value: Any) -> str:
    """Return a setting as a reader writes it."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        return number(value)
    return value if isinstance(value, str) else json.dumps(value)
