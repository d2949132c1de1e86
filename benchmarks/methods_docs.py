"""Write the tables and sentences of the docs with the scores of methods: `python benchmarks/methods_docs.py`.

Both come from docs/results/methods.csv, with one row for each run (and from docs/results/beta-vae.csv, with one row for
each score, for the longer runs on the β-VAE's page). A test compares pages and files. In a page, a table is between
`<!-- table NAME -->` and `<!-- end -->`, and a sentence is the paragraph that begins with "**Our result.**".
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Mapping
from pathlib import Path

import polars

DOCS = Path(__file__).parents[1] / "docs"
STORE = DOCS / "results" / "methods.csv"
SINGLE = DOCS / "results" / "beta-vae.csv"
KEY = ["table", "data", "method", "seed"]
TITLES = {
    "mig": "MIG",
    "dci-disentanglement": "D",
    "dci-completeness": "C",
    "dci-informativeness": "I",
    "factor-vae-score": "FactorVAE",
    "linearity": "linearity",
    "axis-alignment": "axis alignment",
}
SECONDS = "training seconds"
DIGITS = 4
"""Decimals of a score in the file."""

COMPARED = {
    "beta-vae": "β-VAE",
    "annealed-vae": "AnnealedVAE",
    "factor-vae": "FactorVAE",
    "dip-vae": "DIP-VAE-I",
    "beta-tcvae": "β-TCVAE",
    "ada-gvae": "Ada-GVAE",
    "beta-tvae": "β-TVAE",
    "ada-tvae": "Ada-TVAE",
    "qlae": "QLAE",
}
"""Pages, and the methods of the comparison whose scores they show."""
OTHERS = {
    "vae": "VAE",
    "info-vae": "InfoVAE",
    "ae": "AE",
    "ada-ml-vae": "Ada-ML-VAE",
    "slow-vae": "SlowVAE",
    "ada-tvae-unsupervised": "unsupervised Ada-TVAE",
    "tae": "TAE",
    "ada-tae": "Ada-TAE",
    "hfs": "HFS",
    "semi-supervised": "β-VAE, 1000 labels",
}
"""The same for methods that were run once."""
REMARKS = {
    "semi-supervised": " with 1,000 labels beside a β-VAE",
}
COUNTS = {1: "one seed", 2: "two seeds", 3: "three seeds"}
SENTENCE = re.compile(r"^\*\*Our result\.\*\*.*(?:\n.+)*", re.MULTILINE)
TABLE = re.compile(r"(<!-- table (?P<name>\S+) -->\n).*?(<!-- end -->)", re.DOTALL)


def read() -> polars.DataFrame:
    """Return all stored runs."""
    return polars.read_csv(STORE)


def store(rows: Iterable[Mapping[str, object]], path: Path = STORE) -> None:
    """Store runs: each replaces the row with the same table, data, method and seed, or is appended."""
    old = polars.read_csv(path)
    kept = {tuple(run[key] for key in KEY): run for run in old.to_dicts()}
    for row in rows:
        rounded = {name: round(value, DIGITS) if isinstance(value, float) else value for name, value in row.items()}
        kept[tuple(row[key] for key in KEY)] = {name: rounded[name] for name in old.columns}
    polars.DataFrame(list(kept.values()), schema=old.schema).write_csv(path)


def mean(values: polars.Series) -> str:
    """Return mean ± standard deviation over seeds, or a single value."""
    digits = 0 if "seconds" in values.name else 3
    if len(values) == 1:
        return f"{values[0]:.{digits}f}"
    return f"{values.mean():.{digits}f} ± {values.std():.{digits}f}"


def table(runs: polars.DataFrame, *, seconds: bool = False) -> str:
    """Return a Markdown table of runs, one line per method in the order of the file."""
    titles = {**TITLES, SECONDS: "training s"} if seconds else TITLES
    lines = ["| method | " + " | ".join(titles.values()) + " |", "|---" * (len(titles) + 1) + "|"]
    for (method,), group in runs.group_by("method", maintain_order=True):
        lines.append(f"| {method} | " + " | ".join(mean(group[name]) for name in titles) + " |")
    return "\n".join(lines) + "\n"


def single(name: str) -> str:
    """Return the table of one run's scores, with their intervals."""
    lines = ["| | value | 95 % interval |", "|---|---|---|"]
    for row in polars.read_csv(SINGLE).filter(run=name).iter_rows(named=True):
        lines.append(f"| {row['metric']} | {row['value']:.3f} | {row['low']:.3f} – {row['high']:.3f} |")
    return "\n".join(lines) + "\n"


def named(name: str) -> str:
    """Return the table that a page asks for: rooms3d, xysquares or others, or a run of the β-VAE's page."""
    runs = read()
    if name == "others":
        return table(runs.filter(table="others"), seconds=True)
    if name in ("rooms3d", "xysquares"):
        return table(runs.filter(table="compared", data=name))
    return single(name)


def sentence(page: str) -> str | None:
    """Return the sentence with a method's scores on its page, or None for a page without one."""
    link = "[all methods side by side](../results/methods.md)."
    start = "**Our result.** "
    if page in COMPARED:
        count = COUNTS[len(read().filter(table="compared", data="rooms3d", method=COMPARED[page]))]
        where = " on rooms3d, ".join(both(COMPARED[page], data) for data in ("rooms3d", "xysquares")) + " on xysquares"
        more = f" (kind I; kind II has {both('DIP-VAE-II', 'rooms3d')} on rooms3d)" if page == "dip-vae" else ""
        remark = REMARKS.get(page, "")
        setting = f"MIG and DCI disentanglement after 3,000 steps at 32 × 32{remark}"
        return wrap(f"{start}{setting}, mean ± standard deviation over {count}: {where}{more}; {link}")
    if page in OTHERS:
        run = read().filter(table="others", method=OTHERS[page]).row(0, named=True)
        scores = (run["mig"], run["dci-disentanglement"], run["factor-vae-score"])
        mig, parted, voted = (f"{score:.3f}" for score in scores)
        setting = f"On rooms3d after 3,000 steps at 32 × 32{REMARKS.get(page, '')}, one seed"
        return wrap(f"{start}{setting}: MIG {mig}, DCI disentanglement {parted}, FactorVAE score {voted}; {link}")
    return None


def wrap(text: str) -> str:
    """Return a paragraph in lines of at most 120 characters."""
    return textwrap.fill(text, 120, break_long_words=False, break_on_hyphens=False)


def both(method: str, data: str) -> str:
    """Return MIG and disentanglement of a method in the comparison."""
    runs = read().filter(table="compared", data=data, method=method)
    return f"{mean(runs['mig'])} and {mean(runs['dci-disentanglement'])}"


def written(path: Path) -> str:
    """Return a page with its tables and its sentence from the files."""
    text = TABLE.sub(lambda found: found[1] + named(found["name"]) + found[3], path.read_text(encoding="utf-8"))
    line = sentence(path.stem) if path.parent.name == "methods" else None
    return SENTENCE.sub(lambda _: line, text) if line else text


def pages() -> list[Path]:
    """Return all pages with a table or a sentence."""
    return [DOCS / "results" / "methods.md", *sorted((DOCS / "methods").glob("*.md"))]


def write() -> None:
    """Write every page again."""
    for path in pages():
        path.write_text(written(path), encoding="utf-8")


if __name__ == "__main__":
    write()
