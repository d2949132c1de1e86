"""`unweave data …`: what there is to learn from."""

from __future__ import annotations

import re
import shlex
from dataclasses import asdict, dataclass
from io import BytesIO
from pathlib import Path
from typing import Annotated, Any

from tyro.conf import Positional, arg

from unweave.cli.manners import waiting, writing
from unweave.cli.parsing import Flag, parse, refuse_negative
from unweave.data import DATASETS, Dataset, load
from unweave.errors import UsageError
from unweave.files import write_atomically
from unweave.text import facts, first_line, memory, pairs, table, to_json

Name = Annotated[Positional[str], arg(metavar="NAME")]


@dataclass(frozen=True)
class List:
    """List the data sets. They are drawn when needed; nothing is downloaded."""

    json: Flag = False
    """Print one JSON object instead of a table."""


def list_all(words: list[str]) -> None:
    """Run `unweave data list`."""
    options = parse(List, words, "data list")
    if options.json:
        return print(to_json({"data": [_outline(kind) for kind in DATASETS.values()]}))
    rows = [
        {
            "name": name,
            "images": f"{len(kind.factors):,}",
            "factors": str(len(kind.factors.names)),
            "about": first_line(kind),
        }
        for name, kind in DATASETS.items()
    ]
    print(table(rows, numbers=["images", "factors"]), "\nnext: unweave data info shapes2d", sep="\n")


@dataclass(frozen=True)
class Info:
    """Show the factors, the size and the statistics of a data set."""

    name: Name
    """The data set, with options after a colon: xysquares:spacing=1"""
    json: Flag = False
    """Print one JSON object instead of text."""


def info(words: list[str]) -> None:
    """Run `unweave data info`."""
    options = parse(Info, words, "data info")
    with waiting(f"drawing {options.name}"):
        data = load(options.name)
        statistics = data.statistics()
    if options.json:
        size = {"shape": data.shape, "binary": data.binary, "bytes": data.nbytes}
        return print(to_json({**_outline(data), "options": data.options, **size, "statistics": asdict(statistics)}))
    factors = zip(data.factors.names, data.factors.sizes, strict=True)
    texts = {
        "images": f"{len(data):,}",
        "shape": " × ".join(map(str, data.shape)) + (", black and white" if data.binary else ""),
        "memory": memory(data.nbytes),
        "options": pairs(data.options),
        "mean": _channels(statistics.mean),
        "deviation": f"{_channels(statistics.deviation)} (mean over images of each one's own)",
        "global": f"{_channels(statistics.global_deviation)} (deviation of all pixels together)",
    }
    print(
        f"{data.name}: {first_line(type(data))}",
        table([{"factor": name, "values": str(size)} for name, size in factors], numbers=["values"]),
        facts(texts),
        f"next: unweave data show {shlex.quote(options.name)}",
        sep="\n\n",
    )


@dataclass(frozen=True)
class Show:
    """Draw a data set: what each factor changes, and random images."""

    name: Name
    """The data set, with options after a colon: xysquares:spacing=1"""
    out: Annotated[Path | None, arg(metavar="FILE", help_behavior_hint="(default: NAME.png in this folder)")] = None
    """The picture to write, a PNG."""
    seed: int = 0
    """Seed of the random images."""

    def __post_init__(self) -> None:
        refuse_negative(seed=self.seed)


def show(words: list[str]) -> None:
    """Run `unweave data show`."""
    options = parse(Show, words, "data show")
    out = options.out or Path(re.sub(r"[:,]", "-", options.name) + ".png")
    if out.suffix.lower() != ".png":
        raise UsageError(f"the picture is a PNG: write --out {out.with_suffix('.png')}, not '{out}'")
    with waiting(f"drawing {options.name}"):
        data = load(options.name)
        from unweave import report

        picture = BytesIO()
        report.show(data, seed=options.seed).save(picture, "PNG")
    with writing(out):
        out.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(out, picture.getvalue())
    print(f"wrote {out}", f"\nnext: unweave train beta-vae --data {shlex.quote(options.name)}", sep="\n")


def _outline(data: Dataset | type[Dataset]) -> dict[str, Any]:
    """Return what is known of a data set before anything of it is drawn."""
    kind = data if isinstance(data, type) else type(data)
    factors = dict(zip(data.factors.names, data.factors.sizes, strict=True))
    return {"name": data.name, "about": first_line(kind), "images": len(data.factors), "factors": factors}


def _channels(values: tuple[float, ...]) -> str:
    return "  ".join(f"{value:.6f}" for value in values)
