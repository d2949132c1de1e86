from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

from unweave.cli import main

TINY = ["--data", "xysquares:size=32", "--net", "mlp", "--width", "0.02", "--batch", "8", "--threads", "1"]


class Result(NamedTuple):
    code: int
    out: str
    err: str


Cli = Callable[..., Result]


def call(words: Sequence[str | Path], capsys: pytest.CaptureFixture[str]) -> Result:
    code = 0
    try:
        main([str(word) for word in words])
    except SystemExit as stop:
        code = stop.code if isinstance(stop.code, int) else 1
    seen = capsys.readouterr()
    return Result(code, seen.out, seen.err)


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str]) -> Cli:
    """Run a command in this process: `cli("data", "list")` gives its exit code, stdout and stderr."""
    return lambda *words: call(words, capsys)


@pytest.fixture
def tiny() -> list[str]:
    """Return the options of a training that takes milliseconds."""
    return TINY


@pytest.fixture(scope="session")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a tiny finished run."""
    folder = tmp_path_factory.mktemp("runs") / "tiny"
    main(["train", "beta-vae", *TINY, "--steps", "20", "--out", str(folder)])
    return folder
