"""Codes of known quality: what each world does to four factors of nine values.

`benchmarks/metric_guide.py` scores them for docs/guides/which-metric.md.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

FACTORS, VALUES = 4, 9
Array = NDArray[np.float64]


@dataclass(frozen=True)
class World:
    """How codes are made from factors, and a description."""

    title: str
    codes: Callable[[Array, np.random.Generator], Array]
    """A function from centred factors (n, 4), integers from -4 to 4, and a generator to codes (n, d)."""
    says: str
    correlated: bool = False
    """Whether factors are correlated in pairs."""


def draw(world: World, rows: int, seed: int) -> tuple[Array, NDArray[np.int64]]:
    """Return codes and factors of a world."""
    rng = np.random.default_rng(seed)
    factors = rng.integers(VALUES, size=(rows, FACTORS))
    if world.correlated:  # the second of a pair is the first, moved by up to two values, in two rows of three
        moved = np.clip(factors[:, ::2] + rng.integers(-2, 3, size=(rows, 2)), 0, VALUES - 1)
        factors[:, 1::2] = np.where(rng.random((rows, 2)) < 2 / 3, moved, factors[:, 1::2])
    return world.codes(factors.astype(float) - VALUES // 2, rng), factors


def aligned(v: Array, rng: np.random.Generator) -> Array:
    return v


def dead(v: Array, rng: np.random.Generator) -> Array:
    return np.hstack([v, 0.05 * rng.normal(size=(len(v), 6))])


def copies(v: Array, rng: np.random.Generator) -> Array:
    return np.hstack([v, -2 * v])


def warped(v: Array, rng: np.random.Generator) -> Array:
    return np.exp(v)


def rotated(v: Array, rng: np.random.Generator) -> Array:
    first, second = v[:, ::2], v[:, 1::2]
    return np.hstack([first + second, first - second]) / np.sqrt(2)


def split(v: Array, rng: np.random.Generator) -> Array:
    return np.hstack(np.divmod(v + VALUES // 2, 3))


def merged(v: Array, rng: np.random.Generator) -> Array:
    return VALUES * v[:, ::2] + v[:, 1::2]


def one_hot(v: Array, rng: np.random.Generator) -> Array:
    return (v[:, :, None] == np.arange(VALUES) - VALUES // 2).reshape(len(v), -1).astype(float)


def bumps(v: Array, rng: np.random.Generator) -> Array:
    """Return 16 latents for each factor: each responds to a narrow range of values, and is 0 elsewhere."""
    centres = np.linspace(-4.5, 4.5, 16)
    return np.maximum(0, 1 - np.abs(v[:, :, None] - centres) / 1.5).reshape(len(v), -1)


def circle(v: Array, rng: np.random.Generator) -> Array:
    turn = 2 * np.pi * v / VALUES
    return np.hstack([np.cos(turn), np.sin(turn)])


def noisy(v: Array, rng: np.random.Generator) -> Array:
    return v + v.std() * rng.normal(size=v.shape)


def lost(v: Array, rng: np.random.Generator) -> Array:
    return v[:, :2]


def scrambled(v: Array, rng: np.random.Generator) -> Array:
    sums = (v[:, ::2] + v[:, 1::2]) % VALUES
    return np.hstack([v[:, ::2], sums])


def noise(v: Array, rng: np.random.Generator) -> Array:
    return rng.normal(size=v.shape)


WORLDS = {
    "aligned": World("perfect", aligned, "one latent for each factor"),
    "correlated": World("correlated factors", aligned, "one latent for each factor; factors correlated in pairs", True),
    "dead": World("dead latents", dead, "perfect, and six latents that hardly vary"),
    "copies": World("copies", copies, "each factor in two latents"),
    "warped": World("warped", warped, "each latent is the exponential of its factor"),
    "circle": World("circle", circle, "each factor is an angle: its cosine and its sine"),
    "split": World("split", split, "each factor in two latents, each of which encodes one half of it"),
    "one-hot": World("one-hot", one_hot, "a latent for each value of each factor"),
    "bumps": World("sparse, 64 latents", bumps, "16 latents for each factor, of which at most six are not 0"),
    "rotated": World("rotated by 45°", rotated, "two factors share two latents, as sum and difference"),
    "merged": World("merged", merged, "two factors in one latent: 9 v₁ + v₂"),
    "scrambled": World("scrambled", scrambled, "v₁, and v₁ + v₂ modulo 9: v₂ takes both latents"),
    "lost": World("half lost", lost, "two factors have a latent each, two are not encoded"),
    "noisy": World("noisy", noisy, "perfect, plus noise of the same standard deviation"),
    "noise": World("useless", noise, "noise, independent of the factors"),
}
