"""`unweave learn-loss`: learn a reconstruction loss whose distances follow the factors."""

from __future__ import annotations

import shlex
from dataclasses import asdict, dataclass, field
from io import BytesIO
from pathlib import Path
from typing import Annotated

from tyro.conf import Positional, arg

from unweave.cli.mistakes import writing
from unweave.cli.parsing import Flag, Plugins, parse
from unweave.data import DATASETS, Dataset, load
from unweave.errors import UsageError
from unweave.fields import OneOf
from unweave.files import refuse_special, write_atomically
from unweave.perception.agreement import LEARNT, Agreement
from unweave.perception.learning import Learning, LearntLoss, check_out, learn_loss
from unweave.progress import Bar
from unweave.text import table, to_json

MEANINGS = """linear, rank: correlation of perceived with ground-truth distances, on new pairs
factors: along one factor, where a pair may be one image twice, means over the factors; random: two different images"""


@dataclass(frozen=True)
class Flags(Learning):
    """What is learnt, and how."""

    radius: Annotated[int | None, arg(metavar="R", help_behavior_hint="(default: 31 at 64 pixels)")] = None
    """Pixels from the kernel's centre to its edge; by default half the image."""


@dataclass(frozen=True)
class LearnLoss:
    """Learn a reconstruction loss whose distances between images follow those between their factors."""

    data: Annotated[Positional[str], OneOf(DATASETS, listed=False), arg(metavar="DATA")]
    """The data set, with options after a colon: xysquares:size=32"""
    out: Annotated[Path, arg(metavar="FILE")]
    """The file to write, which ends in .loss; pass it to `unweave train` as --loss FILE."""
    learning: Flags = field(default_factory=Flags)
    picture: Annotated[Path | None, arg(metavar="FILE", help_behavior_hint="(default: none)")] = None
    """Also draw the kernel, and images as the loss compares them, as a PNG."""
    plugin: Plugins = ()
    """Load methods, nets, metrics and data sets from a Python file or module."""
    json: Flag = False
    """Print one JSON object instead of text."""


def learn(words: list[str]) -> None:
    """Run `unweave learn-loss`."""
    options = parse(LearnLoss, words, "learn-loss")
    check_out(options.out)
    _check_picture(options)
    with Bar(f"reading {options.data}", unit=" images") as bar:
        data = load(options.data, on_progress=bar)
    _check_channels(options, data)
    learnt = _learnt(options, data)
    if options.picture is not None:
        _draw(learnt, data, options.picture)
    if options.json:
        return print(to_json(_result(options, learnt)))
    following = shlex.join(["unweave", "train", "beta-vae", "--data", options.data, "--loss", str(options.out)])
    written = " and ".join(str(path) for path in (options.out, options.picture) if path is not None)
    print(f"wrote {written}: {_what(learnt)}", _table(options, learnt), MEANINGS, f"next: {following}", sep="\n\n")


def _learnt(options: LearnLoss, data: Dataset) -> LearntLoss:
    try:
        with Bar("learning a loss", unit=" steps") as bar, writing(options.out):
            return learn_loss(data, out=options.out, on_progress=bar, **asdict(options.learning))
    except KeyboardInterrupt as stopped:
        raise KeyboardInterrupt(f"{str(stopped) or 'interrupted'}; nothing was written") from None


def _check_picture(options: LearnLoss) -> None:
    """Raise a `UsageError` if the picture cannot be written, before spending minutes on learning."""
    place = options.picture
    if place is None:
        return
    if place.suffix.lower() != ".png":
        raise UsageError(f"the picture is a PNG: write --picture {place.with_suffix('.png')}, not '{place}'")
    if place.is_dir() or not place.parent.is_dir():
        what = "is a folder" if place.is_dir() else f"cannot be written: there is no folder '{place.parent}'"
        raise UsageError(f"'{place}' {what}; choose another name")
    refuse_special(place)


def _check_channels(options: LearnLoss, data: Dataset) -> None:
    if options.picture is not None and data.has_images and data.shape[2] not in (1, 3):
        raise UsageError(f"a picture needs images of 1 or 3 channels, not {data.shape[2]}; leave out --picture")


def _draw(learnt: LearntLoss, data: Dataset, place: Path) -> None:
    from unweave.report.learnt_loss import learnt_loss_picture

    content = BytesIO()
    learnt_loss_picture(learnt.file, data).save(content, "PNG")
    with writing(place):
        write_atomically(place, content.getvalue())


def _what(learnt: LearntLoss) -> str:
    """Return what was learnt."""
    if learnt.kernel is None:
        return f"an autoencoder of {sum(each.numel() for each in learnt.file.tensors.values()):,} weights"
    return f"a kernel of radius {learnt.file.radius}, which adds up to {learnt.kernel.sum():.4g}"


def _table(options: LearnLoss, learnt: LearntLoss) -> str:
    rows = [
        {
            "loss": str(options.out) if name == LEARNT else name,
            "factors: linear": f"{each.factor.linear:.3f}",
            "factors: rank": f"{each.factor.rank:.3f}",
            "random: linear": f"{each.random.linear:.3f}",
            "random: rank": f"{each.random.rank:.3f}",
        }
        for name, each in learnt.agreements.items()
    ]
    return table(rows, numbers=list(rows[0])[1:])


def _result(options: LearnLoss, learnt: LearntLoss) -> dict[str, object]:
    return {
        "out": str(options.out),
        "picture": None if options.picture is None else str(options.picture),
        "kind": learnt.file.kind,
        "radius": learnt.file.radius,
        "data": learnt.file.record["data"],
        "settings": learnt.file.record["settings"],
        "correlations": {name: _numbers(each) for name, each in learnt.agreements.items()},
    }


def _numbers(each: Agreement) -> dict[str, object]:
    return {"factor": each.factor._asdict(), **each.to_json()}
