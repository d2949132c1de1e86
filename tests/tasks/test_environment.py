"""The environment: Gymnasium's own checks, its seeds, and a scripted policy that solves it."""

from __future__ import annotations

import subprocess
import sys

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from unweave.errors import UsageError
from unweave.tasks import Clustering, ClusteringEnv
from unweave.tasks.clustering import GROUPINGS

CORNERS = np.array([[0, 0], [49, 49]])


@pytest.mark.parametrize("by", GROUPINGS)
def test_gymnasium_accepts_it(by):
    name = "unweave.tasks.environment:unweave/Clustering-v0"
    check_env(gymnasium.make(name, by=by, size=32, render_mode="rgb_array").unwrapped)


def test_what_is_seen_is_the_scene_and_the_reward_that_of_where_it_leads():
    env = ClusteringEnv("shape", 32)
    seen, info = env.reset(seed=7)
    task = Clustering("shape", 32)
    np.testing.assert_array_equal(seen, task.images(info["places"][None])[0])
    seen, reward, terminated, truncated, info = env.step(task.aim(info["places"][None], [3], [[5, 5]])[0])
    np.testing.assert_array_equal(seen, task.images(info["places"][None])[0])
    assert reward == task.reward(info["places"][None]).item() == 5 * (info["quality"] - 2.5)
    assert (terminated, truncated) == (info["success"], False)


def test_equal_seeds_begin_alike_and_no_beginning_is_clustered():
    env, other = ClusteringEnv(size=32), ClusteringEnv(size=32)
    for seed in range(30):
        places = env.reset(seed=seed)[1]["places"]
        np.testing.assert_array_equal(places, other.reset(seed=seed)[1]["places"])
        assert not Clustering(size=32).is_clustered(places[None]).item()
    assert (env.reset()[1]["places"] != env.reset()[1]["places"]).any()


@pytest.mark.parametrize("by", ["colour", "shape"])
def test_a_scripted_policy_succeeds_within_an_episode(by):
    """Take the sprites of one group to one corner and the others to the other, side by side, in a random order."""
    task, env = Clustering(by, 32), ClusteringEnv(by, 32)
    group_of = {sprite: corner for corner, group in enumerate(GROUPINGS[by][0]) for sprite in group}
    target = np.array([CORNERS[group_of[sprite]] for sprite in range(4)])
    for group in GROUPINGS[by][0]:
        target[group[1], 0] += 12 if target[group[1], 0] == 0 else -12
    rng = np.random.default_rng(0)
    for seed in range(5):
        info, reward, ended, steps = env.reset(seed=seed)[1], -1.0, False, 0
        while not ended and steps < 50:
            places = info["places"]
            sprite = rng.choice(np.flatnonzero((target != places).any(axis=1)))
            action = task.aim(places[None], [sprite], (target - places)[None, sprite])[0]
            _, reward, ended, _, info = env.step(action)
            steps += 1
        assert ended
        assert info["success"]
        assert reward >= 0


def test_an_episode_ends_after_fifty_steps():
    env = ClusteringEnv(size=32)
    env.reset(seed=0)
    nothing = np.array([0.0, 0.0, 0.5, 0.5], dtype=np.float32)
    assert [env.step(nothing)[3] for _ in range(50)] == [False] * 49 + [True]


def test_a_scene_may_be_given():
    places = [[0, 0], [0, 10], [40, 0], [40, 10]]
    _, info = ClusteringEnv(size=32).reset(options={"places": places})
    np.testing.assert_array_equal(info["places"], places)
    assert info["success"]


def test_an_unknown_render_mode_is_refused():
    with pytest.raises(UsageError, match="no render mode is called 'human'"):
        ClusteringEnv(render_mode="human")


def test_without_gymnasium_one_line_says_what_to_install_and_the_rest_works():
    code = (
        "import sys; sys.modules['gymnasium'] = None\n"
        "from unweave.tasks import Clustering, sample_efficiency\n"
        "from unweave.errors import UsageError\n"
        "try:\n    from unweave.tasks import ClusteringEnv\n"
        "except UsageError as error:\n    print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "the environment needs gymnasium: pip install 'unweave[rl]'"


@pytest.mark.parametrize("action", [[0.5] * 3, [np.nan] * 4, [2.0, 0, 0, 0], [-0.1, 0, 0, 0], "x", None, [["a"] * 4]])
def test_what_is_no_action_is_refused(action):
    env = ClusteringEnv(size=32)
    env.reset(seed=0)
    with pytest.raises(UsageError, match="an action must be four numbers from 0 to 1"):
        env.step(action)


def test_a_step_before_the_first_reset_is_refused():
    with pytest.raises(UsageError, match="call reset"):
        ClusteringEnv(size=32).step(np.full(4, 0.5, np.float32))
