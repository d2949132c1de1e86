"""The command that trains a run again, or trains it further."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from unweave.config import Config, Training, method_name
from unweave.data.labels import Labels
from unweave.methods import OrthogonalJacobian
from unweave.nets import Net
from unweave.schedules import Schedule
from unweave.text import data_name

LABEL_FLAGS = {"count": "labels", "noise": "label-error-rate"}
"""Options of labels whose flag is not `--label-` plus the name of their field."""


def train_command(config: Config, out: Path, *more: str) -> str:
    """Return the command line that trains a configuration in a folder, followed by the arguments `more`.

    >>> from unweave.methods import BetaVAE
    >>> train_command(Config(BetaVAE(beta=2), {"name": "xysquares", "size": 32}), Path("runs/a"), "--overwrite")
    'unweave train beta-vae --data xysquares:size=32 --beta 2 --out runs/a --overwrite'
    """
    words = ["unweave", "train", method_name(config.method), "--data", data_name(config.data)]
    words += _words(config.method, {})
    words += _words(config.net, {"name": "net"}, Net())
    words += _words(config.training, {}, Training())
    if config.labels is not None:
        flags = {spec.name: LABEL_FLAGS.get(spec.name, f"label-{spec.name}") for spec in fields(Labels)}
        words += ["--labels", str(config.labels.count), *_words(config.labels, flags, Labels(config.labels.count))]
    if config.jacobian is not None:
        flags = {spec.name: f"jacobian-{spec.name}" for spec in fields(OrthogonalJacobian)}
        words += _words(config.jacobian, flags, OrthogonalJacobian(weight=0.0))
    return shlex.join([*words, "--out", str(out), *more])


def _words(settings: Any, flags: Mapping[str, str], defaults: Any = None) -> Iterator[str]:
    """Return the options for the fields that are not at their defaults."""
    defaults = type(settings)() if defaults is None else defaults
    for spec in fields(settings):
        value, default = getattr(settings, spec.name), getattr(defaults, spec.name)
        if value == default:
            continue
        flag = flags.get(spec.name, spec.name).replace("_", "-")
        if isinstance(value, bool):
            yield f"--{flag}" if value else f"--no-{flag}"
        else:
            yield f"--{flag}"
            yield str(value) if isinstance(value, Schedule | str) else f"{value!r}"
