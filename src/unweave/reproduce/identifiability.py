"""Which latents are found from nonlinear mixtures, if the assumptions of a theorem hold, and if they fail."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import ClassVar

import numpy as np
from scipy.special import ndtri

from unweave.methods import IVAE, PCL, LeJEPA, Method
from unweave.progress import OnProgress
from unweave.reproduce.frame import Findings, Reproduction, Row
from unweave.reproduce.identifiability_table import SCORES, Trial, as_csv, conclusions
from unweave.reproduce.identifiability_worlds import (
    DENSITIES,
    Floats,
    Integers,
    autoregression,
    chain,
    linear_mixing,
    mixing,
    segments,
)
from unweave.reproduce.intervals import mean_and_interval
from unweave.reproduce.parts import Kept, compute_always

MEMORY = 0.7
"""Correlation of a latent with its value one step earlier."""
SLOW = np.array([0.9, 0.85, 0.4, 0.2])
"""The same for the four latents of the linear world, for which codes of two dimensions are learnt."""
NOTES = (
    "R²: of the best linear map from codes to latents, on test rows. MCC after the map: the mean correlation of each "
    "latent with its prediction. MCC: the mean correlation of codes with latents, matched one to one, without a map.",
    "observed: the same scores for the mixture itself, before training.",
    "expected, for LeJEPA: R² if each latent is mapped to a standard normal one by an increasing function, which is "
    "the best that Gaussian codes can do.",
)


@dataclass(frozen=True)
class Settings:
    """How much is trained."""

    latents: int
    """Number of latents in the worlds of PCL and iVAE; with two, a rotation has a high MCC by chance."""
    lejepa_latents: int
    """Number of latents in the worlds of LeJEPA; its R² does not change under rotations."""
    rows: int
    """Number of training rows; half as many test rows."""
    steps: int
    seeds: int
    batch: int = 128
    lr: float = 2e-3
    width: float = 0.1
    """Width of the encoder: 1200 units times this in each of two layers."""
    weight: float = 0.1
    """Weight of SIGReg in LeJEPA."""
    beta: float = 0.02
    """Weight of the KL term in iVAE: with the loss mse, noise of variance 0.01."""
    directions: int = 16
    segments: int = 20
    """Number of values of u for iVAE."""


@dataclass(frozen=True)
class World:
    """Latents (n, d), observations (n, D), and the values of u (n,), if any."""

    latents: Floats
    observed: Floats
    segment: Integers | None = None


@dataclass(frozen=True)
class Case:
    """A method in a world."""

    method: str
    world: str
    holds: bool
    """Whether the theorem's assumptions hold."""
    draw: Callable[[Settings, int, np.random.Generator], World]
    learner: Callable[[Settings], Method]
    codes: int | None = None
    """Number of latents of the model; by default as many as in the world."""
    density: str | None = None
    """Density of the latents, if it is one of DENSITIES: then the best R² of Gaussian codes is known."""


def _lejepa(settings: Settings) -> Method:
    return LeJEPA(weight=settings.weight, directions=settings.directions, views="rows")


def _ivae(settings: Settings) -> Method:
    return IVAE(auxiliary="segment", loss="mse", beta=settings.beta)


def _chains(density: str, settings: Settings, rows: int, rng: np.random.Generator) -> World:
    latents = chain(DENSITIES[density], rows, settings.lejepa_latents, MEMORY, rng)
    return World(latents, mixing(settings.lejepa_latents, rng)(latents))


def _series(innovations: str, settings: Settings, rows: int, rng: np.random.Generator) -> World:
    latents = autoregression(rows, np.full(settings.latents, MEMORY), innovations, rng)
    return World(latents, mixing(settings.latents, rng)(latents))


def _segments(told: bool, settings: Settings, rows: int, rng: np.random.Generator) -> World:
    latents, segment = segments(rows, settings.latents, settings.segments, rng)
    return World(latents, mixing(settings.latents, rng)(latents), segment if told else np.zeros_like(segment))


def _linear(settings: Settings, rows: int, rng: np.random.Generator) -> World:
    latents = autoregression(rows, SLOW, "Gaussian", rng)
    return World(latents, linear_mixing(len(SLOW), rng)(latents))


CASES = (
    *(
        Case("LeJEPA", f"{name} latents", name == "Gaussian", partial(_chains, name), _lejepa, density=name)
        for name in DENSITIES
    ),
    Case("LeJEPA", "linear world, 2 of 4", True, _linear, _lejepa, codes=2),
    Case("PCL", "Laplace innovations", True, partial(_series, "Laplace"), lambda _: PCL()),
    Case("PCL", "Gaussian, equal memory", False, partial(_series, "Gaussian"), lambda _: PCL()),
    Case("iVAE", "segments observed", True, partial(_segments, True), _ivae),
    Case("iVAE", "u with one value", False, partial(_segments, False), _ivae),
)


