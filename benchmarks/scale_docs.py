"""The page of the scaling studies, written from stored tables: `python benchmarks/scale_docs.py`.

    unweave reproduce scale-compute --preset small      (and scale-data, scale-parameters, scale-encoders)
    python benchmarks/scale_docs.py --results runs/reproduce

The last command stores the tables of these results (preset small, seed 0) in docs/results, draws the figures and writes
the page. Finished encoders are stored even if scale-encoders was interrupted, in addition to those stored before.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

import pages
import polars

from unweave.report.style import number
from unweave.reproduce.parts import finished
from unweave.reproduce.scale import conclusions, published
from unweave.reproduce.scale_encoders import NOTES, PUBLISHED, SCHEMA, ScaleEncoders, as_table, encodings, in_order
from unweave.reproduce.scale_encoders import conclusions as encoder_conclusions
from unweave.reproduce.scale_encoders_figure import encoders_figure
from unweave.reproduce.scale_figures import growth_figure

DOCS = Path(__file__).parents[1] / "docs"
RESULTS = DOCS / "results"
PAGE = DOCS / "reproduce" / "scale.md"
PARTS = ("compute", "data", "parameters")
ENCODERS = RESULTS / "scale-encoders.csv"
ENCODERS_FIGURE = DOCS / "images" / "scale-encoders.png"
NOTHING = "No run is stored."


def files(part: str) -> tuple[Path, Path]:
    """Return the files of the points and the growth of a part."""
    return RESULTS / f"scale-{part}-points.csv", RESULTS / f"scale-{part}-growth.csv"


def store(results: Path) -> None:
    """Store the tables of the results, if they exist."""
    for part in PARTS:
        folder = results / f"scale-{part}-small-0"
        for name, kept in zip(("points.csv", "growth.csv"), files(part), strict=True):
            if (folder / name).is_file():
                shutil.copyfile(folder / name, kept)
    store_encoders(results / "scale-encoders-small-0")


def store_encoders(folder: Path) -> None:
    """Store the scores of finished encoders; stored scores of others stay."""
    done = folder / "encoders.csv"
    table = _read_csv(done) if done.is_file() else as_table(finished(folder))
    if ENCODERS.is_file():
        key = ["data", "encoder", "weights"]
        table = in_order(polars.concat([table, _read_csv(ENCODERS).join(table, on=key, how="anti")]))
    if len(table):
        table.write_csv(ENCODERS)


def encoders_text() -> str:
    """Return the text of the page about pretrained encoders."""
    if not ENCODERS.is_file():
        return NOTHING
    table = _read_csv(ENCODERS)
    notes = "\n".join(map(pages.bullet, (*encoder_conclusions(table), *NOTES, *missing(table))))
    tables = [f"### {data}\n\n{encoders_table(part)}" for (data,), part in table.group_by("data", maintain_order=True)]
    picture = f"![MIG of pretrained encoders against parameters](../images/{ENCODERS_FIGURE.name})"
    return "\n\n".join([notes, picture, printed_table(), *tables])


def printed_table() -> str:
    """Return the published numbers."""
    lines = [
        "### The report, dsprites",
        "",
        "| encoder | parameters | mig, first 1,000 images, nearly black |",
        "|---|--:|--:|",
    ]
    lines += [f"| {name} | {count:,} | {mig:.3f} |" for name, (count, mig) in PUBLISHED.items()]
    return "\n".join(lines)


def encoders_table(table: polars.DataFrame) -> str:
    """Return one line per encoder of a data set: each score with its interval over images."""
    shown = table.filter(polars.col("metric").is_in(("mig", "dci-disentanglement")))
    scores = list(dict.fromkeys(shown.select("metric", "images").iter_rows()))
    lines = [f"| encoder | weights | parameters | latents | {' | '.join(f'{name}, {way}' for name, way in scores)} |"]
    lines.append(f"|---|---|--:|--:|{'--:|' * len(scores)}")
    for (encoder, weights), part in shown.group_by("encoder", "weights", maintain_order=True):
        rows = {(row["metric"], row["images"]): row for row in part.iter_rows(named=True)}
        first = next(iter(rows.values()))
        told = [
            encoder,
            weights if first["parameters"] != 0 else "–",
            _whole(first["parameters"]),
            f"{first['codes']:,}",
        ]
        cells = [_with_interval(rows[score]) if score in rows else "–" for score in scores]
        lines.append(f"| {' | '.join([*told, *cells])} |")
    return "\n".join(lines)


def missing(table: polars.DataFrame) -> list[str]:
    """Return the encoders of the preset that have no scores yet."""
    there = set(table.select("data", "encoder", "weights").iter_rows())
    lacking = [
        f"{name} with {weights} weights on {data}"
        for data, name, random in encodings(ScaleEncoders.presets["small"])
        if (data, name, weights := "random" if random else "trained") not in there
    ]
    return [f"Not run yet: {'; '.join(lacking)}."] if lacking else []


def read(part: str) -> tuple[polars.DataFrame, polars.DataFrame] | None:
    """Return the stored tables of a part; None before its first run."""
    if not all(path.is_file() for path in files(part)):
        return None
    points, growth = (polars.read_csv(path, infer_schema_length=None) for path in files(part))
    return points, growth


def figures(part: str) -> dict[str, Path]:
    """Return the file of each axis' figure."""
    found = read(part)
    axes = [] if found is None else found[0]["axis"].unique(maintain_order=True).to_list()
    return {axis: DOCS / "images" / f"scale-{part}-{place}.png" for place, axis in enumerate(axes)}


