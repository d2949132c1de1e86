"""Hyper-parameters that move: how they are written, read, saved and refused."""

from __future__ import annotations

import pytest

from unweave.config import Config
from unweave.errors import UsageError
from unweave.methods import BetaVAE, Schedule
from unweave.schedules import in_steps


def test_a_line_and_then_its_end():
    schedule = Schedule(0.0, 10.0, 4)
    assert [schedule.at(step) for step in range(6)] == [0.0, 2.5, 5.0, 7.5, 10.0, 10.0]


@pytest.mark.parametrize(
    "text", ["1:4@10000", "0.5:0@1", "1e-05:2@30", "1:0.5@100%", "0:4@2.5%", "1:4@9:step", "0:4@25%:cycle"]
)
def test_written_and_read(text):
    assert str(Schedule.read(text)) == text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "4",
        "1:4",
        "1@3",
        "a:b@3",
        "1:4@0",
        "1:4@2.5",
        "1:inf@3",
        "1:2:3@4",
        "1:2@0%",
        "1:2@101%",
        "1:2@%",
        "1:2@3:sine",
        "1:2@3:",
    ],
)
def test_what_is_no_schedule(text):
    with pytest.raises(UsageError, match="schedule"):
        Schedule.read(text)


def test_a_step_jumps_and_a_cycle_begins_again():
    assert [Schedule(1, 4, 3, shape="step").at(step) for step in range(5)] == [1, 1, 1, 4, 4]
    cycle = Schedule.read("2:4@50%:cycle").in_steps(16)
    assert [cycle.at(step) for step in range(9)] == [2, 2.5, 3, 3.5, 4, 4, 4, 4, 2]
    assert BetaVAE(beta=cycle).beta == Schedule(2, 4, 8, shape="cycle")


def test_a_share_becomes_steps_of_the_run():
    assert str(Schedule.read("1:0.5@100%").in_steps(750)) == "1:0.5@750"
    assert Schedule(0, 4, share=0.25).in_steps(1000) == Schedule(0, 4, 250)
    assert Schedule(0, 4, share=0.001).in_steps(100) == Schedule(0, 4, 1)
    assert Schedule(0, 4, 30).in_steps(100) == Schedule(0, 4, 30)
    method = BetaVAE(beta=Schedule(1, 2, share=0.5), loss="mse")
    assert in_steps(method, 60) == BetaVAE(beta=Schedule(1, 2, 30), loss="mse")


def test_a_share_of_an_unknown_run_has_no_value():
    with pytest.raises(ValueError, match="share of a run"):
        Schedule(0, 4, share=0.5).at(3)


def test_steps_or_a_share_and_not_both():
    for lengths in ({}, {"steps": 3, "share": 0.5}):
        with pytest.raises(UsageError, match="either a number of steps or a share"):
            Schedule(0, 1, **lengths)


def test_a_run_remembers_its_schedule():
    config = Config(BetaVAE(beta=Schedule(1, 4, 100)), {"name": "xysquares"})
    plain = config.to_json()
    assert plain["method"]["beta"] == "1:4@100"
    again = Config.from_json(plain)
    assert again.method == config.method
    assert again.id == config.id
    assert Config(BetaVAE(beta=4), {"name": "xysquares"}).id == Config(BetaVAE(beta=4.0), {"name": "xysquares"}).id


def test_a_schedule_must_stay_in_range():
    with pytest.raises(UsageError, match="beta must be a number that is not negative, not -1:4@10"):
        BetaVAE(beta=Schedule(-1, 4, 10))
