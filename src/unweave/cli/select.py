"""`unweave select`: choose a model without labels."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from tyro.conf import Positional, arg

from unweave.cli.arrays import check_scores_path, write_scores
from unweave.cli.evaluate import read_settings
from unweave.cli.mistakes import writing
from unweave.cli.parsing import Flag, Plugins, parse, refuse_below
from unweave.cli.plugins import run_words
from unweave.errors import UsageError
from unweave.fields import OneOf
from unweave.files import write_atomically
from unweave.selection.table import ALL, DEFAULT, SCORES
from unweave.text import table, to_json

if TYPE_CHECKING:
    from unweave.selection import Selection

TABLES, PICTURES = (".csv", ".parquet"), (".png", ".svg", ".pdf")
LARGE = 100
"""From this size on, one decimal is enough."""
NUMBERS = ("rank", "value", "95 % over seeds", "seeds", "chance", "correlation", "count", "seed")


@dataclass(frozen=True)
class Select:
    """Rank the models below a folder, and the seeds of each, by scores that need no labels; say which to keep.

    Models that differ only in their seed form one specification.
    """

    folder: Annotated[Positional[Path], arg(metavar="DIR")]
    """A folder with runs below it, such as a study's."""
    score: Annotated[
        tuple[str, ...],
        OneOf(SCORES, (ALL,)),
        arg(metavar="NAME ...", help_behavior_hint=f"(default: {DEFAULT})"),
    ] = (DEFAULT,)
    """The label-free scores to rank by, or all."""
    against: Annotated[tuple[str, ...], arg(metavar="METRIC,METRIC", help_behavior_hint="(default: none)")] = ()
    """Supervised metrics to correlate the scores with, such as mig,dci, if the data set has labels."""
    partners: Annotated[str, OneOf(("specification", "all"))] = "specification"
    """What a run is compared with: other seeds of its specification, or all runs on the data set."""
    samples: int = 2000
    """Random images to encode, the same for all runs."""
    set: Annotated[tuple[str, ...], arg(metavar="SCORE.OPTION=VALUE ...", help_behavior_hint="")] = ()
    """Options of scores, such as udr-lasso.averaging=dlib."""
    data: Annotated[str | None, arg(metavar="PATH", help_behavior_hint="")] = None
    """The runs' data set, if it has moved; it must be the one that training used."""
    seed: int = 0
    """Seed of the images, of the scores and of the resampling."""
    out: Annotated[Path | None, arg(metavar="FILE", help_behavior_hint="")] = None
    """Write a page (.html), the table of specifications (.csv or .parquet), or the plot (.png, .svg or .pdf)."""
    plugin: Plugins = ()
    """Load methods, nets, metrics and data sets from a Python file or module."""
    json: Flag = False
    """Print one JSON object instead of tables."""

    def __post_init__(self) -> None:
        refuse_below(0, seed=self.seed)
        refuse_below(10, samples=self.samples)
        if self.out is None:
            return
        if self.out.is_dir():
            raise UsageError(f"'{self.out}' is a folder; name a page, such as {self.out / 'selection.html'}")
        if self.out.suffix.lower() not in (".html", *TABLES, *PICTURES):
            known = ", ".join((".html", *TABLES, *PICTURES))
            raise UsageError(f"--out must end in {known}, not '{self.out}'")
        if self.out.suffix.lower() in TABLES:
            check_scores_path(self.out)

    @property
    def metrics(self) -> list[str]:
        """The supervised metrics, separated by commas or spaces."""
        return [name for word in self.against for name in word.split(",") if name]


def select(words: list[str]) -> None:
    """Run `unweave select`."""
    options = parse(Select, words, "select")
    from unweave import selection

    found = selection.select(
        options.folder,
        [name for word in options.score for name in word.split(",") if name],
        against=options.metrics,
        partners=options.partners,  # pyright: ignore[reportArgumentType]
        samples=options.samples,
        seed=options.seed,
        options=read_settings(options.set, "SCORE.OPTION=VALUE, such as udr-lasso.averaging=dlib"),
        data=options.data,
    )
    if options.out is not None:
        _write(found, options.out)
    if options.json:
        return print(to_json(_summary(found)))
    written = [f"wrote {options.out}"] if options.out is not None else []
    print(_text(found), *_notes(found), *written, f"next: {_next(found, options)}", sep="\n\n")


