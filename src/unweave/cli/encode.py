"""`unweave encode`: compute the codes of any encoder for the images of a data set."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from tyro.conf import Positional, arg

from unweave.cli.mistakes import writing
from unweave.cli.parsing import Flag, Plugins, parse, refuse_below
from unweave.data import DATASETS
from unweave.encoders.codes import check_out
from unweave.encoders.encoder import POOLED, POOLINGS
from unweave.encoders.projection import PROJECTIONS
from unweave.encoders.table import ENCODERS
from unweave.errors import UsageError, unknown
from unweave.fields import OneOf
from unweave.progress import Bar
from unweave.text import facts, pairs, table, to_json

if TYPE_CHECKING:
    from unweave.data import Dataset
    from unweave.encoders import Codes

Optional = arg(help_behavior_hint="")


@dataclass(frozen=True)
class Encode:
    """Encode images of a data set with a pretrained encoder, your own, or a baseline, and write their codes.

    Codes are cached in the data folder: the same command continues after an interruption, and encodes no image twice.
    """

    encoder: Annotated[Positional[str], OneOf(ENCODERS, listed=False), arg(metavar="ENCODER")]
    """efficientnet-lite0, vgg16-shift …, timm:NAME, open-clip:NAME:pretrained=TAG, a .onnx file, or a run's folder."""
    data: Annotated[str, OneOf(DATASETS, listed=False), arg(metavar="NAME", help_behavior_hint="")] = ""
    """A data set, or a path to your own images, with options after a colon: rooms3d:size=32. A run has its own."""
    samples: int = 10_000
    """Number of images, drawn without replacement; all, if the data set has fewer."""
    first: Flag = False
    """Take the first images of the data set instead of random ones."""
    layer: Annotated[str, arg(metavar="LAYER")] = POOLED
    """Layer whose output is taken; --layers lists them."""
    layers: Flag = False
    """List the layers of the encoder and their widths, and encode nothing."""
    pooling: Annotated[str, OneOf(POOLINGS)] = "mean"
    """How to pool feature maps and tokens into one row: mean, max, the first only, or all (flatten)."""
    projection: Annotated[str | None, OneOf(PROJECTIONS), Optional] = None
    """Projection to a common width, fitted to the codes."""
    width: Annotated[int | None, arg(metavar="INT", help_behavior_hint="(default: 64, or fewer)")] = None
    """That width."""
    batch: int = 64
    """Images per batch."""
    seed: int = 0
    """Seed of the images, of random weights and of the projection."""
    random_weights: Flag = False
    """Use the same network with random weights, as a control."""
    device: str = "auto"
    """Where to run the network: auto, cpu, cuda or mps."""
    cache: Flag = True
    """Neither write nor read the cache of codes."""
    out: Annotated[Path | None, arg(metavar="FILE", help_behavior_hint="")] = None
    """The .npz file: codes (n, d), factors (n, k), indices (n,) and a record as JSON."""
    overwrite: Flag = False
    """Replace the file if it exists."""
    plugin: Plugins = ()
    """Load methods, nets, metrics and data sets from a Python file or module."""
    json: Flag = False
    """Print one JSON object instead of text."""

    def __post_init__(self) -> None:
        refuse_below(0, seed=self.seed)
        refuse_below(2, samples=self.samples)
        refuse_below(1, batch=self.batch, width=self.width)
        for kind, value, known in (
            ("pooling", self.pooling, POOLINGS),
            ("projection", self.projection, PROJECTIONS),
        ):
            if value is not None and value not in known:
                raise unknown(kind, value, known)
        has_data = self.data or _run_folder(self.encoder)
        if not self.layers and not (has_data and self.out):
            missing = " and ".join([*([] if has_data else ["--data NAME"]), *([] if self.out else ["--out FILE"])])
            raise UsageError(f"missing: {missing}; for example: unweave encode pca --data shapes2d --out codes.npz")
        if self.out is not None:
            check_out(self.out, self.overwrite)


def encode(words: list[str]) -> None:
    """Run `unweave encode`."""
    options = parse(Encode, words, "encode")
    if options.layers:
        return _list_layers(options)
    from unweave import encoders

    assert options.out is not None
    data = _data(options)
    with Bar(f"opening {options.encoder}", unit=" images") as bar:
        found = encoders.encode(
            options.encoder,
            data,
            samples=options.samples,
            indices="first" if options.first else None,
            layer=options.layer,
            pooling=options.pooling,
            projection=options.projection,
            width=options.width,
            batch=options.batch,
            seed=options.seed,
            cache=options.cache,
            device=options.device,
            random_weights=options.random_weights,
            on_progress=bar,
        )
    with writing(options.out):
        found.save(options.out, overwrite=options.overwrite)
    following = f"unweave evaluate {shlex.quote(str(options.out))}"
    if options.json:
        return print(to_json({"out": str(options.out), "shape": list(found.codes.shape), **found.record}))
    print(facts(_facts(found)), f"wrote {options.out}", f"next: {following}", sep="\n\n")


def _run_folder(encoder: str) -> Path | None:
    """Return the run's folder if the encoder is a run, with or without options."""
    folder = Path(encoder.partition(":")[0])
    return folder if folder.is_dir() else None


def _data(options: Encode) -> Dataset:
    """Return the data set that --data names, or that the run was trained on."""
    from unweave.data import load
    from unweave.runs import Run

    folder = _run_folder(options.encoder)
    with Bar(f"reading {options.data}", unit=" images") as bar:
        return load(options.data, on_progress=bar) if options.data or folder is None else Run.open(folder).data


def _list_layers(options: Encode) -> None:
    from unweave import encoders

    with Bar(f"opening {options.encoder}") as bar:
        bar(f"opening {options.encoder}", 0, None)
        widths = encoders.layers(
            options.encoder,
            options.data or None,
            pooling=options.pooling,
            device=options.device,
            random_weights=options.random_weights,
        )
    if options.json:
        return print(to_json({"encoder": options.encoder, "pooling": options.pooling, "layers": widths}))
    rows = [{"layer": name, "width": f"{width:,}"} for name, width in widths.items()]
    example = f"unweave encode {shlex.quote(options.encoder)} --layer {next(iter(widths))}"
    data = shlex.quote(options.data or "shapes2d")
    print(table(rows, ["width"]), f"next: {example} --data {data} --out codes.npz", sep="\n\n")


def _facts(found: Codes) -> dict[str, str]:
    """Return what was encoded, as text."""
    record: dict[str, Any] = found.record
    data = {name: value for name, value in record["data"].items() if name != "name"}
    encoder = record["encoder"] + (", random weights" if record["random_weights"] else "")
    projection = record["projection"]
    shown = {
        "encoder": f"{encoder}" + (f", {record['parameters']:,} parameters" if record["parameters"] else ""),
        "layer": f"{record['layer']}, {record['pooling']}" if record["layer"] != POOLED else POOLED,
        "data": ", ".join(filter(None, [record["data"]["name"], pairs(data)])),
        "images": f"{record['samples']:,}, {record['images']}",
        "codes": " × ".join(f"{side:,}" for side in found.codes.shape),
    }
    if projection is not None:
        kept = f", {projection['variance']:.1%} of the variance" if "variance" in projection else ""
        if "unexplained" in projection:
            kept = f", {projection['settings']['k']} active, {1 - projection['unexplained']:.1%} of the variance"
        shown["projection"] = f"{projection['kind']} of {projection['from']:,} latents{kept}"
    return shown
