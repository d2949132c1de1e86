"""How well learnt losses follow the factors: the tables and the picture of docs/learn-loss.md.

    python benchmarks/learnt_loss.py                  learn and measure all, from an empty file, and write the page
    python benchmarks/learnt_loss.py --only NAME      only one part: r31, r63, full, rooms3d:size=32, shapes2d:size=32
    python benchmarks/learnt_loss.py --page           write the tables of the page from the stored numbers

All results are stored in docs/results/learnt-loss.csv. It uses one thread.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from time import process_time
from typing import Any

import polars
import torch
from pages import put

from unweave.data import load
from unweave.perception import correlations, learn_loss
from unweave.report.learnt_loss import learnt_loss_picture

DOCS = Path(__file__).parents[1] / "docs"
STORE, PAGE, PICTURE = DOCS / "results" / "learnt-loss.csv", DOCS / "learn-loss.md", DOCS / "images" / "learnt-loss.png"
PAIRS = 16_384
"""16 pairs along each of 1,024 traversals, including self-pairs; the thesis' script draws 128 from 8,192."""
SELF_PAIRS = 1 / 32
"""The share of self-pairs among random pairs in the thesis."""
SQUARES = "xysquares"
OTHERS = ("rooms3d:size=32", "shapes2d:size=32")
AUTOENCODER = 200
"""Steps of an autoencoder, which take longer than those of a kernel."""
KEY = ["data", "loss"]
VALUES = ["linear factor", "rank factor", "linear random", "rank random", "linear self", "rank self"]
THESIS = {
    "mse": (0.52, 0.58, 0.55, 0.36),
    "mse-gauss": (0.84, 0.88, 0.73, 0.61),
    "mse-box": (0.96, 0.97, 0.95, 0.94),
    "learnt, radius 31": (0.97, 0.98, 0.96, 0.96),
    "learnt, radius 63": (1.00, 0.99, 1.00, 1.00),
}
FULL, KERNEL, CODER = "learnt, radius 63, full", "learnt kernel", "learnt autoencoder"
"""[Michlo2022], table 6.1: linear and rank along a factor, linear and rank of random pairs."""


def measured(data: str, loss: str, name: str, **more: object) -> dict[str, object]:
    """Return a row of the table: means over the factors (those of xysquares are equivalent)."""
    factors = ["x_R"] if data == SQUARES else None
    found = correlations(data, loss, pairs=PAIRS, factors=factors, scaled=True, progress=False)
    along = found.filter(polars.col("factor") != "random")
    values = [along["linear"].mean(), along["rank"].mean(), *found.row(-1)[1:]]
    if data == SQUARES:
        again = correlations(data, loss, pairs=PAIRS, factors=factors, self_pairs=SELF_PAIRS, progress=False)
        values += again.row(-1)[1:]
    row = {"data": data, "loss": name, **dict.fromkeys(VALUES), "steps": None, "seconds": None, "sum": None, **more}
    row |= {name: round(float(value), 4) for name, value in zip(VALUES, values, strict=False)}
    print(*row.values(), flush=True)
    return row


def learnt(data: str, name: str, **settings: Any) -> dict[str, object]:
    """Learn a loss, and return its row."""
    with tempfile.TemporaryDirectory() as folder:
        path, start = Path(folder) / "a.loss", process_time()
        found = learn_loss(data, out=path, progress=False, **settings)
        seconds = round(process_time() - start)
        if name == "learnt, radius 31":
            learnt_loss_picture(found.file, load(data)).save(PICTURE)
        total = None if found.kernel is None else round(float(found.kernel.sum()), 1)
        steps = found.file.record["settings"]["steps"]
        return measured(data, str(path), name, steps=steps, seconds=seconds, sum=total)


def of_radius_31() -> list[dict[str, object]]:
    """Return rows of hand-made losses, and of a kernel as wide as the box."""
    by_hand = [measured(SQUARES, name, name) for name in ("mse", "mse-gauss", "mse-box")]
    return [*by_hand, learnt(SQUARES, "learnt, radius 31", radius=31)]