def text(part: str) -> str:
    """Return the text of the page about a part."""
    found = read(part)
    if found is None:
        return NOTHING
    points, growth = found
    blocks = ["\n".join(map(pages.bullet, conclusions(growth)))]
    for axis, file in figures(part).items():
        here = polars.col("axis") == axis
        blocks.append(f"![Scores against {axis}](../images/{file.name})")
        blocks.append(points_table(points.filter(here)))
        blocks.append(growth_table(growth.filter(here)))
    return "\n\n".join(blocks)


def points_table(points: polars.DataFrame) -> str:
    """Return the mean scores at each size, with their intervals over seeds and the printed values."""
    metrics = points["metric"].unique(maintain_order=True).to_list()
    lines = [f"| {points['axis'][0]} | | {' | '.join(metrics)} |", f"|--:|---|{'--:|' * len(metrics)}"]
    for (of, size), part in points.group_by("of", "size", maintain_order=True):
        rows = {row["metric"]: row for row in part.iter_rows(named=True)}
        lines.append(f"| {size:,.0f} | {of} | {' | '.join(_cell(rows.get(name)) for name in metrics)} |")
    return "\n".join(lines)


def growth_table(growth: polars.DataFrame) -> str:
    """Return the slopes and the curves."""
    lines = ["| | score | gain for ten times as much | 95 % over seeds | curve |", "|---|---|--:|--:|---|"]
    for row in growth.iter_rows(named=True):
        interval = "–" if row["low"] is None else f"{_three(row['low'])} … {_three(row['high'])}"
        limit = f", tends to {_three(row['a'])}" if row["curve"] == "saturating" else ""
        lines.append(f"| {row['of']} | {row['metric']} | {_three(row['slope'])} | {interval} | {row['curve']}{limit} |")
    return "\n".join(lines)


def _read_csv(path: Path) -> polars.DataFrame:
    return polars.read_csv(path, schema=SCHEMA)


def _cell(row: dict | None) -> str:
    if row is None:
        return "–"
    told = _with_interval(row)
    printed = published(row)
    return told if printed is None else f"{told}; dsprites, printed: {number(printed)}"


def _with_interval(row: dict) -> str:
    interval = "" if row["low"] is None else f" ({_three(row['low'])} … {_three(row['high'])})"
    return f"{_three(row['value'])}{interval}"


def _whole(value: int | None) -> str:
    return "–" if value is None else f"{value:,}"


def _three(value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:.3f}".replace("-", "−") if abs(value) < 10 else f"{value:.1f}".replace("-", "−")


def main(words: Sequence[str] | None = None) -> None:
    if given := pages.to_store(words, __doc__, "--results", "the folder of results"):
        store(given)
    pages.put(PAGE, "encoders", encoders_text())
    if ENCODERS.is_file():
        figure = encoders_figure(_read_csv(ENCODERS))
        figure.savefig(ENCODERS_FIGURE, dpi=90, facecolor="white")
    for part in PARTS:
        pages.put(PAGE, part, text(part))
        if (found := read(part)) is not None:
            points, growth = found
            for axis, file in figures(part).items():
                here = polars.col("axis") == axis
                growth_figure(points.filter(here), growth.filter(here)).savefig(file, dpi=90, facecolor="white")


if __name__ == "__main__":
    main()
