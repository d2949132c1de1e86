"""Exploration by a fixed policy that moves sprites around and, half of the time, together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unweave.data.factors import Integers
from unweave.data.scenes2d import SPRITES
from unweave.tasks.clustering import EPISODE, REACH, Clustering, Floats

TOGETHER = 0.5
"""The share of moves towards the nearest other sprite."""
BESIDE = 10
"""Such a move aims at a position up to this many pixels, along each axis, from the other sprite."""
STREAMS = 20
"""Number of episodes explored in parallel; their steps are counted together."""
EXPLORED, HELD_OUT = 0, 1
"""Random streams of the experience to learn from, and of the scenes to test on."""


@dataclass(frozen=True)
class Experience:
    """Scenes in the order in which they were reached, and which of them are clustered."""

    places: Integers
    """(steps, sprites, 2)"""
    clustered: NDArray[np.bool_]
    """(steps,)"""


def explore(task: Clustering, places: Integers, rng: np.random.Generator) -> Floats:
    """Return the actions (n, 4) of the exploration policy in scenes (n, sprites, 2).

    It selects a sprite at random. Half of the time the sprite moves as far as it can towards a random position next to
    its nearest sprite, otherwise in a random direction. It knows nothing about colours, shapes and rewards.

    Parameters
    ----------
    task
        The task, which defines how an action selects and moves.
    places
        The positions of the sprites.
    rng
        Generator of the choices.

    Returns
    -------
    ndarray
        The actions (n, 4).
    """
    n, furthest = len(places), 32 * REACH
    rows = np.arange(n)
    sprites = rng.integers(len(SPRITES), size=n)
    own = places[rows, sprites]
    distances = np.linalg.norm(places - own[:, None], axis=-1)
    distances[rows, sprites] = np.inf
    target = places[rows, distances.argmin(axis=1)] + rng.uniform(-BESIDE, BESIDE, size=(n, 2))
    anywhere = rng.uniform(-furthest, furthest, size=(n, 2))
    motions = np.where((rng.random(n) < TOGETHER)[:, None], target - own, anywhere)
    return task.aim(places, sprites, motions)


def experience(task: Clustering, steps: int, *, seed: int = 0, stream: int = EXPLORED) -> Experience:
    """Return the scenes that exploration reaches in this many steps.

    An episode lasts 50 steps, even after success; twenty are explored in parallel.

    Parameters
    ----------
    task
        The task.
    steps
        The number of steps.
    seed, stream
        Seed of all choices, and which of its independent streams.

    Returns
    -------
    Experience
        The scenes in order, and which of them are clustered.
    """
    rng = np.random.default_rng([seed, stream])
    seen: list[Integers] = []
    places = task.start(STREAMS, rng)
    for time in range(-(-steps // STREAMS)):
        if time and time % EPISODE == 0:
            places = task.start(STREAMS, rng)
        places = task.step(places, explore(task, places, rng))
        seen.append(places)
    reached = np.concatenate(seen)[:steps]
    return Experience(reached, task.is_clustered(reached))


def held_out(task: Clustering, scenes: int, *, seed: int = 0) -> Experience:
    """Return test scenes from other episodes, half of them clustered.

    Parameters
    ----------
    task
        The task.
    scenes
        The number of scenes; even.
    seed
        Seed of all choices.

    Returns
    -------
    Experience
        The scenes, and which of them are clustered.
    """
    wanted, steps = scenes // 2, 20 * scenes
    while True:
        found = experience(task, steps, seed=seed, stream=HELD_OUT)
        yes, no = np.flatnonzero(found.clustered), np.flatnonzero(~found.clustered)
        if min(len(yes), len(no)) >= wanted:
            break
        steps *= 2
    rng = np.random.default_rng([seed, HELD_OUT, 1])
    rows = np.concatenate([rng.choice(rows, wanted, replace=False) for rows in (yes, no)])
    return Experience(found.places[rows], found.clustered[rows])
