"""The page of a run: one self-contained HTML file, which needs neither network nor unweave."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from unweave.data.ceilings import cached_ceilings, has_ceilings, known_ceilings, three_digits
from unweave.files import write_atomically
from unweave.metrics import importance_matrix
from unweave.metrics.inputs import bin_factors
from unweave.report.association import BINS, heat_map_figure, normalised_information
from unweave.report.chart import Chart
from unweave.report.curves import terms, training_curve
from unweave.report.frame import document, facts_list, paragraph, section
from unweave.report.grids import Grid, Row, strip
from unweave.report.inline import captioned, png, svg
from unweave.report.latents import reconstruction_rows, traversal_rows
from unweave.report.lines import chosen_note, reconstruction_figure, traversal_figure, unit
from unweave.report.protocols import RunLike
from unweave.report.saved import saved_scores
from unweave.report.scores import score_table
from unweave.report.style import number
from unweave.report.surveys import Survey, collapse, survey
from unweave.text import data_name, data_options, data_title

SAMPLES = 2000
"""Random images on which the page measures latents and factors."""
COMPARED = 100_000
"""For larger data sets, the page does not compare all images with each other."""
BESIDE = ("labels", "jacobian")
"""Parts of a configuration that are terms beside the method's."""
LATENTS = 16
"""The most latents drawn: those that carry most."""


def write_page(run: RunLike, out: Path | None = None) -> Path:
    """Write the page of a run, by default as report.html in its folder, and return its path.

    It shows scores, reconstructions, traversals, factors against latents, the training curve and the
    configuration.

    Parameters
    ----------
    run
        The run; scores are those that `run.evaluate()` has saved.
    out
        The page to write.

    Returns
    -------
    Path
        The page. The same run gives the same bytes.

    Examples
    --------
    >>> write_page(unweave.Run.open("runs/first")).name
    'report.html'
    """
    path = run.path / "report.html" if out is None else Path(out)
    page = render(run)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, page.encode())
    return path


def render(run: RunLike) -> str:
    """Return the page of a run as HTML text.

    Parameters
    ----------
    run
        The run.

    Returns
    -------
    str
        The page, which needs no other files.
    """
    seen = survey(run, samples=SAMPLES)
    sections = [
        _scores(run),
        _ceilings(run),
        *([_reconstructions(run), _traversals(run, seen)] if run.has_decoder else [_no_pictures(run)]),
        _association(run, seen),
        _curves(run),
    ]
    return document(_title(run), [_header(run, seen), *filter(None, sections), _configuration(run)])


def _title(run: RunLike) -> str:
    return f"{run.config['method']['name']} on {run.config['data']['name']}"


def _header(run: RunLike, seen: Survey) -> str:
    method, data, training = (run.config[part] for part in ("method", "data", "training"))
    planned = training.get("steps", run.step)
    facts = [
        *((name, _value(value)) for name, value in method.items() if name != "name"),
        *((f"data {name}", _value(value)) for name, value in data_options(data).items()),
        *((f"{part} {name}", _value(value)) for part in BESIDE for name, value in run.config.get(part, {}).items()),
        ("latents", number(seen.codes.shape[1])),
        ("steps", number(run.step) if run.step == planned else f"{number(run.step)} of {number(planned)}"),
        ("seed", str(training.get("seed", "–"))),
        ("state", run.state),
        ("run", run.id),
    ]
    title = f"{escape(method['name'])} <small>on</small> {escape(data_title(data))}"
    warning = collapse(seen)
    alert = f'\n<p class="alert">{escape(warning)}</p>' if warning else ""
    return f"<header>\n<h1>{title}</h1>\n{facts_list(facts)}{alert}\n</header>"


def _scores(run: RunLike) -> str:
    saved = saved_scores(run)
    table = score_table(saved.scores) if saved.scores else ""
    return section("Scores", saved.news, paragraph(saved.reading) + table)


