"""From data sets × methods × settings × seeds to the configurations of all runs.

A list is a dimension of the grid. Runs are ordered by seed first, so that a half-finished study has every cell.
"""

from __future__ import annotations

import tomllib
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from unweave.config import Config, Training
from unweave.data import Dataset, Labels, load
from unweave.errors import UsageError, unknown
from unweave.fields import types_of
from unweave.methods import Method, OrthogonalJacobian, Schedule, method_of
from unweave.metrics.request import Request
from unweave.nets import Net
from unweave.presets import preset
from unweave.study.checks import check_kinds, check_list, check_names
from unweave.study.plan import Plan, Scoring
from unweave.study.task import Task, task_of
from unweave.tracing import Tracing
from unweave.training.resolve import check_snapshots, resolved

Settings = Mapping[str, Any]
T = TypeVar("T")
TRAINING = tuple(spec.name for spec in fields(Training) if spec.name != "seed")
OPTIONS = (*TRAINING, "net", "latents", "width", "depth", "labels", "jacobian", "loss")
"""What a study may set for all methods or for one of them: the options of `unweave.train`, and the loss."""
SCORING = ("samples", "test_samples", "preset", "options", "label_noise", "bin_factors", "seed", "intervals", "floors")


class Source(NamedTuple):
    """A data set of a study: its name there, the set, and training options for it alone."""

    name: str
    data: Dataset
    options: Settings


@dataclass(frozen=True)
class Grid:
    """A study as written in Python or in a TOML file."""

    data: Sequence[str | Dataset | Settings]
    """Data sets by name, with options after a colon; or tables with such a name and options of `unweave.train`."""
    methods: Sequence[Method | str | Settings]
    """Methods; or their names with settings, where a list is a dimension of the grid."""
    seeds: Sequence[int]
    """Seeds of training."""
    metrics: Sequence[str] = ()
    """Names and groups, as for `unweave.evaluate`."""
    snapshots: Sequence[int] = ()
    """Steps at which weights are saved and scored, in addition to the last."""
    evaluate: Settings = field(default_factory=dict)
    """How runs are scored: samples, test_samples, preset, intervals, floors …"""
    options: Settings = field(default_factory=dict)
    """Options of `unweave.train` for all methods; a list is a dimension."""
    trace_every: int | None = None
    """Steps between traces of the decoder's hidden layers; None: no traces."""
    trace_samples: int | None = None
    """Number of images in each trace."""

    def __post_init__(self) -> None:
        for name, values in (("data", self.data), ("methods", self.methods), ("seeds", self.seeds)):
            if isinstance(values, str | Mapping) or not isinstance(values, Sequence | range) or not len(values):
                raise UsageError(f"a study needs a list of {name}, not {values!r}")
        check_list("data", self.data, (str, Dataset, Mapping), "data sets by name")
        check_list("methods", self.methods, (Method, str, Mapping), "methods")
        check_list("metrics", self.metrics, str, "metrics by name")
        check_list("snapshots", self.snapshots, int, "steps")
        self.tracing()
        if not isinstance(self.evaluate, Mapping):
            raise UsageError(f"evaluate must be a table of settings, not {self.evaluate!r}")
        if wrong := [seed for seed in self.seeds if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0]:
            raise UsageError(f"a seed must be a whole number, 0 or more, not {wrong[0]!r}")
        check_names("setting of a study", self.options, OPTIONS)
        check_names("setting of evaluate", self.evaluate, SCORING)
        check_kinds(self.evaluate, Scoring)
        check_kinds(self.evaluate, Request)

    def plan(self) -> Plan:
        """Return every run of the grid once, in the order in which they are run."""
        tasks: dict[str, Task] = {}
        loaded = [_loaded(data) for data in self.data]
        with warnings.catch_warnings():
            warnings.simplefilter("once")  # not once for every seed
            for seed in self.seeds:
                for config in self._configs(loaded, seed):
                    task = task_of(config.to_json(), config.id)
                    tasks[task.name] = task
        if not tasks:
            raise UsageError("no method of the study applies to any of its data sets")
        return Plan(tuple(tasks.values()), self.scoring(), tuple(sorted({*map(int, self.snapshots)})), self.tracing())

    def tracing(self) -> Tracing | None:
        """Return which moments are traced, after checks."""
        return Tracing.of(self.trace_every, self.trace_samples)

    def scoring(self) -> Scoring:
        """Return how runs are scored, after checks."""
        settings = dict(self.evaluate)
        samples, test_samples = (settings.pop(name, None) for name in ("samples", "test_samples"))
        scoring = Scoring(tuple(self.metrics), samples, test_samples, settings)
        scoring.keys()  # raises for a misspelt metric or option before anything is trained
        return scoring

    def _configs(self, loaded: Sequence[Source], seed: int) -> Iterator[Config]:
        for source in loaded:
            for method in self.methods:
                entry = _entry(method)
                if source.name in _names_of(entry.pop("data", source.name), loaded):
                    for settings in _choices({**self.options, **source.options, **entry}):
                        config = resolved(_config(settings, source.data, seed), source.data)
                        check_snapshots(self.snapshots, config.training.steps)
                        yield config


def read_grid(path: Path) -> Grid:
    """Return the study in a TOML file."""
    try:
        written = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UsageError(f"there is no file '{path}'") from None
    except IsADirectoryError:
        raise UsageError(f"'{path}' is a folder; name the TOML file that defines the study") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"'{path}' is not a valid TOML file: {error}") from error
    try:
        return grid_of(written)
    except UsageError as error:
        raise UsageError(f"'{path}': {error}") from error


