"""`unweave perceive`: measure what a reconstruction loss sees of a data set, before any training."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from io import BytesIO, StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from tyro.conf import Positional, arg

from unweave.cli.mistakes import writing
from unweave.cli.parsing import Flag, Plugins, parse, refuse_below
from unweave.data import DATASETS
from unweave.errors import UsageError
from unweave.fields import OneOf
from unweave.files import write_atomically
from unweave.progress import Bar
from unweave.text import facts, table, to_json

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from unweave.perception import Perception
    from unweave.runs import Run

LOSSES = ("mse", "mae", "bce", "mse-box", "mse-gauss", "mse-kernel")
"""The losses that completion offers; others are accepted too."""
NUMBERS = ("values", "mean", "std", "relative", "linear", "rank", "order", "signal")
MATRICES, CUMULATIVE, FACTORS, TABLE = "distances.png", "cumulative.png", "factors.png", "perception.csv"
READING = {
    "mean, std": "perceived distance of images that differ only in the factor",
    "relative": "the mean divided by that of random pairs",
    "linear, rank": "correlation of perceived with ground-truth distances",
    "order": "how often, of three images, the one nearer in the factor is also nearer by the loss (chance: 0.50)",
    "signal": "how much the factor changes images, in order: mean distance summed over pixels, times 2 order − 1",
}
Loss = Annotated[str, OneOf(LOSSES, listed=False)]


@dataclass(frozen=True)
class Perceive:
    """Measure what a reconstruction loss sees of each factor of a data set: can a VAE disentangle it?"""

    data: Annotated[Positional[str], OneOf(DATASETS, listed=False), arg(metavar="DATA")]
    """A data set, or a path to your own images, with options after a colon: xysquares:spacing=4"""
    loss: Annotated[
        str, OneOf(LOSSES, listed=False), arg(metavar="LOSS", help_behavior_hint="(default: mse, or --run's)")
    ] = ""
    """Reconstruction loss, with options after a colon: mse-box:radius=15; "auto" is training's default."""
    run: Annotated[Path | None, arg(metavar="RUN", help_behavior_hint="(optional)")] = None
    """A run on this data set; --out then also draws distances between its codes and its reconstructions."""
    pairs: int = 16_384
    """Pairs of images for each factor, and number of random pairs."""
    traversals: int = 100
    """Traversals of each factor over which distance matrices are averaged."""
    standardise: Flag = False
    """Standardise pixels to mean 0 and deviation 1 first; otherwise they are in [0, 1]."""
    seed: int = 0
    """Seed of the pairs."""
    out: Annotated[Path | None, arg(metavar="DIR", help_behavior_hint="(default: no figures)")] = None
    """Folder for the figures (distance matrices, cumulative distances, factors) and the table as CSV."""
    plugin: Plugins = ()
    """Load methods, nets, metrics and data sets from a Python file or module."""
    json: Flag = False
    """Print one JSON object instead of text."""

    def __post_init__(self) -> None:
        refuse_below(0, seed=self.seed)
        refuse_below(2, pairs=self.pairs)
        refuse_below(1, traversals=self.traversals)


def perceive(words: list[str]) -> None:
    """Run `unweave perceive`."""
    options = parse(Perceive, words, "perceive")
    if options.out is not None and options.out.exists() and not options.out.is_dir():
        raise UsageError(f"--out must be a folder, but '{options.out}' is a file")
    from unweave import perception
    from unweave.data import load
    from unweave.runs import Run

    with Bar(f"reading {options.data}", unit=" images") as bar:
        data = load(options.data, on_progress=bar)
    run = None if options.run is None else Run.open(options.run, data=data)
    loss = options.loss or (run.settings.method.loss if run else "mse")
    standardise = True if options.standardise or (run and run.settings.training.standardise) else None
    with Bar("distances", unit=" pairs") as bar:
        found = perception.perceive(
            data, loss, pairs=options.pairs, seed=options.seed, standardise=standardise, on_progress=bar
        )
        written = [] if options.out is None else _write(found, options, run, standardise, bar)
    if options.json:
        return print(to_json({**_summary(found), "files": [str(path) for path in written]}))
    print(
        f"{options.data}, loss {found.loss}: {options.pairs:,} pairs per factor",
        _text(found),
        *([facts(READING)] if found.factors else []),
        *([facts({"losses": _tried(found)})] if found.losses else []),
        "\n".join([*found.notes, found.sentence]),
        *(["\n".join(f"wrote {path}" for path in written)] if written else []),
        f"next: {_following(options, found)}",
        sep="\n\n",
    )


