"""The design of the large-scale study: seven data sets, six methods with six strengths each, fifty seeds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import polars

from unweave.methods import Schedule

Entry = dict[str, Any]
SWEEPS: dict[str, tuple[Entry, ...]] = {
    "beta-vae": tuple({"name": "beta-vae", "beta": beta} for beta in (1, 2, 4, 6, 8, 16)),
    "factor-vae": tuple({"name": "factor-vae", "gamma": gamma} for gamma in (10, 20, 30, 40, 50, 100)),
    "dip-vae-I": tuple(
        {"name": "dip-vae", "kind": "I", "lambda_od": weight, "lambda_d": 10 * weight}
        for weight in (1, 2, 5, 10, 20, 50)
    ),
    "dip-vae-II": tuple(
        {"name": "dip-vae", "kind": "II", "lambda_od": weight, "lambda_d": weight} for weight in (1, 2, 5, 10, 20, 50)
    ),
    "beta-tcvae": tuple({"name": "beta-tcvae", "beta": beta} for beta in (1, 2, 4, 6, 8, 10)),
    "annealed-vae": tuple(
        {"name": "annealed-vae", "gamma": 1000, "capacity": f"0:{most}@THRESHOLD"} for most in (5, 10, 25, 50, 75, 100)
    ),
}
"""Methods with their strengths, in the published study's order of models."""
STRENGTHS = {"beta-vae": "beta", "factor-vae": "gamma", "dip-vae": "lambda_od", "beta-tcvae": "beta"}
"""The field that is a method's strength; for annealed-vae, the final capacity."""
PUBLISHED_DATA = (
    "dsprites", "dsprites-color", "dsprites-noisy", "dsprites-scream", "smallnorb", "cars3d", "shapes3d"
)  # fmt: skip
STAND_IN = "rooms3d"
"""A drawn data set, 64 × 64 pixels in colour, to measure the time of a step without the published files."""
METRICS = ("study", "elbo")


@dataclass(frozen=True)
class Settings:
    """How much of the study is run."""

    data: tuple[str, ...]
    seeds: int
    steps: int | None = None
    """None: those of the preset."""
    strengths: tuple[int, ...] = (0, 1, 2, 3, 4, 5)
    """Which of the six strengths of each method."""
    metrics: tuple[str, ...] = METRICS
    threshold: str = "100000"
    """Steps, or the share of training, over which the capacity of AnnealedVAE grows."""
    preset: str | None = None
    """Published settings of training; without them, `options` alone."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """Training settings for all methods."""
    fields: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Further settings of single methods."""
    evaluate: Mapping[str, Any] = field(default_factory=dict)

    def entries(self) -> list[Entry]:
        """Return every method with every strength, as entries of a study."""
        return [self._entry(sweep[place]) for sweep in SWEEPS.values() for place in self.strengths]

    def _entry(self, entry: Entry) -> Entry:
        filled = {**entry, **self.fields.get(entry["name"], {})}
        if "capacity" in filled:
            filled["capacity"] = filled["capacity"].replace("THRESHOLD", self.threshold)
        return filled | ({"preset": self.preset} if self.preset else {})

    def count(self) -> int:
        """Return the number of runs."""
        return len(self.data) * len(self.entries()) * self.seeds


PRESETS = {
    "smoke": Settings(
        data=("xysquares:size=32", "xyobject:size=32"),
        seeds=2,
        steps=20,
        strengths=(0, 5),
        metrics=("mig", "modularity", "sap-correlation", "total-correlation", "total-correlation-sampled", "elbo"),
        threshold="33%",
        options={"net": "mlp", "width": 0.05, "batch": 16, "loss": "mse"},
        fields={"factor-vae": {"adversary_units": 16}},
        evaluate={"preset": "fast", "samples": 300, "test_samples": 150, "intervals": False, "floors": False},
    ),
    "small": Settings(
        data=("shapes2d:size=32", "rooms3d:size=32"),
        seeds=3,
        steps=1500,
        strengths=(0, 2, 5),
        threshold="33%",
        options={"width": 0.5, "batch": 64, "loss": "bce"},
        fields={"factor-vae": {"adversary_units": 256}},
        evaluate={
            "preset": "fast",
            "samples": 10_000,
            "test_samples": 5_000,
            "intervals": False,
            "floors": False,
        },
    ),
    "paper": Settings(data=PUBLISHED_DATA, seeds=50, preset="dlib"),
}


def with_strengths(table: polars.DataFrame) -> polars.DataFrame:
    """Return the table of a study with one column `strength` instead of the methods' own fields.

    The two kinds of DIP-VAE are two methods, as in the published study. Data sets with different names lose their
    options.
    """
    plain = polars.col("data").str.split(":").list.first()
    if table["data"].n_unique() == table.select(plain).n_unique():
        table = table.with_columns(data=plain)
    named = table.with_columns(
        method=polars.when(polars.col("method") == "dip-vae")
        .then(polars.format("dip-vae-{}", polars.col("kind")))
        .otherwise("method"),
        strength=polars.struct(polars.all()).map_elements(_strength, return_dtype=polars.Float64),
    )
    return named.select("run", "data", "method", "strength", "seed", "step", "metric", "value")


def _strength(row: Mapping[str, Any]) -> float:
    """Return the strength of a run; 0 if its method has only one, which then has no column in the table."""
    if row["method"] == "annealed-vae":
        return Schedule.read(row["capacity"]).end if row.get("capacity") else 0.0
    return float(row.get(STRENGTHS[row["method"]]) or 0)
