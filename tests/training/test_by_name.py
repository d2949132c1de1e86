from __future__ import annotations

import re
from dataclasses import dataclass, field, fields

import numpy as np
import pytest

from unweave import UsageError, train
from unweave.methods import METHODS, VAE, BetaVAE, Schedule
from unweave.training.by_name import chosen_method
from unweave.training.loop import ARGUMENTS


@pytest.mark.parametrize("name", METHODS)
def test_no_field_of_a_method_is_an_argument_of_train(name):
    assert not {spec.name for spec in fields(METHODS[name])} & set(ARGUMENTS)
    assert chosen_method(name, {}, ARGUMENTS) == METHODS[name]()


@pytest.mark.parametrize(
    ("given", "method"),
    [
        ({"beta": 2}, BetaVAE(beta=2)),
        ({"beta": np.float32(2)}, BetaVAE(beta=2.0)),
        ({"beta": np.int64(2), "loss": "mse"}, BetaVAE(beta=2, loss="mse")),
        ({"beta": "1:4@50%"}, BetaVAE(beta=Schedule(1, 4, share=0.5))),
        ({"beta": Schedule(1, 4, 10)}, BetaVAE(beta=Schedule(1, 4, 10))),
    ],
)
def test_fields_are_arguments_of_a_method_by_name(given, method):
    assert chosen_method("beta-vae", given, ARGUMENTS) == method


@pytest.mark.parametrize(
    ("method", "given", "message"),
    [
        (
            "beta-vae",
            {"betta": 2},
            "argument of train, is called 'betta'; did you mean 'beta'?",
        ),
        (
            "beta-vae",
            {"step": 2},
            "argument of train, is called 'step'; did you mean 'steps'?",
        ),
        ("beta-vae", {"beta": [2]}, "beta must be of type Schedule or float, not [2]"),
        ("beta-vae", {"beta": True}, "beta must be of type Schedule or float, not True"),
        ("beta-vae", {"beta": "high"}, "'high' is neither a number nor a schedule"),
        ("beta-vae", {"beta": -1}, "beta must be a number that is not negative, not -1"),
        ("beta-va", {"beta": 1}, "no method is called 'beta-va'; did you mean 'beta-vae'?"),
        (BetaVAE(), {"beta": 1}, "beta is a field of the method: write BetaVAE(beta=…)"),
        (BetaVAE(), {"step": 1}, "no argument of train is called 'step'; did you mean 'steps'?"),
    ],
)
def test_a_mistake_is_answered_in_one_line(tmp_path, method, given, message):
    with pytest.raises(UsageError, match=re.escape(message)) as error:
        train(method, data="xysquares:size=32", out=tmp_path / "run", **given)
    assert "\n" not in str(error.value)
    assert not (tmp_path / "run").exists()


def test_a_method_whose_field_train_has_too_must_be_given_itself(monkeypatch):
    @dataclass(frozen=True)
    class Slow(VAE):
        steps: int = 3

    monkeypatch.setitem(METHODS, "slow", Slow)
    with pytest.raises(UsageError, match=re.escape("steps of slow is also an argument of train: pass Slow(steps=…)")):
        chosen_method("slow", {}, ARGUMENTS)
    assert chosen_method(Slow(steps=5), {}, ARGUMENTS) == Slow(steps=5)


def test_a_run_by_name_is_the_run_of_the_method(tmp_path):
    tiny = {"data": "xysquares:size=32", "net": "mlp", "width": 0.02, "batch": 4, "steps": 2}
    named = train("beta-vae", beta=2, **tiny, out=tmp_path / "a")
    assert named.id == train(BetaVAE(beta=2), **tiny, out=tmp_path / "b").id


def test_a_field_without_a_default_must_be_given():
    @dataclass(frozen=True)
    class Strict(VAE):
        strength: float = field(kw_only=True)

    with pytest.raises(UsageError, match=re.escape("strict needs strength: train('strict', strength=…)")):
        chosen_method("strict", {"loss": "mse"}, ARGUMENTS)
    assert chosen_method("strict", {"strength": 2}, ARGUMENTS) == Strict(strength=2)
