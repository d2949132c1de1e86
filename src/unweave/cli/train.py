"""`unweave train`: train a method on a data set, into a folder."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, make_dataclass
from pathlib import Path
from typing import Annotated, Any

from tyro.conf import Suppress, arg

from unweave import training
from unweave.cli.commands import COMMANDS
from unweave.cli.mistakes import writing
from unweave.cli.options import given_words, options_of
from unweave.cli.parsing import Flag, Plugins, parse
from unweave.config import Training
from unweave.data import DATASETS
from unweave.data.labels import KINDS, TERMS, Labels
from unweave.devices import DEVICES
from unweave.errors import UsageError
from unweave.fields import OneOf
from unweave.methods import METHODS, Method, OrthogonalJacobian, with_defaults
from unweave.methods.base import KIND
from unweave.nets import AUTO, NETS, Net
from unweave.origins import plugin_words
from unweave.presets import PRESETS, preset, presets_for
from unweave.runs import Run, status_of
from unweave.schedules import Scheduled
from unweave.text import data_title, facts, first_line, to_json
from unweave.tracing import SAMPLES
from unweave.training.history import DIAGNOSTICS
from unweave.training.trackers import TRACKERS


@dataclass(frozen=True)
class Place:
    """What to train on, where, and what to record."""

    data: Annotated[str, OneOf(DATASETS, listed=False), arg(metavar="NAME")]
    """The data set, with options after a colon: xysquares:spacing=1"""
    preset: Annotated[str | None, arg(metavar="NAME", help_behavior_hint="(default: none)")] = None
    """Published settings to start from; other options override them. Add --help to see what the preset sets."""
    out: Annotated[Path | None, arg(metavar="FOLDER", help_behavior_hint="(default: one below runs)")] = None
    """The run's folder. An interrupted run continues; a finished one is trained further if --steps is larger."""
    snapshots: Annotated[tuple[int, ...], arg(metavar="STEP ...", help_behavior_hint="(default: none)")] = ()
    """Steps after which the weights are saved, in addition to the last step."""
    trace_every: Annotated[int | None, arg(metavar="N", help_behavior_hint="(default: never)")] = None
    """Steps between traces of the decoder's hidden layers on a few fixed images, for unweave select."""
    trace_samples: Annotated[int | None, arg(metavar="N", help_behavior_hint=f"(default: {SAMPLES})")] = None
    """Number of images in each trace."""
    resume: Flag = False
    """Fail unless the folder already holds a run."""
    overwrite: Flag = False
    """Remove the existing run, and start again."""
    device: Annotated[str, OneOf(DEVICES)] = "auto"
    """Where to train; auto: on a GPU if there is one."""
    threads: Annotated[int | None, arg(metavar="N", help_behavior_hint="(default: all cores)")] = None
    """Number of CPU threads."""
    checkpoint_every: int = 1000
    """Steps between two checkpoints."""
    log_every: int = 50
    """Steps between two rows of the log."""
    track: Annotated[tuple[str, ...], OneOf(TRACKERS), arg(help_behavior_hint="(default: neither)")] = ()
    """Also send the log to one of these trackers, or to both."""
    plugin: Plugins = ()
    """Load methods, nets, metrics and data sets from a Python file or module."""
    json: Flag = False
    """Print one JSON object instead of text."""


@dataclass(frozen=True)
class NetFlags(Net):
    """Which network, and how large."""

    # The field is called `name`; the option is --net.
    name: Annotated[str, OneOf((AUTO,), NETS), arg(name="net")] = Net.name
    architecture: Suppress[str] = ""
    weights: Suppress[str] = ""


@dataclass(frozen=True)
class LabelFlags(Labels):
    """A few labelled images, for a supervised term added to the method's objective."""

    count: Annotated[int, arg(name="labels")] = 0
    """Number of images whose factors are known; 0: none."""
    weight: Annotated[Scheduled, arg(name="label-weight")] = Labels.weight
    term: Annotated[str, OneOf(TERMS), arg(name="label-term")] = Labels.term
    kind: Annotated[str, OneOf(KINDS), arg(name="label-kind")] = Labels.kind
    bins: Annotated[int, arg(name="label-bins")] = Labels.bins
    noise: Annotated[float, arg(name="label-error-rate")] = Labels.noise
    factors: Annotated[int | str, arg(name="label-factors")] = Labels.factors
    batch: Annotated[int, arg(name="label-batch")] = Labels.batch
    sharpness: Annotated[float, arg(name="label-sharpness")] = Labels.sharpness

    def __post_init__(self) -> None:
        if self.count:
            super().__post_init__()

    def labels(self) -> Labels | None:
        """Return the labels, if any are requested."""
        return Labels(**vars(self)) if self.count else None


@dataclass(frozen=True)
class JacobianFlags(OrthogonalJacobian):
    """Orthogonal columns of the decoder's Jacobian, as a term added to the method's objective."""

    weight: Annotated[Scheduled, arg(name="jacobian-weight")] = 0.0
    """Weight of the term; a number, or a schedule such as 0:100@10000; 0: no term."""
    columns: Annotated[int, arg(name="jacobian-columns")] = OrthogonalJacobian.columns
    codes: Annotated[int, arg(name="jacobian-codes")] = OrthogonalJacobian.codes

    def jacobian(self) -> OrthogonalJacobian | None:
        """Return the term, if it is requested."""
        return None if self.weight == 0 else OrthogonalJacobian(**vars(self))


@dataclass(frozen=True)
class Options:
    """Train a method on a data set. The same command continues an interrupted run."""

    run: Place
    method: Method
    net: NetFlags = field(default_factory=NetFlags)
    training: Training = field(default_factory=Training)
    labels: LabelFlags = field(default_factory=LabelFlags)
    jacobian: JacobianFlags = field(default_factory=JacobianFlags)


