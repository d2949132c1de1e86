"""Models of timm and open-clip as encoders: architecture and preprocessing by name, weights by name or from a file."""

from __future__ import annotations

import logging
import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies

import torch
from torch import nn

from unweave.encoders.preprocessing import MODES, Preprocessing
from unweave.encoders.weights import fill, how_to_install, read_weights
from unweave.errors import UsageError, unknown


def timm_network(name: str, options: dict[str, Any], random_weights: bool) -> tuple[nn.Module, Preprocessing]:
    """Return a timm model without its classifier, and its preprocessing.

    Parameters
    ----------
    name
        timm's name, such as resnet50 or resnet50.a1_in1k; the part after the dot names the weights.
    options
        weights: a file of weights, instead of those in timm's cache or on the network.
    random_weights
        Load no weights.

    Returns
    -------
    tuple[nn.Module, Preprocessing]
        The network, whose output is pooled, and its preprocessing.
    """
    timm: Any = _library("timm")
    refuse_others(f"timm:{name}", options, ("weights", "size"))
    if not timm.is_model(name.partition(".")[0]):
        raise _unknown_model("timm", name, timm.list_models())
    path = options.get("weights")
    fetched = path is None and not random_weights
    try:
        with _quiet(), _cache_alone_without_network():
            network = timm.create_model(name, pretrained=fetched, **({} if path else {"num_classes": 0}))
    except Exception as error:  # no network, no such weights: several packages raise many kinds of errors
        if not fetched:
            raise UsageError(f"timm cannot build '{name}': {_first_line(error)}") from error
        raise UsageError(_no_weights(f"timm:{name}", f"timm:{name}:weights=FILE", error)) from error
    if path is not None and not random_weights:
        fill(network, read_weights(Path(path)), f"'{path}'")
    if path is not None:
        network.reset_classifier(0)
    config = timm.data.resolve_model_data_config(network)
    return network, _preprocessing(config["input_size"][-1], config)


def open_clip_network(name: str, options: dict[str, Any], random_weights: bool) -> tuple[nn.Module, Preprocessing]:
    """Return the image tower of a CLIP model of open-clip, whose output is the embedding, and its preprocessing.

    Parameters
    ----------
    name
        open-clip's name, such as ViT-B-32.
    options
        pretrained: the tag of its weights; or weights: a file of weights.
    random_weights
        Load no weights.

    Returns
    -------
    tuple[nn.Module, Preprocessing]
        The tower and its preprocessing.
    """
    clip: Any = _library("open_clip")
    called = f"open-clip:{name}"
    refuse_others(called, options, ("pretrained", "weights", "size"))
    if name not in clip.list_models():
        raise _unknown_model("open-clip", name, clip.list_models())
    tag, path = options.get("pretrained"), options.get("weights")
    if tag is not None and path is not None:
        raise UsageError(f"{called} takes pretrained or weights, not both")
    tags = clip.list_pretrained_tags_by_model(name)
    if not random_weights and tag is None and path is None:
        some = f" (pretrained: {_some(tags)})" if tags else ""
        raise UsageError(f"{called} needs weights: {called}:pretrained=TAG or {called}:weights=FILE{some}")
    if tag is not None and tag not in tags:
        raise unknown(f"tag of weights of {name}", str(tag), tags)
    try:
        with _quiet(), _cache_alone_without_network():
            model = clip.create_model(name, pretrained=None if random_weights else tag)
    except Exception as error:  # as for timm
        raise UsageError(_no_weights(f"{called}:pretrained={tag}", f"{called}:weights=FILE", error)) from error
    if path is not None and not random_weights:
        fill(model, read_weights(Path(path)), f"'{path}'")
    config = clip.get_model_preprocess_cfg(model)
    size = config["size"]
    return model.visual, _preprocessing(size if isinstance(size, int) else size[0], config)


def refuse_others(name: str, options: dict[str, Any], known: tuple[str, ...]) -> None:
    """Raise a `UsageError` for options that an encoder does not have."""
    for option in options:
        if option not in known:
            raise unknown(f"option of {name}", option, known)


@contextmanager
def _quiet() -> Iterator[None]:
    """Silence the libraries' logs about downloads; a failure is reported in one line."""
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        yield
    finally:
        logging.disable(before)


@contextmanager
def _cache_alone_without_network() -> Iterator[None]:
    """If the hub's name cannot be resolved, let its client use only its cache; it would retry for a minute."""
    constants: Any = import_module("huggingface_hub.constants")
    before = constants.HF_HUB_OFFLINE
    constants.HF_HUB_OFFLINE = before or not _is_found(constants.ENDPOINT)
    try:
        yield
    finally:
        constants.HF_HUB_OFFLINE = before


def _is_found(address: str) -> bool:
    """Return whether a host name can be resolved; always True behind a proxy."""
    if getproxies():
        return True
    try:
        return bool(socket.getaddrinfo(urlsplit(address).hostname, None))
    except OSError:
        return False


def _unknown_model(library: str, name: str, names: Sequence[str]) -> UsageError:
    """Return the error for a model that a library does not have, with the nearest names; there are too many to list."""
    near = get_close_matches(name, names, n=3)
    hint = f"; did you mean {' or '.join(near)}?" if near else ""
    return UsageError(f"no model of {library} is called '{name}'{hint} ({len(names):,} are known)")


def _some(names: Sequence[str], most: int = 8) -> str:
    return ", ".join([*names[:most], *["…"] * (len(names) > most)])


def _preprocessing(size: int, config: dict[str, Any]) -> Preprocessing:
    mode = str(config.get("interpolation", "bicubic"))
    mean, std = (tuple(map(float, config[key])) for key in ("mean", "std"))
    return Preprocessing(size, mean, std, mode if mode in MODES else "bicubic")


def _library(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError as error:
        if error.name in (None, name):
            raise UsageError(f"{name} is not installed; {how_to_install('encoders')}") from error
        raise UsageError(f"{name} cannot be imported: {_first_line(error)}; {how_to_install('encoders')}") from error
    except RuntimeError as error:  # from a torchvision that belongs to another build of torch
        reason = f"{name} cannot be imported with torch {torch.__version__}: {_first_line(error)}"
        raise UsageError(f"{reason}; install the torchvision that belongs to this torch") from error


def _no_weights(name: str, instead: str, error: Exception) -> str:
    reason = f"no network? {type(error).__name__}"
    return f"the weights of {name} are not in the cache and cannot be fetched ({reason}); give a file: {instead}"


def _first_line(error: BaseException) -> str:
    return next(iter(str(error).strip().splitlines()), type(error).__name__)[:200]
