"""Presets: complete, as published, for the right methods, and overruled by what is given."""

from __future__ import annotations

import inspect
import math
from dataclasses import fields

import numpy as np
import pytest
import torch

import unweave
from unweave.data import Labels, Table
from unweave.errors import UsageError
from unweave.methods import METHODS, BetaVAE, Method
from unweave.nets import NETS, Gaussian, Net
from unweave.presets import PRESETS, preset, presets_for
from unweave.schedules import value_at

EVERY = [(name, method) for name, found in PRESETS.items() for method in found.methods]


@pytest.mark.parametrize(("name", "method"), EVERY)
def test_every_preset_is_of_options_that_exist(name, method):
    settings = preset(name, method, "xysquares")
    assert isinstance(settings["method"], METHODS[method])
    known = inspect.signature(unweave.train).parameters
    assert set(settings) - set(known) == set()
    assert settings["net"] in NETS
    assert {"latents", "batch", "lr", "steps"} <= set(settings)
    assert settings["method"].loss != "auto"


@pytest.mark.parametrize(("name", "method"), EVERY)
def test_no_field_of_a_preset_is_lost(name, method):
    settings = preset(name, method, "xysquares")
    own = {spec.name for spec in fields(METHODS[method])}
    for key, value in {**PRESETS[name].options, **PRESETS[name].methods[method]}.items():
        found = getattr(settings["method"], key) if key in own else settings[key]
        assert callable(value) or found == value, key


def test_the_study_s_settings():
    settings = preset("dlib", "beta-vae", "shapes2d")
    method = settings.pop("method")
    assert isinstance(method, BetaVAE)
    assert (method.loss, method.normalise_beta) == ("bce", False)
    expected = {"net": "dlib", "latents": 10, "batch": 64, "lr": 1e-4, "steps": 300_000, "data": "shapes2d"}
    assert settings == expected
    assert set(PRESETS["dlib"].methods) >= {"beta-vae", "factor-vae", "dip-vae", "beta-tcvae", "annealed-vae"}


@pytest.mark.parametrize(
    ("name", "weight"), [("thesis-3.4.1", 0.0316 * 12288 / 25), ("thesis-3.3.4", 0.001 * 12288 / 9)]
)
def test_the_thesis_beta_weighs_means_over_pixels_and_latents(name, weight):
    """R / pixels + beta KL / latents, times the number of pixels: for 0.0316 and 25 latents, a weight of 15.5."""
    settings = preset(name, "beta-vae", "xysquares")
    model = Net(settings["net"], settings["latents"], 0.05).build((64, 64, 3), torch.Generator().manual_seed(0))
    q = Gaussian(torch.ones(2, settings["latents"]), torch.zeros(2, settings["latents"]))
    method: Method = settings["method"]
    kl = method.penalty(model, q, q.mean, 0)["kl"].item()
    assert kl == pytest.approx(weight * settings["latents"] / 2, rel=1e-6)


def test_the_thesis_blur_is_63_wide_and_weighs_its_cells():
    method = preset("thesis-3.4.1", "ada-gvae", "xysquares")["method"]
    assert unweave.losses.full_name(method.loss) == "mse-box:radius=31,weight=3969"


def test_what_depends_on_the_data_is_filled_in_once_they_are_known():
    settings = preset("qlae", "qlae", "xysquares:size=32")
    assert settings["latents"] == 12  # twice six factors
    assert settings["clip"] == 32 * 32 * 3
    assert settings["weight_decay"] == 0.1
    unknown = preset("qlae", "qlae")
    assert "latents" not in unknown
    assert "clip" not in unknown
    assert unknown["batch"] == 128


def test_tripod_s_weights_are_those_of_the_data_set():
    images, factors = np.zeros((4, 8, 8, 3), np.uint8), np.indices((2, 2)).reshape(2, -1).T
    data = Table(images, factors)
    data.name = "mpi3d-toy"
    robot = preset("tripod", "tripod", data)["method"]
    assert (robot.multi_information, robot.hessian) == (1e-8, 1e-4)
    other = preset("tripod", "tripod", Table(images, factors))["method"]
    assert (other.multi_information, other.hessian) == (1e-4, 1e-2)


def test_factor_qvae_s_weights_and_latents_are_those_of_the_data_set():
    images, factors = np.zeros((4, 8, 8, 3), np.uint8), np.indices((2, 2)).reshape(2, -1).T
    data = Table(images, factors)
    data.name = "mpi3d-toy"
    found = [preset("factor-qvae", "factor-qvae", data) for data in (data, "shapes2d")]
    assert [(each["method"].gamma, each["method"].beta) for each in found] == [(1e-6, 5e-5), (1e-4, 1e-3)]
    assert found[0]["latents"] == 4
    assert (found[1]["steps"], found[1]["batch"], found[1]["method"].values) == (50_000, 256, 64)