def _ceilings(run: RunLike) -> str:
    """Draw the ceilings of the data set; nothing if all of its images differ, or hold noise.

    For a large data set this takes too long: unless the ceilings are known, name the command that computes them.
    """
    if not has_ceilings(run.data) or not run.data.is_labelled:
        return ""
    named = "digest" not in run.data.options  # arrays in memory have no name for a command
    found = known_ceilings(run.data) if named and len(run.data) > COMPARED else cached_ceilings(run.data)
    if found is None:
        command = f"unweave data info {shlex.quote(data_name(run.data.description))}"
        about = (
            f"Whether some of the {number(len(run.data))} images look the same is not known yet: that takes minutes. "
            f"<code>{escape(command)}</code> computes it and the ceilings; then write this page again."
        )
        return section("Ceilings of the data", about)
    if found.distinct == found.images:
        return ""
    about = (
        f"{number(found.images - found.distinct)} of the {number(found.images)} images look like another one "
        f"({100 * found.distinct / found.images:.1f} % are distinct), and no encoder can distinguish them: "
        "no codes can predict a factor with a higher accuracy, or hold a larger share of its information, than this."
    )
    rows = "\n".join(
        f'<tr><th scope="row">{escape(limit.factor)}</th>{_bar(limit.accuracy)}{_bar(limit.share)}</tr>'
        for limit in found.factors
    )
    head = "".join(f'<th scope="col">{name}</th>' for name in ("factor", "accuracy", "", "information", ""))
    table = f'<div class="scroll"><table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}\n</tbody></table></div>'
    return section("Ceilings of the data", about, table)


def _bar(share: float) -> str:
    return f'<td>{three_digits(share)}</td><td><meter min="0" max="1" value="{share:.4f}"></meter></td>'


def _no_pictures(run: RunLike) -> str:
    name = escape(run.config["method"]["name"])
    about = f"{name} learns only codes: without a decoder there are no reconstructions and no traversals."
    return section("No decoder", about)


def _reconstructions(run: RunLike) -> str:
    if not run.data.has_images:
        about = (
            f"Random vectors (grey), and what the model makes of them from their codes alone (blue), in {unit(run)}: "
            f"features from left to right.{chosen_note(run.data)}"
        )
        return section("Reconstructions", about, _lines(reconstruction_figure(run), "Reconstructions"))
    about = "Random images, and what the model makes of them from their codes alone."
    return section("Reconstructions", about, _grid(reconstruction_rows(run)))


def _traversals(run: RunLike, seen: Survey) -> str:
    if not run.data.has_images:
        return _line_traversals(run, seen)
    grid = traversal_rows(run, seen, rows=LATENTS)
    images = f"over {number(len(seen.codes))} random images"
    if seen.points:
        about = (
            "One image's code, decoded with one latent at a time going through its own range, which is noted beside "
            "it: from its 1 % to its 99 % quantile or, where it takes few values, through all of them. These codes are "
            f"points, which have no divergence from a prior; the latents that vary most {images} come first."
        )
    else:
        about = (
            "One image's code, decoded with one latent at a time set from −2 to 2. "
            "The latents that carry most come first: beside each stands its mean KL divergence from the prior "
            f"{images}."
        )
    if seen.categorical:
        about += " A categorical latent goes through its categories; beside it stands the entropy of its category."
    hidden = seen.codes.shape[1] - len(grid.rows)
    if hidden:
        about += f" The last {hidden} are not shown."
    return section("Traversals", about, _grid(grid))


def _line_traversals(run: RunLike, seen: Survey) -> str:
    extent = "through its own range" if seen.points else "from −2 (blue) to 2 (red)"
    about = (
        f"One vector's code, decoded with one latent at a time going {extent}, in {unit(run)}: features from left to "
        f"right. The latents that carry most over {number(len(seen.codes))} random vectors come first."
        f"{chosen_note(run.data)}"
    )
    return section("Traversals", about, _lines(traversal_figure(run, seen, rows=LATENTS), "Traversals"))


def _lines(figure: Figure, name: str) -> str:
    return f'<div class="scroll">{svg(figure, name, f"{name} drawn as lines")}</div>'


