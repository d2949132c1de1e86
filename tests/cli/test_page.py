"""Transcripts show what their commands print: quick ones as they are, long ones cut short, with the same words.

They are on docs/cli.md and docs/geomancer.md. Those of tutorials are compared by tests/test_tutorials.py.
"""

from __future__ import annotations

import contextlib
import io
import re
import shlex
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
import tutorials

from unweave import plugins
from unweave.cli import main
from unweave.geometry import sample

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "cli.md").read_text(encoding="utf-8")
TRANSCRIPT = re.compile(r"^```(?:console)?\n(\$ .*?)^```$", re.MULTILINE | re.DOTALL)
SHOWN = [
    shown
    for text in (PAGE, (DOCS / "geomancer.md").read_text(encoding="utf-8"))
    for block in TRANSCRIPT.findall(text)
    for shown in tutorials.commands(block)
    if shown[1].strip()
]
"""The commands of the pages, each with the text below it."""
PAGES = {
    "cli.md": "here",
    "geomancer.md": "here",
    "install.md": "without torch: tests/test_without_torch.py",
    "explorer.md": "an answer of the server: tests/explorer",
}
"""The pages with transcripts, and where these are run."""
TINY = "--net mlp --width 0.1 --threads 1"
CUT = {"--beta 4 ": "--beta 0 ", "--steps 2000": "--steps 20", "--steps 300": "--steps 30"}
"""What the trainings of the page become here."""
SHORT = {
    "evaluate runs/first --metrics mig --json": "--samples 8000 --test-samples 100 --replicates 2",
    "evaluate runs": "--samples 300 --test-samples 100 --replicates 2",
    "compare": "--samples 300 --test-samples 100 --replicates 2",
    "task": "--max-steps 20 --every 10",
}
"""What is added to commands that begin like this, and makes them short."""
ELSEWHERE = {
    "explore": "it serves until Ctrl-C: test_explore",
    "select": "it needs fifteen runs: docs/tutorials/choose-without-labels.md",
    "data fetch dsprites": "it needs a network that is not there: test_data_fetch",
    "perceive": "it takes a minute: docs/tutorials/is-my-data-disentanglable.md",
    "learn-loss": "it takes minutes: docs/tutorials/is-my-data-disentanglable.md",
}
"""What other tests run, and why."""
COMPILATION = re.compile(r"^compilation .*\n", re.MULTILINE)
"""A row that is only there if numba compiled something, the first time."""
VERDICT = re.compile(r"(first|second|differs|–)$")
"""The end of a row of `unweave compare`, which depends on the training."""


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], str]]:
    """Run a command of the page, cut short, in a folder that has all files it names; return all that it prints."""
    folder = tmp_path_factory.mktemp("page")
    with contextlib.chdir(folder), pytest.MonkeyPatch.context() as patch:
        for kind in plugins.KINDS:
            patch.setattr(kind, "own", {})  # what other tests have defined
        exec(re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)[0], {})
        mixed = np.load("z.npy")[:600] @ np.random.default_rng(1).normal(size=(3, 8))
        np.savez("codes.npz", codes=mixed, factors=np.load("v.npy")[:600])
        np.save("points.npy", sample("S^2 x S^2", n=2000, seed=0).points)
        for command in (
            f"train beta-vae --beta 0 --data shapes2d:size=32 {TINY} --steps 20 --out runs/longer",
            f"train beta-vae --beta 16 --data shapes2d:size=32 {TINY} --steps 20 --seed 0 --out runs/second",
            f"train beta-vae --beta 1 --data scenes2d:size=32 {TINY} --steps 20 --out runs/scenes",
        ):
            output_of(command)
        yield output_of


def output_of(command: str) -> str:
    with io.StringIO() as out, contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        with contextlib.suppress(SystemExit):
            main(shlex.split(command))
        return out.getvalue()


@pytest.mark.filterwarnings("default")  # which are printed, as on a terminal
@pytest.mark.parametrize(("command", "expected"), SHOWN, ids=[command for command, _ in SHOWN])
def test_a_command_prints_what_the_page_shows(command, expected, printed):
    words = command.removeprefix("unweave ")
    if any(map(words.startswith, ELSEWHERE)):
        pytest.skip("another test runs it")
    options = next((options for start, options in SHORT.items() if words.startswith(start)), "")
    for long, short in CUT.items():
        words = words.replace(long, short)
    cut = f"unweave {words}" != command or bool(options) or "codes.npz" in words
    shown, found = (COMPILATION.sub("", text) for text in (expected, printed(f"{words} {options}")))
    tutorials.compare(shown, found, same_words if cut else None)


def same_words(line: str, other: str) -> bool:
    return tutorials.same_words(VERDICT.sub("", line), VERDICT.sub("", other))


def test_all_transcripts_with_an_output_are_compared():
    pages = [page for page in DOCS.rglob("*.md") if page.parent.name != "tutorials"]
    blocks = [(page, block) for page in pages for block in TRANSCRIPT.findall(page.read_text(encoding="utf-8"))]
    assert {str(page.relative_to(DOCS)) for page, block in blocks if block.count("\n") > 1} == set(PAGES)
