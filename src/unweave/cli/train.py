"""`unweave train`: a method, a data set, a folder."""

from __future__ import annotations

import shlex
from dataclasses import asdict, dataclass, field, fields, make_dataclass
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any

from tyro.conf import arg

from unweave import training
from unweave.cli.commands import COMMANDS
from unweave.cli.manners import writing
from unweave.cli.parsing import Flag, parse
from unweave.cli.progress import Progress
from unweave.config import Training
from unweave.data.labels import Labels
from unweave.errors import UsageError, unknown
from unweave.methods import METHODS, Method
from unweave.nets import Net
from unweave.presets import PRESETS, preset, presets_for
from unweave.runs import Run
from unweave.schedules import Scheduled
from unweave.text import facts, first_line, to_json
from unweave.training.history import WATCHED


@dataclass(frozen=True)
class Place:
    """What to train on, where, and what to say about it."""

    data: Annotated[str, arg(metavar="NAME")]
    """The data set, with options after a colon: xysquares:spacing=1"""
    preset: Annotated[str | None, arg(metavar="NAME", help_behavior_hint="(default: none)")] = None
    """Published settings to start from; options given beside it win, and --help beside it shows what it sets."""
    out: Annotated[Path | None, arg(metavar="FOLDER", help_behavior_hint="(default: one below runs)")] = None
    """The run's folder. A run that stopped there goes on."""
    resume: Flag = False
    """Insist on a run that is there already."""
    device: str = "auto"
    """auto, cpu, cuda or mps."""
    threads: Annotated[int | None, arg(metavar="N", help_behavior_hint="(default: all cores)")] = None
    """Threads of the CPU."""
    checkpoint_every: int = 1000
    """Steps between two checkpoints."""
    log_every: int = 50
    """Steps between two rows of the log."""
    track: Annotated[tuple[str, ...], arg(metavar="NAME ...", help_behavior_hint="(default: neither)")] = ()
    """Send the log to tensorboard, wandb or both too."""
    json: Flag = False
    """Print one JSON object instead of text."""


@dataclass(frozen=True)
class NetFlags(Net):
    """Which network, and how large."""

    # The field is called `name`; the option is --net.
    name: Annotated[str, arg(name="net")] = Net.name


@dataclass(frozen=True)
class LabelFlags(Labels):
    """A few labelled images, for a supervised term beside the method's own."""

    count: Annotated[int, arg(name="labels")] = 0
    """Images whose factors are known; 0: none."""
    weight: Annotated[Scheduled, arg(name="label-weight")] = Labels.weight
    term: Annotated[str, arg(name="label-term")] = Labels.term
    kind: Annotated[str, arg(name="label-kind")] = Labels.kind
    bins: Annotated[int, arg(name="label-bins")] = Labels.bins
    noise: Annotated[float, arg(name="label-noise")] = Labels.noise
    factors: Annotated[int | str, arg(name="label-factors")] = Labels.factors
    batch: Annotated[int, arg(name="label-batch")] = Labels.batch

    def __post_init__(self) -> None:
        if self.count:
            super().__post_init__()

    def labels(self) -> Labels | None:
        """Return the labels that are asked for, if any."""
        return Labels(**vars(self)) if self.count else None


@dataclass(frozen=True)
class Options:
    """Train a method on a data set. The same command goes on where it stopped."""

    run: Place
    method: Method
    net: NetFlags = field(default_factory=NetFlags)
    training: Training = field(default_factory=Training)
    labels: LabelFlags = field(default_factory=LabelFlags)


def train(words: list[str]) -> None:
    """Run `unweave train`."""
    if not words or words[0] in ("-h", "--help"):
        return print(_help())
    options = _parse(words[0], words[1:])
    place, net = options.run, options.net
    with Progress(options.training.steps) as progress, writing(place.out or Path("runs")):
        run = training.train(
            options.method,
            data=place.data,
            out=place.out,
            net=net.name,
            latents=net.latents,
            width=net.width,
            **asdict(options.training),
            labels=options.labels.labels(),
            device=place.device,
            threads=place.threads,
            checkpoint_every=place.checkpoint_every,
            log_every=place.log_every,
            resume=place.resume or None,
            track=place.track,
            watch=progress,
        )
    result = _result(run)
    print(to_json(result) if place.json else _summary(result, finished_before=not progress.rows))


