"""The type of a metric: a function to call, and the properties of its entry in the table."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import update_wrapper
from typing import Any, Generic, Literal, ParamSpec, TypeVar, get_args, get_type_hints

from unweave.errors import UsageError, unknown
from unweave.metrics.category_columns import with_category_columns, with_category_ranks
from unweave.metrics.resampling import Limits, Sampled
from unweave.plugins import Kind, dashed, is_builtin

P = ParamSpec("P")
S = TypeVar("S")

INPUTS = {
    "codes": "codes",
    "means": "codes",
    "factors": "factors",
    "encode": "codebook",
    "source": "codes, factors",
    "log_variances": "log_variances",
    "reconstruction": "reconstruction",
    "jacobians": "jacobians",
}
"""A metric's parameters that hold data, and the names under which `evaluate` takes them."""
NO_OPTIONS = {*INPUTS, "data", "test", "seed", "categorical"}


@dataclass(eq=False)
class Metric(Generic[P, S]):
    """A metric. Calling it gives the score; `sample` gives a `Sampled`: the score, and the score of any subset.

    What it needs, its options and the names of its parts come from the signature of `sample`.
    """

    sample: Callable[P, Sampled[S]]
    reference: str
    """Who defined it."""
    measures: str
    """The aspect of disentanglement it measures: compactness, modularity, explicitness …"""
    range: Limits = (0.0, 1.0)
    """The least and the largest possible score."""
    higher_is_better: bool | None = True
    """None if neither direction is better."""
    continuous: bool = False
    """Whether it takes the values of factors as numbers, so that they need not be whole."""
    fast: Mapping[str, Any] = field(default_factory=dict)
    """What the preset `fast` changes in the options."""
    has_ceiling: bool = True
    """Whether the factors themselves, as codes, have the best possible score."""
    shuffles: int = 1
    """Number of shuffles that its floor averages: more where the score of noise varies."""
    floor_rows: int | None = None
    """Number of random rows for its floor, if noise scores the same on more rows."""
    ceiling_rows: int | None = None
    """The same for the ceiling; all rows if these contain too few of some value."""
    floor_options: Mapping[str, Any] = field(default_factory=dict)
    """Cheaper options that are as good when the factors are shuffled."""
    ceiling_options: Mapping[str, Any] = field(default_factory=dict)
    """Cheaper options that are as good when the factors themselves are the codes."""
    unsteady: Collection[str] = ()
    """Parts ("" for a single score) whose score of noise varies too much to serve as zero: they have no adjusted
    score."""
    no_floor: Collection[str] = ()
    """Parts whose score of noise is chance divided by chance: it changes by tenths with each shuffle, so there is no
    floor."""
    unused: Collection[str] = ()
    """Inputs among the function's parameters that this entry of the table does not use."""
    representation: str = "mean"
    """Whether its codes are posterior means ("mean") or a sample of each posterior ("sampled")."""
    categories: Literal["columns", "ranks", "none"] = "columns"
    """What it gets for a categorical latent, unless it takes `categorical`: a column for each category, the rank of the
    category by frequency (enough for trees, which cut between any two), or nothing: it then raises a `UsageError`."""
    bound: Mapping[str, Any] = field(default_factory=dict)
    """Options that this entry of the table sets."""

    needs: tuple[str, ...] = field(init=False)
    """The inputs it takes: names of `INPUTS`, `test`, `seed` and `categorical`."""
    options: dict[str, Any] = field(init=False)
    """Every other option with its value, so that two scores of the same name mean the same."""
    parts: tuple[str, ...] = field(init=False)
    """The names of the parts, if the score has several."""

    def __post_init__(self) -> None:
        update_wrapper(self, self.sample)
        signature = inspect.signature(self.sample)
        kind = get_args(get_type_hints(self.sample).get("return"))
        self.__signature__ = signature.replace(return_annotation=kind[0] if kind else Any)
        defaults = {name: given.default for name, given in signature.parameters.items() if name not in NO_OPTIONS}
        self.options = {**defaults, **self.bound}
        needed = NO_OPTIONS - {"data", *self.unused}
        self.needs = tuple(name for name in signature.parameters if name in needed)
        fields = getattr(kind[0], "_fields", ()) if kind else ()
        self.parts = tuple(name.replace("_", "-") for name in fields)

    def __repr__(self) -> str:
        return f"<metric {self.sample.__name__}{self.__signature__}>"

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> S:
        """Return the score."""
        return self.sample(*args, **{**self.bound, **kwargs}).score  # pyright: ignore[reportCallIssue]

    def variant(self, options: Mapping[str, Any], **about: Any) -> Metric[P, S]:
        """Return the same metric with other options and properties, for its own entry in the table."""
        return replace(self, bound={**self.bound, **options}, **about)

    def of_samples(self) -> Metric[P, S]:
        """Return the same metric of posterior samples instead of posterior means."""
        return replace(self, representation="sampled")

    @property
    def supervised(self) -> bool:
        """Whether it compares codes with factors, so that it has a floor."""
        return not {"factors", "encode", "source"}.isdisjoint(self.needs)

    def sampled(self, inputs: Mapping[str, Any], options: Mapping[str, Any] | None = None) -> Sampled[S]:
        """Return the score of the inputs it needs, ready to be resampled; `options` replace its own."""
        categorical = inputs.get("categorical", ())
        if categorical and "categorical" not in self.needs and self.categories != "none":
            read = with_category_ranks if self.categories == "ranks" else with_category_columns
            inputs = read(inputs, categorical)
        inputs = {"categorical": (), **inputs}
        given = {name: inputs[name] for name in self.needs} | dict(self.options if options is None else options)
        if self.representation == "sampled":
            given["codes"] = inputs["sampled"]
        return self.sample(**given)  # pyright: ignore[reportCallIssue]

    def missing(self, inputs: Mapping[str, Any]) -> list[str]:
        """Return the arguments of `evaluate` that are missing from these inputs."""
        missing = [INPUTS[name] for name in self.needs if name in INPUTS and inputs.get(name) is None]
        sampled = self.representation == "sampled" and inputs.get("sampled") is None
        return [*missing, *(["log_variances"] if sampled else [])]

    def names(self, name: str) -> list[str]:
        """Return the names of its rows in a table of scores, for a metric called `name`."""
        return [f"{name}-{part}" for part in self.parts] or [name]

    def chosen_options(self, preset: str, changes: Mapping[str, Any]) -> dict[str, Any]:
        """Return the options of a preset with the user's changes."""
        for option in changes:
            if option not in self.options:
                raise unknown("option", str(option), self.options) if self.options else _no_options(option)
            if isinstance(self.options[option], str) and not isinstance(changes[option], str):
                raise UsageError(f"{option} must be a string, got {changes[option]!r}")
        return {**self.options, **(self.fast if preset == "fast" else {}), **changes}


