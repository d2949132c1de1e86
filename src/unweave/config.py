"""The configuration of a run: all settings that determine its result, and no others."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Annotated, Any, TypeVar

import torch

from unweave.data.identity import data_identity
from unweave.data.labels import Labels
from unweave.errors import UsageError, unknown
from unweave.fields import OneOf, earlier_values, fits, later, types_of
from unweave.losses import content_name, loss_of
from unweave.methods import Method, OrthogonalJacobian, Schedule, method_name, method_of
from unweave.nets import Model, Modules, Net, Shape
from unweave.schedules import require_not_negative

T = TypeVar("T")
PRECISIONS = ("fp32", "bf16")


@dataclass(frozen=True)
class Training:
    """How a model is trained: Adam at a constant learning rate on independent draws from the data set."""

    steps: int = 20_000
    """Number of updates."""
    batch: int = 64
    """Images per step."""
    lr: float = 1e-3
    """Learning rate of Adam."""
    seed: int = 0
    """Seed of all random choices: initialisation, batches, noise, labels."""
    standardise: bool = False
    """Scale every channel to mean 0 and standard deviation 1 (table A.2 of the thesis); needs the loss mse."""
    precision: Annotated[str, OneOf(PRECISIONS)] = "fp32"
    """Arithmetic of the network: fp32 or bf16 (autocast)."""
    weight_decay: float = later(0.0)
    """Weight decay of AdamW: a step subtracts lr * weight_decay times each weight (not biases); 0: Adam."""
    clip: float = later(0.0)
    """Clip every entry of the gradient to [-clip, clip]; 0: no clipping."""

    def __post_init__(self) -> None:
        if self.steps < 1 or self.batch < 1:
            raise UsageError(f"steps and batch must be at least 1, not {self.steps} and {self.batch}")
        if not 0 < self.lr < math.inf:
            raise UsageError(f"the learning rate must be positive, not {self.lr}")
        if self.seed < 0:
            raise UsageError(f"seed must be 0 or more, not {self.seed}")
        if self.precision not in PRECISIONS:
            raise unknown("precision", self.precision, PRECISIONS)
        require_not_negative(self, "weight_decay", "clip")


@dataclass(frozen=True)
class Config:
    """A method, a data set, a net, training settings, and optional additional terms: labels, a Jacobian."""

    method: Method
    data: Mapping[str, Any]
    net: Net = field(default_factory=Net)
    training: Training = field(default_factory=Training)
    labels: Labels | None = None
    jacobian: OrthogonalJacobian | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the configuration as plain JSON values; `from_json` is the inverse."""
        plain = {
            "method": {"name": method_name(self.method), **_plain(self.method)},
            "data": dict(self.data),
            "net": _plain(self.net),
            "training": _plain(self.training),
        }
        beside = {"labels": self.labels, "jacobian": self.jacobian}
        return {**plain, **{part: _plain(settings) for part, settings in beside.items() if settings is not None}}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Config:
        """Return the configuration that `to_json` wrote."""
        try:
            method, data, net, training = (_group(values, part) for part in ("method", "data", "net", "training"))
            name = method.pop("name")
            kind = method_of(str(name))
            if not isinstance(data["name"], str):
                raise TypeError(f"data.name is {data['name']!r}")
            labels = None if values.get("labels") is None else _read(Labels, _group(values, "labels"))
            jacobian = None if values.get("jacobian") is None else _read(OrthogonalJacobian, _group(values, "jacobian"))
            return cls(_read(kind, method), data, _read(Net, net), _read(Training, training), labels, jacobian)
        except (KeyError, TypeError) as error:
            raise UsageError(f"this is not the configuration of a run: {error}") from error

    @property
    def id(self) -> str:
        """Return the run's identity: the first 16 digits of the SHA-256 of the canonical configuration."""
        plain = self._contents()
        canonical = json.dumps(plain, sort_keys=True, separators=(",", ":"), allow_nan=False)
        return hashlib.sha256(canonical.encode()).hexdigest()[:16]

    def _contents(self) -> dict[str, Any]:
        """Return the configuration without paths of the data and of a learnt loss, which do not affect the result."""
        plain = self.to_json()
        method = {**plain["method"], "loss": content_name(self.method.loss)}
        return {**plain, "method": method, "data": data_identity(self.data)}

    def build(self, shape: Shape, generator: torch.Generator, modules: Modules | None = None) -> Model:
        """Return a new model for this configuration.

        Parameters
        ----------
        shape
            Height, width and channels of the images, or the number of a vector's features.
        generator
            Generator of the initial weights.
        modules
            The user's encoder and decoder, if the net is two modules.

        Returns
        -------
        Model
            The model, on the CPU.
        """
        method, loss = self.method, loss_of(self.method.loss)
        return self.net.build(
            shape,
            generator,
            method.bottleneck,
            method.adversary,
            modules,
            seen=loss.seen,
            has_spread=loss.has_spread and method.decoder,
            has_decoder=method.decoder,
            companion=method.companion,
            **method.bottleneck_options,
        )

    def differences(self, other: Config) -> list[str]:
        """Return readable text for every setting in which `other` differs."""
        ours, theirs = (_flat(each._contents()) for each in (self, other))
        keys = [*ours, *(key for key in theirs if key not in ours)]
        return [
            f"{key} {ours.get(key, 'absent')} → {theirs.get(key, 'absent')}"
            for key in keys
            if ours.get(key) != theirs.get(key)
        ]


def _plain(settings: Method | Net | Training | Labels | OrthogonalJacobian) -> dict[str, Any]:
    """Return a dataclass's fields as JSON values: schedules as text, and fields for floats always as floats.

    So 4 and 4.0 are the same run.
    """
    kind = type(settings)
    types, earlier = types_of(kind), earlier_values(kind)
    values = {spec.name: getattr(settings, spec.name) for spec in fields(settings)}
    return {
        name: _as_json(value, types[name])
        for name, value in values.items()
        if name not in earlier or value != earlier[name]
    }


def _as_json(value: Any, types: frozenset[type]) -> Any:
    if isinstance(value, Schedule):
        return str(value)
    return float(value) if float in types and value is not None else value


def _group(values: Mapping[str, Any], part: str) -> dict[str, Any]:
    """Return a part of a configuration, which must be an object with settings."""
    if not isinstance(values[part], Mapping):
        raise TypeError(f"{part} is {values[part]!r}")
    return dict(values[part])


def _read(kind: type[T], values: Mapping[str, Any]) -> T:
    """Return the dataclass that `_plain` wrote; fields that did not exist yet get their earlier values.

    Each field must have the right type, because a file may hold anything.
    """
    types = types_of(kind)
    settings = {**earlier_values(kind), **values}
    for name, value in values.items():
        if isinstance(value, str) and Schedule in types.get(name, ()):
            settings[name] = Schedule.read(value)
        elif name in types and not fits(value, types[name]):
            raise TypeError(f"{name} is {value!r}")
    return kind(**settings)


def _flat(values: Mapping[str, Any]) -> dict[str, Any]:
    return {f"{part}.{key}": value for part, group in values.items() for key, value in group.items()}
