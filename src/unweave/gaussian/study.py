"""A grid of (gamma, lambda) with many starts each: solutions, scores and success rates."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from unweave.errors import UsageError, unknown
from unweave.gaussian.im import TIE
from unweave.gaussian.iterations import DIVERGED, OUTSIDE, STEPS, Noise, Solutions, Start, Stop, blahut_arimoto
from unweave.gaussian.model import World
from unweave.gaussian.scores import Scores, score
from unweave.progress import OnProgress, silent

GAMMAS = (0.98, 0.99, 1.0, 1.01, 1.02)
LAMBDAS = (-0.02, -0.01, 0.0, 0.01, 0.02)
"""The grid of [Vu2024]_."""
Codes = Literal["true", "identity"]
CODES = ("true", "identity")
NAMES = {
    "im": "I_m",
    "matched": "matched information",
    "sap": "SAP",
    "mig": "MIG",
    "dci_disentanglement": "DCI disentanglement",
    "dci_completeness": "DCI completeness",
    "dci_informativeness": "DCI informativeness",
    "total_correlation": "total correlation",
}
"""The scores and their display names."""
BATCH = 2500
"""Cells iterated together: few enough that their matrices stay in a processor's cache."""


@dataclass(frozen=True, eq=False)
class Study:
    """The cells of a study; arrays have the shape (gammas, lambdas, repeats)."""

    world: World
    gammas: np.ndarray
    lambdas: np.ndarray
    repeats: int
    solutions: Solutions
    """Of all cells, in one row."""
    scores: Scores
    """Of all cells, in one row."""
    codes: Codes = "true"
    """The covariance of codes that the scores use."""

    @property
    def shape(self) -> tuple[int, int, int]:
        """The numbers of gammas, lambdas, and starts of each pair."""
        return len(self.gammas), len(self.lambdas), self.repeats

    def score(self, name: str) -> np.ndarray:
        """Return a score of all cells by its name in `NAMES`."""
        return getattr(self.scores, name).reshape(self.shape)

    @property
    def seen(self) -> tuple[np.ndarray, np.ndarray]:
        """The covariances of codes, and of codes and factors, that the scores of all cells are computed from."""
        return _seen(self.world, self.solutions, self.codes)

    @property
    def successes(self) -> tuple[np.ndarray, np.ndarray]:
        """Return where I_m, and SAP, find the true groups; cells outside the tolerance or diverged never succeed."""
        inside = ~np.isin(self.solutions.state, (OUTSIDE, DIVERGED))
        im, sap = self.scores.succeeded(self.world.groups)
        return (im & inside).reshape(self.shape), (sap & inside).reshape(self.shape)

    @property
    def states(self) -> Counter[str]:
        """Number of cells by how they ended."""
        return Counter(self.solutions.state.tolist())

    @property
    def partitions(self) -> Counter[tuple[frozenset[int], ...]]:
        """Number of cells by their best partition under I_m, without the order of latents."""
        found = (sorted((group for group in groups if group), key=min) for groups in self.scores.im_groups)
        return Counter(tuple(groups) for groups in found)

    @property
    def information(self) -> tuple[np.ndarray, np.ndarray]:
        """I(X; Y) and I(X; V) of all cells, in nats: the codes' information about the observations and the factors."""
        sigma_x, sigma_xv = self.world.seen_by(self.solutions.encoder)
        blind = sigma_x - sigma_xv @ np.linalg.solve(self.world.sigma_v, sigma_xv.swapaxes(1, 2))
        logs = [np.linalg.slogdet(matrix)[1] for matrix in (sigma_x, self.solutions.encoder.noise, blind)]
        return 0.5 * (logs[0] - logs[1]).reshape(self.shape), 0.5 * (logs[0] - logs[2]).reshape(self.shape)


def study(
    world: World,
    gammas: Sequence[float] = GAMMAS,
    lambdas: Sequence[float] = LAMBDAS,
    *,
    repeats: int = 1,
    seed: int = 0,
    noise: Noise = "full",
    start: Start = "principal",
    stop: Stop = "tolerance",
    best_of: int = 1,
    codes: Codes = "true",
    tie: float = TIE,
    tolerance: float = 0.05,
    steps: int = STEPS,
    on_progress: OnProgress = silent,
) -> Study:
    """Solve every (gamma, lambda) of a grid `repeats` times, and score the codes.

    Parameters
    ----------
    world
        The world whose observations are encoded.
    gammas, lambdas
        The grid.
    repeats
        Cells of each pair (gamma, lambda).
    seed
        Seed of all starts.
    best_of
        Starts of each cell, of which the one with the least misfit is kept.
    codes
        Which covariance of the codes the scores use: the "true" one, or that of the prior ("identity").
    tie
        As in `score`.
    noise, start, stop, tolerance, steps
        As in `blahut_arimoto`.
    on_progress
        Called as `on_progress("cells", done, total)`.

    Returns
    -------
    Study
        The solutions and scores of all cells.
    """
    if codes not in CODES:
        raise unknown("covariance of codes", str(codes), CODES)
    if repeats < 1 or best_of < 1 or not len(gammas) or not len(lambdas):
        raise UsageError("a study needs at least one gamma, one lambda and one start")
    starts = np.empty(repeats * best_of)
    g, lam, _ = np.meshgrid(np.asarray(gammas, float), np.asarray(lambdas, float), starts, indexing="ij")
    cells = g.size
    seeds = np.random.SeedSequence(seed).generate_state(cells, np.uint32).astype(np.int64)
    parts = []
    for first in range(0, cells, BATCH):
        on_progress("cells", first, cells)
        part = slice(first, first + BATCH)
        options = {"noise": noise, "start": start, "stop": stop, "tolerance": tolerance, "steps": steps}
        parts.append(blahut_arimoto(world, g.ravel()[part], lam.ravel()[part], seeds=seeds[part], **options))
    solutions = Solutions.joined(parts).best_of(best_of)
    scores = score(world, *_seen(world, solutions, codes), tie=tie)
    return Study(world, np.asarray(gammas, float), np.asarray(lambdas, float), repeats, solutions, scores, codes)


def _seen(world: World, solutions: Solutions, codes: Codes) -> tuple[np.ndarray, np.ndarray]:
    """Return the covariances of codes, and of codes and factors, that scores are computed from."""
    sigma_x, sigma_xv = world.seen_by(solutions.encoder)
    return (np.broadcast_to(np.eye(world.m), sigma_x.shape) if codes == "identity" else sigma_x), sigma_xv
