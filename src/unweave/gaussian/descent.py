"""Minimise the loss of eq. 3 by gradients, as an independent check of the iterations."""

from __future__ import annotations

import numpy as np

from unweave.gaussian.model import Decoder, Encoder, World


def descend(
    world: World, *, gamma: float = 1.0, lam: float = 0.0, diagonal: bool = True, steps: int = 500, seed: int = 0
) -> tuple[Encoder, Decoder, float]:
    """Minimise the loss of a world by L-BFGS in double precision, as a check of `blahut_arimoto`.

    Covariances are products of triangular factors, or diagonal ones for a decoder with `diagonal` noise. For gamma = 1,
    lambda = 0 the loss has a finite minimum; for other values it may fall without limit, until `steps` end the search.

    Parameters
    ----------
    world
        The world whose observations are encoded.
    gamma, lam
        Weights of the loss, as in `loss`.
    diagonal
        Whether the noise of the decoder is diagonal.
    steps
        The most steps of L-BFGS.
    seed
        Seed of the start.

    Returns
    -------
    tuple of Encoder, Decoder and float
        The encoder, the decoder and their loss.

    Examples
    --------
    >>> encoder, decoder, least = descend(SCENARIOS["3-in-2"].world())
    >>> round(least, 2)
    2.32
    """
    import torch

    rng = np.random.default_rng(seed)
    y = torch.tensor(world.sigma_y)
    n, m = world.n, world.m
    b, a = (torch.tensor(0.3 * rng.normal(size=shape), requires_grad=True) for shape in ((m, n), (n, m)))
    w, z = (torch.zeros(size, size, dtype=torch.float64, requires_grad=True) for size in (m, n))

    def factor(raw: torch.Tensor, only_diagonal: bool) -> torch.Tensor:
        positive = torch.diag(raw.diagonal().exp())
        return positive if only_diagonal else positive + raw.tril(-1)

    def objective() -> torch.Tensor:
        lower_w, lower_z = factor(w, False), factor(z, diagonal)
        codes = b @ y @ b.T + lower_w @ lower_w.T
        missed = torch.eye(n, dtype=torch.float64) - a @ b
        error = missed @ y @ missed.T + a @ lower_w @ lower_w.T @ a.T
        misfit = torch.cholesky_solve(error, lower_z).trace()
        divergence = 0.5 * (codes.trace() - m) - w.diagonal().sum()
        surprise = 0.5 * (misfit + n * np.log(2 * np.pi)) + z.diagonal().sum()
        return divergence + gamma * surprise + lam * error.trace()

    optimiser = torch.optim.LBFGS(
        [a, b, w, z],
        max_iter=steps,
        tolerance_grad=1e-10,
        tolerance_change=1e-12,
        history_size=30,
        line_search_fn="strong_wolfe",
    )

    def closure() -> torch.Tensor:
        optimiser.zero_grad()
        value = objective()
        value.backward()
        return value

    optimiser.step(closure)
    with torch.no_grad():
        lower_w, lower_z = factor(w, False), factor(z, diagonal)
        encoder = Encoder(b.numpy(), (lower_w @ lower_w.T).numpy())
        return encoder, Decoder(a.numpy(), (lower_z @ lower_z.T).numpy()), float(objective())
