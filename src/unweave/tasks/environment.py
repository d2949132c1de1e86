"""The clustering task as a Gymnasium environment, which needs the extra `rl`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from unweave.data.factors import Integers
from unweave.errors import UsageError, unknown
from unweave.late import importing
from unweave.tasks.clustering import EPISODE, THRESHOLD, Clustering, reward_of

try:
    with importing():
        import gymnasium
        from gymnasium import spaces
except ImportError:
    raise UsageError("the environment needs gymnasium: pip install 'unweave[rl]'") from None

Observation = NDArray[np.uint8]
MODES = ("rgb_array",)


class ClusteringEnv(gymnasium.Env[Observation, NDArray[np.float32]]):
    """Move four sprites until they are clustered by colour, shape or position, in episodes of 50 steps.

    An observation is an image (H, W, 3), uint8. An action is four numbers from 0 to 1: where to select a sprite, x and
    y from the upper left corner, and how to move it, where 0.5 is no motion (`Clustering.step`). The reward of a step
    is 5 (1 / Davies-Bouldin - 2.5) of the scene that it leads to. An episode terminates when that is 0 or more, which
    is success, and is truncated after 50 steps. `info` has the `places` of the sprites, the `quality`, which is
    1 / Davies-Bouldin, and `success`.

    Parameters
    ----------
    by
        Which sprites belong together: "colour", "shape" or "position".
    size
        Width of the images: 32, 64 or 128.
    render_mode
        None, or "rgb_array".
    """

    metadata: dict[str, Any] = {"render_modes": list(MODES), "render_fps": 10}  # noqa: RUF012

    def __init__(self, by: str = "colour", size: int = 64, render_mode: str | None = None) -> None:
        if render_mode is not None and render_mode not in MODES:
            raise unknown("render mode", str(render_mode), MODES)
        self.task = Clustering(by, size)
        self.render_mode = render_mode
        self.observation_space = spaces.Box(0, 255, (size, size, 3), np.uint8)
        self.action_space = spaces.Box(0.0, 1.0, (4,), np.float32)
        self._places: Integers = self.task.start(1, np.random.default_rng(0))
        self._steps: int | None = None

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Start an episode in a random scene that is not clustered, or with the "places" in `options`.

        Parameters
        ----------
        seed
            Seed of the scenes; None continues the present stream.
        options
            {"places": (sprites, 2)} to start in this scene.

        Returns
        -------
        tuple
            The image, and `info`.
        """
        super().reset(seed=seed)
        given = (options or {}).get("places")
        self._places = self.task.start(1, self.np_random) if given is None else np.array(given, dtype=np.int64)[None]
        self._steps = 0
        return self._seen(), self._info()

    def step(self, action: NDArray[np.float32]) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Select and move a sprite; return the image, the reward, success, whether time is up, and the info.

        Parameters
        ----------
        action
            Four numbers from 0 to 1: see the class.

        Returns
        -------
        tuple
            The image, the reward, whether the scene is clustered, whether time is up, and `info`.
        """
        if self._steps is None:
            raise UsageError("call reset() before step()")
        self._places = self.task.step(self._places, _checked(action)[None])
        self._steps += 1
        info = self._info()
        return self._seen(), reward_of(info["quality"]), info["success"], self._steps >= EPISODE, info

    def render(self) -> Observation | None:
        """Return the image of the scene if the render mode is "rgb_array".

        Returns
        -------
        ndarray or None
            The image (H, W, 3), uint8.
        """
        return self._seen() if self.render_mode == "rgb_array" else None

    def _seen(self) -> Observation:
        return self.task.images(self._places)[0]

    def _info(self) -> dict[str, Any]:
        quality = float(self.task.quality(self._places)[0])
        return {"places": self._places[0].copy(), "quality": quality, "success": quality >= THRESHOLD}


def _checked(action: object) -> NDArray[np.float32]:
    """Return an action as numbers; raise a `UsageError` for anything but four from 0 to 1."""
    try:
        numbers = np.asarray(action, dtype=np.float32)
    except (TypeError, ValueError):
        numbers = np.zeros(0, np.float32)
    if numbers.shape != (4,) or not ((numbers >= 0) & (numbers <= 1)).all():
        raise UsageError(f"an action must be four numbers from 0 to 1, not {action!r}")
    return numbers


gymnasium.register("unweave/Clustering-v0", entry_point="unweave.tasks.environment:ClusteringEnv")
