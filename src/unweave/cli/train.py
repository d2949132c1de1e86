"""`unweave train`: a method, a data set, a folder."""

from __future__ import annotations

import shlex
from dataclasses import asdict, dataclass, field, make_dataclass
from pathlib import Path
from typing import Annotated, Any

from tyro.conf import arg

from unweave import training
from unweave.cli.commands import COMMANDS
from unweave.cli.manners import writing
from unweave.cli.parsing import Flag, parse
from unweave.cli.progress import Progress
from unweave.config import Training
from unweave.errors import UsageError, unknown
from unweave.methods import METHODS, Method
from unweave.nets import Net
from unweave.runs import Run
from unweave.text import facts, first_line, to_json


@dataclass(frozen=True)
class Place:
    """What to train on, where, and what to say about it."""

    data: Annotated[str, arg(metavar="NAME")]
    """The data set, with options after a colon: xysquares:spacing=1"""
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
class Options:
    """Train a method on a data set. The same command goes on where it stopped."""

    run: Place
    method: Method
    net: NetFlags = field(default_factory=NetFlags)
    training: Training = field(default_factory=Training)


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
    kind = make_dataclass(
        "Options", [("method", METHODS[method])], bases=(Options,), frozen=True, namespace={"__doc__": Options.__doc__}
    )
    return parse(kind, words, f"train {method}", f"unweave train {method} --data shapes2d --out runs/first")


def _help() -> str:
    """Return the help of `unweave train` without a method."""
    methods = facts({name: first_line(kind) for name, kind in METHODS.items()})
    return "\n".join(
        [
            "usage: unweave train METHOD --data NAME [OPTIONS]",
            "",
            f"{Options.__doc__}",
            "",
            "methods:",
            *(f"  {line}" for line in methods.splitlines()),
            "",
            "example:",
            f"  {COMMANDS['train'].example}",
            "",
            "unweave train METHOD --help lists all options.",
        ]
    )


def _result(run: Run) -> dict[str, Any]:
    """Return what there is to tell of a finished run."""
    last = run.log().row(-1, named=True)
    seconds = run.status["seconds"]
    return {
        "run": str(run.path),
        "id": run.id,
        "method": run.config["method"]["name"],
        "data": run.config["data"]["name"],
        "steps": run.step,
        "seconds": seconds,
        "steps_per_second": round(run.step / seconds, 3),
        "loss": last["loss"],
        "terms": {name: value for name, value in last.items() if name not in ("step", "seconds", "loss")},
    }


def _summary(result: dict[str, Any], *, finished_before: bool) -> str:
    """Return the result as a few lines, with the command that comes next."""
    terms = " + ".join(f"{name} {value:.2f}" for name, value in result["terms"].items() if name != "adversary")
    folder = shlex.quote(result["run"])
    done = "had finished already" if finished_before else "has finished"
    return "\n".join(
        [
            f"{folder} {done}: {result['method']} on {result['data']}, {result['steps']:,} steps "
            f"in {result['seconds']:.1f} s ({result['steps_per_second']:.1f} steps/s)",
            f"loss {result['loss']:.2f} = {terms}",
            "",
            f"next: unweave evaluate {folder}",
        ]
    )
