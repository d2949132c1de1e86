"""Hyper-parameters that move: how they are written, read, saved and refused."""

from __future__ import annotations

import pytest

from unweave.config import Config
from unweave.errors import UsageError
from unweave.methods import BetaVAE, Schedule


def test_a_line_and_then_its_end():
    schedule = Schedule(0.0, 10.0, 4)
    assert [schedule.at(step) for step in range(6)] == [0.0, 2.5, 5.0, 7.5, 10.0, 10.0]


@pytest.mark.parametrize("text", ["1:4@10000", "0.5:0@1", "1e-05:2@30"])
def test_written_and_read(text):
    assert str(Schedule.read(text)) == text


@pytest.mark.parametrize("text", ["", "4", "1:4", "1@3", "a:b@3", "1:4@0", "1:4@2.5", "1:inf@3", "1:2:3@4"])
def test_what_is_no_schedule(text):
    with pytest.raises(UsageError, match="schedule"):
        Schedule.read(text)


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
