"""What an entry of the table of metrics says: how to call it, to name it and to put an interval around it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal

from unweave.errors import UsageError, unknown
from unweave.metrics.resampling import Sampled, Score, by_rows

INPUTS = {
    "codes": "codes",
    "means": "codes",
    "factors": "factors",
    "encode": "codebook",
    "log_variances": "log_variances",
    "reconstruction": "reconstruction",
    "jacobians": "jacobians",
}
"""A metric's parameters that hold data, and the names under which `evaluate` takes them."""


@dataclass(frozen=True)
class Metric:
    """A metric and all that is needed to call it."""

    function: Callable[..., Score]
    """The public function, of `needs` and `options` by keyword."""
    reference: str
    """Who defined it."""
    measures: str
    """The side of disentanglement it looks at: compactness, modularity, explicitness …"""
    needs: tuple[str, ...] = ("codes", "factors")
    """The inputs it takes: names of `INPUTS`, `test` and `seed`."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """Every other option, with its value: two scores with one name mean one thing."""
    fast: Mapping[str, Any] = field(default_factory=dict)
    """What the preset `fast` changes in the options."""
    range: tuple[float, float] = (0.0, 1.0)
    """The least and the largest score there can be."""
    parts: tuple[str, ...] = ()
    """The names of the parts, where the score has several."""
    representation: Literal["mean", "sampled"] = "mean"
    """Whether its codes are posterior means or a sample of each posterior."""
    sample: Callable[..., Sampled] | None = None
    """The same call as `function`'s, giving a `Sampled`; without it, `function` runs on every subset of the rows."""

    def sampled(self, inputs: Mapping[str, Any], options: Mapping[str, Any] | None = None) -> Sampled:
        """Return the score of the inputs it needs, ready to be resampled; `options` stand in for its own."""
        given = {name: inputs[name] for name in self.needs} | dict(self.options if options is None else options)
        if self.representation == "sampled":
            given["codes"] = inputs["sampled"]
        if self.sample is not None:
            return self.sample(**given)
        arrays = [given.pop(name) for name in ("codes", "factors") if name in given]
        return by_rows(partial(self.function, **given), *arrays)

    def missing(self, inputs: Mapping[str, Any]) -> list[str]:
        """Return the arguments of `evaluate` without which these inputs do not suffice."""
        missing = [INPUTS[name] for name in self.needs if name in INPUTS and inputs.get(name) is None]
        sampled = self.representation == "sampled" and inputs.get("sampled") is None
        return [*missing, *(["log_variances"] if sampled else [])]

    def names(self, name: str) -> list[str]:
        """Return the names of its rows in a table of scores, where the metric itself is called `name`."""
        return [f"{name}-{part}" for part in self.parts] or [name]

    def chosen_options(self, preset: str, changes: Mapping[str, Any]) -> dict[str, Any]:
        """Return the options of a preset, changed by hand."""
        for option in changes:
            if option not in self.options:
                raise unknown("option", str(option), self.options) if self.options else _no_options(option)
            if isinstance(self.options[option], str) and not isinstance(changes[option], str):
                raise UsageError(f"{option} must be a text, got {changes[option]!r}")
        return {**self.options, **(self.fast if preset == "fast" else {}), **changes}


def _no_options(option: object) -> UsageError:
    return UsageError(f"there is no option '{option}': the metric has none")
