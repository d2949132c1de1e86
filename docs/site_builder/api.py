"""The API reference: every public name of a module with its signature and its docstring, as Markdown for Sphinx."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import re
import textwrap
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Any, get_origin

from sphinx.util.inspect import stringify_signature

from site_builder.docstrings import attribute_docstrings, markdown

MODULES = (
    "unweave",
    "unweave.data",
    "unweave.encoders",
    "unweave.encoders.sparse",
    "unweave.explorer",
    "unweave.gaussian",
    "unweave.geometry",
    "unweave.losses",
    "unweave.methods",
    "unweave.metrics",
    "unweave.nets",
    "unweave.penalties",
    "unweave.perception",
    "unweave.plugins",
    "unweave.presets",
    "unweave.publishing",
    "unweave.report",
    "unweave.reproduce",
    "unweave.selection",
    "unweave.study",
    "unweave.study.analysis",
    "unweave.tasks",
    "unweave.training",
)
"""The public modules, each with a page in docs/reference/api."""
ANNOTATED = re.compile(r"Annotated\[(\w+), .*?\]")
FEW = 80
"""Names of a table that are listed, at most."""


def page_name(module: str) -> str:
    """Return the page of a module in docs/reference/api: study.analysis.md."""
    return f"{module.removeprefix('unweave.')}.md"


def module_list() -> str:
    """Return the list of modules, each with the first line of its docstring and a link to its page."""
    modules = [(name, inspect.getdoc(import_module(name)) or "") for name in MODULES]
    return "\n".join(f"- [`{name}`]({page_name(name)}): {text.splitlines()[0]}" for name, text in modules)


def module_page(name: str) -> str:
    """Return what a module offers: its opening, its names with a line each, their entries, and its notes at the end."""
    module = import_module(name)
    names = sorted(public_names(module), key=str.lower)
    opening, notes = parts_of_docstring(inspect.getdoc(module) or "")
    parts = [markdown(opening), overview(module, names), f"```{{py:currentmodule}} {name}\n```"]
    return "\n\n".join([*parts, *(entry(module, public) for public in names), f"## Inside\n\n{markdown(notes)}"])


def parts_of_docstring(text: str) -> tuple[str, str]:
    """Split a module's docstring: what it offers, and the section Notes, which is for those who change it."""
    opening, _, notes = text.partition("\n\nNotes\n-----\n")
    return opening, notes


def overview(module: ModuleType, names: list[str]) -> str:
    """Return a table of names, each with a link to its entry and with what its docstring begins with."""
    rows = [f"| {{py:obj}}`{name} <{module.__name__}.{name}>` | {_summary(module, name)} |" for name in names]
    return "\n".join(["| name | what it is |", "|---|---|", *rows])


def public_names(module: ModuleType) -> list[str]:
    """Return the names that a module offers: its `__all__`, or what it defines itself without an underscore."""
    if hasattr(module, "__all__"):
        return list(module.__all__)
    defined = [name for name in vars(module) if origin(module, name) is module and not name.startswith("_")]
    documented = attribute_docstrings(inspect.getsource(module))
    return [name for name in defined if name in documented or _has_docstring(vars(module)[name])]


def entry(module: ModuleType, name: str) -> str:
    """Return the entry of a public name, below a `py:currentmodule`: a class, something to call, or a value."""
    thing = getattr(module, name)
    if inspect.isclass(thing):
        kind = "exception" if issubclass(thing, BaseException) else "class"
        return _directive(kind, f"{name}{_signature(thing)}", "\n\n".join(_class_parts(thing)), depth=5)
    if _has_docstring(thing):
        return _directive("function", f"{name}{_signature(thing)}", markdown(inspect.getdoc(thing) or ""))
    return _directive("data", name, _value(module, name, thing))


def _has_docstring(thing: object) -> bool:
    """Has this a docstring of its own, as a class, a function or a metric has? Values have that of their type."""
    return callable(thing) and hasattr(thing, "__name__") and get_origin(thing) is None and bool(inspect.getdoc(thing))


def _summary(module: ModuleType, name: str) -> str:
    """Return the first paragraph of a name's docstring on one line, for a cell of a table."""
    thing = getattr(module, name)
    text = _own_docstring(thing) if _has_docstring(thing) else _attribute_docstrings(origin(module, name)).get(name, "")
    if not text and isinstance(thing, Mapping):
        text = f"A table of {len(thing)} names."
    return " ".join(markdown(text).partition("\n\n")[0].split()).replace("|", r"\|")


