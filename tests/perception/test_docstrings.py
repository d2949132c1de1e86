"""The examples in the docstrings run, and those of public functions have all sections."""

from __future__ import annotations

import doctest
import inspect
import pkgutil
import re
from importlib import import_module

import pytest

from unweave import perception

MODULES = [f"unweave.perception.{found.name}" for found in pkgutil.iter_modules(perception.__path__)]


@pytest.mark.parametrize("name", ["unweave.perception", *MODULES])
def test_examples_run(name):
    assert not doctest.testmod(import_module(name)).failed


@pytest.mark.parametrize("name", [name for name in perception.__all__ if inspect.isfunction(getattr(perception, name))])
def test_public_functions_describe_their_parameters(name):
    function = getattr(perception, name)
    text = inspect.getdoc(function) or ""
    assert "Returns\n-------" in text
    described = text.partition("Parameters\n")[2].partition("\nReturns\n")[0]
    names = re.findall(r"\w+", "\n".join(re.findall(r"^\S.*", described, re.MULTILINE)))
    assert [word for word in names if word] == list(inspect.signature(function).parameters)
