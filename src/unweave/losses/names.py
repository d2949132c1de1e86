"""From the name of a loss, with options after a colon, to the loss."""

from __future__ import annotations

from functools import cache

from unweave.errors import UsageError, unknown
from unweave.fields import types_of
from unweave.losses.blurred import Blurred, BoxBlurred, GaussBlurred
from unweave.losses.kernel import KernelBlurred
from unweave.losses.loss import Loss
from unweave.losses.pixelwise import bce, identity, mae, mse, sigmoid

LOSSES: dict[str, Loss] = {"bce": Loss(bce, sigmoid), "mse": Loss(mse, identity), "mae": Loss(mae, identity)}
"""Losses without options."""

FAMILIES: dict[str, type[Blurred]] = {"mse-box": BoxBlurred, "mse-gauss": GaussBlurred, "mse-kernel": KernelBlurred}
"""Losses with options: `loss_of("mse-box:radius=15")` is that of `FAMILIES["mse-box"](radius=15)`."""

READERS: tuple[type[int | float | str], ...] = (int, float, str)


@cache
def loss_of(text: str) -> Loss:
    """Return the loss of a name such as "mse" or "mse-box:radius=15,weight=961"; no file is read yet.

    >>> loss_of("mse-box") is loss_of("mse-box")
    True
    """
    loss = _read(text)
    return loss if isinstance(loss, Loss) else Loss(loss.distance, identity)


def full_name(text: str) -> str:
    """Return the name with all that decides the loss written out, for the record of a run; files are read and checked.

    >>> full_name("mse"), full_name("mse-box")
    ('mse', 'mse-box:radius=31,weight=3969')
    """
    loss = _read(text)
    if isinstance(loss, Loss):
        return text
    options = {name: f"{value:.15g}" if isinstance(value, float) else value for name, value in loss.options().items()}
    written = ",".join(f"{name}={value}" for name, value in options.items())
    return f"{text.partition(':')[0]}:{written}"


def _read(text: str) -> Loss | Blurred:
    name, _, written = text.partition(":")
    if name not in LOSSES and name not in FAMILIES:
        raise unknown("reconstruction loss", name, ["auto", *LOSSES, *FAMILIES])
    if name in FAMILIES:
        return _with_options(FAMILIES[name], name, written)
    if written:
        raise UsageError(f"the loss {name} has no options, but '{written}' is given")
    return LOSSES[name]


def _with_options(family: type[Blurred], name: str, written: str) -> Blurred:
    kinds = {name: next(kind for kind in READERS if kind in types) for name, types in types_of(family).items()}
    options = {}
    for part in filter(None, written.split(",")):
        option, equals, value = (word.strip() for word in part.partition("="))
        if not equals:
            raise UsageError(f"options are written name:option=value,…, but '{part}' has no '='")
        if option not in kinds:
            raise unknown(f"option of {name}", option, kinds)
        if option in options:
            raise UsageError(f"the option {option} of {name} is given twice")
        try:
            options[option] = kinds[option](value)
        except ValueError:
            kind = "whole number" if kinds[option] is int else "number"
            raise UsageError(f"the option {option} of {name} must be a {kind}, not '{value}'") from None
    return family(**options)
