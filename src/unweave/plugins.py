"""What users define, methods, nets, metrics and data sets of their own, found by name; and the files it comes from.

A subclass of `Method` or `Dataset`, a function under `@metric` or `@unweave.nets.register` is known once it is defined:
Python code needs no more. A plugin is a file or a module that is imported for what it defines: `unweave.plugins.load`,
or `--plugin` on the command line. A package names its modules in the entry points `unweave.plugins`; they are imported
when a name is not found otherwise.
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
"""The group of entry points in which packages name their plugins."""
FILE = "unweave_plugin"
"""How the names of modules begin that are loaded from files."""
NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
KINDS: list[Kind[Any]] = []
LOADED: dict[str, str] = {}
"""The plugins that were loaded so far, as they were called, by their files."""


@dataclass(eq=False)
class Kind(Generic[T]):
    """All things of one kind by name: unweave's own, and those that users define."""

    noun: str
    builtin: Mapping[str, T] = field(default_factory=dict)
    own: dict[str, T] = field(default_factory=dict)
    """What users have defined so far; of a name that is defined again, as notebooks do, the last one counts."""

    def __post_init__(self) -> None:
        KINDS.append(self)

    def define(self, name: str, thing: T) -> None:
        """Remember what a user defined under a name that is free."""
        if NAME.fullmatch(str(name)) is None:
            raise UsageError(
                f"a {self.noun} cannot be called '{name}': lower-case letters and digits, with dashes between"
            )
        if name in self.builtin:
            raise UsageError(f"unweave has a {self.noun} called '{name}' already: give yours another name")
        self.own[name] = thing

    def get(self, name: str) -> T | None:
        """Return the thing of this name that is known so far, or None."""
        return self.builtin.get(name, self.own.get(name))

    def find(self, name: str) -> T:
        """Return the thing of this name, which may be that of an installed package's plugin."""
        if self.get(name) is None:
            load_packages()
        if (found := self.get(name)) is None:
            raise unknown(self.noun, name, [*self.builtin, *self.own])
        return found


def is_builtin(thing: object) -> bool:
    """Tell whether a class or a function is unweave's own."""
    return (getattr(thing, "__module__", None) or "").partition(".")[0] == "unweave"


def dashed(name: str) -> str:
    """Return the name that a class or a function of this name has on the command line.

    >>> dashed("MyMethod"), dashed("AdaGVAE"), dashed("best_correlation")
    ('my-method', 'ada-gvae', 'best-correlation')
    """
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "-", name)
    return words.replace("_", "-").strip("-").lower()


def load(plugin: str | Path) -> dict[str, list[str]]:
    """Import a plugin, so that what it defines is known by name.

    Parameters
    ----------
    plugin
        A Python file, such as "my_method.py", or the name of a module that can be imported.

    Returns
    -------
    dict
        What it defines: the names of each kind, such as {"method": ["my-method"]}.
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
    """Return what another process loads to know what is known here: files by their whole paths, and modules."""
    own = [thing for kind in KINDS for thing in kind.own.values()]
    needed = {module.__file__ for module in list(sys.modules.values()) if _defines(module, own)}
    return tuple(file if _is_file(called) else called for file, called in LOADED.items() if file in needed)


def _defines(module: ModuleType, things: Iterable[Any]) -> bool:
    """Tell whether a module is a plugin that was loaded, and defines or imports any of these things."""
    if getattr(module, "__file__", None) not in LOADED:
        return False
    shared = {id(value) for value in vars(module).values()}
    return any(id(thing) in shared or getattr(thing, "__module__", None) == module.__name__ for thing in things)


@cache
def load_packages() -> None:
    """Import the plugins of all installed packages, once; one that fails is warned of."""
    for entry in entry_points(group=GROUP):
        try:
            load(entry.module)
        except UsageError as error:
            owner = f"the package {entry.dist.name}: " if entry.dist else ""
            warnings.warn(f"{owner}{error}", stacklevel=2)


def _import(plugin: str) -> ModuleType:
    """Return the module of a plugin; whatever goes wrong in it becomes one line, with the line of the file."""
    path = Path(plugin).expanduser()
    if _is_file(plugin):
        if path.suffix != ".py" or not path.is_file():
            raise UsageError(f"there is no plugin '{plugin}': a plugin is a Python file, or a module's name")
        source = str(path.resolve())
    else:
        source = _source_of_module(plugin)
    try:
        return _import_file(Path(source)) if path.suffix == ".py" else import_module(plugin)
    except (Exception, SystemExit) as error:
        raise UsageError(f"the plugin '{plugin}'{_line(error, source)}: {_said(error)}") from error


def _is_file(plugin: str) -> bool:
    """Tell whether a plugin is called by its file, and not by the name of a module."""
    return plugin.endswith(".py") or "/" in plugin


def _import_file(file: Path) -> ModuleType:
    """Return the module in a file, which finds the modules beside it as a script does; a changed file is read again."""
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
    except (ImportError, ValueError):  # of the package around it, or of a name that can be no module's
        spec = None
    if spec is None:
        raise UsageError(f"there is no plugin '{name}': a plugin is a Python file, or a module that can be imported")
    return spec.origin or ""


def mistake_in_plugin(error: BaseException) -> str | None:
    """Return what went wrong in the code of a plugin, in one line with the place; None if it was not in one."""
    for frame in reversed(extract_tb(error.__traceback__)):
        if frame.filename in LOADED:
            return f"the plugin '{LOADED[frame.filename]}', line {frame.lineno}: {_said(error)}"
    return None


def _said(error: BaseException) -> str:
    text = str(error) if isinstance(error, UsageError) else f"{type(error).__name__}: {error}"
    return " ".join(text.split())


def _line(error: BaseException, source: str) -> str:
    """Return where in the plugin's own file an error came up, in words."""
    lines = [frame.lineno for frame in extract_tb(error.__traceback__) if frame.filename == source]
    if isinstance(error, SyntaxError) and error.filename == source:
        lines.append(error.lineno)
    return f", line {lines[-1]}" if lines else ""