def _association(run: RunLike, seen: Survey) -> str:
    """Draw the latents' information about factors; nothing without factors."""
    if not run.data.is_labelled:
        return ""
    if not len(seen.used) or len(seen.codes) < 2:
        return section("Factors × latents", "No latent carries information, so there is nothing to compare.")
    shown, names = seen.used[:LATENTS], run.data.factors.names
    factors = bin_factors(seen.factors, BINS)
    known = normalised_information(seen.codes, factors, categorical=seen.categorical)
    shuffled = np.random.default_rng(0).permutation(factors)
    chance = normalised_information(seen.codes, shuffled, categorical=seen.categorical)[shown].max()
    largest = max(run.data.factors.sizes) if not run.data.continuous else max(map(len, map(np.unique, factors.T)))
    limit = f" A factor of {number(largest)} values can reach {np.log(BINS) / np.log(largest):.2f}."
    about = (
        f"The latents in use, in the same order, over {number(len(seen.codes))} random images. One filled cell per "
        "row, each in its own column, is a disentangled code."
    )
    if run.data.continuous:
        listed = escape(", ".join(run.data.continuous))
        about += f" Factors that are real numbers ({listed}) are cut into {BINS} groups of equal counts."
    information = (
        f"The share of a factor that a latent holds, I(z; v) / H(v), with latents in {BINS} bins: 1 is all. "
        f"With factors shuffled, cells reach {chance:.2f}.{limit if largest > BINS else ''}"
    )
    importance = (
        "How much boosted trees use a latent to predict a factor; over all latents a row sums to 1. "
        "If the codes hold nothing of a factor, its row is spread over all latents."
    )
    maps = _heat_map("Mutual information", information, known, names, shown)
    maps += _heat_map("DCI importance", importance, importance_matrix(seen.codes, factors), names, shown)
    return section("Factors × latents", about, f'<div class="maps">\n{maps}</div>')


def _heat_map(title: str, about: str, values: np.ndarray, names: Sequence[str], latents: np.ndarray) -> str:
    """Return a heat map of latents and factors with its caption."""
    drawn = heat_map_figure(values, names, latents=latents)
    return captioned(drawn, title, title, about, f"{title} of every factor and latent in use")


def _curves(run: RunLike) -> str:
    log = run.log()
    names = terms(log)
    if not names:
        return section("Training curve", "Nothing has been logged yet.")
    charts = ""
    for place, name in enumerate(names):
        figure = Chart(3.8, 2.5)
        training_curve(figure.add_subplot(), log, name)
        charts += svg(figure, f"curve{place}", f"{name} over the steps of training") + "\n"
    about = (
        "The loss and the terms it is the sum of, each already weighted as in the objective, and diagnostics; "
        "the last value stands at the right."
    )
    if "kl" in names:
        about += " So <code>kl</code> is the weight (β) times the mean KL; unweighted, it is the score elbo-rate."
    return section("Training curve", about, f'<div class="charts">\n{charts}</div>')


def _configuration(run: RunLike) -> str:
    text = escape(json.dumps(run.config, indent=2, ensure_ascii=False))
    return f"<section>\n<details>\n<summary>Configuration</summary>\n<pre>{text}</pre>\n</details>\n</section>"


def _grid(grid: Grid) -> str:
    columns = max((len(row.images) for row in grid.rows), default=0)
    rows = "\n".join(_grid_row(row, grid.header, columns) for row in grid.rows)
    if not grid.header:
        return rows
    ticks = "".join(f"<span>{escape(text)}</span>" for text in grid.header)
    header = f'<div class="row header" aria-hidden="true"><div></div><div class="ticks">{ticks}</div></div>'
    return f"{header}\n{rows}"


def _grid_row(row: Row, header: Sequence[str], columns: int) -> str:
    """Return a row of pictures, of the same size as in a row of `columns` pictures."""
    notes = row.note.splitlines()
    extent = f"from {header[0]} to {header[-1]}" if header else f"{len(row.images)} pictures"
    described = ", ".join(filter(None, [row.label, *notes, extent]))
    picture = strip(row.images)
    share = picture.width / strip(np.repeat(row.images[:1], columns, axis=0)).width
    width = f' style="width:{100 * share:.3f}%"' if share < 1 else ""
    return (
        f'<div class="row{" muted" if row.muted else ""}">'
        f'<div class="label"><strong>{escape(row.label)}</strong>{"".join(f"<span>{escape(n)}</span>" for n in notes)}'
        f'</div><img alt="{escape(described)}" src="{png(picture)}"{width}></div>'
    )


def _value(value: Any) -> str:
    """Return a setting in readable form."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        return number(value)
    return value if isinstance(value, str) else json.dumps(value)
