"""Blahut-Arimoto iterations: the best encoder and the best decoder for each other, in turn, for many cells at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from unweave.errors import UsageError, unknown
from unweave.gaussian.matrices import SINGULAR
from unweave.gaussian.model import Decoder, Encoder, World

Noise = Literal["full", "diagonal", "isotropic"]
Start = Literal["random", "principal", "encoder", "authors"]
Stop = Literal["tolerance", "rest"]
REST = 1e-9
"""Iterates that change by at most this share of their size have converged."""
AUTHORS_REST = 1e-8
"""The largest change of a converged encoder if `stop` is "rest", in standard deviations of codes and data."""
CEILING = 100.0
"""A cell diverges when the precision of its latents exceeds this multiple of what the data give the true model."""
STEPS = 1000

CONVERGED, STOPPED, DIVERGED, UNFINISHED, OUTSIDE = "converged", "stopped", "diverged", "unfinished", "outside"
STATES = (CONVERGED, STOPPED, DIVERGED, UNFINISHED, OUTSIDE)


@dataclass(frozen=True, eq=False)
class Solutions:
    """The results of the iterations. Every array has one entry for each cell."""

    encoder: Encoder
    decoder: Decoder
    state: np.ndarray
    """"converged": within the tolerance; "stopped": left the tolerance, and this is the last iterate inside;
    "diverged": information grew without limit; "unfinished": within the tolerance, but out of steps; "outside": never
    inside."""
    error: np.ndarray
    """E |Y - A X|^2 as a share of E |Y|^2."""
    misfit: np.ndarray
    """|A A^T + S_Z - S_Y| / |S_Y| in the spectral norm: how far the decoder's covariance of Y is from the true one."""
    steps: np.ndarray
    """The number of the kept iteration."""

    @property
    def precision(self) -> np.ndarray:
        """The mean precision of the encoder's noise, in units of the prior's."""
        return np.trace(np.linalg.inv(self.encoder.noise), axis1=1, axis2=2) / self.encoder.noise.shape[1]

    def best_of(self, starts: int) -> Solutions:
        """Return the cell of least misfit of every `starts` neighbouring ones; a diverged one only if all are."""
        order = np.where(self.state == DIVERGED, np.inf, self.misfit).reshape(-1, starts)
        chosen = np.arange(len(order)) * starts + order.argmin(axis=1)
        return Solutions(
            Encoder(*(part[chosen] for part in self.encoder)),
            Decoder(*(part[chosen] for part in self.decoder)),
            *(getattr(self, name)[chosen] for name in PER_CELL),
        )

    @classmethod
    def joined(cls, parts: Sequence[Solutions]) -> Solutions:
        """Return the cells of several solutions as one."""

        def row(arrays: Iterable[np.ndarray]) -> np.ndarray:
            return np.concatenate(list(arrays))

        return cls(
            Encoder(*(row(pieces) for pieces in zip(*(part.encoder for part in parts), strict=True))),
            Decoder(*(row(pieces) for pieces in zip(*(part.decoder for part in parts), strict=True))),
            *(row(getattr(part, name) for part in parts) for name in PER_CELL),
        )


PER_CELL = ("state", "error", "misfit", "steps")