def _parse(method: str, words: list[str]) -> Options:
    """Read the options of `unweave train METHOD`: the method's own fields, and those of every method."""
    if method.startswith("-"):
        raise UsageError(f"the method comes first, not '{method}'; for example: {COMMANDS['train'].example}")
    if method not in METHODS:
        raise unknown("method", method, METHODS)
    names = ", ".join(presets_for(method)) or "none"
    kind = make_dataclass(
        "Options",
        [(part, type(default), field(default=default)) for part, default in _defaults(method, words).items()],
        bases=(Options,),
        frozen=True,
        namespace={"__doc__": f"{Options.__doc__}\n\npresets of {method}: {names}"},
    )
    return parse(kind, words, f"train {method}", f"unweave train {method} --data shapes2d --out runs/first")


def _defaults(method: str, words: list[str]) -> dict[str, Any]:
    """Return the default of each part of the options: the ordinary one, or that of the preset which the words name."""
    own, net, training = METHODS[method](), NetFlags(), Training()
    if (name := _value_of("--preset", words)) is None:
        return {"method": own, "net": net, "training": training}
    ordinary = {**vars(own), "net": net.name, "latents": net.latents, "width": net.width, **vars(training)}
    # An option that is given keeps its ordinary default, which the words replace: the preset has no say in it.
    flags = {word.partition("=")[0].removeprefix("--").replace("-", "_") for word in words}
    given = {option: default for option, default in ordinary.items() if option in flags}
    chosen = {**ordinary, **preset(name, method, _value_of("--data", words), **given)}
    return {
        "method": chosen["method"],
        "net": NetFlags(chosen["net"], chosen["latents"], chosen["width"]),
        "training": Training(**{spec.name: chosen[spec.name] for spec in fields(Training)}),
    }


def _value_of(option: str, words: list[str]) -> str | None:
    """Return what the words say after an option, or None."""
    for word, following in pairwise([*words, None]):
        if word == option:
            return following
        if word and word.startswith(f"{option}="):
            return word.partition("=")[2]
    return None


def _help() -> str:
    """Return the help of `unweave train` without a method."""
    methods = facts({name: first_line(kind) for name, kind in METHODS.items()})
    presets = facts({name: found.about for name, found in PRESETS.items()})
    return "\n".join(
        [
            "usage: unweave train METHOD --data NAME [OPTIONS]",
            "",
            f"{Options.__doc__}",
            "",
            "methods:",
            *(f"  {line}" for line in methods.splitlines()),
            "",
            "presets, published settings to start from (--preset NAME):",
            *(f"  {line}" for line in presets.splitlines()),
            "",
            "example:",
            f"  {COMMANDS['train'].example}",
            "",
            "unweave train METHOD --help lists all options; with --preset NAME, as the preset sets them.",
        ]
    )


def _result(run: Run) -> dict[str, Any]:
    """Return what there is to tell of a finished run."""
    log, seconds = run.log(), run.status.get("seconds")
    last: dict[str, Any] = log.row(-1, named=True) if len(log) else {"loss": None}
    return {
        "run": str(run.path),
        "id": run.id,
        "method": run.config["method"]["name"],
        "data": run.config["data"]["name"],
        "steps": run.step,
        "seconds": seconds,
        "steps_per_second": round(run.step / seconds, 3) if seconds else None,
        "loss": last["loss"],
        "terms": {name: value for name, value in last.items() if _is_term(name)},
    }


def _is_term(column: str) -> bool:
    """Tell whether a column of the log is a term of the loss."""
    return column not in ("step", "seconds", "loss") and not column.startswith(WATCHED)


def _summary(result: dict[str, Any], *, finished_before: bool) -> str:
    """Return the result as a few lines, with the command that comes next."""
    terms = " + ".join(f"{name} {value:.2f}" for name, value in result["terms"].items())
    folder = shlex.quote(result["run"])
    done = "had finished already" if finished_before else "has finished"
    speed = f" in {result['seconds']:.1f} s ({rate:.1f} steps/s)" if (rate := result["steps_per_second"]) else ""
    loss = "its log is gone" if result["loss"] is None else f"loss {result['loss']:.2f} = {terms}"
    return "\n".join(
        [
            f"{folder} {done}: {result['method']} on {result['data']}, {result['steps']:,} steps{speed}",
            loss,
            "",
            f"next: unweave evaluate {folder}",
        ]
    )
