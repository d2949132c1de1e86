"""`unweave report`: draw the page of a run."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from tyro.conf import Positional, arg

from unweave.cli.mistakes import writing
from unweave.cli.parsing import Plugins, parse
from unweave.progress import Bar


@dataclass(frozen=True)
class Report:
    """Draw the page of a run: scores, reconstructions, traversals, curves. One file, with all pictures inside."""

    run: Annotated[Positional[Path], arg(metavar="RUN")]
    """The run's folder."""
    out: Annotated[Path | None, arg(metavar="FILE", help_behavior_hint="(default: report.html in the run)")] = None
    """The page to write."""
    plugin: Plugins = ()
    """Load methods, nets, metrics and data sets from a Python file or module."""
    data: Annotated[str | None, arg(metavar="PATH", help_behavior_hint="")] = None
    """The run's data set, if it has moved; it must be the one that training used."""


def report(words: list[str]) -> None:
    """Run `unweave report`."""
    options = parse(Report, words, "report")
    from unweave.report import collapse, survey, write_page
    from unweave.runs import Run

    run = Run.open(options.run, data=options.data)
    with Bar("drawing the page"), writing(options.out or options.run):
        page = write_page(run, options.out)
        warning = collapse(survey(run))
    print(page, *([warning] if warning else []), f"\nnext: open {page} in a browser", sep="\n")
