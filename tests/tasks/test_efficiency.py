"""How fast reward predictors learn: on true factors, on noise, on codes that tell nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars
import pytest

import unweave
from unweave.errors import UsageError
from unweave.tasks import Clustering, Learner, experience, sample_efficiency, sample_efficiency_table
from unweave.tasks.efficiency import steps_to
from unweave.tasks.exploration import held_out
from unweave.tasks.predictor import _batches, balanced_accuracy

BRIEF: dict[str, Any] = {"size": 32, "max_steps": 1_500, "every": 100, "seeds": 2, "test_scenes": 400, "target": 0.65}


@pytest.fixture(scope="module")
def truth():
    """An encoder that knows the places behind the images of the task."""
    task = Clustering("colour", 32)
    places = np.concatenate([experience(task, 1_500).places, held_out(task, 400).places])
    known = {image.tobytes(): place.ravel() for image, place in zip(task.images(places), places, strict=True)}
    return lambda images: np.array([known[image.tobytes()] for image in images], dtype=float)


def projection(images: np.ndarray) -> np.ndarray:
    weights = np.random.default_rng(0).normal(size=(images[0].size, 8))
    return images.reshape(len(images), -1) @ weights


@pytest.fixture(scope="module")
def learnt(truth):
    return sample_efficiency(truth, **BRIEF)


def test_true_factors_need_fewer_steps_than_projections_of_pixels_and_noise(learnt):
    rng = np.random.default_rng(1)
    noise = sample_efficiency(lambda images: rng.normal(size=(len(images), 8)), **BRIEF)
    pixels = sample_efficiency(projection, **BRIEF)
    assert learnt.reached == 2
    assert learnt.steps < 0.8 * min(noise.steps, pixels.steps)
    assert learnt.accuracy > max(noise.accuracy, pixels.accuracy) + 0.1
    assert (noise.reached, noise.steps) == (0, 1_500)
    assert abs(noise.accuracy - 0.5) < 0.1


def test_the_shift_and_the_scale_of_all_codes_change_little(truth, learnt):
    """Both are taken off before anything is learnt."""
    moved = sample_efficiency(lambda images: 1e-3 * truth(images) + 7, **BRIEF)
    np.testing.assert_allclose(moved.table["steps"], learnt.table["steps"], rtol=0.1)


def test_it_is_seeded_and_an_initialisation_does_not_depend_on_how_many_there_are(truth, learnt):
    again = sample_efficiency(truth, **BRIEF)
    assert again.table.equals(learnt.table)
    assert again.curves.equals(learnt.curves)
    alone = sample_efficiency(truth, **{**BRIEF, "seeds": 1})
    np.testing.assert_allclose(alone.table["steps"][0], learnt.table["steps"][0], rtol=0.02)
    other = sample_efficiency(truth, **{**BRIEF, "seeds": 1, "max_steps": 100}, learner=Learner(hidden=8))
    assert other.settings.learner.hidden == 8


def test_the_curve_gives_the_steps_and_ends_where_all_have_reached_the_target(learnt):
    for number, (curve,) in enumerate(zip(learnt.curves.partition_by("initialisation"), strict=True)):
        assert curve["step"][0] == 0
        assert curve["accuracy"][0] == 0.5
        assert learnt.table["steps"][number] == steps_to(0.65, curve["step"], curve["accuracy"])
    assert learnt.curves["step"].max() < 1_500


def test_steps_are_interpolated():
    assert steps_to(0.9, [0, 100, 200, 300], [0.5, 0.7, 0.95, 0.8]) == pytest.approx(180)
    assert steps_to(0.9, [0, 100], [0.95, 0.9]) == 0
    assert steps_to(0.9, [0, 100], [0.5, 0.89]) is None


def test_accuracy_is_balanced():
    truth = np.array([True] * 2 + [False] * 8)
    assert balanced_accuracy(np.ones(10, dtype=bool), truth) == 0.5
    assert balanced_accuracy(truth, truth) == 1.0


def test_batches_are_of_scenes_met_before_half_of_them_clustered():
    clustered = np.array([False, False, True, False, True] * 20)
    rows = _batches(clustered, 0, 100, 8, [np.random.default_rng(0)])
    assert len(rows) == 98  # nothing to learn from before a clustered scene is met
    for step, row in enumerate(rows[:, 0], start=3):
        assert row.max() < step
        assert clustered[row].tolist() == [True] * 4 + [False] * 4


@pytest.mark.parametrize(
    ("encode", "options", "message"),
    [
        (3, {}, "encode must be a run or a function of images, not int"),
        (lambda x: np.zeros(len(x)), {}, "encode must give codes"),
        (lambda x: np.full((len(x), 2), np.nan), {}, "encode gave NaN"),
        (projection, {"target": 0.5}, "target must be above 0.5"),
        (projection, {"seeds": 0}, "seeds must be a whole number, 1 or more, not 0"),
        (projection, {"test_scenes": 401}, "test_scenes must be even"),
        (projection, {"by": "hue"}, "no way to cluster is called 'hue'"),
    ],
)
def test_mistakes_get_one_clear_line(encode, options, message):
    with pytest.raises(UsageError, match=message):
        sample_efficiency(encode, **{**BRIEF, "max_steps": 50, "test_scenes": 20, **options})


OPTIONS = {"net": "mlp", "width": 0.05, "latents": 3, "steps": 2, "batch": 4, "device": "cpu", "threads": 1}
FEW: dict[str, Any] = {"max_steps": 200, "every": 100, "seeds": 2, "test_scenes": 40}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("runs")
    for seed in range(2):
        unweave.train("beta-vae", data="scenes2d:size=32", out=place / f"s{seed}", seed=seed, **OPTIONS)
    unweave.train("beta-vae", data="xysquares:size=32", out=place / "other", **OPTIONS)
    return place


def test_a_folder_of_runs_gives_one_table_and_keeps_the_results(folder):
    with pytest.warns(UserWarning, match="left out: 1 of 3 runs, unfinished or not on scenes2d"):
        table = sample_efficiency_table(folder, **FEW)
    assert table.columns[:3] == ["run", "data", "method"]
    assert table.select("run", "by", "initialisation").rows() == [
        (run, "colour", number) for run in ("s0", "s1") for number in range(2)
    ]
    run = unweave.Run.open(folder / "s0")
    found = sample_efficiency(run, **FEW)
    own = table.filter(polars.col("run") == "s0")
    assert own["accuracy"].to_list() == found.table["accuracy"].to_list()
    scores = run.scores()
    assert scores is not None
    kept = dict(scores.select("metric", "value").iter_rows())
    assert kept == {"clustering-colour-steps": found.steps, "clustering-colour-accuracy": found.accuracy}


def test_what_is_there_is_not_done_again(folder, monkeypatch):
    runs = [folder / "s0", folder / "s1"]
    first = sample_efficiency_table(runs, **FEW)
    monkeypatch.setattr(unweave.Run, "encode", lambda *_: pytest.fail("encoded again"))
    assert sample_efficiency_table(runs, **FEW).equals(first)


def test_a_run_on_other_data_is_told_what_to_train(folder):
    with pytest.raises(UsageError, match="on xysquares, but the clustering task needs scenes2d: unweave train"):
        sample_efficiency(unweave.Run.open(folder / "other"), **FEW)
    with pytest.raises(UsageError, match="none of 1 runs has finished and was trained on scenes2d"):
        sample_efficiency_table(folder / "other", **FEW)
