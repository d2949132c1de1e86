"""The tables of docs/perception.md, written from stored files: `python benchmarks/perception_docs.py`.

    python benchmarks/perception_docs.py --data                        # measures what losses see: five minutes
    python benchmarks/perception_docs.py --data shapes2d rooms3d       # only these; the others stay as stored
    python benchmarks/perception_docs.py --random                      # correlates 1,048,576 pairs: three minutes
    python benchmarks/perception_docs.py --studies studies/a studies/b # compares predictions with runs

These store perception-data.csv, perception-random.csv and perception.csv in docs/results; the last also its figure.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from itertools import product
from os import cpu_count, getloadavg
from pathlib import Path
from resource import RUSAGE_SELF, getrusage
from textwrap import fill
from time import perf_counter, process_time

import pages
import polars

from unweave import report
from unweave.perception import Predictions, correlations, perceive, predicted_and_learned
from unweave.perception.perceive import NUMBERS
from unweave.perception.predicted import LEARNT, PREDICTED
from unweave.perception.verdict import kind_of
from unweave.study.analysis import over_seeds
from unweave.text import memory

DOCS = Path(__file__).parents[1] / "docs"
PAGE = DOCS / "perception.md"
SEEN = DOCS / "results" / "perception-data.csv"
LEARNED = DOCS / "results" / "perception.csv"
RANDOM = DOCS / "results" / "perception-random.csv"
PAIRS = 2**20
PRINTED = {"mse": "0.55, 0.36", "mse-box": "0.95, 0.94"}
"""Linear and rank correlation of random pairs in table 6.1 of the thesis."""
FIGURE = DOCS / "images" / "perception-learnt.png"
BOX = "mse-box"
MEASURED = [
    ("xysquares", "mse"),
    ("xysquares", BOX),
    ("xysquares:spacing=4", "mse"),
    ("shapes2d", "mse"),
    ("rooms3d", "mse"),
    ("xyobject", "mse"),
    ("xyobject-shaded", "mse"),
    ("objects3d", "mse"),
]
CHOSEN = "thesis-3.10"
"""The study whose Ada-GVAE runs were used to choose the limit of what is seen; `verdict.CLEAR` says how."""
HEADS = ("factor", "values", "mean", "std", "relative", "linear", "rank", "order", "signal")
DIGITS = 4
WORDS = {
    "signal": "signal",
    "order": "order",
    "rank": "rank correlation",
    "relative": "relative importance",
    "worth": "worth",
    "information": "share of its entropy in the best latent",
    "gap": "its lead over the next (MIG)",
}


def measure(names: Sequence[str]) -> polars.DataFrame:
    """Measure what losses see of the page's data sets; one row per factor, with the sentence in each row."""
    parts = []
    for name, loss in [each for each in MEASURED if each[0] in names]:
        found = perceive(name, loss)
        about = [
            polars.lit(text).alias(key) for key, text in (("data", name), ("loss", loss), ("says", found.sentence))
        ]
        parts.append(found.table().select(*about, polars.all()))
    return polars.concat(parts).with_columns(polars.col(NUMBERS).round_sig_figs(DIGITS))


def store_seen(measured: polars.DataFrame) -> None:
    """Store measurements, replacing earlier rows of the same data sets, in the order of the page."""
    earlier = stored(SEEN)
    if earlier is not None:
        kept = earlier.filter(~polars.col("data").is_in(measured["data"].unique().implode()))
        measured = polars.concat([measured, kept.cast(dict(measured.schema))])  # pyright: ignore[reportArgumentType]
    places = {f"{name} {loss}": place for place, (name, loss) in enumerate(MEASURED)}
    place = polars.concat_str("data", "loss", separator=" ").replace_strict(places, return_dtype=polars.Int64)
    measured.sort(place, maintain_order=True).write_csv(SEEN)


def correlate() -> polars.DataFrame:
    """Return the correlations of x_R and of random pairs of xysquares, without and with pairs of one image.

    The load is that of the whole machine, per core, while it was measured: above 1 it had to share cores.
    """
    parts = []
    for loss, share in product(("mse", BOX), (0.0, 1 / 32)):
        started, began = process_time(), perf_counter()
        found = correlations("xysquares", loss, pairs=PAIRS, factors=["x_R"], self_pairs=share)
        about = {
            "loss": loss,
            "self_pairs": share,
            "cpu_seconds": round(process_time() - started, 1),
            "wall_seconds": round(perf_counter() - began, 1),
            "load": round(getloadavg()[0] / (cpu_count() or 1), 1),
        }
        parts.append(found.with_columns(polars.lit(value).alias(key) for key, value in about.items()))
    largest = getrusage(RUSAGE_SELF).ru_maxrss * 1024
    return polars.concat(parts).with_columns(
        polars.col("linear", "rank").round_sig_figs(DIGITS), polars.lit(largest).alias("bytes")
    )


