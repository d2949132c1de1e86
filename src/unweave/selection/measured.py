"""The label-free scores of the runs on one data set; each run is encoded once, on the same images."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from inspect import signature
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from unweave.collapse import carried
from unweave.errors import UnknownName, UsageError, called
from unweave.metrics.elbo import kl_per_code
from unweave.metrics.one_hot import OneHot
from unweave.progress import OnProgress
from unweave.selection.agreement import agreement_pairs
from unweave.selection.centrality import Coder, centrality_pairs
from unweave.selection.dynamics import Dynamics, dynamics_pairs
from unweave.selection.estimates import Estimate
from unweave.selection.saved import Scored, rows_of, rows_of_scores, saved_or_scored
from unweave.selection.specifications import Specification
from unweave.selection.table import SCORES
from unweave.selection.traced import comparable
from unweave.selection.udr import Kind, udr_pairs

if TYPE_CHECKING:
    from unweave.runs import Run

Partners = Literal["specification", "all"]
PARTNERS = ("specification", "all")
Options = Mapping[str, Mapping[str, Any]]
Pairs = Callable[[list[int], Mapping[str, Any]], np.ndarray]
"""From the positions of runs and the options of a score to the scores (R, R) of their pairs."""
POINT = np.inf
"""The KL of a latent without a variance: it counts as informative."""


def known_options(name: str) -> list[str]:
    """Return the options that a score of pairs takes."""
    if name == "dynamics":
        return [*(spec.name for spec in fields(Dynamics)), "threads", "layers"]
    function = {"agreement": agreement_pairs, "model-centrality": centrality_pairs}.get(name, udr_pairs)
    by_name = [each for each in signature(function).parameters.values() if each.kind == each.KEYWORD_ONLY]
    return [each.name for each in by_name if each.name not in ("kl", "seed", "symmetric", "on_progress")]


@dataclass
class Measured:
    """The runs on one data set, and their scores."""

    specifications: Sequence[Specification]
    samples: int
    seed: int
    partners: Partners
    options: Options
    on_progress: OnProgress
    notes: list[str] = field(default_factory=list)
    """Notes for the user on what was left out."""

    @property
    def runs(self) -> list[Run]:
        """All runs, sorted by specification."""
        return [run for each in self.specifications for run in each.runs]

    @property
    def sizes(self) -> list[int]:
        """The number of runs of each specification."""
        return [len(each.runs) for each in self.specifications]

    def score(self, name: str) -> Estimate | str:
        """Return a score of all runs, or the reason why it cannot be computed."""
        if "decoder" in SCORES[name].needs and not all(run.has_decoder for run in self.runs):
            return f"{name} needs decoders, but some runs have none: rank by another score"
        try:
            return self._pairs(name) if SCORES[name].compares_pairs else self._single(name)
        except UnknownName:
            raise  # an option that is misspelt
        except UsageError as error:
            return str(error)

    def metrics(self, rows: dict[str, str], what: str) -> dict[str, np.ndarray]:
        """Return scores (N,) of single runs by row, saved or computed."""
        how, found = Scored(self.samples, self.seed), []
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of collapsed models, which a ranking should find
            for place, run in enumerate(self.runs):
                self.on_progress(what, place, len(self.runs))
                with called(str(run.path)):
                    found.append(saved_or_scored(run, rows, how))
        self._say_of_different_rows(rows)
        return {row: np.array([scores[row] for scores in found]) for row in rows}

    def _say_of_different_rows(self, rows: Iterable[str]) -> None:
        """Note saved scores on different numbers of images, which many scores depend on."""
        counts = [rows_of_scores(run) for run in self.runs]
        for row in rows:
            found = sorted({each[row] for each in counts if row in each})
            if len(found) > 1:
                told = f"on {found[0]:,} to {found[-1]:,} images and may not be comparable"
                self._note(f"{row}: saved scores are {told}; score all on as many: unweave evaluate --samples N")

    def _single(self, name: str) -> Estimate:
        score = SCORES[name]
        if score.needs == "posterior" and not all(run.has_posterior for run in self.runs):
            raise UsageError(f"{name} needs posteriors, but the codes of some runs are points: rank by another score")
        rows = rows_of([score.metric])
        return Estimate(tuple(self.sizes), self.metrics(rows, name)[score.row])

    def _pairs(self, name: str) -> Estimate:
        """Compare every run with its partners: those of its specification, or all."""
        score = SCORES[name]
        everywhere = self.partners == "all" and score.needs != "traces"
        usable = self._traced() if score.needs == "traces" else list(range(len(self.runs)))
        parts, start = [], 0
        for size in self.sizes:
            parts.append([place for place in usable if start <= place < start + size])
            start += size
        groups = [usable] if everywhere else parts
        self._check_partners(name, groups)
        pairs = np.full((len(self.runs), len(self.runs)), np.nan)
        compute = self._computing[name]
        for number, places in enumerate(groups):
            self.on_progress(name, number, len(groups))
            if len(places) > 1:
                label = "all runs" if everywhere else self.specifications[number].label
                with called(f"{name}, {label}"):
                    pairs[np.ix_(places, places)] = compute(places, self.options.get(name, {}))
        return Estimate.of_pairs(self.sizes, pairs, score.average)

    def _check_partners(self, name: str, groups: Sequence[Sequence[int]]) -> None:
        """Raise a `UsageError` if nothing has a pair, and note which specifications have none."""
        alone = sum(len(places) == 1 for places in groups)
        if all(len(places) < 2 for places in groups):
            several = SCORES[name].needs != "traces" and len(self.runs) > 1
            more = ", or compare all runs: --partners all" if several else ""
            raise UsageError(
                f"{name} compares seeds, but no specification has two: train more seeds of each, rank by a score of "
                f"single runs such as elbo{more}"
            )
        if alone:
            self._note(f"{name}: {alone} of {len(groups)} specifications have one seed and cannot be compared")

    def _traced(self) -> list[int]:
        """Return the runs whose traces can be compared."""
        there, notes = comparable(self.specifications, self.options.get("dynamics", {}).get("layers"))
        for note in notes:
            self._note(note)
        return there

    def _note(self, text: str) -> None:
        if text not in self.notes:
            self.notes.append(text)

    @property
    def _computing(self) -> dict[str, Pairs]:
        return {
            "udr-lasso": lambda places, options: self._udr("lasso", places, options),
            "udr-spearman": lambda places, options: self._udr("spearman", places, options),
            "agreement": self._agreement,
            "model-centrality": self._centrality,
            "dynamics": self._dynamics,
        }

    def _udr(self, kind: Kind, places: list[int], options: Mapping[str, Any]) -> np.ndarray:
        return udr_pairs(self._codes(places), kind, self.seed, kl=self._kl(places), **options)

    def _agreement(self, places: list[int], options: Mapping[str, Any]) -> np.ndarray:
        return agreement_pairs(self._codes(places), kl=self._kl(places), **options)

    def _centrality(self, places: list[int], options: Mapping[str, Any]) -> np.ndarray:
        runs = [self.runs[place] for place in places]
        if any(any(run.categories) for run in runs):
            raise UsageError("model-centrality needs numeric latents, but some runs have categorical ones")
        coders = [
            Coder(run.encode, run.decode, *given)
            for run, *given in zip(runs, self._codes(places), self._kl(places), strict=True)
        ]
        draw = "prior" if all(run.has_posterior for run in runs) else "codes"
        return centrality_pairs(coders, **{"seed": self.seed, "draw": draw, "on_progress": self.on_progress, **options})

    def _dynamics(self, places: list[int], options: Mapping[str, Any]) -> np.ndarray:
        chosen = dict(options)
        layers = chosen.pop("layers", None)
        traces = [self.runs[place].traces(layers) for place in places]
        return dynamics_pairs(traces, **{"seed": self.seed, **chosen})

    def _codes(self, places: list[int]) -> list[np.ndarray]:
        return [self._encoded[place][0] for place in places]

    def _kl(self, places: list[int]) -> list[np.ndarray]:
        return [self._encoded[place][1] for place in places]

    @cached_property
    def _encoded(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """Codes (n, d) of the same images, and the mean KL (d,) of each latent, of every run."""
        data = self.runs[0].data
        rng = np.random.default_rng(self.seed)
        indices = np.arange(len(data)) if len(data) <= self.samples else data.sample(self.samples, rng)
        inputs, found = data.inputs(indices), []
        for place, run in enumerate(self.runs):
            self.on_progress("encoding", place, len(self.runs))
            with called(str(run.path)):
                means, log_variances = run.posterior(inputs)
            found.append(_of_columns(means, log_variances, run.categories))
        return found


def _of_columns(
    means: np.ndarray, log_variances: np.ndarray | None, categories: Sequence[int]
) -> tuple[np.ndarray, np.ndarray]:
    """Return codes with a column for each category, and the KL (d,) of the latent of each column."""
    if not any(categories):
        kl = np.full(means.shape[1], POINT) if log_variances is None else kl_per_code(means, log_variances)
        return means, kl
    read, carries = OneHot.with_categories(categories), carried(means, log_variances, categories)
    if log_variances is None:
        carries[np.array(categories) == 0] = POINT
    return read(means), np.repeat(carries, read.widths)