def train(words: list[str]) -> None:
    """Run `unweave train`."""
    if not words or words[0] in ("-h", "--help"):
        return print(_help())
    options = _parse(words[0], words[1:])
    place, net = options.run, options.net
    before = 0 if place.out is None or place.overwrite else _step(place.out)
    with writing(place.out or Path("runs")):
        run = training.train(
            options.method,
            data=place.data,
            out=place.out,
            net=net.name,
            latents=net.latents,
            width=net.width,
            depth=net.depth,
            **asdict(options.training),
            labels=options.labels.labels(),
            jacobian=options.jacobian.jacobian(),
            device=place.device,
            threads=place.threads,
            checkpoint_every=place.checkpoint_every,
            log_every=place.log_every,
            snapshots=place.snapshots,
            trace_every=place.trace_every,
            trace_samples=place.trace_samples,
            resume=place.resume or None,
            overwrite=place.overwrite,
            track=place.track,
        )
    result = {**_result(run), "from_step": before}
    print(to_json(result) if place.json else _summary(result, data_title(run.config["data"])))


def _parse(method: str, words: list[str]) -> Options:
    """Parse the options of `unweave train METHOD`: the method's fields, and the options of all methods."""
    if method.startswith("-"):
        raise UsageError(f"the method comes first, not '{method}'; for example: {COMMANDS['train'].example}")
    names = ", ".join(presets_for(method)) or "none"
    about = f"{Options.__doc__}\n\npresets of {method}: {names}"
    kind = options_kind(_from_preset(method, words), about)
    return parse(kind, words, f"train {method}", f"unweave train {method} --data shapes2d --out runs/first")


def options_kind(defaults: Mapping[str, Any], about: str | None = None) -> type[Options]:
    """Return the options of `unweave train METHOD` as a dataclass with these defaults for its parts."""
    parts = [(part, type(default), field(default=default)) for part, default in defaults.items()]
    return make_dataclass("Options", parts, bases=(Options,), frozen=True, namespace={"__doc__": about})


def ordinary(method: str) -> dict[str, Any]:
    """Return the default of each part of the options without a preset."""
    return {"method": with_defaults(method), "net": NetFlags(), "training": Training()}


def _from_preset(method: str, words: list[str]) -> dict[str, Any]:
    """Return the default of each part of the options: the ordinary one, or that of the preset named in the words."""
    usual = ordinary(method)
    given = given_words(words, options_of(options_kind(usual)))
    (name,) = given.get(("run", "preset")) or [None]
    (data,) = given.get(("run", "data")) or [None]
    if name is None:
        return usual
    flat = {(part, key): value for part, settings in usual.items() for key, value in vars(settings).items()}
    # A given option keeps its ordinary default, which the words replace; the preset does not affect it.
    kept = {_argument(place): value for place, value in flat.items() if place in given}
    chosen = {_argument(place): value for place, value in flat.items()} | preset(name, method, data, **kept)
    return {
        "method": chosen["method"],
        "net": NetFlags(chosen["net"], chosen["latents"], chosen["width"], chosen["depth"]),
        "training": Training(**{spec.name: chosen[spec.name] for spec in fields(Training)}),
        "labels": LabelFlags(**vars(chosen["labels"])) if "labels" in chosen else LabelFlags(),
    }


def _argument(place: tuple[str, str]) -> str:
    """Return the name of a setting as an argument of `unweave.train`."""
    return "net" if place == ("net", "name") else place[1]


def _help() -> str:
    """Return the help of `unweave train` without a method."""
    methods = facts({name: first_line(kind) for name, kind in {**METHODS, **KIND.own}.items()})
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
    """Return the facts about a finished run."""
    log, seconds = run.log(), run.status.get("seconds")
    last: dict[str, Any] = log.row(-1, named=True) if len(log) else {"loss": None}
    return {
        "run": str(run.path),
        "id": run.id,
        "method": run.config["method"]["name"],
        "data": run.config["data"]["name"],
        "plugins": run.plugins,
        "steps": run.step,
        "seconds": seconds,
        "steps_per_second": round(run.step / seconds, 3) if seconds else None,
        "loss": last["loss"],
        "terms": {name: value for name, value in last.items() if _is_term(name)},
    }


def _is_term(column: str) -> bool:
    """Return whether a column of the log is a term of the loss."""
    return column not in ("step", "seconds", "loss") and not column.startswith(DIAGNOSTICS)


def _step(folder: Path) -> int:
    """Return the step that the run in this folder has reached: 0 if there is none, or none that can be read."""
    try:
        return status_of(folder)["step"]
    except UsageError:
        return 0


def _summary(result: dict[str, Any], data: str) -> str:
    """Return the result as a few lines, with the next command."""
    terms = " + ".join(f"{name} {value:.2f}" for name, value in result["terms"].items())
    folder = shlex.quote(result["run"])
    before, steps = result["from_step"], result["steps"]
    went_on = f"continued from step {before:,} and " if before else ""
    done = "had finished already" if before == steps else f"{went_on}has finished"
    speed = f" in {result['seconds']:.1f} s ({rate:.1f} steps/s)" if (rate := result["steps_per_second"]) else ""
    loss = (
        "its log is missing" if result["loss"] is None else f"loss {result['loss']:.2f} = {terms}, each with its weight"
    )
    return "\n".join(
        [
            f"{folder} {done}: {result['method']} on {data}, {steps:,} steps{speed}",
            loss,
            "",
            f"next: unweave evaluate {folder}{plugin_words(result['plugins'])}",
        ]
    )
