"""Find a loss by its name, with options after a colon."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Protocol

from unweave.errors import UsageError, unknown
from unweave.fields import types_of
from unweave.losses.blurred import BoxBlurred, GaussBlurred
from unweave.losses.counts import NegativeBinomial, Poisson
from unweave.losses.kernel import KernelBlurred
from unweave.losses.learnt import Learnt
from unweave.losses.loss import Loss, identity
from unweave.losses.loss_file import SUFFIX
from unweave.losses.pixelwise import bce, logit, mae, mse, sigmoid
from unweave.losses.spread import first, gaussian, with_unit_spread
from unweave.options import split_options

LOSSES: dict[str, Loss] = {
    "bce": Loss(bce, sigmoid, logit, domain="unit"),
    "mse": Loss(mse, features=identity),
    "mae": Loss(mae),
    "gaussian": Loss(gaussian, first, with_unit_spread, has_spread=True),
}
"""Losses without options."""


class Family(Protocol):
    """A loss with options, which are the fields of a dataclass."""

    def loss(self) -> Loss:
        """Return the loss."""
        ...

    def options(self) -> dict[str, object]:
        """Return all options that determine the loss, by name."""
        ...


FAMILIES: dict[str, type[Family]] = {
    "learnt": Learnt,
    "mse-box": BoxBlurred,
    "mse-gauss": GaussBlurred,
    "mse-kernel": KernelBlurred,
    "nb": NegativeBinomial,
    "poisson": Poisson,
}
"""Losses with options: `loss_of("mse-box:radius=15")` is that of `FAMILIES["mse-box"](radius=15)`."""

READERS: tuple[type[int | float | str], ...] = (int, float, str)


@cache
def loss_of(text: str) -> Loss:
    """Return the loss with this name.

    Parameters
    ----------
    text
        A name such as "mse" or "mse-box:radius=15,weight=961", or a path such as "my.loss". The file is not read yet.

    Returns
    -------
    Loss
        The loss; a `UsageError` reports an unknown name or option.

    Examples
    --------
    >>> loss_of("mse-box") is loss_of("mse-box")
    True
    """
    loss = _read(text)
    return loss if isinstance(loss, Loss) else loss.loss()


def full_name(text: str, **of_data: object) -> str:
    """Return the name of a loss with all its options written out, for the record of a run.

    Parameters
    ----------
    text
        A name, or a path. Files are read and checked.
    **of_data
        Values for options that depend on the data set.

    Returns
    -------
    str
        The full name.

    Examples
    --------
    >>> full_name("mse"), full_name("mse-box"), full_name("nb", library=500.0)
    ('mse', 'mse-box:radius=31,weight=3969', 'nb:library=500')
    """
    loss = _read(text)
    if isinstance(loss, Loss):
        return text
    given = {name: of_data.get(name) if value is None else value for name, value in loss.options().items()}
    options = {name: f"{value:.15g}" if isinstance(value, float) else value for name, value in given.items()}
    written = ",".join(f"{name}={value}" for name, value in options.items() if value is not None)
    return ":".join(filter(None, ["learnt" if _is_path(text) else text.partition(":")[0], written]))


def content_name(full: str) -> str:
    """Return the full name of a loss without the path of a learnt one, which its digest identifies.

    Parameters
    ----------
    full
        A full name, as `full_name` gives it.

    Returns
    -------
    str
        The name without the path.

    Examples
    --------
    >>> content_name("learnt:path=/home/ada/my.loss,weight=1,sha256=0123456789abcdef")
    'learnt:weight=1,sha256=0123456789abcdef'
    """
    name, _, written = full.partition(":")
    if name != "learnt" or "sha256=" not in written:
        return full
    return f"{name}:" + ",".join(part for part in written.split(",") if not part.startswith("path="))


def with_path(full: str, path: str) -> str:
    """Return the full name of a loss that is read from a file, with the file at another place.

    >>> with_path("learnt:path=/home/ada/my.loss,weight=1", "my.loss")
    'learnt:path=my.loss,weight=1'
    """
    name, options = split_options(full)
    return f"{name}:" + ",".join(f"{option}={value}" for option, value in {**options, "path": path}.items())


def with_absolute_file(full: str, folder: Path) -> str:
    """Return the full name of a loss whose file, if it has one, is named from a folder on."""
    path = split_options(full)[1].get("path", "") if ":" in full else ""
    return full if not path or Path(path).is_absolute() else with_path(full, str((folder / path).resolve()))


def _is_path(text: str) -> bool:
    """Return whether a loss is given only by the path of its file."""
    return text.endswith(SUFFIX) and text.partition(":")[0] not in FAMILIES


def _read(text: str) -> Loss | Family:
    if _is_path(text):
        return Learnt(path=text)
    name, written = split_options(text)
    if name in FAMILIES:
        return _with_options(FAMILIES[name], name, written)
    if name not in LOSSES:
        raise _no_name(text, name)
    if written:
        raise UsageError(f"the loss {name} has no options, but '{text.partition(':')[2]}' is given")
    return LOSSES[name]


def _no_name(text: str, name: str) -> UsageError:
    """Return the error for an unknown name, which is often that of a file."""
    if text.endswith(".npy") and text == name:
        return UsageError(f"'{text}' is not the name of a loss; for your own kernel write mse-kernel:path={text}")
    if Path(text).expanduser().exists():
        return UsageError(f"'{text}' is not a loss: files written by unweave learn-loss end in {SUFFIX}")
    return unknown("reconstruction loss", name, ["auto", *LOSSES, *FAMILIES])


def _with_options(family: type[Family], name: str, written: Mapping[str, str]) -> Family:
    kinds = {name: next(kind for kind in READERS if kind in types) for name, types in types_of(family).items()}
    options = {}
    for option, value in written.items():
        if option not in kinds:
            raise unknown(f"option of {name}", option, kinds)
        try:
            options[option] = kinds[option](value)
        except ValueError:
            kind = "an integer" if kinds[option] is int else "a number"
            raise UsageError(f"the option {option} of {name} must be {kind}, not '{value}'") from None
    return family(**options)