def compare(studies: Sequence[Path]) -> polars.DataFrame:
    """Return predictions and outcomes of all finished runs of some studies, one row per factor and run.

    A run in several studies counts once, in the first of them. Stored rows of other studies stay.
    """
    parts = []
    for study in studies:
        name = study.parent.name.removesuffix("-small-0") if study.name == "study" else study.name
        named = polars.concat_str(polars.lit(name), "run", separator="/runs/")
        rows = predicted_and_learned(study).rows.with_columns(polars.col("run").str.split("/").list.last())
        numbers = polars.col(*PREDICTED, *LEARNT).round_sig_figs(DIGITS)
        parts.append(rows.with_columns(named, loss_in(name), numbers))
    earlier = stored(LEARNED)
    if earlier is not None:
        given = [part["run"][0].split("/")[0] for part in parts]
        kept = earlier.filter(~polars.col("run").str.split("/").list.first().is_in(given))
        parts.insert(0, kept)
    return once(polars.concat(parts, how="diagonal_relaxed").select(parts[0].columns))


def loss_in(study: str) -> polars.Expr:
    """Return the losses of a study; a learnt one by its file in the study, as runs are, not where it was."""
    return polars.col("loss").str.replace(r"path=[^,]*?([^,/]+)(,|$)", f"path={study}/${{1}}${{2}}")


def once(rows: polars.DataFrame) -> polars.DataFrame:
    """Return every run once, whatever study it is in."""
    own = polars.col("run").str.split("/").list.last()
    return rows.with_columns(own=own).unique(["own", "factor"], keep="first", maintain_order=True).drop("own")


def stored(path: Path) -> polars.DataFrame | None:
    """Return a stored table; None before the first run."""
    return polars.read_csv(path) if path.is_file() else None


def with_verdicts(rows: polars.DataFrame) -> polars.DataFrame:
    """Return stored predictions with the verdict that today's rules give."""
    found = [kind_of(order, worth) for order, worth in rows.select("order", "worth").iter_rows()]
    return rows.with_columns(polars.Series("verdict", found))


def blocks() -> dict[str, str]:
    """Return the texts between the marks of the page, by name."""
    seen, learned = stored(SEEN), stored(LEARNED)
    random = stored(RANDOM)
    return {
        "random": "Nothing is stored." if random is None else random_table(random),
        "cost": "" if random is None else cost(random),
        "seen": "Nothing is stored." if seen is None else seen_tables(seen),
        "learnt": "No study is stored." if learned is None else learnt_tables(Predictions(learned)),
    }


def random_table(table: polars.DataFrame) -> str:
    """Return the correlations of random pairs of xysquares, and those of the thesis, as Markdown."""
    lines = ["| loss | linear, rank | with `self_pairs=1/32` | table 6.1 |", "|---|---|---|---|"]
    for loss, printed in PRINTED.items():
        rows = table.filter(loss=loss, factor="random").sort("self_pairs")
        ours = [f"{row['linear']:.3f}, {row['rank']:.3f}" for row in rows.iter_rows(named=True)]
        lines.append(f"| `{loss}` | {' | '.join([*ours, printed])} |")
    return "\n".join(lines)


def cost(table: polars.DataFrame) -> str:
    """Return the cost of a correlation, in CPU time and, with the load of the machine, in elapsed time."""
    most = {loss: table.filter(loss=loss).max().row(0, named=True) for loss in PRINTED}
    listed = " and ".join(f"{row['cpu_seconds']:.0f} s for `{loss}`" for loss, row in most.items())
    pairs = f"Correlations over {PAIRS:,} pairs along one factor of `xysquares` at 64 × 64 and as many random pairs"
    space = memory(max(row["bytes"] for row in most.values()))
    said = f"{pairs} take, together, {listed} of CPU time, and {space}."
    if "load" not in table.columns:
        return fill(said, 120)
    clock = " and ".join(f"{row['wall_seconds']:.0f} s" for row in most.values())
    load = f"{table['load'].min()} to {table['load'].max()} per core"
    return fill(f"{said} The elapsed time was {clock}, on two cores with a load of {load}.", 120)


def seen_tables(table: polars.DataFrame) -> str:
    """Return what losses see as Markdown: a table for each data set and loss, and the sentence below it."""
    texts = []
    for (data, loss, says), rows in table.group_by("data", "loss", "says", maintain_order=True):
        lines = [f"**{data}**, loss `{loss}`", "", f"| {' | '.join(HEADS)} | |", f"|---|{'--:|' * 8}---|"]
        lines += [_line(row) for row in rows.iter_rows(named=True)]
        quoted = fill(str(says), 118, initial_indent="> ", subsequent_indent="> ", break_on_hyphens=False)
        texts.append("\n".join([*lines, "", quoted]))
    return "\n\n".join([*texts, f"Every number is in [{SEEN.name}](results/{SEEN.name})."])


def _line(row: dict[str, object]) -> str:
    cells = [row["factor"], row["size"], _number(row["mean"], 4), _number(row["std"], 4)]
    cells += [*(_number(row[name], 2) for name in ("relative", "linear", "rank", "order")), _number(row["signal"], 1)]
    return f"| {' | '.join('' if cell is None else str(cell) for cell in [*cells, row['verdict']])} |"


