"""The page of the thesis, written from stored scores: `python benchmarks/thesis_docs.py`.

    unweave reproduce thesis-3.10 --preset small          # and others to store
    python benchmarks/thesis_docs.py --results runs/reproduce

The second command stores the scores of all results of the thesis in that folder (preset small, seed 0) in docs/results,
draws their figures and writes the page.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path

import pages
import polars

from unweave.reproduce import RESULTS, find
from unweave.reproduce.thesis.claims import Claim
from unweave.reproduce.thesis.comparisons import SUMMED, label, present, summary
from unweave.reproduce.thesis.figure import ThesisFigure
from unweave.reproduce.thesis.scores import at_end, prepared
from unweave.reproduce.thesis.table import Distances
from unweave.tables import read_table, write_table

DOCS = Path(__file__).parents[1] / "docs"
RESULTS_FOLDER = DOCS / "results"
TABLES = RESULTS_FOLDER / "thesis-tables.csv"
PAGE = DOCS / "reproduce" / "thesis.md"
NAMES = [name for name in RESULTS if name.startswith("thesis-")]
FIGURES = [name for name in NAMES if issubclass(find(name), ThesisFigure)]
NOTHING = "No run is stored."
EQUAL_BETA = 0.01
"""The β for which there are runs with every loss."""
SHORT = {**SUMMED, "factor-distance-correlation": "factors – codes", "perceived-correlation": "images – codes"}


def stored(name: str) -> Path:
    """Return the file of the scores of a figure."""
    return RESULTS_FOLDER / f"{name}.parquet"


def store(results: Path) -> None:
    """Store the scores of figures, without the names of their runs, and the rows of tables."""
    rows = {(row["result"], row["what"]): row for row in table_rows().iter_rows(named=True)}
    for name in NAMES:
        folder = results / f"{name}-small-0"
        if not (folder / "result.json").is_file():
            continue
        if name in FIGURES:
            scores = polars.read_csv(folder / "scores.csv", infer_schema_length=None)
            write_table(stored(name), scores.with_columns(polars.col("run").rank("dense").cast(polars.String)))
            continue
        rows = {key: row for key, row in rows.items() if key[0] != name}
        for row in json.loads((folder / "result.json").read_text(encoding="utf-8"))["rows"]:
            kept = {key: row[key] for key in ("what", "published", "ours", "low", "high")}
            rows[name, row["what"]] = {"result": name, **kept}
    order = sorted(rows, key=lambda key: NAMES.index(key[0]))
    if rows:
        polars.DataFrame([rows[key] for key in order], infer_schema_length=None).write_csv(TABLES, float_precision=6)


def table_rows() -> polars.DataFrame:
    """Return the rows of all stored tables."""
    if not TABLES.is_file():
        return polars.DataFrame(schema=["result", "what", "published", "ours", "low", "high"])
    return polars.read_csv(TABLES, infer_schema_length=None)


def figure_of(name: str) -> ThesisFigure:
    """Return the reproduction of a figure."""
    found = find(name)()
    assert isinstance(found, ThesisFigure)
    return found


def shown(name: str) -> polars.DataFrame:
    """Return the stored scores of a figure at the end of training, for the runs that the thesis plots."""
    return at_end(figure_of(name).plotted(prepared(read_table(stored(name))))[0])


def blocks() -> dict[str, str]:
    """Return the texts between the marks of the page, by name."""
    claims = {name: figure_of(name).claims(shown(name)) for name in FIGURES if stored(name).is_file()}
    found = {"counts": counts(), "claims": verdicts(claims)}
    for name in FIGURES:
        found[name] = about_figure(name, claims[name]) if name in claims else NOTHING
    for name in [each for each in NAMES if each not in FIGURES]:
        found[name] = about_table(name)
    return {**found, "equal-beta": equal_beta()}


def equal_beta() -> str:
    """Return the claims of figure 6.4 at one β, with its own runs and those of figure 3.12 with mse."""
    losses, squared = "thesis-6.4", "thesis-3.12"
    if not all(stored(name).is_file() for name in (losses, squared)):
        return NOTHING
    parts = [shown(losses).filter(beta=EQUAL_BETA), shown(squared).filter(beta=EQUAL_BETA, loss="mse")]
    claims = figure_of(losses).claims(polars.concat(parts, how="diagonal"))
    texts = [f"*{claim.says[0].upper()}{claim.says[1:]}*: {claim.verdict}.\n\n{numbers(claim)}" for claim in claims]
    return "\n\n".join(texts)


def counts() -> str:
    """Return the number of runs or pairs in each preset of each result."""
    lines = ["| result | in the thesis | smoke | small | paper |", "|---|---|--:|--:|--:|"]
    for name in NAMES:
        kind = find(name)
        sizes = [_size(kind.presets[preset]) for preset in ("smoke", "small", "paper")]
        place = kind.source.partition(", ")[2]
        lines.append(f"| [`{name}`](#{name.replace('.', '')}) | {place} | {' | '.join(sizes)} |")
    return "\n".join(lines)


def _size(settings: object) -> str:
    if isinstance(settings, Distances):
        return f"{settings.draws} × {settings.pairs:,} pairs"
    return f"{settings.count():,} runs"  # pyright: ignore[reportAttributeAccessIssue]


def verdicts(claims: dict[str, list[Claim]]) -> str:
    """Return every claim with its verdict, in one table."""
    if not claims:
        return NOTHING
    lines = [
        "| figure | the thesis says | in these runs | numbers that agree | with the whole interval |",
        "|---|---|---|--:|--:|",
    ]
    for name, each in claims.items():
        for claim in each:
            agreeing = sum(case.agrees for case in claim.cases)
            clear = sum(case.is_clear for case in claim.cases)
            count = len(claim.cases)
            cells = (
                name.removeprefix("thesis-"),
                claim.says,
                claim.verdict,
                f"{agreeing} of {count}",
                f"{clear} of {count}",
            )
            lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def about_figure(name: str, claims: Sequence[Claim]) -> str:
    """Return a section: what was run, the figure, means, and the numbers of every claim."""
    table = shown(name)
    runs, seeds, steps = table["run"].n_unique(), table["seed"].n_unique(), table["step"].max()
    parts = [
        f"{runs} runs of the preset `small`, {seeds} seeds, {steps:,} steps.",
        f"![Scores of every run](../images/{name}.png)",
        means(summary(table, figure_of(name).groups, best=figure_of(name).best), best=figure_of(name).best),
        *(f"*{claim.says[0].upper()}{claim.says[1:]}*: {claim.verdict}.\n\n{numbers(claim)}" for claim in claims),
        f"[Every score](../results/{stored(name).name})",
    ]
    return "\n\n".join(parts)


def means(found: polars.DataFrame, *, best: bool) -> str:
    """Return the mean over seeds of every score, one line per group."""
    groups = found.columns[: found.columns.index("metric")]
    metrics = present(found, SUMMED)
    told = "Mean over seeds, with the best setting of each seed:" if best else "Mean over seeds:"
    lines = [
        told,
        "",
        _line([*groups, *(SHORT[metric] for metric in metrics)]),
        _line([*["---"] * len(groups), *["--:"] * len(metrics)]),
    ]
    for values, own in found.group_by(groups, maintain_order=True):
        scores = dict(own.select("metric", "value").iter_rows())
        texts = ["–" if value is None else label(value) for value in values]
        lines.append(_line([*texts, *(number(scores[metric]) if metric in scores else "–" for metric in metrics)]))
    return "\n".join(lines)


def numbers(claim: Claim) -> str:
    """Return the numbers of a claim, with their intervals over seeds and the chances of differences."""
    lines = [_line(["", "ours", "95 % over seeds", "chance"]), _line(["---", "--:", "--:", "--:"])]
    for case in claim.cases:
        inside = "–" if case.low is None or case.high is None else f"{number(case.low)} … {number(case.high)}"
        chance = "–" if case.chance is None else f"{100 * case.chance.value:.0f} %"
        lines.append(_line([case.what, number(case.value), inside, chance]))
    return "\n".join(lines)


def about_table(name: str) -> str:
    """Return the rows of a table of the thesis, with printed numbers and ours."""
    rows = [row for row in table_rows().iter_rows(named=True) if row["result"] == name]
    if not rows:
        return NOTHING
    lines = [_line(["", "thesis", "ours", "95 % over draws", "difference"]), _line(["---", *["--:"] * 4])]
    digits = 2 if name == "thesis-3.1" else 3
    for row in rows:
        printed = row["published"]
        difference = None if printed is None else row["ours"] - printed
        inside = "–" if row["low"] is None else f"{number(row['low'], digits)} … {number(row['high'], digits)}"
        texts = [number(printed, digits), number(row["ours"], digits), inside, number(difference, digits)]
        lines.append(_line([row["what"], *texts]))
    return "\n".join(lines)


def number(value: float | None, digits: int = 2) -> str:
    """Return a number with a few decimals, or a dash."""
    return "–" if value is None else f"{round(value, digits) + 0.0:.{digits}f}".replace("-", "−")


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def main(words: Sequence[str] | None = None) -> None:
    if given := pages.to_store(words, __doc__, "--results", "the folder of results"):
        store(given)
    pages.put_all(PAGE, blocks())
    for name in FIGURES:
        if stored(name).is_file():
            drawing = figure_of(name).drawing(shown(name))
            drawing.savefig(DOCS / "images" / f"{name}.png", dpi=80, facecolor="white")


if __name__ == "__main__":
    main()
