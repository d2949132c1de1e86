"""The clustering task: which scenes are clustered, what reward they have, and what an action does to them.

Everything works on many scenes at once, positions (n, sprites, 2), and needs no environment.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unweave.data.factors import Integers, integers
from unweave.data.scenes2d import PLACES, SIDE, SPRITES, Scenes2D
from unweave.errors import UsageError, unknown
from unweave.fields import OneOf

Floats = NDArray[np.float64]
T = TypeVar("T", float, Floats)
Groups = tuple[tuple[int, ...], ...]

GROUPINGS: dict[str, tuple[Groups, ...]] = {
    "colour": (((0, 1), (2, 3)),),
    "shape": (((0, 2), (1, 3)),),
    "position": (((0, 1), (2, 3)), ((0, 2), (1, 3)), ((0, 3), (1, 2))),
}
"""How sprites may be grouped; of several groupings the best one counts: by position, any two pairs."""
THRESHOLD = 2.5
"""A scene is clustered if 1 / Davies-Bouldin is at least this."""
SCALE = 5.0
"""Reward for each unit of 1 / Davies-Bouldin."""
LARGEST = 10.0
"""1 / Davies-Bouldin is clipped here: sprites on top of each other would make it infinite."""
REACH = 0.25
"""The largest range of a motion, as a share of the image's width."""
EPISODE = 50
"""Steps of an episode."""


