"""`unweave data …`: list, describe and draw data sets."""

from __future__ import annotations

import re
import shlex
from dataclasses import asdict, dataclass
from io import BytesIO
from pathlib import Path
from typing import Annotated, Any

from tyro.conf import Positional, arg

from unweave.cli.mistakes import writing
from unweave.cli.parsing import Flag, Plugins, parse, refuse_below
from unweave.data import DATASETS, FORMATS, WRAPPERS, Dataset, Statistics, Wrapper, files, load
from unweave.data.ceilings import Ceilings, cached_ceilings, three_digits
from unweave.data.dataset import KIND
from unweave.errors import UsageError
from unweave.fields import OneOf
from unweave.files import write_atomically
from unweave.progress import Bar
from unweave.text import facts, first_line, memory, pairs, table, to_json

LIMITS = """Images that look the same cannot be distinguished. If all images are equally likely, no codes predict a
factor with a higher accuracy, or hold a larger share of its information, than shown here."""
Name = Annotated[Positional[str], OneOf(DATASETS, listed=False), arg(metavar="NAME")]


@dataclass(frozen=True)
class List:
    """List the data sets: those that are drawn on demand, and published ones, which are fetched once."""

    plugin: Plugins = ()
    """Load methods, nets, metrics and data sets from a Python file or module."""
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
            "images": f"{_count(kind):,}",
            "factors": str(len(kind.factors.names)),
            "files": files.status(name).partition(",")[0] + _download(name),
            "about": first_line(kind),
        }
        for name, kind in DATASETS.items()
    ]
    plugins = {"of plugins": ", ".join(KIND.own)} if KIND.own else {}
    more = {
        **plugins,
        "your own": f"a path such as faces/ or my.npz, or {', '.join(FORMATS)}, as in folder:path=faces,size=64",
        "variants": f"-{', -'.join(WRAPPERS)}, as in shapes2d-noisy",
    }
    print(table(rows, numbers=["images", "factors"]), facts(more), "next: unweave data info shapes2d", sep="\n\n")


@dataclass(frozen=True)
class Info:
    """Show the factors, the size, the statistics and the files of a data set."""

    name: Name
    """The data set, with options after a colon: xysquares:spacing=1"""
    plugin: Plugins = ()
    """Load methods, nets, metrics and data sets from a Python file or module."""
    json: Flag = False
    """Print one JSON object instead of text."""


def info(words: list[str]) -> None:
    """Run `unweave data info`."""
    options = parse(Info, words, "data info")
    if options.name in DATASETS and files.missing(options.name):
        return _info_before_fetching(DATASETS[options.name], options)
    with Bar(f"reading {options.name}", unit=" images") as bar:
        data = load(options.name, on_progress=bar)
        statistics = data.statistics()
    found = _ceilings(data)
    mapped = getattr(data, "mapped", 0)
    if options.json:
        size = {"shape": data.shape, "binary": data.binary, "bytes": data.nbytes, "mapped": mapped}
        origin = {"files": _files(data), "licence": data.licence, "options": data.options}
        known = {"statistics": asdict(statistics), "ceilings": found and asdict(found)}
        return print(to_json({**_outline(data), **origin, **size, **known}))
    texts = {
        "images" if data.has_images else "vectors": f"{len(data):,}",
        "distinct": "every image holds noise" if found is None else _distinct(found),
        "shape": " × ".join(map(str, data.shape)) + (", black and white" if data.binary else ""),
        "files": _files(data),
        "licence": data.licence,
        "memory": memory(data.nbytes) + (f", and {memory(mapped)} mapped from a file" if mapped else ""),
        "options": pairs(data.options),
        **(_of_pixels(statistics) if data.has_images else _of_features(data, statistics)),
    }
    print(
        f"{data.name}: {first_line(type(data))}",
        _factor_table(data, found),
        *([LIMITS] if found and found.factors and found.distinct < found.images else []),
        facts(texts),
        f"next: unweave data show {shlex.quote(options.name)}",
        sep="\n\n",
    )


def _info_before_fetching(kind: type[Dataset], options: Info) -> None:
    """Show what is known about a published data set whose files are missing."""
    origin = {"files": files.status(kind.name), "source": files.source(kind.name), "licence": kind.licence}
    if options.json:
        return print(to_json({**_outline(kind), **origin, "download": files.size_to_fetch(kind.name)}))
    texts = {"images": f"{_count(kind):,}", **origin, "files": origin["files"] + _download(kind.name)}
    next_command = f"next: unweave data fetch {kind.name}"
    print(f"{kind.name}: {first_line(kind)}", _factor_table(kind), facts(texts), next_command, sep="\n\n")