def of_others(data: str) -> list[dict[str, object]]:
    """Return rows of a data set for which one kernel is not enough."""
    return [
        measured(data, "mse", "mse"),
        measured(data, "mse-box:radius=15", "mse-box"),
        learnt(data, KERNEL),
        learnt(data, CODER, kind="autoencoder", steps=AUTOENCODER),
    ]


def store(rows: list[dict[str, object]]) -> None:
    """Store rows, replacing earlier ones of the same data and loss, in the order of the page."""
    kinds = {"steps": polars.Int64, "seconds": polars.Int64, "sum": polars.Float64}
    kinds |= dict.fromkeys(VALUES, polars.Float64)
    table = polars.DataFrame(rows, infer_schema_length=None).cast(kinds)  # pyright: ignore[reportArgumentType]
    if STORE.exists():
        table = polars.concat([polars.read_csv(STORE).cast(kinds), table])  # pyright: ignore[reportArgumentType]
    kept = table.unique(KEY, keep="last", maintain_order=True)
    data = polars.col("data").replace_strict({name: i for i, name in enumerate((SQUARES, *OTHERS))})
    loss = polars.col("loss").replace_strict({name: i for i, name in enumerate((*THESIS, FULL, KERNEL, CODER))})
    kept.sort(data, loss, maintain_order=True).write_csv(STORE)


def squares_table(table: polars.DataFrame) -> str:
    """Return our table with the numbers of the thesis' table 6.1."""
    rows = {row["loss"]: row for row in table.filter(data=SQUARES).to_dicts()}
    lines = [
        "| loss | factor: linear | rank | random: linear | rank | with self-pairs: linear | rank | thesis |",
        "|---|---|---|---|---|---|---|---|",
    ]
    printed = {name: " / ".join(f"{each:.2f}" for each in thesis) for name, thesis in THESIS.items()}
    for name, thesis in {**printed, FULL: "–"}.items():
        ours = " | ".join(f"{rows[name][value]:.3f}" for value in VALUES)
        lines.append(f"| {name} | {ours} | {thesis} |")
    return "\n".join(lines)


def others_table(table: polars.DataFrame) -> str:
    """Return the correlations on data sets for which a kernel is not enough."""
    lines = ["| data | loss | factors: linear | rank | random: linear | rank |", "|---|---|---|---|---|---|"]
    for row in table.filter(polars.col("data") != SQUARES).to_dicts():
        values = " | ".join(f"{row[value]:.3f}" for value in VALUES[:4])
        lines.append(f"| `{row['data']}` | {row['loss']} | {values} |")
    return "\n".join(lines)


def costs(table: polars.DataFrame) -> str:
    """Return the cost of learning."""
    rows = table.drop_nulls("steps").to_dicts()
    lines = ["| data | loss | steps | CPU seconds | the kernel adds up to |", "|---|---|---|---|---|"]
    for row in rows:
        total = "–" if row["sum"] is None else f"{row['sum']:.1f}"
        lines.append(f"| `{row['data']}` | {row['loss']} | {row['steps']} | {row['seconds']} | {total} |")
    return "\n".join(lines)


TABLES = {"squares": squares_table, "others": others_table, "costs": costs}


def write_page(page: Path = PAGE) -> None:
    """Put the tables between their marks."""
    table = polars.read_csv(STORE)
    for name, text in TABLES.items():
        put(page, name, text(table))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parts = {
        "r31": of_radius_31,
        "r63": lambda: [learnt(SQUARES, "learnt, radius 63", radius=63)],
        "full": lambda: [learnt(SQUARES, FULL, radius=63, extent="full")],
        **{name: lambda name=name: of_others(name) for name in OTHERS},
    }
    parser.add_argument("--only", choices=list(parts))
    parser.add_argument("--page", action="store_true")
    options = parser.parse_args()
    torch.set_num_threads(1)
    if not options.page and options.only is None:
        STORE.unlink(missing_ok=True)
    for name, part in parts.items():
        if not options.page and options.only in (None, name):
            store(part())
    write_page()


if __name__ == "__main__":
    main()
