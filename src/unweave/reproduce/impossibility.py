"""Two models of equal likelihood, one with disentangled codes and one without."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from unweave.gaussian.impossibility import Entangler
from unweave.progress import OnProgress
from unweave.reproduce.frame import Findings, Reproduction, Row
from unweave.reproduce.intervals import Estimate, mean_and_interval, share_and_interval
from unweave.reproduce.parts import Kept, compute_always

Points = NDArray[np.floating[Any]]
Scores = dict[str, Estimate]

EVEN = (1 - np.sqrt(0.5)) / 2
"""The alpha that mixes two coordinates in equal parts."""
LEVEL = 0.05
"""Level of the tests: the share of true hypotheses that are rejected."""
CELLS = 10
"""Number of equally probable bins of codes for the test of independence."""
VALUES = 4
"""Number of equally probable bins of coordinates, because the metrics take factors as integers."""
DIGITS = 12
"""Decimals of compared log-likelihoods; further ones are rounding errors."""
METRICS = {"mig": "MIG", "dci-disentanglement": "DCI disentanglement"}
NOTES = (
    "published: the exact claims of the theorem; the source prints no numbers.",
    f"rejected: samples of f(z) whose marginals (Kolmogorov–Smirnov) or pairs (χ² of {CELLS} × {CELLS} cells) differ "
    f"from the prior's at the level {LEVEL}. A test rejects this share of true hypotheses.",
    "MIG cuts codes into 20 bins of equal width, which are too coarse for long tails, so z itself scores less than 1.",
)


@dataclass(frozen=True)
class Settings:
    """How many rows and samples are drawn."""

    samples: int
    """Number of rows that codes are scored on."""
    repeats: int
    """Number of samples that are tested."""
    rows: int
    """Rows of each sample."""
    alphas: int
    """Number of models in the second figure."""


class Impossibility(Reproduction):
    """Theorem 1: for every model there is another with the same likelihood and entangled codes."""

    source: ClassVar[str] = "[Locatello2019]_, theorem 1 and appendix A"
    summary: ClassVar[str] = (
        "Models of equal likelihood have disentangled or entangled codes: data alone cannot choose."
    )
    presets: ClassVar[Mapping[str, Settings]] = {
        "smoke": Settings(samples=800, repeats=10, rows=500, alphas=3),
        "small": Settings(samples=5_000, repeats=200, rows=1_000, alphas=13),
        "paper": Settings(samples=10_000, repeats=2_000, rows=2_000, alphas=49),
    }

    def run(self, settings: Settings, *, seed: int, on_progress: OnProgress, kept: Kept = compute_always) -> Findings:
        """Compare a model and its entangled twin for three priors; draw a mapped grid, and scores over the family."""
        from unweave.reproduce.impossibility_figures import family_figure, grid_figure

        cases, alphas = priors(), spread_alphas(settings.alphas)
        steps = len(cases) + len(alphas)
        streams = [np.random.default_rng(each) for each in np.random.SeedSequence(seed).spawn(len(cases) + 1)]
        rows: list[Row] = []
        notes: list[str] = []
        for done, (name, prior) in enumerate(cases.items()):
            on_progress(f"{name} prior", done, steps)
            found, note = kept(name, partial(compare, prior, settings, streams[done]))
            rows += [replace(row, what=f"{name}: {row.what}") for row in found]
            notes.append(f"{name}: {note}")
        z = draw(cases["uniform"], settings.samples, streams[-1])
        family: dict[float, Scores] = {}
        for done, alpha in enumerate(alphas, start=len(cases)):
            on_progress(f"alpha {alpha:.3f}", done, steps)
            family[alpha] = kept(f"alpha {alpha!r}", partial(score_member, alpha, z, seed))
        grids = {name: cases[name] for name in ("uniform", "normal")}
        figures = {"grid": grid_figure(grids), "family": family_figure(family, METRICS)}
        return Findings(tuple(rows), (*notes, *NOTES), figures)


def score_member(alpha: float, z: Points, seed: int) -> Scores:
    """Return the scores of uniform points z mixed by the function of this alpha."""
    member = Entangler(["uniform"] * 2, alpha)
    return score(member(z), factors_of(member, z), seed)


@dataclass(frozen=True)
class Flow:
    """The model x = W z with a prior over z: it encodes x as z."""

    weights: Points
    prior: Entangler

    def decode(self, z: Points) -> Points:
        """Return x = W z."""
        return z @ self.weights.T

    def encode(self, x: Points) -> Points:
        """Return z = W^-1 x."""
        return np.linalg.solve(self.weights, x.T).T

    def log_likelihood(self, x: Points) -> Points:
        """Return log p(z) - log |det W|."""
        return self.prior.log_density(self.encode(x)) - np.linalg.slogdet(self.weights)[1]


@dataclass(frozen=True)
class Twin:
    """The model x = W f^-1(z'), with the same prior over z': it encodes x as z' = f(z)."""

    flow: Flow

    def decode(self, codes: Points) -> Points:
        """Return x = W f^-1(z')."""
        return self.flow.decode(self.flow.prior.inverse(codes))

    def encode(self, x: Points) -> Points:
        """Return z' = f(W^-1 x)."""
        return self.flow.prior(self.flow.encode(x))

    def log_likelihood(self, x: Points) -> Points:
        """Return log p(z') + log |det df/dz| - log |det W|: the change of variables from x to z'."""
        f = self.flow.prior
        stretch = np.linalg.slogdet(f.jacobian(self.flow.encode(x)))[1]
        return f.log_density(self.encode(x)) + stretch - np.linalg.slogdet(self.flow.weights)[1]


def priors() -> dict[str, Entangler]:
    """Return the priors, each with an alpha that mixes its coordinates evenly."""
    from scipy import stats

    mixed = [stats.beta(2, 5), stats.triang(0.3), stats.gamma(3), stats.logistic()]
    return {
        "uniform": Entangler(["uniform"] * 2, EVEN),
        "normal": Entangler(["normal"] * 2, EVEN),
        "mixed": Entangler(mixed, alpha=0.25),
    }


def spread_alphas(count: int) -> list[float]:
    """Return alphas in equal steps of the angle by which two coordinates are mixed, from nearly 0° to nearly a swap."""
    return (np.sin(np.linspace(0, np.pi / 4, count + 2)[1:-1]) ** 2).tolist()


def compare(prior: Entangler, settings: Settings, rng: np.random.Generator) -> tuple[list[Row], str]:
    """Return the rows that compare a model with its twin, and a note."""
    from unweave.report.style import number

    dimensions = len(prior.marginals)
    model = Flow(rng.normal(size=(dimensions, dimensions)), prior)
    twin = Twin(model)
    z = draw(prior, settings.samples, rng)
    x = model.decode(z)
    likelihood = model.log_likelihood(x)
    gain = twin.log_likelihood(x) - likelihood
    unmixed = (prior.jacobian(z) == 0).any(axis=(1, 2))
    tested = [rejected(prior, prior(draw(prior, settings.rows, rng))) for _ in range(settings.repeats)]
    marginals, independence = np.transpose(tested)
    factors, seed = factors_of(prior, z), int(rng.integers(2**32))
    scores = {"z": score(model.encode(x), factors, seed), "f(z)": score(twin.encode(x), factors, seed)}
    rows = [
        Row("log-likelihood of the twin minus the model's", 0.0, *mean_and_interval(gain.round(DIGITS))),
        Row("points where a ∂f_i/∂z_j is 0", 0.0, *share_and_interval(unmixed)),
        Row("marginals of f(z) rejected", LEVEL, *share_and_interval(marginals)),
        Row("independence of f(z) rejected", LEVEL, *share_and_interval(independence)),
        *(Row(f"{METRICS[name]} of {codes}", None, *scores[codes][name]) for name in METRICS for codes in scores),
    ]
    mean, largest = number(likelihood.mean()), number(np.abs(gain).max(), digits=1)
    return (
        rows,
        f"both models give a row {mean} nats of log-likelihood on average; no row differs by more than {largest}.",
    )


def draw(prior: Entangler, count: int, rng: np.random.Generator) -> Points:
    """Return random points of the prior, (count, d)."""
    uniform = rng.uniform(size=(count, len(prior.marginals)))
    uniform = np.maximum(uniform, np.finfo(float).eps)  # 0 is the boundary of the support and not part of it
    return np.column_stack([each.ppf(column) for each, column in zip(prior.marginals, uniform.T, strict=True)])


def factors_of(prior: Entangler, z: Points) -> NDArray[np.int64]:
    """Return the coordinates, each cut into VALUES bins of equal probability, (n, d)."""
    return _parts(_probabilities(prior, z), VALUES)


def rejected(prior: Entangler, codes: Points) -> tuple[bool, bool]:
    """Return whether tests reject that codes have the prior's marginals, and that they are independent.

    The m coordinates, or pairs, are tested together: the smallest of m independent p-values is below
    1 - (1 - level)^(1/m) with probability `level`.
    """
    from scipy.stats import chi2_contingency, kstest

    uniform = _probabilities(prior, codes)
    parts = _parts(uniform, CELLS)
    marginals = [kstest(column, "uniform")[1] for column in uniform.T]
    independence = []
    for i, j in combinations(range(len(prior.marginals)), 2):
        counts = np.bincount(CELLS * parts[:, i] + parts[:, j], minlength=CELLS**2).reshape(CELLS, CELLS)
        independence.append(chi2_contingency(counts)[1])
    first, second = (min(tests) < 1 - (1 - LEVEL) ** (1 / len(tests)) for tests in (marginals, independence))
    return bool(first), bool(second)


def score(codes: Points, factors: NDArray[np.int64], seed: int) -> Scores:
    """Return the scores of codes by name."""
    from unweave.metrics import evaluate

    table = evaluate(codes, factors, ["mig", "dci"], seed=seed)
    return {row["metric"]: Estimate(row["value"], row["low"], row["high"]) for row in table.iter_rows(named=True)}


def _probabilities(prior: Entangler, z: Points) -> Points:
    """Return the cumulative probability of each coordinate, (n, d)."""
    columns = zip(prior.marginals, z.T, strict=True)
    return np.column_stack([np.exp(marginal.logcdf(column)) for marginal, column in columns])


def _parts(probabilities: Points, count: int) -> NDArray[np.int64]:
    return np.minimum((count * probabilities).astype(np.int64), count - 1)