def _write(found: Perception, options: Perceive, run: Run | None, standardise: bool | None, bar: Bar) -> list[Path]:
    """Write the figures and the table into the folder, and return their paths."""
    from unweave import report
    from unweave.perception import distance_matrices

    out = options.out
    assert out is not None
    content: dict[str, bytes] = {}
    if found.data.is_grid and found.factors:
        matrices = distance_matrices(
            found.data,
            found.loss,
            run=run,
            traversals=options.traversals,
            seed=options.seed,
            standardise=standardise,
            on_progress=bar,
        )
        content[MATRICES] = _png(report.distance_matrices_figure(matrices))
    content[CUMULATIVE] = _png(_figure_of(report.cumulative_distances(found.distances)))
    if found.factors:
        content[FACTORS] = _png(_figure_of(report.factors_seen(found.table())))
    text = StringIO()
    found.table().write_csv(text)
    content[TABLE] = text.getvalue().encode()
    with writing(out):
        out.mkdir(parents=True, exist_ok=True)
        for name, data in content.items():
            write_atomically(out / name, data)
    return [out / name for name in content]


def _figure_of(axes: Any) -> Figure:
    return axes.figure


def _png(figure: Figure) -> bytes:
    buffer = BytesIO()
    figure.savefig(buffer, format="png", dpi=150, facecolor="white")
    return buffer.getvalue()


def _summary(found: Perception) -> dict[str, Any]:
    return {
        "data": found.data.description,
        "loss": found.loss,
        "sentence": found.sentence,
        "notes": list(found.notes),
        "losses": found.losses,
        "learnable": found.learnable,
        "factors": found.table().to_dicts(),
    }


def _text(found: Perception) -> str:
    rows = [
        {
            "factor": str(row["factor"]),
            "values": "" if row["size"] is None else str(row["size"]),
            "mean": _number(row["mean"], 4),
            "std": _number(row["std"], 4),
            **{name: _number(row[name], 2) for name in ("relative", "linear", "rank", "order")},
            "signal": _number(row["signal"], 1),
            "verdict": row["verdict"] or "",
        }
        for row in found.table().to_dicts()
    ]
    return table(rows, numbers=NUMBERS)


def _number(value: float | None, digits: int) -> str:
    return "" if value is None else f"{value:.{digits}f}"


def _tried(found: Perception) -> str:
    return ", ".join(f"{name} {rank:.2f}" for name, rank in found.losses.items()) + " (mean rank correlation)"


def _following(options: Perceive, found: Perception) -> str:
    """Return what to do next: look at the figures, learn a loss, or train with the loss that sees most."""
    data, pixels = shlex.quote(options.data), " --standardise" if options.standardise else ""
    if options.out is None:
        loss = f" --loss {shlex.quote(found.loss)}" if options.loss else ""
        return f"unweave perceive {data}{loss}{pixels} --out perception"
    if found.learnable is not None:
        kind = "" if found.learnable == "kernel" else f" --kind {found.learnable}"
        return f"unweave learn-loss {data}{kind} --out my.loss"
    best = next(iter(found.losses), found.loss) if found.better else found.loss
    return f"unweave train beta-vae --data {data} --loss {shlex.quote(best)}{pixels}"
