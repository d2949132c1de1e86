"""Users' own methods, nets, metrics and data sets: find them by name, and load the files that define them.

A subclass of `Method` or `Dataset`, or a function under `@metric` or `@unweave.nets.register`, is available as soon as
it is defined. A plugin is a file or module that is imported for its definitions: `unweave.plugins.load`, or `--plugin`
on the command line. A package lists its modules in the entry points `unweave.plugins`; they are imported when a name is
not found otherwise.
"""

from __future__ import annotations

import hashlib
import re
import sys
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from importlib.machinery import SourceFileLoader
from importlib.metadata import entry_points
from importlib.util import find_spec, module_from_spec, spec_from_loader
from pathlib import Path
from traceback import extract_tb
from types import ModuleType
from typing import Any, Generic, TypeVar

from unweave.errors import UsageError, unknown

T = TypeVar("T")
GROUP = "unweave.plugins"
"""The group of entry points in which packages list their plugins."""
FILE = "unweave_plugin"
"""Prefix of the names of modules that are loaded from files."""
NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
KINDS: list[Kind[Any]] = []
LOADED: dict[str, str] = {}
"""The plugins loaded so far: file to the name that the user gave."""


@dataclass(eq=False)
class Kind(Generic[T]):
    """All objects of one kind by name: built-in ones, and those that users define."""

    noun: str
    builtin: Mapping[str, T] = field(default_factory=dict)
    own: dict[str, T] = field(default_factory=dict)
    """Users' definitions so far; if a name is defined again, as in notebooks, the last definition counts."""

    def __post_init__(self) -> None:
        KINDS.append(self)

    def define(self, name: str, thing: T) -> None:
        """Register a user's definition under a free name."""
        if NAME.fullmatch(str(name)) is None:
            raise UsageError(
                f"a {self.noun} cannot be called '{name}': use lower-case letters and digits, separated by dashes"
            )
        if name in self.builtin:
            raise UsageError(f"unweave already has a {self.noun} called '{name}': give yours another name")
        self.own[name] = thing

    def get(self, name: str) -> T | None:
        """Return the object with this name, or None if it is not known so far."""
        return self.builtin.get(name, self.own.get(name))

    def find(self, name: str) -> T:
        """Return the object with this name; also look in the plugins of installed packages."""
        if self.get(name) is None:
            load_packages()
        if (found := self.get(name)) is None:
            raise unknown(self.noun, name, [*self.builtin, *self.own])
        return found


def is_builtin(thing: object) -> bool:
    """Return whether a class or a function is unweave's own."""
    return (getattr(thing, "__module__", None) or "").partition(".")[0] == "unweave"


def dashed(name: str) -> str:
    """Return the command-line name for the name of a class or function.

    >>> dashed("MyMethod"), dashed("AdaGVAE"), dashed("best_correlation")
    ('my-method', 'ada-gvae', 'best-correlation')
    """
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "-", name)
    return words.replace("_", "-").strip("-").lower()


def load(plugin: str | Path) -> dict[str, list[str]]:
    """Import a plugin, so that its definitions are available by name.

    Parameters
    ----------
    plugin
        A Python file, such as "my_method.py", or the name of an importable module.

    Returns
    -------
    dict
        The names that it defines, by kind, such as {"method": ["my-method"]}.

    Examples
    --------
    >>> load("my_method.py")  # doctest: +SKIP
    {'method': ['my-method']}
    """
    before = {id(thing) for kind in KINDS for thing in kind.own.values()}
    module = _import(str(plugin))
    if module.__file__:
        LOADED[module.__file__] = str(plugin)
    shared = {id(value) for value in vars(module).values()}
    found = {
        kind.noun: names
        for kind in KINDS
        if (names := [name for name, thing in kind.own.items() if id(thing) not in before or id(thing) in shared])
    }
    if not found:
        raise UsageError(f"the plugin '{plugin}' defines no method, net, metric or data set")
    return found


