"""The table of metrics: to add one, write its file and one entry here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from unweave.metrics.mig import mig, sample_mig
from unweave.metrics.resampling import Sampled, by_rows
from unweave.metrics.sap import sample_sap, sap


@dataclass(frozen=True)
class Metric:
    """A metric and all that is needed to call it, to name it and to put an interval around it."""

    function: Callable[..., float]
    """The public function, of `needs` and `options` by keyword."""
    reference: str
    """Who defined it."""
    measures: str
    """The side of disentanglement it looks at: compactness, modularity or explicitness."""
    needs: tuple[str, ...] = ("codes", "factors")
    """The inputs it takes, out of those `evaluate` has: codes, factors, test, seed."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """Every other option, with its value: two scores with one name mean one thing."""
    range: tuple[float, float] = (0.0, 1.0)
    """The least and the largest score there can be."""
    sample: Callable[..., Sampled] | None = None
    """The same call as `function`'s, giving a `Sampled`; without it, `function` runs on every subset of the rows."""

    def sampled(self, inputs: Mapping[str, Any]) -> Sampled:
        """Return the score of the inputs it needs, ready to be resampled."""
        given = {name: inputs[name] for name in self.needs} | dict(self.options)
        if self.sample is not None:
            return self.sample(**given)
        arrays = [given.pop(name) for name in ("codes", "factors") if name in given]
        return by_rows(partial(self.function, **given), *arrays)


METRICS: dict[str, Metric] = {
    "mig": Metric(mig, "Chen et al. 2018", "compactness", options={"bins": 20}, sample=sample_mig),
    "sap": Metric(
        sap,
        "Kumar et al. 2018",
        "compactness",
        needs=("codes", "factors", "test", "seed"),
        options={"kind": "classifier"},
        sample=sample_sap,
    ),
    "sap-correlation": Metric(
        sap, "Kumar et al. 2018", "compactness", options={"kind": "correlation"}, sample=sample_sap
    ),
}