def metric(reference: str, measures: str, **about: Any) -> Callable[[Callable[P, Sampled[S]]], Metric[P, S]]:
    """Make a `Metric` of a function that returns a `Sampled`.

    A metric outside unweave is named after its function, with hyphens (my_metric becomes my-metric). Once defined, you
    can use that name: `evaluate(…, metrics="my-metric")`.

    Parameters
    ----------
    reference
        Who defined it.
    measures
        The aspect of disentanglement it measures.
    **about
        The other fields of `Metric`: range, higher_is_better, continuous, fast, has_ceiling, shuffles, no_floor …

    Returns
    -------
    callable
        A decorator. The function's parameters say what the metric needs (`INPUTS`) and, with their defaults, its
        options.

    Examples
    --------
    >>> import numpy as np
    >>> from unweave.metrics import metric
    >>> from unweave.metrics.resampling import Sampled, by_rows
    >>> @metric("an example", "capacity", range=(0.0, np.inf), higher_is_better=None)
    ... def widest(codes: np.ndarray) -> Sampled[float]:
    ...     return by_rows(lambda rows: float(np.ptp(rows, axis=0).max()), np.asarray(codes))
    >>> widest([[0.0, 1.0], [2.0, 1.5]])
    2.0
    """

    def decorate(sample: Callable[P, Sampled[S]]) -> Metric[P, S]:
        made = Metric(sample, reference, measures, **about)
        if not is_builtin(sample):
            KIND.define(dashed(sample.__name__), made)
        return made

    return decorate


KIND: Kind[Metric[..., Any]] = Kind("metric")
"""The metrics by name."""


def _no_options(option: object) -> UsageError:
    return UsageError(f"the metric has no options: leave out '{option}'")