def _write(found: Selection, out: Path) -> None:
    """Write the page, the table or the plot, depending on the file's suffix."""
    from unweave.report.selection import selection_figure, write_selection

    kind = out.suffix.lower()
    with writing(out):
        if kind == ".html":
            write_selection(found, out)
        elif kind in TABLES:
            write_scores(found.specifications, out)
        else:
            choices = found.choices
            if len(choices) != 1:
                raise UsageError(f"a picture shows one score on one data set, not {len(choices)}: write a .html page")
            buffer = BytesIO()
            figure = selection_figure(found, choices[0].score, choices[0].data)
            figure.savefig(buffer, format=kind[1:], dpi=150, facecolor="white")
            write_atomically(out, buffer.getvalue())


def _summary(found: Selection) -> dict[str, Any]:
    choices = [
        {
            "data": choice.data,
            "score": choice.score,
            "specification": choice.specification,
            "run": None if choice.ties else str(choice.run),
            "ties": choice.ties,
            "chance": choice.chance,
            "sentence": choice.sentence,
        }
        for choice in found.choices
    ]
    return {
        "choices": choices,
        "specifications": found.specifications.to_dicts(),
        "runs": found.runs.to_dicts(),
        "against": found.against.to_dicts(),
        "notes": list(found.notes),
    }


def _text(found: Selection) -> str:
    """Return the ranked specifications of each score, the runs of the best, and the choices."""
    parts = []
    for choice in found.choices:
        from unweave.selection.result import direction

        ranked = found.ranked(choice.score, choice.data)
        parts.append(f"{choice.data}, {choice.score} ({direction(choice.score)})")
        parts.append(table([_specification(row) for row in ranked.to_dicts()], NUMBERS))
    if len(found.against):
        parts.append(_against(found))
    parts.append("\n".join(choice.sentence for choice in found.choices))
    return "\n\n".join(parts)


def _specification(row: Mapping[str, Any]) -> dict[str, str]:
    return {
        "rank": "–" if row["rank"] is None else str(row["rank"]),
        "specification": row["specification"],
        "value": _decimals(row["value"]),
        "95 % over seeds": _interval(row),
        "seeds": str(row["seeds"]),
        "chance": "–" if row["chance"] is None else f"{100 * row['chance']:.0f} %",
    }


def _against(found: Selection) -> str:
    """Return the correlations with supervised scores."""
    several = found.specifications["data"].n_unique() > 1
    rows = [
        {
            **({"data": row["data"]} if several else {}),
            "score": row["score"],
            "against": row["supervised"],
            "over": f"{row['count']} {row['over']}",
            "correlation": _decimals(row["correlation"]),
            "95 % over seeds": _interval(row),
        }
        for row in found.against.to_dicts()
    ]
    about = "rank correlation, positive if better by the label-free score means a higher supervised score:"
    return f"{about}\n{table(rows, NUMBERS)}"


def _interval(row: Mapping[str, Any]) -> str:
    return "–" if row["low"] is None else f"{_decimals(row['low'])} … {_decimals(row['high'])}"


def _decimals(value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:.3f}" if abs(value) < LARGE else f"{value:.1f}"


def _notes(found: Selection) -> Sequence[str]:
    return ["\n".join(found.notes)] if found.notes else []


def _next(found: Selection, options: Select) -> str:
    """Return what to do next: look at the run to keep, or at the page."""
    if options.out is not None and options.out.suffix.lower() == ".html":
        return f"open {shlex.quote(str(options.out))} in a browser"
    if chosen := [choice for choice in found.choices if not choice.ties]:
        return f"unweave report {run_words(chosen[0].run, options.data)}"
    return f"unweave select {shlex.quote(str(options.folder))} --score all"
