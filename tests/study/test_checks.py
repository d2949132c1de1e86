"""A mistake in a study's file is one clear line, before anything is trained."""

from __future__ import annotations

from typing import Any

import pytest

import unweave
from unweave.study.grid import grid_of

METHOD = {"name": "beta-vae", "beta": [1, 4]}
RIGHT: dict[str, Any] = {"data": ["xysquares:size=32"], "seeds": 1, "steps": 10, "methods": [METHOD], "net": "mlp"}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"data": 3}, "a study needs a list of data, not 3"),
        ({"data": [3]}, "data must be a list of data sets by name, not 3"),
        ({"data": {"size": 32}}, "a data set of a study needs a name, not None"),
        ({"data": {"name": "xysquares", "stepps": 3}}, "no training option of xysquares is called 'stepps'"),
        ({"methods": []}, "a study needs a list of methods, not []"),
        ({"methods": [3]}, "methods must be a list of methods, not 3"),
        ({"methods": METHOD}, "a study needs a list of methods, not {'name': 'beta-vae'"),
        ({"methods": [{"name": "beta-vae", "beta": True}]}, "beta must be a number or a schedule, not True"),
        ({"methods": [{"name": "beta-vae", "beta": "x"}]}, "'x' is neither a number nor a schedule"),
        ({"methods": [{**METHOD, "data": 3}]}, "data of a method must be a list of data sets of this study, not 3"),
        ({"methods": [{**METHOD, "preset": 3}]}, "preset must be a name, not 3"),
        ({"seeds": -1}, "a study needs at least one seed, not -1"),
        ({"seeds": "a"}, "seeds must be a number of seeds or a list of them, not 'a'"),
        ({"steps": [10, "b"]}, "steps must be a whole number, not 'b'"),
        ({"steps": 10.5}, "steps must be a whole number, not 10.5"),
        ({"lr": "x"}, "lr must be a number, not 'x'"),
        ({"width": "x"}, "width must be a number, not 'x'"),
        ({"standardise": "x"}, "standardise must be true or false, not 'x'"),
        ({"net": 3}, "net must be text, not 3"),
        ({"loss": 3}, "loss must be text, not 3"),
        ({"labels": "x"}, "labels must be a table of settings, not 'x'"),
        ({"labels": {"kount": 3}}, "no setting of labels is called 'kount'; did you mean 'count'?"),
        ({"labels": {"count": "x"}}, "count must be a whole number, not 'x'"),
        ({"metrics": 3}, "metrics must be a list of metrics by name, not 3"),
        ({"metrics": ["migg"]}, "no metric is called 'migg'; did you mean 'mig'?"),
        ({"snapshots": 3}, "snapshots must be a list of steps, not 3"),
        ({"snapshots": ["a"]}, "snapshots must be a list of steps, not 'a'"),
        ({"snapshots": [300]}, "a snapshot is taken after 1 to 10 steps, not after 300"),
        ({"trace_every": "5"}, "trace_every must be a whole number, 1 or more, not '5'"),
        ({"trace_every": [5, 6]}, "trace_every must be a whole number, 1 or more, not [5, 6]"),
        ({"trace_samples": 5}, "trace_samples needs trace_every, the steps between two traces"),
        ({"evaluate": "x"}, "evaluate must be a table of settings, not 'x'"),
        ({"evaluate": {"samples": "x"}}, "samples must be a whole number, not 'x'"),
        ({"evaluate": {"intervals": 1}}, "intervals must be true or false, not 1"),
    ],
)
def test_mistakes_are_named(changes: dict[str, Any], message: str):
    with pytest.raises(unweave.UsageError) as error:
        grid_of({**RIGHT, **changes}).plan()
    assert message in str(error.value)


def test_whole_numbers_are_numbers_and_schedules_are_text():
    plan = grid_of(
        {**RIGHT, "lr": 1, "width": 1, "methods": [{"name": "beta-vae", "beta": [2, 2.5, "1:4@50%"]}], "snapshots": [5]}
    ).plan()
    assert len(plan.tasks) == 3