@dataclass(frozen=True)
class Clustering:
    """Move four sprites until those of one colour, or of one shape, or any two pairs, lie together.

    The rules are those of Spriteworld's clustering task [Watters2019]_ with its actions "select, then move"; the scenes
    are those of the data set scenes2d.
    """

    by: Annotated[str, OneOf(GROUPINGS)] = "colour"
    """Which sprites belong together: those of one colour, of one shape, or, by position, any two pairs."""
    size: int = 64
    """Width of the images: 32, 64 or 128."""

    def __post_init__(self) -> None:
        if self.by not in GROUPINGS:
            raise unknown("way to cluster", str(self.by), GROUPINGS)
        _ = self.data

    @cached_property
    def data(self) -> Scenes2D:
        """The data set of its scenes."""
        return Scenes2D(size=self.size)

    def quality(self, places: ArrayLike) -> Floats:
        r"""Return 1 / Davies-Bouldin of scenes (n, sprites, 2), at most 10; the best of several groupings.

        For two groups with centroids c and mean distances s to them, 1 / DB = \|c_1 - c_2\| / (s_1 + s_2). It is 0
        if the centroids coincide.

        Parameters
        ----------
        places
            Corners of the sprites' boxes (n, sprites, 2) in pixels of the 64×64 image.

        Returns
        -------
        ndarray
            1 / Davies-Bouldin (n,).
        """
        points = _checked(places).astype(np.float64)
        return np.max([_separation(points, groups) for groups in GROUPINGS[self.by]], axis=0)

    def is_clustered(self, places: ArrayLike) -> NDArray[np.bool_]:
        """Return which scenes (n, sprites, 2) are clustered: 1 / Davies-Bouldin is at least 2.5.

        Parameters
        ----------
        places
            Corners of the sprites' boxes (n, sprites, 2) in pixels of the 64×64 image.

        Returns
        -------
        ndarray
            Booleans (n,).
        """
        return self.quality(places) >= THRESHOLD

    def reward(self, places: ArrayLike) -> Floats:
        """Return the reward (n,) of being in scenes (n, sprites, 2): 5 (1 / Davies-Bouldin - 2.5), at most 37.5.

        Parameters
        ----------
        places
            Corners of the sprites' boxes (n, sprites, 2) in pixels of the 64×64 image.

        Returns
        -------
        ndarray
            Rewards (n,).
        """
        return reward_of(self.quality(places))

    def images(self, places: ArrayLike) -> NDArray[np.uint8]:
        """Return the images (n, H, W, 3) of scenes (n, sprites, 2).

        Parameters
        ----------
        places
            Corners of the sprites' boxes (n, sprites, 2) in pixels of the 64×64 image.

        Returns
        -------
        ndarray
            Images (n, H, W, 3), uint8.
        """
        return self.data.paint(places)

    def start(self, n: int, rng: np.random.Generator) -> Integers:
        """Draw n scenes (n, sprites, 2) that are not clustered, uniformly.

        Parameters
        ----------
        n
            The number of scenes.
        rng
            The random generator.

        Returns
        -------
        ndarray
            The positions (n, sprites, 2).
        """
        places = rng.integers(PLACES, size=(n, len(SPRITES), 2))
        while (done := self.is_clustered(places)).any():
            places[done] = rng.integers(PLACES, size=(int(done.sum()), len(SPRITES), 2))
        return places

    def step(self, places: ArrayLike, actions: ArrayLike) -> Integers:
        """Return the scenes (n, sprites, 2) after actions (n, 4).

        Parameters
        ----------
        places
            Corners of the sprites' boxes in pixels of the 64×64 image, x and y, 0 to 49.
        actions
            Four numbers from 0 to 1: a position in the image, x and y from its upper left corner, and a motion, where
            0.5 is none and the ends are an eighth of the image's width to either side. The uppermost sprite at the
            position moves, and stays inside the image; if there is none, nothing happens.

        Returns
        -------
        ndarray
            The new positions (n, sprites, 2).
        """
        before = _checked(places)
        given = np.clip(np.asarray(actions, dtype=np.float64), 0.0, 1.0)
        if given.shape != (len(before), 4):
            raise UsageError(f"actions must have the shape ({len(before)}, 4), not {np.shape(actions)}")
        selected = self._selected(before, given[:, :2])
        motion = np.rint(64 * REACH * (given[:, 2:] - 0.5)).astype(np.int64)
        hit = selected >= 0
        after = before.copy()
        after[hit, selected[hit]] = np.clip(before[hit, selected[hit]] + motion[hit], 0, PLACES - 1)
        return after

    def aim(self, places: ArrayLike, sprites: Sequence[int] | Integers, motions: ArrayLike) -> Floats:
        """Return the actions (n, 4) that select the middle of these sprites (n,) and move them by pixels (n, 2).

        Motions are clipped at 8 pixels along each axis. If a later sprite covers the middle, that one moves.

        Parameters
        ----------
        places
            Corners of the sprites' boxes (n, sprites, 2) in pixels of the 64×64 image.
        sprites
            The index of a sprite for each scene (n,).
        motions
            The motions in pixels (n, 2).

        Returns
        -------
        ndarray
            Actions (n, 4), as `step` takes them.
        """
        corners = _checked(places)[np.arange(len(np.asarray(sprites))), np.asarray(sprites)]
        motion = np.clip(np.asarray(motions, dtype=np.float64) / (64 * REACH), -0.5, 0.5) + 0.5
        return np.concatenate([(corners + SIDE / 2) / 64, motion], axis=1)

    def _selected(self, places: Integers, where: Floats) -> Integers:
        """Return the index (n,) of the uppermost sprite at positions (n, 2) in the image, -1 if there is none."""
        zoom = self.data.masks.shape[1] // SIDE
        pixel = np.minimum((where * 64 * zoom).astype(np.int64), 64 * zoom - 1)
        selected = np.full(len(places), -1)
        for number, mask in enumerate(self.data.masks):
            x, y = (pixel - zoom * places[:, number]).T
            inside = (x >= 0) & (y >= 0) & (x < len(mask)) & (y < len(mask))
            inside[inside] = mask[y[inside], x[inside]]
            selected[inside] = number  # drawn later, so on top
        return selected


def reward_of(quality: T) -> T:
    """Return the reward of scenes with this 1 / Davies-Bouldin."""
    return SCALE * (quality - THRESHOLD)


def _separation(points: Floats, groups: Groups) -> Floats:
    """Return 1 / Davies-Bouldin (n,) of points (n, sprites, 2) in two groups, at most 10."""
    middles = [points[:, list(group)].mean(axis=1) for group in groups]
    spread = sum(
        np.linalg.norm(points[:, list(group)] - middle[:, None], axis=-1).mean(axis=1)
        for group, middle in zip(groups, middles, strict=True)
    )
    apart = np.linalg.norm(middles[0] - middles[1], axis=-1)
    return np.where(apart > 0, apart / np.maximum(spread, np.maximum(apart, 1e-9) / LARGEST), 0.0)


def _checked(places: ArrayLike) -> Integers:
    corners = integers(places, "places")
    if corners.ndim != 3 or corners.shape[1:] != (len(SPRITES), 2):
        raise UsageError(f"places must have the shape (n, {len(SPRITES)}, 2), not {corners.shape}")
    return corners
