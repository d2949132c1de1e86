"""Where a user's method, net or data set comes from, as recorded with a run."""

from __future__ import annotations

import hashlib
import os
import shlex
import sys
import warnings
from collections.abc import Iterable, Mapping
from importlib.metadata import packages_distributions, version
from pathlib import Path
from typing import Any

from unweave.plugins import FILE, is_builtin

Origin = dict[str, Any]


class ChangedPlugin(UserWarning):
    """The file that defines a run's method, net or data set has changed."""


def origin_of(thing: type | Any, folder: Path) -> Origin | None:
    """Return where a class or a function comes from: a package, or a file, relative to the run's folder.

    Built-in parts have no origin. The file's SHA-256 is only information, not part of the run's identity.
    """
    if is_builtin(thing):
        return None
    module = thing.__module__ or ""
    origin: Origin = {"name": thing.__qualname__}
    if package := _package(module):
        return {**origin, "module": module, "package": package, "version": version(package)}
    file = getattr(sys.modules.get(module), "__file__", None)
    if file is None or not Path(file).is_file():
        return {**origin, "module": module}
    return {**origin, "file": _relative(Path(file).resolve(), folder), "sha256": _sha256(Path(file))}


def how_to_load(origin: Mapping[str, Any], folder: Path) -> str:
    """Return text that says how to load an unknown part: the plugin to give, or the package to install."""
    if "package" in origin:
        return f"{origin['name']} of the package {origin['package']} {origin['version']}: install that"
    if "file" not in origin:
        return f"{origin['name']}, which was defined in a Python session: define it there first"
    file = plugin_path(origin, folder)
    return f"{origin['name']} in '{file}': give --plugin {file} (in Python: unweave.plugins.load('{file}'))"


def plugin_path(origin: Mapping[str, Any], folder: Path) -> str:
    """Return the path of a recorded file, relative to the current folder."""
    file = Path(os.path.normpath(folder.resolve() / str(origin["file"])))
    return _relative(file, Path.cwd()) if file.is_file() else str(origin["file"])


def plugins_of(origins: Mapping[str, Mapping[str, Any]], folder: Path) -> list[str]:
    """Return the files that a run needs as plugins, each once."""
    return list(dict.fromkeys(plugin_path(origin, folder) for origin in origins.values() if "file" in origin))


def plugin_words(plugins: Iterable[str]) -> str:
    """Return the options that a command needs for these plugins, each after a space; paths are relative."""
    near = (_relative(Path(plugin), Path.cwd()) if Path(plugin).is_absolute() else plugin for plugin in plugins)
    return "".join(f" --plugin {shlex.quote(plugin)}" for plugin in near)


def warn_of_changes(origins: Mapping[str, Mapping[str, Any]], folder: Path) -> None:
    """Warn, in one line, about every file that has changed since the run began."""
    for origin in {str(origin.get("file")): origin for origin in origins.values() if "file" in origin}.values():
        file = Path(plugin_path(origin, folder))
        if file.is_file() and _sha256(file) != origin.get("sha256"):
            text = f"'{file}' has changed since '{folder}' was started with it: results may differ"
            warnings.warn(text, ChangedPlugin, stacklevel=2)  # always from this line, so that Python shows it once


def _package(module: str) -> str | None:
    """Return the installed package that a module belongs to, if it belongs to one."""
    top = module.partition(".")[0]
    if top in ("", "__main__", "builtins") or top.startswith(FILE):
        return None
    return next(iter(packages_distributions().get(top, ())), None)


def _relative(file: Path, folder: Path) -> str:
    try:
        return Path(os.path.relpath(file, folder.resolve())).as_posix()
    except ValueError:  # on another drive
        return file.as_posix()


def _sha256(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()
