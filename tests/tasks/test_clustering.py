"""The rules of the task against scikit-learn's Davies-Bouldin score, and by hand."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import davies_bouldin_score

from unweave.data.scenes2d import PLACES, SIDE
from unweave.errors import UsageError
from unweave.tasks import Clustering, experience, explore
from unweave.tasks.clustering import GROUPINGS, LARGEST
from unweave.tasks.exploration import held_out

SCENES = np.random.default_rng(0).integers(PLACES, size=(300, 4, 2))


def referee(places: np.ndarray, by: str) -> float:
    """The best of all groupings, by scikit-learn."""
    labels = [[next(g for g, group in enumerate(groups) if i in group) for i in range(4)] for groups in GROUPINGS[by]]
    return max(1 / davies_bouldin_score(places, label) for label in labels)


@pytest.mark.parametrize("by", GROUPINGS)
def test_the_quality_is_one_over_the_davies_bouldin_score(by):
    expected = [min(referee(places, by), LARGEST) for places in SCENES]
    np.testing.assert_allclose(Clustering(by, 32).quality(SCENES), expected)


def test_reward_and_success_follow_the_quality():
    task = Clustering("colour", 32)
    quality = task.quality(SCENES)
    np.testing.assert_allclose(task.reward(SCENES), 5 * (quality - 2.5))
    np.testing.assert_array_equal(task.is_clustered(SCENES), quality >= 2.5)
    assert 0 < task.is_clustered(SCENES).mean() < 0.2


def test_colour_shape_and_position_by_hand():
    """Both red sprites on the left, both blue ones on the right: clustered by colour and by position alone."""
    places = [[[0, 0], [0, 4], [40, 0], [40, 4]]]
    qualities = {by: Clustering(by, 32).quality(places).item() for by in GROUPINGS}
    assert qualities == {"colour": 10.0, "shape": 0.1, "position": 10.0}


def test_sprites_in_one_place_are_no_clusters_and_pairs_in_two_are_the_best():
    task = Clustering("colour", 32)
    assert task.quality([[[5, 5]] * 4]).item() == 0  # scikit-learn's score is 0 here, as if this were perfect
    assert task.quality([[[5, 5], [5, 5], [30, 5], [30, 5]]]).item() == LARGEST


def test_an_action_moves_the_uppermost_sprite_at_its_place():
    task = Clustering("colour", 32)
    places = np.array([[[0, 0], [40, 0], [0, 40], [40, 40]]])
    middle = (40 + SIDE / 2) / 64
    np.testing.assert_array_equal(
        task.step(places, [[middle, SIDE / 2 / 64, 0.0, 1.0]])[0], [[0, 0], [32, 8], [0, 40], [40, 40]]
    )
    on_top = np.array([[[20, 20]] * 4])
    moved = task.step(on_top, task.aim(on_top, [0], [[-3, 5]]))[0]
    np.testing.assert_array_equal(moved, [[20, 20]] * 3 + [[17, 25]])


def test_an_action_beside_all_sprites_does_nothing_and_no_sprite_leaves_the_image():
    task = Clustering("colour", 32)
    places = np.array([[[0, 0], [49, 0], [0, 49], [49, 49]]])
    np.testing.assert_array_equal(task.step(places, [[0.5, 0.5, 1.0, 1.0]]), places)
    np.testing.assert_array_equal(task.step(places, task.aim(places, [3], [[8, 8]])), places)


def test_the_same_action_at_every_size():
    rng = np.random.default_rng(1)
    actions = rng.random((300, 4))
    small, large = (Clustering("colour", size).step(SCENES, actions) for size in (32, 64))
    np.testing.assert_array_equal(small, large)


def test_exploration_is_seeded_moves_by_at_most_a_reach_and_clusters_more_than_chance():
    task = Clustering("colour", 32)
    found = experience(task, 4_000, seed=3)
    np.testing.assert_array_equal(found.places, experience(task, 4_000, seed=3).places)
    assert (found.places != experience(task, 4_000, seed=4).places).any()
    moves = np.abs(np.diff(found.places[:1000].reshape(50, 20, 8), axis=0))
    assert moves.max() == 8
    assert ((moves > 0).reshape(-1, 4, 2).any(axis=2).sum(axis=1) <= 1).all()
    assert found.clustered.mean() > 1.5 * task.is_clustered(SCENES).mean()


def test_half_of_the_held_out_scenes_are_clustered_and_none_were_explored():
    task = Clustering("shape", 32)
    tests, seen = held_out(task, 100, seed=3), experience(task, 2_000, seed=3)
    assert (len(tests.places), tests.clustered.sum()) == (100, 50)
    np.testing.assert_array_equal(task.is_clustered(tests.places), tests.clustered)
    explored = {scene.tobytes() for scene in seen.places}
    assert sum(scene.tobytes() in explored for scene in tests.places) == 0


def test_the_policy_sees_places_alone():
    """Sprites that are exchanged are moved in the same way, whatever they look like."""
    task = Clustering("colour", 32)
    actions = explore(task, SCENES, np.random.default_rng(5))
    assert actions.shape == (300, 4)
    assert ((actions >= 0) & (actions <= 1)).all()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Clustering("color"), "no way to cluster is called 'color'; did you mean 'colour'"),
        (lambda: Clustering(size=48), "size must be one of 32, 64, 128, not 48"),
        (lambda: Clustering(size=32).quality([[0, 0]]), r"shape \(n, 4, 2\)"),
        (lambda: Clustering(size=32).step(SCENES, [[0.0] * 4]), r"shape \(300, 4\)"),
    ],
)
def test_mistakes_get_one_clear_line(call, message):
    with pytest.raises(UsageError, match=message):
        call()