def _own_docstring(thing: Any) -> str:
    """Return a docstring, but not the one that `dataclass` writes."""
    text = (vars(thing).get("__doc__") if inspect.isclass(thing) else inspect.getdoc(thing)) or ""
    return "" if text.startswith(f"{thing.__name__}(") else inspect.cleandoc(text)


def _class_parts(thing: type) -> Iterator[str]:
    """Give the docstring of a class, then its fields, then its properties and methods, as far as they are its own."""
    yield markdown(_own_docstring(thing))
    documented = _attribute_docstrings(thing)
    for name, text in documented.items():
        if not name.startswith("_"):
            yield _directive("attribute", name, _text(text))
    for name, member in vars(thing).items():
        if name.startswith("_") or name in documented:
            continue
        text = markdown(inspect.getdoc(member) or "")
        if isinstance(member, property) or type(member).__name__ == "cached_property":
            yield _directive("property", name, text)
        elif inspect.isfunction(member) or isinstance(member, classmethod | staticmethod):
            yield _method(name, member, text)


def _method(name: str, member: Any, text: str) -> str:
    kinds = {classmethod: "classmethod", staticmethod: "staticmethod"}
    function = getattr(member, "__func__", member)
    bound = not isinstance(member, staticmethod)
    return _directive(kinds.get(type(member), "method"), f"{name}{_signature(function, bound)}", text)


def _value(module: ModuleType, name: str, value: object) -> str:
    """Return what the docstring below a value says, and the names that it holds, where it is a table of them."""
    home = origin(module, name)
    parts = [_text(_attribute_docstrings(home).get(name, ""))]
    if isinstance(value, Mapping) and 0 < len(value) <= FEW and all(isinstance(key, str) for key in value):
        parts.append("Names: " + ", ".join(f"`{key}`" for key in value) + ".")
    return "\n\n".join(filter(None, parts))


@cache
def origin(module: ModuleType, name: str) -> ModuleType:
    """Return the module of unweave in which a name of another is defined, following its imports."""
    for statement in ast.walk(ast.parse(inspect.getsource(module))):
        if isinstance(statement, ast.ImportFrom) and statement.module and statement.level == 0:
            for alias in statement.names:
                if (alias.asname or alias.name) == name:
                    found = import_module(statement.module)
                    return origin(found, alias.name) if statement.module.startswith("unweave") else found
    return module


@cache
def _attribute_docstrings(thing: type | ModuleType) -> dict[str, str]:
    try:
        return attribute_docstrings(inspect.getsource(thing))
    except (OSError, TypeError):  # made by a function, so that there is no source
        return {}


def _signature(thing: Any, bound: bool = False) -> str:
    """Return how something is called, on one line; the values of a dataclass are shown as they are written."""
    try:
        signature = inspect.signature(thing)
    except (TypeError, ValueError):
        return ""
    parameters = list(signature.parameters.values())[1 if bound else 0 :]
    plain = [_plain(parameter) for parameter in parameters]
    shown = signature.replace(parameters=plain)
    if inspect.isclass(thing):
        shown = shown.replace(return_annotation=inspect.Signature.empty)
    return stringify_signature(shown, unqualified_typehints=True)


def _plain(parameter: inspect.Parameter) -> inspect.Parameter:
    """Return a parameter with a plain type, `str` for `Annotated[str, …]`, and a default that can be shown."""
    kind = parameter.annotation
    plain = ANNOTATED.sub(r"\1", kind) if isinstance(kind, str) else kind
    return parameter.replace(annotation=plain, default=_default(parameter.default))


class _Written:
    """A default value whose repr is the text that a signature shows."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text


def _default(value: Any) -> Any:
    """Return a default that a signature can show: an object that has no literal is shown as …"""
    if value is inspect.Parameter.empty:
        return value
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return _Written(f"{type(value).__name__}()")
    return _Written("...") if repr(value).startswith("<") else value


def _text(text: str) -> str:
    return markdown(inspect.cleandoc(text))


def _directive(kind: str, signature: str, text: str, depth: int = 4) -> str:
    """Return a directive of Sphinx' Python domain; one with a larger depth may hold others."""
    fence = ":" * depth
    return f"{fence}{{py:{kind}}} {signature}\n{textwrap.dedent(text).strip()}\n{fence}"
