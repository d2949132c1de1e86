"""What all tests share."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# How long an example takes is up to the machine, and to what else it does.
settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any machine")


@pytest.fixture(scope="session", autouse=True)
def _signals_that_are_heard() -> None:
    """Undo what a shell does to commands in the background, and nohup: they ignore Ctrl-C and the end of a terminal."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if hasattr(signal, "SIGHUP"):
        signal.signal(signal.SIGHUP, signal.SIG_DFL)


@pytest.fixture(scope="session", autouse=True)
def _data_of_their_own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep the data sets of the person who runs the tests out of them, and theirs out of the user's cache."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("UNWEAVE_DATA", str(tmp_path_factory.mktemp("data")))
        yield


@pytest.fixture(scope="session")
def _libraries() -> Iterator[None]:
    """Let timm and open-clip be imported beside a build of torch that torchvision's compiled part is not made for.

    Operators that it would bring are defined without a body; none is called. Nothing is fetched.
    """
    import torch

    pytest.importorskip("huggingface_hub")
    _load_operators("torchvision")
    library = torch.library.Library("torchvision", "FRAGMENT")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
        for name in ("nms", "qnms"):
            if not hasattr(torch.ops.torchvision, name):
                library.define(f"{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
        yield


def _load_operators(package: str) -> None:
    """Load the compiled part of a package, if it fits this torch: its operators must not be defined twice."""
    import torch

    spec = find_spec(package)
    for file in Path((spec and spec.origin) or "").parent.glob("_C.*"):
        with suppress(OSError):
            torch.ops.load_library(str(file))
