"""The page of a study: one HTML file with its plots inside, which needs no network connection and no unweave."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from html import escape
from pathlib import Path

from unweave.files import write_atomically
from unweave.report.frame import document, facts_list, section
from unweave.report.study.cells import direction
from unweave.report.study.figures import SETTINGS, agreement_figures, metric_figures, numeric_settings
from unweave.report.study.runs import failures, link, run_matrix
from unweave.report.study.sections import Section, section_html
from unweave.report.study.seen import Seen, look
from unweave.report.study.tables import leading, score_tables, summarise, verdicts
from unweave.report.study.words import (
    command,
    counted,
    duration,
    few_seeds,
    how_it_was_made,
    of_one_data_set,
    seeds,
    state,
    what_was_run,
)
from unweave.report.style import number
from unweave.study import Study

DRAWN, OPEN = 8, 3
"""Number of metrics drawn, and number of them unfolded."""
PANELS = 36
"""Approximate largest number of panels against settings, for the first metrics."""
READING = (
    "Below each mean is its 95 % interval over seeds, if a cell has at least five. The interval over images, which "
    'every single run has, is different and not shown here. <span class="mark best">★</span> marks a cell that '
    "is better than every other one: by Welch’s test, p at most 0.05 after Holm’s correction for all pairs of cells of "
    'that data set and metric. If there is no such cell, <span class="mark tied">≈</span> marks those that do not '
    "differ significantly from the best mean."
)


def write_study_page(study: Study, out: Path | None = None, *, extra: Sequence[Section] = ()) -> Path:
    """Write the page of a study, by default as report.html in its folder, and return its path.

    Parameters
    ----------
    study
        The study; the page says what is not done yet.
    out
        The page to write.
    extra
        Your own sections, which come first.

    Returns
    -------
    Path
        The page. The same folder gives the same bytes.
    """
    path = study.path / "report.html" if out is None else Path(out)
    page = render_study(study, path, extra=extra)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, page.encode())
    return path


def render_study(study: Study, page: Path | None = None, *, extra: Sequence[Section] = ()) -> str:
    """Return the page of a study as HTML, with links relative to `page`.

    Parameters
    ----------
    study
        The study.
    page
        Where the page will be; by default report.html in the study's folder.
    extra
        Your own sections, which come first.

    Returns
    -------
    str
        The HTML text.
    """
    page = study.path / "report.html" if page is None else page
    seen = look(study)
    parts = {given.title: section_html(given, f"extra-{place}") for place, given in enumerate(extra)}
    parts |= {
        "Plots": _plots(seen),
        "Scores": _scores(seen),
        "Agreement of metrics": _agreement(seen),
        "Runs": section("Runs", _about_runs(), run_matrix(seen, page), "runs"),
        "Failures": _failures(seen, page),
        "How it was made": _made(seen, page),
    }
    shown = {title: part for title, part in parts.items() if part}
    title = study.path.resolve().name
    return document(title, [_header(title, seen, shown), *shown.values()], ("page.css", "study.css"))


def _header(title: str, seen: Seen, sections: dict[str, str]) -> str:
    done = seen.runs.filter(_done(seen))
    facts = [
        ("runs", number(len(seen.runs)) if len(done) == len(seen.runs) else f"{len(done):,} of {len(seen.runs):,}"),
        ("cells", number(seen.runs.select("data", ".cell").n_unique())),
        ("seeds", seeds(seen.runs["seed"].to_list())),
        ("data sets", number(len(seen.data))),
        ("methods", number(len(seen.methods))),
        ("training", duration(seen.seconds) if seen.seconds else "–"),
    ]
    anchors = [part.partition('id="')[2].partition('"')[0] for part in sections.values()]
    links = " ".join(f'<a href="#{a}">{escape(name)}</a>' for a, name in zip(anchors, sections, strict=True))
    alert = f'\n<p class="alert">{escape(text)}</p>' if (text := state(seen)) else ""
    return (
        f"<header>\n<h1>{escape(title)}</h1>\n<p>{escape(what_was_run(seen))}</p>\n"
        f"{facts_list(facts)}{alert}\n<nav>{links}</nav>\n</header>"
    )


def _done(seen: Seen) -> list[bool]:
    return [found == "done" for found in seen.runs[".state"]]


def _scores(seen: Seen) -> str:
    if not seen.metrics:
        asked = seen.study.plan.scoring.metrics
        none = "No run has been scored yet." if asked else "This study trains only: its file names no metrics."
        return section("Scores", none, anchor="scores")
    parts = []
    for data in seen.data:
        summary = summarise(of_one_data_set(seen.final, data), of_one_data_set(seen.runs, data), seen.metrics)
        heading = f"<h3>{escape(data)}</h3>\n" if len(seen.data) > 1 else ""
        parts.append(heading + score_tables(summary, seen.metrics) + verdicts(summary, seen.metrics))
    lead = leading(seen.metrics)
    about = (
        "Each number is the mean over training seeds at the end of training. Cells are sorted by "
        f"{escape(lead)} (↑: higher is better, ↓: lower). {few_seeds(seen) or READING}"
    )
    return section("Scores", about, "\n".join(parts), "scores")


def _plots(seen: Seen) -> str:
    if not seen.metrics:
        return ""
    settings = numeric_settings(seen.final)
    panels = max(1, len(seen.data) * min(len(settings), SETTINGS))
    detailed = max(1, PANELS // panels)
    parts = [
        f"<details{' open' if place < OPEN else ''} class='metric'>\n<summary>{escape(metric)} "
        f"<small>{direction(metric)}</small></summary>\n"
        f"{metric_figures(seen, metric, settings=place < detailed)}\n</details>"
        for place, metric in enumerate(seen.metrics[:DRAWN])
    ]
    about = "Dotted: the median floor (codes with shuffled factors) and ceiling (the factors as codes), if near."
    if (hidden := len(seen.metrics) - DRAWN) > 0:
        about += f" {counted(hidden, 'further metric')} {'is' if hidden == 1 else 'are'} not drawn:"
        about += " <code>unweave.report.scores_by_cell(study.scores(), name)</code> draws one."
    if len(settings) > SETTINGS:
        about += f" Of {len(settings)} settings that differ, {SETTINGS} are drawn."
    if settings and detailed < min(DRAWN, len(seen.metrics)):
        about += f" Plots against settings are those of the first {counted(detailed, 'metric')}."
    return section("Plots", about, "\n".join(parts), "plots")


def _agreement(seen: Seen) -> str:
    figures = agreement_figures(seen) if len(seen.metrics) > 1 else ""
    about = (
        "Do metrics rank runs in the same order? 1: the same, 0: unrelated, −1: reversed, as expected for two metrics "
        "of opposite directions (↑, ↓)."
    )
    return section("Agreement of metrics", about, figures, "agreement") if figures else ""


def _about_runs() -> str:
    return "Cells × seeds. Each square is a run and links to its page, if it has one, or to its folder."


def _failures(seen: Seen, page: Path) -> str:
    if not seen.failures:
        return ""
    again = f"{command(seen)} --redo failed" if " study run " in command(seen) else "study.run(redo='failed')"
    about = f"<code>{escape(again)}</code> tries them again; the files hold the tracebacks."
    return section("Failures", about, failures(seen, page), "failures")


def _made(seen: Seen, page: Path) -> str:
    facts = {name: escape(text) for name, text in how_it_was_made(seen)}
    facts["command"] = f"<code>{facts['command']}</code>"
    rows = "\n".join(f'<tr><th scope="row">{name}</th><td>{text}</td></tr>' for name, text in facts.items())
    plan = link(seen.study.path / "study.json", page)
    table = f"unweave study table {shlex.quote(str(seen.study.path))} --out scores.csv"
    about = f'<a href="{plan}">study.json</a> holds every setting; <code>{escape(table)}</code> writes all scores.'
    return section("How it was made", about, f'<table class="facts">\n<tbody>\n{rows}\n</tbody></table>', "made")