def loaded() -> tuple[str, ...]:
    """Return the plugins that another process must load to have the same names: absolute paths, and modules."""
    own = [thing for kind in KINDS for thing in kind.own.values()]
    needed = {module.__file__ for module in list(sys.modules.values()) if _defines(module, own)}
    return tuple(file if _is_file(called) else called for file, called in LOADED.items() if file in needed)


def _defines(module: ModuleType, things: Iterable[Any]) -> bool:
    """Return whether a module is a loaded plugin that defines or imports any of these objects."""
    if getattr(module, "__file__", None) not in LOADED:
        return False
    shared = {id(value) for value in vars(module).values()}
    return any(id(thing) in shared or getattr(thing, "__module__", None) == module.__name__ for thing in things)


@cache
def load_packages() -> None:
    """Import the plugins of all installed packages once; warn about those that fail."""
    for entry in entry_points(group=GROUP):
        try:
            load(entry.module)
        except UsageError as error:
            owner = f"the package {entry.dist.name}: " if entry.dist else ""
            warnings.warn(f"{owner}{error}", stacklevel=2)


def _import(plugin: str) -> ModuleType:
    """Return the module of a plugin; any error in it becomes a `UsageError` with the line of the file."""
    path = Path(plugin).expanduser()
    if _is_file(plugin):
        if path.suffix != ".py" or not path.is_file():
            raise UsageError(f"there is no plugin '{plugin}': give a Python file, or the name of a module")
        source = str(path.resolve())
    else:
        source = _source_of_module(plugin)
    try:
        return _import_file(Path(source)) if path.suffix == ".py" else import_module(plugin)
    except (Exception, SystemExit) as error:
        raise UsageError(f"the plugin '{plugin}'{_line(error, source)}: {_said(error)}") from error


def _is_file(plugin: str) -> bool:
    """Return whether a plugin is given by its file, and not by the name of a module."""
    return plugin.endswith(".py") or "/" in plugin


def _import_file(file: Path) -> ModuleType:
    """Return the module in a file, which can import modules from its folder; a changed file is read again."""
    digest = hashlib.sha256(str(file).encode() + file.read_bytes()).hexdigest()[:8]
    name = f"{FILE}_{re.sub(r'[^a-zA-Z0-9]', '_', file.stem)}_{digest}"
    if name in sys.modules:
        return sys.modules[name]
    if str(file.parent) not in sys.path:
        sys.path.append(str(file.parent))
    loader = SourceFileLoader(name, str(file))
    spec = spec_from_loader(name, loader)
    assert spec is not None  # as a loader's is not
    module = sys.modules[name] = module_from_spec(spec)
    try:
        loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _source_of_module(name: str) -> str:
    try:
        spec = find_spec(name)
    except (ImportError, ValueError):  # its package cannot be imported, or it is not a valid name of a module
        spec = None
    if spec is None:
        raise UsageError(f"there is no plugin '{name}': give a Python file, or the name of an importable module")
    return spec.origin or ""


def mistake_in_plugin(error: BaseException) -> str | None:
    """Return one line, with the line number, for an error in the code of a plugin; None if it was elsewhere."""
    for frame in reversed(extract_tb(error.__traceback__)):
        if frame.filename in LOADED:
            return f"the plugin '{LOADED[frame.filename]}', line {frame.lineno}: {_said(error)}"
    return None


def _said(error: BaseException) -> str:
    text = str(error) if isinstance(error, UsageError) else f"{type(error).__name__}: {error}"
    return " ".join(text.split())


def _line(error: BaseException, source: str) -> str:
    """Return the line of the plugin's file in which an error occurred, as text."""
    lines = [frame.lineno for frame in extract_tb(error.__traceback__) if frame.filename == source]
    if isinstance(error, SyntaxError) and error.filename == source:
        lines.append(error.lineno)
    return f", line {lines[-1]}" if lines else ""
