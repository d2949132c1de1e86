"""unweave learns, measures and studies disentangled representations."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from unweave.extras import answer_for_missing_packages

if TYPE_CHECKING:
    __version__: str
    from unweave import data as data
    from unweave import encoders as encoders
    from unweave import explorer as explorer
    from unweave import gaussian as gaussian
    from unweave import geometry as geometry
    from unweave import losses as losses
    from unweave import methods as methods
    from unweave import metrics as metrics
    from unweave import nets as nets
    from unweave import perception as perception
    from unweave import plugins as plugins
    from unweave import presets as presets
    from unweave import publishing as publishing
    from unweave import report as report
    from unweave import reproduce as reproduce
    from unweave import selection as selection
    from unweave import study as study
    from unweave import tasks as tasks
    from unweave import training as training
    from unweave.data import load as load
    from unweave.errors import UsageError as UsageError
    from unweave.explorer import explore as explore
    from unweave.metrics import compare as compare
    from unweave.metrics import evaluate as evaluate
    from unweave.publishing import publish as publish
    from unweave.runs import Run as Run
    from unweave.study import Study as Study
    from unweave.training import train as train

_HOME = {
    "load": "unweave.data",
    "train": "unweave.training",
    "evaluate": "unweave.metrics",
    "compare": "unweave.metrics",
    "explore": "unweave.explorer",
    "publish": "unweave.publishing",
    "Run": "unweave.runs",
    "Study": "unweave.study",
    "UsageError": "unweave.errors",
}
_MODULES = (
    "data",
    "encoders",
    "explorer",
    "gaussian",
    "geometry",
    "losses",
    "methods",
    "metrics",
    "nets",
    "perception",
    "plugins",
    "presets",
    "publishing",
    "report",
    "reproduce",
    "selection",
    "study",
    "tasks",
    "training",
)

__all__ = ["Run", "Study", "UsageError", "compare", "evaluate", "explore", "load", "publish", "train"]

answer_for_missing_packages()


def __getattr__(name: str) -> object:
    """Import a public name on first use, so that `import unweave` costs nothing heavy."""
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    if name == "__version__":
        return import_module("importlib.metadata").version("unweave")
    if name in _MODULES:
        return import_module(f"unweave.{name}")
    raise AttributeError(f"module 'unweave' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted([*__all__, *_MODULES, "__version__"])