def blahut_arimoto(
    world: World,
    gamma: ArrayLike,
    lam: ArrayLike,
    *,
    seeds: ArrayLike = 0,
    noise: Noise = "full",
    start: Start = "random",
    stop: Stop = "tolerance",
    tolerance: float = 0.05,
    steps: int = STEPS,
) -> Solutions:
    """Minimise the loss of eq. 3 [Vu2024]_ by the iterations of eq. 9 and 10, in cells of (gamma, lambda, seed).

    With P = A^T (gamma S_Z^-1 + 2 lambda I), all from the previous iterate, one iteration is

        S_W = (I + P A)^-1,  B = S_W P                                    the best encoder (eq. 9)
        A = S_Y B^T (B S_Y B^T + S_W)^-1,  S_Z = S_Y - A B S_Y            the best decoder (eq. 10)

    Parameters
    ----------
    world
        The world whose observations are encoded.
    gamma, lam, seeds
        Weights of the loss, and the seed of the start, of each cell; broadcast against each other and flattened.
    noise
        What the decoder keeps of S_Z: all of it ("full", as eq. 10 is printed), its diagonal ("diagonal", as the text
        says) or the mean of the diagonal ("isotropic": with gamma = 1, lambda = 0 these are the EM steps of
        probabilistic PCA [Tipping1999]_). Each is the best decoder of its kind, so that no iteration raises the loss.
    start
        What a cell starts from. A decoder with white noise of the world's variance and "random" weights, independent
        Gaussians of the mean variance of Y, or the "principal" axes of Y, scaled to their standard deviations and
        randomly rotated. Or an "encoder" with weights from U(0, 1), for Y in units of its mean standard deviation, and
        S_W from scikit-learn's make_spd_matrix. "authors" is the same with weights for Y in its own units, as the
        authors ran it. All others are independent of the units of Y, and so are the results if lambda is given in that
        unit.
    stop
        With "tolerance", the last iterate with an error of at most `tolerance` is kept; a cell that never reaches it
        keeps the iterate of least error. Latents of 100 times the precision that the data give end a cell too. With
        "rest" there is neither tolerance nor limit: a cell ends when B and S_W change by at most 1e-8. Latents whose
        noise goes to 0 count as converged in this sense. Only if a share of 1e-12 is left of a variance of Y, or of the
        prior's in the noise of the latents, has the cell diverged.
    tolerance
        The largest reconstruction error, as a share of tr S_Y. With gamma < 1 and lambda = 0 the best solution ignores
        Y, with gamma > 1 its information is infinite; so the paper asks for an error of at most 5 %.
    steps
        The most iterations of a cell.

    Returns
    -------
    Solutions
        Encoder and decoder of each cell, and how it ended.

    Examples
    --------
    >>> world = SCENARIOS["3-in-2"].world()
    >>> found = blahut_arimoto(world, gamma=[1.0, 0.99], lam=0.0)
    >>> found.encoder.weights.shape                    # cells, latents, observed variables
    (2, 3, 4)
    """
    g, lam, seeds = _cells(world, gamma, lam, seeds, tolerance, steps)
    if noise not in NOISES:
        raise unknown("noise of a decoder", str(noise), NOISES)
    if start not in STARTS:
        raise unknown("start of the iterations", str(start), STARTS)
    if stop not in STOPS:
        raise unknown("way to stop", str(stop), STOPS)
    begun = _begin(world, g, lam, [STARTS[start](world, np.random.default_rng(seed)) for seed in seeds])
    cells = _Cells(world, g, lam, noise, tolerance if stop == "tolerance" else None, begun)
    for step in range(1, steps + 1):
        if not cells.advance(step):
            break
    return cells.solutions()