def _download(name: str) -> str:
    """Return the size of the missing files of a data set, if it is known."""
    size = files.size_to_fetch(name) if files.missing(name) else None
    return f", {memory(size)}" if size else ""


@dataclass(frozen=True)
class Show:
    """Draw a data set: what each factor changes, and random images."""

    name: Name
    """The data set, with options after a colon: xysquares:spacing=1"""
    out: Annotated[Path | None, arg(metavar="FILE", help_behavior_hint="(default: NAME.png in this folder)")] = None
    """The PNG file to write."""
    seed: int = 0
    """Seed of the random images."""
    plugin: Plugins = ()
    """Load methods, nets, metrics and data sets from a Python file or module."""

    def __post_init__(self) -> None:
        refuse_below(0, seed=self.seed)


def show(words: list[str]) -> None:
    """Run `unweave data show`."""
    options = parse(Show, words, "data show")
    out = options.out or Path(re.sub(r"[^\w.=+-]+", "-", options.name).strip("-") + ".png")
    if out.suffix.lower() != ".png":
        raise UsageError(f"the picture is a PNG: write --out {out.with_suffix('.png')}, not '{out}'")
    with Bar(f"drawing {options.name}", unit=" images") as bar:
        data = load(options.name, on_progress=bar)
        from unweave import report

        picture = BytesIO()
        report.show(data, seed=options.seed).save(picture, "PNG")
    with writing(out):
        out.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(out, picture.getvalue())
    print(f"wrote {out}", f"\nnext: unweave train beta-vae --data {shlex.quote(options.name)}", sep="\n")


def _outline(data: Dataset | type[Dataset]) -> dict[str, Any]:
    """Return what is known about a data set before any image is drawn."""
    kind = data if isinstance(data, type) else type(data)
    factors = dict(zip(data.factors.names, data.factors.sizes, strict=True))
    return {"name": data.name, "about": first_line(kind), "images": _count(data), "factors": factors}


def _factor_table(data: Dataset | type[Dataset], found: Ceilings | None = None) -> str:
    """Return the factors with their numbers of values and, if known, their ceilings."""
    if not data.factors.names:
        return "no factors: only methods and scores that need none can use it"
    rows = [
        {"factor": name, "values": "real" if name in data.continuous else str(size)}
        for name, size in zip(data.factors.names, data.factors.sizes, strict=True)
    ]
    for row, limit in zip(rows, found.factors if found else (), strict=False):
        row |= {"accuracy": three_digits(limit.accuracy), "information": three_digits(limit.share)}
    return table(rows, numbers=["values", "accuracy", "information"])


def _ceilings(data: Dataset) -> Ceilings | None:
    """Return the ceilings of a data set, with a progress bar if it takes long."""
    with Bar(f"comparing the images of {data.name}", unit=" images") as bar:
        return cached_ceilings(data, bar)


def _distinct(found: Ceilings) -> str:
    return f"{found.distinct:,}" + (f" ({100 * found.distinct / found.images:.1f} %)" if found.images else "")


def _files(data: Dataset) -> str:
    """Return where the images come from: drawn, a published source, or the user's path."""
    while isinstance(data, Wrapper):
        data = data.base
    if data.name in KIND.own:
        return f"made by {type(data).__name__}"
    if data.name not in DATASETS:
        return str(data.options.get("path", "in memory"))
    return ", ".join(filter(None, [files.status(data.name), files.source(data.name)]))


def _count(data: Dataset | type[Dataset]) -> int:
    """Return the number of images; a class that has not been opened is a full grid."""
    return (data.count or len(data.factors)) if isinstance(data, type) else len(data)


def _of_pixels(found: Statistics) -> dict[str, str]:
    return {
        "mean": _channels(found.mean),
        "deviation": f"{_channels(found.deviation)} (mean over images of each one's own)",
        "global": f"{_channels(found.global_deviation)} (deviation of all pixels together)",
    }


def _of_features(data: Dataset, found: Statistics) -> dict[str, str]:
    """Return the ranges of the features' means and deviations, since there may be thousands."""
    still = sum(deviation == 0 for deviation in found.deviation)
    return {
        "features": f"{data.shape[0]:,}" + (f", {still:,} of them constant" if still else ""),
        "mean": f"{min(found.mean):.6g} to {max(found.mean):.6g}",
        "deviation": f"{min(found.deviation):.6g} to {max(found.deviation):.6g}",
    }


def _channels(values: tuple[float, ...]) -> str:
    return "  ".join(f"{value:.6f}" for value in values)