class Identifiability(Reproduction):
    """Known latents are mixed, and learnt again by LeJEPA, PCL and iVAE."""

    source: ClassVar[str] = "the theorems of [Klindt2026]_, [Hyvarinen2017]_ and [Khemakhem2020]_"
    summary: ClassVar[str] = (
        "LeJEPA, PCL and iVAE find the latents of a nonlinear mixture if, and only if, their assumptions hold."
    )
    presets: ClassVar[Mapping[str, Settings]] = {
        "smoke": Settings(2, 2, rows=400, steps=30, seeds=2, batch=64, width=0.02, directions=4, segments=4),
        "small": Settings(3, 2, rows=20_000, steps=3_000, seeds=5),
        "paper": Settings(5, 5, rows=100_000, steps=40_000, seeds=5, width=0.25, directions=64, segments=40),
    }

    def run(self, settings: Settings, *, seed: int, on_progress: OnProgress, kept: Kept = compute_always) -> Findings:
        """Train every case with every seed, and compare codes with latents."""
        from unweave.reproduce.identifiability_figures import recovery_figure

        cells = [(case, place, each) for place, case in enumerate(CASES) for each in range(settings.seeds)]
        trials = []
        for done, (case, place, each) in enumerate(cells):
            name = f"{case.method}, {case.world}, seed {each}"
            on_progress(name, done, len(cells))
            rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(place, each)))
            trials.append(kept(name, partial(_trial, case, settings, each, rng)))
        rows = [_row(trials, case, score) for case in CASES for score in _scores(case)]
        figures = {"recovery": recovery_figure(trials)}
        return Findings(tuple(rows), (*conclusions(trials), *NOTES), figures, {"identifiability.csv": as_csv(trials)})


def _trial(case: Case, settings: Settings, seed: int, rng: np.random.Generator) -> Trial:
    """Train a method in a world, and score its codes on test rows."""
    world = case.draw(settings, settings.rows + settings.rows // 2, rng)
    codes = learnt(case.learner(settings), world, settings, seed, case.codes)
    tested = slice(settings.rows, None)
    latents, observed = world.latents[tested], world.observed[tested]
    closed_form = None
    if case.codes is not None:  # a smaller model can find only the slowest ones
        closed_form = best_agreement(world.observed[tested], case.codes)
        latents = latents[:, np.argsort(-SLOW)[: case.codes]]
    expected = normal_share(latents, case.density) if case.density else None
    return Trial(
        case.method, case.world, case.holds, seed, *recovered(codes, latents), *recovered(observed, latents)[::2],
        expected=expected, agreement=best_agreement(codes), closed_form=closed_form,
    )  # fmt: skip


def learnt(method: Method, world: World, settings: Settings, seed: int, codes: int | None = None) -> Floats:
    """Train a method, and return the codes of the test rows, which follow the training rows."""
    from unweave.data import Vectors
    from unweave.training import train

    factors = None if world.segment is None else world.segment[: settings.rows, None]
    names = None if factors is None else ["segment"]
    data = Vectors(world.observed[: settings.rows], factors, names=names)
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about collapsed models, which the scores show
        run = train(
            method,
            data=data,
            out=Path(folder) / "run",
            steps=settings.steps,
            batch=settings.batch,
            lr=settings.lr,
            width=settings.width,
            latents=codes or world.latents.shape[1],
            seed=seed,
            device="cpu",
            threads=1,
            progress=False,
        )
        return run.encode(world.observed[settings.rows :].astype(np.float32)).astype(np.float64)


def recovered(codes: Floats, latents: Floats) -> tuple[float, float, float]:
    """Return R² of the best linear map from codes to latents, the MCC after it, and the MCC of the codes themselves."""
    from unweave.metrics import linear_probe, mcc

    given = np.column_stack([codes, np.ones(len(codes))])
    predicted = given @ np.linalg.lstsq(given, latents, rcond=None)[0]
    return linear_probe(codes, latents), mcc(predicted, latents), mcc(codes, latents)


def best_agreement(rows: Floats, count: int | None = None) -> float:
    """Return the largest mean correlation of neighbouring rows that `count` uncorrelated linear functions have.

    With S the covariance of a row and G its covariance with the next row, it is the mean of the largest eigenvalues of
    S^(-1/2) (G + G') S^(-1/2) / 2. In a linear Gaussian world, the best codes of LeJEPA reach it: they are Gaussian,
    have variance 1, and are as close as possible to those of the next row. It does not depend on the scale of codes.
    """
    centred = rows - rows.mean(axis=0)
    covariance = centred.T @ centred / len(rows)
    lagged = centred[1:].T @ centred[:-1] / (len(rows) - 1)
    values, vectors = np.linalg.eigh(covariance)
    whiten = vectors / np.sqrt(np.maximum(values, 1e-12))
    found = np.linalg.eigvalsh(whiten.T @ (lagged + lagged.T) @ whiten / 2)
    return float(np.sort(found)[::-1][:count].mean())


def normal_share(latents: Floats, density: str) -> float:
    """Return R² of latents, predicted linearly from their increasing functions that are standard normal."""
    below = np.clip(DENSITIES[density].cumulative(latents), 1e-9, 1 - 1e-9)
    normal = ndtri(below)
    return float(np.mean([np.corrcoef(normal[:, j], latents[:, j])[0, 1] ** 2 for j in range(latents.shape[1])]))


def _scores(case: Case) -> tuple[str, ...]:
    return (*SCORES, "agreement") if case.codes is not None else tuple(SCORES)


def _row(trials: Sequence[Trial], case: Case, score: str) -> Row:
    """Return a score over seeds, with the theorem's claim or a closed-form value as the published number."""
    own = [each for each in trials if (each.method, each.world) == (case.method, case.world)]
    claimed = 1.0 if case.holds and _claims(case, score) else None
    if score == "agreement":
        claimed = float(np.mean([each.closed_form for each in own if each.closed_form is not None]))
    estimate = mean_and_interval([getattr(each, score) for each in own])
    return Row(f"{case.method}, {case.world}: {SCORES.get(score, 'agreement of neighbours')}", claimed, *estimate)


def _claims(case: Case, score: str) -> bool:
    """Return whether the theorem claims a score of 1: LeJEPA up to a linear map, the others for each latent."""
    return score in ("r2", "mapped") if case.method == "LeJEPA" else score == "mcc"
