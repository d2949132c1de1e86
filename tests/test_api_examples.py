"""The examples in the docstrings of the API run, in a folder with two short runs."""

from __future__ import annotations

import doctest
import inspect
from collections.abc import Iterator
from importlib import import_module

import numpy as np
import pytest
from site_builder import api

import unweave

ELSEWHERE = ("unweave.metrics", "unweave.penalties", "unweave.perception")
"""Modules for whose functions and classes other tests run the examples."""


def documented() -> Iterator[tuple[str, str, str]]:
    """Give module, name and docstring of what may have an example: modules, functions, classes with their methods."""
    yield from ((name, "", inspect.getdoc(import_module(name)) or "") for name in api.MODULES)
    seen = set()
    for module in (name for name in api.MODULES if name not in ELSEWHERE):
        for name in api.public_names(import_module(module)):
            thing = getattr(import_module(module), name)
            if not callable(thing) or id(thing) in seen:
                continue
            seen.add(id(thing))
            yield module, name, inspect.getdoc(thing) or ""
            for member, found in vars(thing).items() if inspect.isclass(thing) else ():
                if not member.startswith("_"):
                    yield module, f"{name}.{member}", inspect.getdoc(found) or ""


EXAMPLES = [(module, name, text) for module, name, text in documented() if ">>> " in text]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Give a folder with the runs that examples open."""
    place = tmp_path_factory.mktemp("examples")
    tiny = {"data": "xysquares:size=32", "net": "mlp", "width": 0.02, "steps": 2, "batch": 4, "threads": 1}
    for seed, name in enumerate(["first", "second"]):
        unweave.train("beta-vae", seed=seed, out=place / "runs" / name, progress=False, **tiny)
    return place


@pytest.mark.filterwarnings("ignore")  # two steps are few, and so are the rows
@pytest.mark.parametrize(("module", "name", "text"), EXAMPLES, ids=[f"{module}.{name}" for module, name, _ in EXAMPLES])
def test_an_example_of_the_api_runs(module, name, text, folder, monkeypatch):
    monkeypatch.chdir(folder)
    found = import_module(module)
    names = {each: getattr(found, each) for each in api.public_names(found)} | {"np": np, "unweave": unweave}
    example = doctest.DocTestParser().get_doctest(text, names, name, None, None)
    told: list[str] = []
    failed = doctest.DocTestRunner(verbose=False).run(example, out=told.append).failed
    assert not failed, "".join(told)