def _number(value: object, digits: int) -> str:
    return f"{round(value, digits) + 0.0:.{digits}f}".replace("-", "−") if isinstance(value, float) else "–"


def learnt_tables(found: Predictions) -> str:
    """Return how predictions agree with outcomes as Markdown."""
    runs, data = found.rows["run"].n_unique(), found.rows["data"].n_unique()
    heads = ["predicted", "learnt", "over all", "95 % interval", "within a run", "95 % interval"]
    within = found.within()["run"].n_unique()
    told = f"{runs} runs on {data} data sets, {len(found.rows):,} factors in all; {within} runs compare within a run."
    lines = [told, ""]
    lines += [f"| {' | '.join(heads)} |", "|---|---|--:|---|--:|---|"]
    for row in found.agreement().iter_rows(named=True):
        cells = [WORDS[row["predicted"]], WORDS[row["learnt"]]]
        cells += [_number(row["correlation"], 2), _interval(row["low"], row["high"])]
        cells += [_number(row["within"], 2), _interval(row["within_low"], row["within_high"])]
        lines.append(f"| {' | '.join(cells)} |")
    lines += ["", *within_table(found)]
    lines += ["", f"| runs | verdict | factors | {WORDS['information']} | {WORDS['gap']} |", "|---|---|--:|--:|--:|"]
    for title, runs in _parts(found.rows).items():
        for row in Predictions(runs).by_verdict().iter_rows(named=True):
            values = [str(row["factors"]), _number(row["information"], 2), _number(row["gap"], 2)]
            lines.append(f"| {title} | {row['verdict']} | {' | '.join(values)} |")
    picture = f"![Share of each factor's entropy in the best latent, against its signal](images/{FIGURE.name})"
    source = f"Every number is in [{LEARNED.name}](results/{LEARNED.name}), one row per factor and run."
    return "\n".join([*lines, "", picture, "", source])


def within_table(found: Predictions) -> list[str]:
    """Return the correlations within a run by data set, and how far each is from that of signal, as Markdown lines."""
    data = polars.col("data").str.split(":").list.first()
    runs = found.rows.unique("run").select("run", data)
    inside = found.within().filter(learnt=LEARNT[0]).join(runs, on="run", maintain_order="left")
    if not len(inside):
        return ["No run compares all predictions within a run."]
    parts = {name: inside.filter(data=name) for name in sorted(inside["data"].unique())}
    counted = [f"{name}, {len(part)} runs" for name, part in parts.items()]
    heads = [f"within a run, with the {WORDS[LEARNT[0]]}", *counted, "all, minus signal"]
    lines = [f"| {' | '.join(heads)} |", f"|---|{'---|' * (len(heads) - 1)}"]
    for name in PREDICTED:
        cells = [_mean(part[name]) for part in parts.values()]
        less = "–" if name == PREDICTED[0] else _mean(inside[name] - inside[PREDICTED[0]])
        lines.append(f"| {' | '.join([WORDS[name], *cells, less])} |")
    return lines


def _mean(values: polars.Series) -> str:
    """Return the mean over runs with its interval."""
    mean = over_seeds(values.to_numpy())
    return f"{_number(mean.value, 2)} ({_interval(mean.low, mean.high)})"


def _parts(rows: polars.DataFrame) -> dict[str, polars.DataFrame]:
    """Return the runs that the limit was chosen on, and the others by method, with their titles."""
    study = polars.col("run").str.split("/").list.first()
    chosen = (study == CHOSEN) & (polars.col("method") == "ada-gvae")
    parts = {f"the limit's own: ada-gvae, {CHOSEN}": rows.filter(chosen)}
    for method in sorted(rows["method"].unique()):
        parts[f"others: {method}"] = rows.filter(~chosen, method=method)
    return {title: part for title, part in parts.items() if len(part)}


def _interval(low: float | None, high: float | None) -> str:
    return "–" if low is None or high is None else f"{_number(low, 2)} … {_number(high, 2)}"


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    names = list(dict(MEASURED))
    parser.add_argument("--data", nargs="*", choices=names, help="measure what losses see of these, by default of all")
    parser.add_argument("--random", action="store_true", help="correlate 1,048,576 pairs of xysquares, and store it")
    parser.add_argument("--studies", type=Path, nargs="+", default=[], help="studies or folders of runs to compare")
    options = parser.parse_args(words)
    if options.data is not None:
        store_seen(measure(options.data or names))
    if options.random:
        correlate().write_csv(RANDOM)
    learned = compare(options.studies) if options.studies else stored(LEARNED)
    if learned is not None:
        with_verdicts(learned).write_csv(LEARNED)
    pages.put_all(PAGE, blocks())
    if learned is not None:
        figure = report.learnt_scatter(learned, "signal", "information").figure
        figure.savefig(FIGURE, dpi=110, facecolor="white")  # pyright: ignore[reportAttributeAccessIssue]


if __name__ == "__main__":
    main()
