"""A request for scores: which metrics, with which options, checked before any work is done."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Annotated, Any

import numpy as np

from unweave.errors import UsageError, unknown
from unweave.fields import OneOf
from unweave.metrics.dry_run import dry_run
from unweave.metrics.inputs import bin_count, generator, whole_number
from unweave.metrics.label_noise import REGIMES
from unweave.metrics.metric import INPUTS, Metric
from unweave.metrics.presets import PRESETS
from unweave.metrics.reading import whole_columns
from unweave.metrics.table import GROUPS, METRICS, metric_of

Options = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True)
class Request:
    """Which scores to compute, and how. `evaluate`, `Run.evaluate` and the command line take these by name."""

    metrics: str | Sequence[str] = "all"
    """Names of metrics, or groups of them: all, study, overcomplete."""
    preset: Annotated[str, OneOf(PRESETS)] = "paper"
    """Sample counts: paper (those of the published studies) or fast."""
    options: Options = field(default_factory=dict)
    """Options of single metrics, such as {"mig": {"bins": 30}}."""
    label_noise: int | None = None
    """Regime, 1 to 3, of noise added to the factors before scoring."""
    bin_factors: int | None = None
    """Cut continuous factors into this many groups of equal counts, for the metrics that need classes."""
    categorical: Sequence[int] = ()
    """Columns of codes, counted from 0, that hold categories, whose numbers are names; a run knows its own."""
    seed: int = 0
    """Seed of all random choices."""
    intervals: bool = True
    """Compute the 95 % interval of each score over images."""
    replicates: int | None = None
    """Half-samples behind an interval; by default 200 where that is cheap, 5 to 10 where each needs another fit."""
    floors: bool = True
    """Compute the floor (shuffled factors) and the ceiling (the factors as codes) of each score."""
    details: bool = False
    """Add rows with the value of each factor, where a metric has them."""

    @classmethod
    def of(cls, metrics: str | Sequence[str], settings: Mapping[str, Any]) -> Request:
        """Return the request with these settings; the error for a misspelt name suggests the nearest one."""
        names = [item.name for item in fields(cls) if item.name != "metrics"]
        for name in settings:
            if name not in names:
                raise unknown("argument", name, names)
        return cls(metrics, **settings)

    def __post_init__(self) -> None:
        chosen = self.choose()
        if not isinstance(self.preset, str) or self.preset not in PRESETS:
            raise unknown("preset", str(self.preset), PRESETS)
        noise = self.label_noise
        if noise is not None and (not isinstance(noise, int | np.integer) or noise not in REGIMES):
            raise UsageError(f"label_noise must be 1, 2 or 3, got {noise!r}")
        if self.replicates is not None:
            whole_number(self.replicates, "replicates", 2)
        if self.bin_factors is not None:
            bin_count(self.bin_factors, "bin_factors")
        generator(self.seed, 0)
        self._check_options(chosen)

    def _check_options(self, chosen: Sequence[str]) -> None:
        """Try the user's options on a small data set, so that a mistake raises before any work."""
        options = self.options
        if not isinstance(options, Mapping) or not all(isinstance(changes, Mapping) for changes in options.values()):
            raise UsageError(f"options must be a mapping such as {{'mig': {{'bins': 30}}}}, got {options!r}")
        for name in options:
            settings = self.settings_of(name)
            if name not in chosen:
                raise UsageError(f"there are options for '{name}', which is not among the requested metrics")
            try:
                dry_run(metric_of(name), settings)
            except UsageError as error:
                raise UsageError(f"{name}: {error}") from error

    def settings_of(self, name: str) -> dict[str, Any]:
        """Return the options of a metric: those of the preset with the user's changes."""
        return metric_of(str(name)).chosen_options(self.preset, self.options.get(name, {}))

    @property
    def by_name(self) -> list[str]:
        """The requested names and groups."""
        if not isinstance(self.metrics, str | Sequence):
            raise UsageError(f"metrics must be a name or several names, got {self.metrics!r}")
        return [self.metrics] if isinstance(self.metrics, str) else [str(name) for name in self.metrics]

    def choose(self, inputs: Mapping[str, Any] | None = None) -> list[str]:
        """Return the requested metrics, each once, in the given order; of a group, those whose inputs are there.

        Without `inputs` nothing is left out: only the names are checked.
        """
        if not self.by_name:
            raise UsageError(f"no metric is requested (known: {', '.join([*GROUPS, *METRICS])})")
        chosen: dict[str, None] = {}
        for name in self.by_name:
            if name in GROUPS:
                chosen |= dict.fromkeys(n for n in GROUPS[name] if inputs is None or not lacking(METRICS[n], inputs))
                continue
            metric = metric_of(name)
            if inputs is not None and (what := lacking(metric, inputs)):
                raise UsageError(f"the metric '{name}' needs {what}")
            chosen[name] = None
        return list(chosen)


def lacking(metric: Metric[..., Any], inputs: Mapping[str, Any]) -> str:
    """Return in words which inputs a metric lacks, or nothing."""
    if inputs.get("label_noise") is not None and "encode" in metric.needs:
        return "clean labels: it intervenes on the factors themselves; score it without label noise"
    if inputs.get("categorical") and metric.categories == "none":
        return "codes that are numbers, and some are categorical"
    missing = metric.missing(inputs)
    of_rows = "factors" in metric.needs or ("source" in metric.needs and inputs.get("source") is None)
    if of_rows and not metric.continuous and inputs.get("continuous") and {*missing} <= {INPUTS["source"]}:
        hint = "give bin_factors=10 (--bin-factors 10), say, to cut continuous ones into groups of equal counts"
        return f"factors that are classes; {hint}{or_swapped(inputs)}"
    return " and ".join(dict.fromkeys(missing))


def or_swapped(inputs: Mapping[str, Any]) -> str:
    """Return a question to add where factors are continuous, if codes are whole numbers; otherwise nothing.

    Some rows are enough for a question.
    """
    whole = not inputs.get("categorical") and whole_columns(inputs["codes"][:1000]).all()
    return "; or are codes and factors swapped?" if whole else ""