def test_what_depends_on_the_data_set_s_name():
    robot = Table(np.zeros((4, 8, 8, 3), np.uint8), np.indices((2, 2)).reshape(2, -1).T)
    robot.name = "mpi3d-toy"
    assert preset("qlae", "qlae", robot)["weight_decay"] == 0.001
    unsupervised = [preset("thesis-5.5", "ada-tvae-unsupervised", data)["method"] for data in ("xysquares", "shapes2d")]
    assert [method.loss for method in unsupervised] == ["mse-box:radius=31", "mse"]


def test_what_the_sources_code_does():
    pairs = [preset(name, "ada-gvae", "xysquares") for name in presets_for("ada-gvae")]
    assert {settings["method"].rule for settings in pairs} == {"dlib"}
    assert {settings["net"] for settings in pairs} == {"disent"}
    factor = preset("dlib", "factor-vae", "xysquares")
    assert (factor["steps"], factor["method"].adversary_lr) == (150_000, 1e-4)
    assert preset("dlib", "vae", "xysquares")["steps"] == 300_000


def test_labels_come_with_a_preset(tmp_path):
    settings = preset("dlib-labels", "beta-tcvae", "xysquares:size=32")
    assert settings["labels"] == Labels(count=1000, weight=4 * 64, term="cross-entropy")
    others = {"labels": Labels(count=10, kind="partial"), "steps": 2, "batch": 4, "width": 0.02}
    run = unweave.train(**preset("dlib-labels", "beta-vae", "xysquares:size=32", out=tmp_path, threads=1, **others))
    assert run.settings.labels == Labels(count=10, kind="partial", batch=4)


def test_the_slow_vae_s_pairs_share_what_has_no_order():
    method = preset("slow-vae", "slow-vae", "shapes2d")["method"]
    assert (method.rule, method.step_rate, method.always_shared) == ("laplace", 1.0, "shape")
    assert preset("slow-vae", "slow-vae", "xysquares")["method"].always_shared == ""
    assert preset("slow-vae", "slow-vae")["method"].always_shared == ""  # the data are not known


def test_the_joint_vae_s_capacities_are_reached_before_the_end():
    settings = preset("joint-vae", "joint-vae", "dsprites")
    method, steps = settings["method"], settings["steps"]
    assert steps == 30 * 737_280 // settings["batch"]
    assert (settings["latents"], method.categorical, method.categories) == (7, 1, 3)
    assert (method.gamma, method.categorical_gamma) == (150, 150)
    assert [value_at(method.capacity, step) for step in (0, 150_000, 300_000, steps)] == [0, 20, 40, 40]
    assert value_at(method.categorical_capacity, steps) == 1.1


def test_factors_of_one_value_do_not_count():
    factors = np.array([[0, 0, 0], [1, 0, 0]])
    settings = preset("tripod", "tripod", Table(np.zeros((2, 8, 8, 1), np.uint8), factors))
    assert settings["latents"] == 2


def test_what_is_given_wins():
    settings = preset("dlib", "beta-vae", "shapes2d", beta=8.0, steps=5, seed=3, out="runs/x")
    assert settings["method"] == BetaVAE(beta=8.0, loss="bce")
    assert (settings["steps"], settings["seed"], settings["out"], settings["batch"]) == (5, 3, "runs/x", 64)
    constant = Table(np.zeros((2, 8, 8, 1), np.uint8), [[0], [0]])
    with pytest.raises(UsageError, match=r"twice as many latents as factors.*give latents"):
        preset("qlae", "qlae", constant)
    assert preset("qlae", "qlae", constant, latents=7)["latents"] == 7


def test_a_run_records_the_settings_themselves(tmp_path):
    given = {"steps": 2, "batch": 4, "width": 0.02, "threads": 1, "out": tmp_path / "run"}
    run = unweave.train(**preset("thesis-3.3.4", "beta-vae", "xysquares:size=32", **given))
    assert run.settings.net == Net("disent", 9, 0.02)
    assert run.settings.training.standardise
    assert run.settings.method == BetaVAE(beta=0.001, normalise_beta=True, loss="mse")
    assert math.isfinite(run.log()["loss"][-1])


@pytest.mark.parametrize(
    ("name", "method", "message"),
    [
        (
            "qlae",
            "beta-vae",
            "the preset qlae is for qlae, not for beta-vae .presets of beta-vae: dlib, dlib-labels, thesis-3.3.3",
        ),
        ("dlib", "ae", "not for ae .presets of ae: none."),
        ("dilb", "vae", "no preset is called 'dilb'; did you mean 'dlib'"),
        ("dlib", "bta-vae", "no method is called 'bta-vae'"),
    ],
)
def test_a_preset_that_does_not_fit_is_one_clear_line(name, method, message):
    with pytest.raises(UsageError, match=message) as error:
        preset(name, method, "shapes2d")
    assert "\n" not in str(error.value)


def test_presets_of_a_method():
    assert list(presets_for("tripod")) == ["tripod"]
    assert "thesis-5.4" in presets_for("ada-tvae")
