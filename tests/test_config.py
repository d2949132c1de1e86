"""A configuration is its JSON, and its identity follows from that alone."""

from __future__ import annotations

import json
import re
from dataclasses import make_dataclass

import pytest

from unweave.config import Config, Training
from unweave.data.labels import Labels
from unweave.errors import UsageError
from unweave.methods import METHODS, BetaVAE, OrthogonalJacobian, Schedule
from unweave.nets import Net
from unweave.schedules import Scheduled

CONFIG = Config(BetaVAE(beta=4, loss="bce"), {"name": "xysquares", "spacing": 8, "size": 64}, Net("conv"))


def test_json_round_trip():
    values = json.loads(json.dumps(CONFIG.to_json()))
    assert Config.from_json(values) == CONFIG
    assert Config.from_json(values).id == CONFIG.id


def test_the_identity_is_pinned():
    """A change of this value means that every run on every disk changes its name: mean it."""
    assert CONFIG.id == "646e6d32250eeddc"


def test_integers_and_floats_of_one_value_are_one_run():
    same = Config(BetaVAE(beta=4.0, loss="bce"), CONFIG.data, Net("conv", width=1), Training(lr=1e-3))
    assert same.id == CONFIG.id


def test_every_setting_changes_the_identity():
    others = [
        Config(BetaVAE(beta=5, loss="bce"), CONFIG.data),
        Config(BetaVAE(beta=4, loss="mse"), CONFIG.data),
        Config(CONFIG.method, {**CONFIG.data, "spacing": 7}),
        Config(CONFIG.method, CONFIG.data, Net(latents=9)),
        Config(CONFIG.method, CONFIG.data, training=Training(seed=1)),
        Config(CONFIG.method, CONFIG.data, training=Training(weight_decay=0.1)),
        Config(CONFIG.method, CONFIG.data, training=Training(clip=1)),
        Config(CONFIG.method, CONFIG.data, labels=Labels()),
        Config(CONFIG.method, CONFIG.data, labels=Labels(count=10)),
        Config(CONFIG.method, CONFIG.data, jacobian=OrthogonalJacobian()),
        Config(CONFIG.method, CONFIG.data, jacobian=OrthogonalJacobian(codes=4)),
    ]
    assert len({config.id for config in [CONFIG, *others]}) == 12


def test_what_came_later_is_written_only_where_it_is_used():
    """So the identities of earlier runs stand; the pinned one above is from before weight decay and labels."""
    plain = CONFIG.to_json()
    assert set(plain) == {"method", "data", "net", "training"}
    assert set(plain["training"]) == {"steps", "batch", "lr", "seed", "standardise", "precision"}
    used = Config(CONFIG.method, CONFIG.data, training=Training(weight_decay=0.1, clip=2)).to_json()["training"]
    assert (used["weight_decay"], used["clip"]) == (0.1, 2.0)


@pytest.mark.parametrize("labels", [Labels(), Labels(50, Schedule(0, 5, 100), "cross-entropy", "partial", factors="a")])
def test_labels_and_decay_survive_json(labels):
    config = Config(CONFIG.method, CONFIG.data, training=Training(weight_decay=0.1, clip=1), labels=labels)
    again = Config.from_json(json.loads(json.dumps(config.to_json())))
    assert again == config
    assert again.id == config.id


def test_differences_are_readable():
    other = Config(BetaVAE(beta=8, loss="bce"), {"name": "shapes2d", "size": 64}, Net("conv"))
    assert CONFIG.differences(other) == [
        "method.beta 4.0 → 8.0",
        "data.name xysquares → shapes2d",
        "data.spacing 8 → absent",
    ]


def test_labels_differ_readably():
    other = Config(CONFIG.method, CONFIG.data, labels=Labels(count=7))
    assert "labels.count absent → 7" in CONFIG.differences(other)


@pytest.mark.parametrize(
    ("part", "name", "value"),
    [
        ("method", "beta", [4]),
        ("method", "beta", None),
        ("method", "loss", 5),
        ("method", "normalise_beta", 1),
        ("data", "name", 3),
        ("net", "latents", 2.5),
        ("net", "latents", "10"),
        ("net", "width", True),
        ("net", "name", ["mlp"]),
        ("training", "steps", 1.5),
        ("training", "steps", "many"),
        ("training", "lr", None),
        ("training", "seed", False),
        ("training", "standardise", "no"),
    ],
)
def test_a_setting_of_another_type_is_named(part, name, value):
    values = CONFIG.to_json()
    with pytest.raises(UsageError, match=f"not the configuration of a run: {re.escape(f'{name} is {value!r}')}|data"):
        Config.from_json({**values, part: {**values[part], name: value}})


@pytest.mark.parametrize("part", ["method", "data", "net", "training", "labels"])
@pytest.mark.parametrize("value", ["text", 5, ["a", "b"], [["name", "vae"]]])
def test_a_part_that_is_no_object_is_named(part, value):
    with pytest.raises(UsageError, match=f"not the configuration of a run: {part} is "):
        Config.from_json({**CONFIG.to_json(), part: value})


@pytest.mark.parametrize(
    "values",
    [
        {},
        {"method": {}},
        {**CONFIG.to_json(), "data": {"size": 64}},
        {**CONFIG.to_json(), "net": {"floors": 3}},
        {**CONFIG.to_json(), "training": None},
    ],
)
def test_what_is_no_configuration_is_refused(values):
    with pytest.raises(UsageError, match="not the configuration of a run"):
        Config.from_json(values)


def test_an_unknown_method_in_a_file_is_named():
    with pytest.raises(UsageError, match="no method is called 'gamma-vae'"):
        Config.from_json({**CONFIG.to_json(), "method": {"name": "gamma-vae"}})


def test_a_method_outside_the_table_is_called_by_its_class():
    class SterlingVAE(BetaVAE):
        pass

    config = Config(SterlingVAE(beta=2), CONFIG.data)
    assert config.to_json()["method"] == {
        **CONFIG.to_json()["method"],
        "name": "sterling-vae",
        "beta": 2.0,
        "loss": "auto",
    }
    assert Config.from_json(config.to_json()) == config


def test_schedules_and_floats_are_known_by_type_however_annotations_are_written(monkeypatch):
    """`make_dataclass` has the types themselves, as a module without postponed annotations has."""
    own = [("weight", Scheduled, 1.0), ("bound", float | None, None)]
    kind = make_dataclass("Mine", own, bases=(BetaVAE,), frozen=True)
    monkeypatch.setitem(METHODS, "mine", kind)
    config = Config(kind(weight=Schedule(0, 1, 10), bound=2), CONFIG.data)
    again = Config.from_json(json.loads(json.dumps(config.to_json())))
    assert again == config
    assert again.id == config.id == Config(kind(weight=Schedule(0, 1, 10), bound=2.0), CONFIG.data).id
    assert Config(kind(weight=1), CONFIG.data).id == Config(kind(weight=1.0), CONFIG.data).id