def _cells(
    world: World, gamma: ArrayLike, lam: ArrayLike, seeds: ArrayLike, tolerance: float, steps: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return gamma, lambda and seed of every cell, checked."""
    arrays = np.broadcast_arrays(np.asarray(gamma, float), np.asarray(lam, float), np.asarray(seeds, int))
    g, lm, sd = (array.reshape(-1) for array in arrays)
    if not len(g):
        raise UsageError("there must be at least one gamma, one lambda and one seed")
    if not (np.isfinite(g).all() and np.isfinite(lm).all() and (g > 0).all()):
        raise UsageError("gamma must be above 0, and gamma and lambda finite")
    largest = float(np.linalg.eigvalsh(world.sigma_y)[-1])
    if (bad := g + 2 * lm * largest <= 0).any():
        least = -g[bad][0] / (2 * largest)
        raise UsageError(f"lambda = {lm[bad][0]:g} rewards error without limit: it must be above {least:.3g} here")
    if (sd < 0).any():
        raise UsageError(f"a seed must be 0 or more, not {sd.min()}")
    if not 0 < tolerance <= 1:
        raise UsageError(f"the tolerance is a share of the variance of Y, above 0 and at most 1, not {tolerance}")
    if steps < 1:
        raise UsageError(f"the number of steps must be 1 or more, not {steps}")
    return g, lm, sd


def _begin(
    world: World, gamma: np.ndarray, lam: np.ndarray, starts: Sequence[Encoder | Decoder]
) -> tuple[np.ndarray, np.ndarray]:
    """Return P and Q of every cell: those of the encoder it starts from, or of the best one for its first decoder."""
    weights = np.stack([start.weights for start in starts])
    if isinstance(starts[0], Encoder):
        q = np.linalg.inv(np.stack([start.noise for start in starts]))
        return q @ weights, q
    p = (gamma / world.noise + 2 * lam)[:, None, None] * weights.swapaxes(1, 2)
    return p, np.eye(world.m) + p @ weights


class _Cells:
    """The cells still under way, and what has been kept of all of them.

    An iterate is A, P, Q = I + P A, which is the precision of the encoder's noise S_W, and B = S_W P.
    """

    def __init__(
        self,
        world: World,
        gamma: np.ndarray,
        lam: np.ndarray,
        noise: Noise,
        tolerance: float | None,
        begun: tuple[np.ndarray, np.ndarray],
    ) -> None:
        self.p, self.q = begun
        self.w = np.linalg.inv(self.q)
        self.b = self.w @ self.p
        cells, m, n = self.p.shape
        self.y, self.power = world.sigma_y, np.trace(world.sigma_y)
        self.unit = _unit(world)
        self.noise: Noise = noise
        self.bounded = tolerance is not None
        self.tolerance = np.inf if tolerance is None else tolerance
        spectrum = np.linalg.eigvalsh(self.y)
        data = gamma * spectrum[-1] / spectrum[0] + 2 * np.abs(lam) * spectrum[-1]
        self.ceiling = m * (CEILING * data if self.bounded else np.full(cells, 1 / SINGULAR))
        self.gamma, self.lam = gamma[:, None, None], lam[:, None, None]
        self.a = np.zeros((cells, n, m))
        self.alive = np.arange(cells)
        self.inside = np.zeros(cells, dtype=bool)  # whether an iterate within the tolerance has been kept
        self.state = np.full(cells, UNFINISHED, dtype="<U10")
        self.kept_a, self.kept_b, self.kept_w = self.a.copy(), self.b.copy(), self.w.copy()
        self.error, self.steps = np.full(cells, np.inf), np.zeros(cells, dtype=int)

    def advance(self, step: int) -> bool:
        """Make one iteration of every cell under way; tell whether any is left."""
        # Eq. 10 in B and S_W: in P and Q it is shorter, but singular where one latent knows nothing and another all.
        by = self.b @ self.y
        a = np.linalg.solve(by @ self.b.swapaxes(1, 2) + self.w, by).swapaxes(1, 2)
        least = SINGULAR * np.diag(self.y)
        errors = np.maximum(
            np.diag(self.y) - (a * by.swapaxes(1, 2)).sum(axis=2), least
        )  # the diagonal of S_Y - A B S_Y
        exact = np.any(errors <= least, axis=1)
        error = errors.sum(axis=1) / self.power
        self._keep(step, a, error)
        p = self.gamma * self._weighed(a, errors) + 2 * self.lam * a.swapaxes(1, 2)
        q = p @ a
        self._go_on(a, p, np.eye(q.shape[1]) + (q + q.swapaxes(1, 2)) / 2, error, exact)
        return len(self.alive) > 0

    def _weighed(self, a: np.ndarray, errors: np.ndarray) -> np.ndarray:
        """Return A^T S_Z^-1; with all of S_Z it is S_W^-1 B, that is P."""
        if self.noise == "full":
            return self.p
        if self.noise == "isotropic":
            errors = errors.mean(axis=1, keepdims=True)
        return a.swapaxes(1, 2) / errors[:, None, :]

    def _keep(self, step: int, a: np.ndarray, error: np.ndarray) -> None:
        """Keep the iterates within the tolerance, and for cells that were never inside those of least error."""
        cells = self.alive
        inside = error <= self.tolerance
        better = inside | (~self.inside[cells] & (error < self.error[cells]))
        chosen = cells[better]
        self.kept_a[chosen], self.kept_b[chosen], self.kept_w[chosen] = a[better], self.b[better], self.w[better]
        self.error[chosen], self.steps[chosen] = error[better], step
        self.inside[cells[inside]] = True

    def _go_on(self, a: np.ndarray, p: np.ndarray, q: np.ndarray, error: np.ndarray, exact: np.ndarray) -> None:
        """Decide which cells have ended, and how, and continue with the others."""
        cells = self.alive
        outside = error > self.tolerance
        left = outside & self.inside[cells]
        endless = exact | (np.trace(q, axis1=1, axis2=2) > self.ceiling[cells])
        w = np.linalg.inv(q)
        b = w @ p
        still = self._still(a, q, b, w)
        for state, where in (
            (UNFINISHED, ~outside),
            (OUTSIDE, outside),
            (CONVERGED, still & ~outside),
            (DIVERGED, endless & ~outside),
            (STOPPED, left),
        ):
            self.state[cells[where]] = state
        going = ~(left | still | endless)
        self.alive = cells[going]
        self.a, self.p, self.q, self.b, self.w = (each[going] for each in (a, p, q, b, w))
        self.gamma, self.lam = self.gamma[going], self.lam[going]

    def _still(self, a: np.ndarray, q: np.ndarray, b: np.ndarray, w: np.ndarray) -> np.ndarray:
        """Return which cells have converged: relative to their size, or absolutely if there is no tolerance."""
        if self.bounded:
            moved = np.abs(q - self.q).max(axis=(1, 2)) + np.abs(a - self.a).max(axis=(1, 2)) / self.unit
            return moved <= REST * np.abs(q).max(axis=(1, 2))
        weights, noise = np.abs(b - self.b).max(axis=(1, 2)) * self.unit, np.abs(w - self.w).max(axis=(1, 2))
        return np.maximum(weights, noise) <= AUTHORS_REST

    def solutions(self) -> Solutions:
        """Return the kept iterates, with full covariances."""
        a, encoder = self.kept_a, Encoder(self.kept_b, self.kept_w)
        noise = NOISES[self.noise](self.y - a @ encoder.weights @ self.y)
        missed = np.linalg.norm(a @ a.swapaxes(1, 2) + noise - self.y, 2, axis=(1, 2))
        misfit = missed / np.linalg.norm(self.y, 2)
        return Solutions(encoder, Decoder(a, noise), self.state, self.error, misfit, self.steps)


def _diagonal(covariance: np.ndarray) -> np.ndarray:
    return np.diagonal(covariance, axis1=1, axis2=2)[:, None, :] * np.eye(covariance.shape[1])


def _isotropic(covariance: np.ndarray) -> np.ndarray:
    return np.diagonal(covariance, axis1=1, axis2=2).mean(axis=1)[:, None, None] * np.eye(covariance.shape[1])


NOISES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "full": lambda covariance: (covariance + covariance.swapaxes(1, 2)) / 2,
    "diagonal": _diagonal,
    "isotropic": _isotropic,
}
"""What a decoder of each kind keeps of the covariance of the error."""


def _unit(world: World) -> float:
    """Return the mean standard deviation of the observed variables, the unit of starts and changes."""
    return float(np.sqrt(np.trace(world.sigma_y) / world.n))


def _random(world: World, rng: np.random.Generator) -> Decoder:
    return Decoder(_unit(world) * rng.normal(size=(world.n, world.m)), world.noise * np.eye(world.n))


def _principal(world: World, rng: np.random.Generator) -> Decoder:
    values, axes = np.linalg.eigh(world.sigma_y)
    turn, triangle = np.linalg.qr(rng.normal(size=(world.m, world.m)))
    turn = turn * np.sign(np.diag(triangle))  # uniform over all rotations and reflections
    weights = axes[:, -world.m :] * np.sqrt(values[-world.m :]) @ turn
    return Decoder(weights, world.noise * np.eye(world.n))


def _authors(world: World, rng: np.random.Generator) -> Encoder:
    weights = rng.uniform(size=(world.m, world.n))
    return Encoder(weights, positive_definite(rng.uniform(size=(world.m, world.m)), rng.uniform(size=world.m)))


def _encoder(world: World, rng: np.random.Generator) -> Encoder:
    weights, noise = _authors(world, rng)
    return Encoder(weights / _unit(world), noise)


def positive_definite(square: np.ndarray, spread: np.ndarray) -> np.ndarray:
    """Return the matrix that scikit-learn's make_spd_matrix makes of these draws from U(0, 1)."""
    left, _, right = np.linalg.svd(square.T @ square)
    return left @ (1.0 + np.diag(spread)) @ right  # the 1 is added to every entry, as there


STARTS: dict[str, Callable[[World, np.random.Generator], Encoder | Decoder]] = {
    "random": _random,
    "principal": _principal,
    "encoder": _encoder,
    "authors": _authors,
}
"""The decoder or the encoder that a cell starts from."""
STOPS = ("tolerance", "rest")