def grid_of(written: Mapping[str, Any]) -> Grid:
    """Return the study that a mapping describes, such as the content of a TOML file."""
    own = tuple(spec.name for spec in fields(Grid) if spec.name != "options")
    check_names("setting of a study", written, (*own, *OPTIONS))
    for name in ("data", "methods", "seeds"):
        if name not in written:
            raise UsageError(f"a study needs {name}")
    values = {name: written[name] for name in own if name in written}
    values["seeds"] = seeds_of(values["seeds"])
    for name in ("data", "metrics"):
        alone = isinstance(values.get(name, []), str | Mapping)
        values[name] = [values[name]] if alone else values.get(name, [])
    return Grid(**values, options={name: value for name, value in written.items() if name not in own})


def seeds_of(seeds: object) -> Sequence[int]:
    """Return seeds given as a list, or as their number."""
    if isinstance(seeds, int) and not isinstance(seeds, bool):
        if seeds < 1:
            raise UsageError(f"a study needs at least one seed, not {seeds}")
        return list(range(seeds))
    if isinstance(seeds, Sequence | range) and not isinstance(seeds, str):
        return list(seeds)
    raise UsageError(f"seeds must be a number of seeds or a list of them, not {seeds!r}")


def _entry(method: Method | str | Settings) -> dict[str, Any]:
    """Return a method with its settings as one mapping; a `Method` is kept as it is."""
    if isinstance(method, Method):
        return {"method": method}
    entry = {"name": method} if isinstance(method, str) else dict(method)
    name = entry.get("name")
    if not isinstance(name, str):
        raise UsageError(f"a method of a study needs a name, not {name!r}")
    own = [spec.name for spec in fields(method_of(name))]
    check_names(f"setting of {name}", entry, ("name", "preset", "data", *own, *OPTIONS))
    return entry


def _names_of(wanted: str | Sequence[str], loaded: Sequence[Source]) -> Sequence[str]:
    """Return the data sets that a method is limited to."""
    names = [wanted] if isinstance(wanted, str) else wanted
    check_list("data of a method", names, str, "data sets of this study")
    known = [source.name for source in loaded]
    for name in names:
        if name not in known:
            raise unknown("data set of this study", name, known)
    return names


def _choices(settings: Settings) -> Iterator[dict[str, Any]]:
    """Yield one mapping for every combination of the values that are lists."""
    lists = {name: value for name, value in settings.items() if isinstance(value, list | tuple)}
    if empty := [name for name, values in lists.items() if not values]:
        raise UsageError(f"{empty[0]} is an empty list")
    for values in product(*lists.values()):
        yield {**settings, **dict(zip(lists, values, strict=True))}


def _config(settings: dict[str, Any], data: Dataset, seed: int) -> Config:
    """Return the configuration of one run, before defaults that depend on the data are resolved."""
    check_kinds(settings, Training)
    check_kinds(settings, Net, {"net": "name", "name": ""})
    if "name" in settings:
        settings = _with_method(settings, data)
    elif "loss" in settings and settings["method"].loss == "auto":
        settings["method"] = replace(settings["method"], loss=settings["loss"])
    training = {name: settings[name] for name in TRAINING if name in settings}
    chosen = {name: settings[name] for name in ("latents", "width", "depth") if name in settings}
    net = Net(settings.get("net", Net.name), **chosen)
    labels, jacobian = _beside(settings, "labels", Labels), _beside(settings, "jacobian", OrthogonalJacobian)
    return Config(settings["method"], data.description, net, Training(**training, seed=seed), labels, jacobian)


def _beside(settings: Settings, part: str, kind: type[T]) -> T | None:
    """Return the settings of a term added to the method's objective, if there is one."""
    given = settings.get(part)
    if isinstance(given, Mapping):
        types = types_of(kind)
        check_names(f"setting of {part}", given, list(types))
        given = {name: _value(value, types[name]) for name, value in given.items()}
        check_kinds(given, kind)
        given = kind(**given)
    if given is not None and not isinstance(given, kind):
        raise UsageError(f"{part} must be a table of settings, not {given!r}")
    return given


def _with_method(settings: Settings, data: Dataset) -> dict[str, Any]:
    """Return the settings with the method built from its name and fields, completed by a preset if one is named."""
    settings = dict(settings)
    name, published = settings.pop("name"), settings.pop("preset", None)
    kind = method_of(name)
    types = types_of(kind)
    own = {key: _value(settings.pop(key), types[key]) for key in types if key in settings}
    check_kinds(own, kind)
    if not isinstance(published, str | None):
        raise UsageError(f"preset must be a name, not {published!r}")
    if published is None:
        return {**settings, "method": kind(**own)}
    return preset(published, name, data, **settings, **own)


def _value(value: Any, types: frozenset[type]) -> Any:
    """Return a field's value; a schedule is written as text."""
    return Schedule.read(value) if isinstance(value, str) and Schedule in types else value


def _loaded(entry: str | Dataset | Settings) -> Source:
    if isinstance(entry, Dataset):
        return Source(entry.name, entry, {})
    options = {"name": entry} if isinstance(entry, str) else dict(entry)
    name = options.pop("name", None)
    if not isinstance(name, str):
        raise UsageError(f"a data set of a study needs a name, not {name!r}")
    check_names(f"training option of {name}", options, OPTIONS)
    return Source(name, load(name), options)
