"""GeoManCEr on an object that rotates under a moving light: from the true latents, images and codes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from unweave.data.dataset import Images
from unweave.data.objects3d import Objects3D
from unweave.geometry import subspace_error, unaligned_error
from unweave.reproduce.geomancer_products import factorised
from unweave.reproduce.parts import Kept, compute_always

Points = np.ndarray

DIMS = (3, 2)
"""The dimensions of SO(3), the orientations, and of S², the directions of light."""
SIDE = 32
"""Side of an image in pixels."""


@dataclass(frozen=True)
class Training:
    """Training of the β-VAEs whose codes are factorised."""

    steps: int
    betas: tuple[float, ...] = (1.0, 4.0)
    width: float = 1.0
    """Multiplies the channels of the network."""


@dataclass(frozen=True)
class FoundFactors:
    """GeoManCEr's result for the same images in one kind of coordinates."""

    count: int
    """The number of factors that it finds."""
    dims: tuple[int, ...]
    """Their dimensions if it is given the number two; empty if points do not agree."""
    doubts: tuple[str, ...]
    """Its warnings."""
    errors: Points
    """The angle to the true factors at every point, in radians, if it is given the number two.

    Spaces are compared after the rotations that best align the steps to neighbours, because images and codes have their
    own coordinates.
    """
    aligned: Points | None = None
    """The angle without these rotations, if coordinates are the true ones."""
    explained: float | None = None
    """The share of the pixels' variance that codes explain; None without codes."""


def factors_of_each_input(
    count: int, training: Training, seed: int, tell: Callable[[str], object], kept: Kept = compute_always
) -> dict[str, FoundFactors]:
    """Find factors in the true latents of `count` images, in the images, and in their codes.

    `tell` is called with the name of each before it starts; `kept` returns results that were computed before.
    """
    data, rows = Objects3D(size=SIDE, n=count, seed=seed), np.arange(count)
    tell("true latents")
    latents, images = data.latents(rows), data.images(rows)
    found = {"true latents": kept("true latents", lambda: find_factors(latents, latents, seed))}
    tell("pixels")
    found["pixels"] = kept("pixels", lambda: find_factors(images.reshape(count, -1) / 255, latents, seed))

    def in_codes(beta: float) -> FoundFactors:
        encoded, explained = codes(data, images, beta, training, seed)
        return replace(find_factors(encoded, latents, seed), explained=explained)

    for beta in training.betas:
        name = f"codes, β = {beta:g}"
        tell(name)
        found[name] = kept(name, partial(in_codes, beta))
    return found


def find_factors(points: Points, latents: Points, seed: int) -> FoundFactors:
    """Find factors in points (n, D): with only their dimension, and again with `count=2` if two were not found."""
    found, doubts = factorised(points, sum(DIMS), seed=seed)
    count = found.count
    if count != len(DIMS):
        found, more = factorised(points, sum(DIMS), count=len(DIMS), seed=seed)
        doubts += more
    components, frames = found.components, true_frames(latents)
    errors = unaligned_error(points, components, latents, frames)
    aligned = subspace_error(components, frames) if points is latents else None
    return FoundFactors(count, found.dims, tuple(dict.fromkeys(doubts)), errors, aligned)


def true_frames(latents: Points) -> list[Points]:
    """Return the tangent spaces of SO(3) and of S² at latents (n, 9 + 3): orthonormal bases (n, 12, 3) and (n, 12, 2).

    At a rotation R, the tangent space is R A with A antisymmetric; at a direction, it is its orthogonal complement.
    """
    rotations, lights = latents[:, :9].reshape(-1, 3, 3), latents[:, 9:]
    antisymmetric = np.cross(np.eye(3)[:, None], np.eye(3)) / 2**0.5
    turns, shifts = np.zeros((len(latents), 12, 3)), np.zeros((len(latents), 12, 2))
    turns[:, :9] = np.einsum("nij,bjk->nikb", rotations, antisymmetric).reshape(-1, 9, 3)
    shifts[:, 9:] = np.linalg.svd(lights[:, None])[2][:, 1:].transpose(0, 2, 1)
    return [turns, shifts]


def codes(data: Objects3D, images: Images, beta: float, training: Training, seed: int) -> tuple[Points, float]:
    """Train a β-VAE on the data; return its codes of the images, and the share of their variance that it explains."""
    from unweave.methods.beta_vae import BetaVAE
    from unweave.training import train
    from unweave.training.interrupt import Interrupted

    with TemporaryDirectory() as folder:
        try:
            run = train(
                BetaVAE(beta=beta),
                data=data,
                out=Path(folder, "run"),
                steps=training.steps,
                width=training.width,
                seed=seed,
                device="cpu",
            )
        except Interrupted:
            raise KeyboardInterrupt from None  # its message would name a folder that no longer exists
        found, seen = run.encode(images), run.reconstruct(images)
    lost = np.square(images.astype(np.float32) - seen).mean()
    return found, float(1 - lost / images.var(axis=0).mean())
