"""What `pip install unweave` gives, without the extra that trains; and one clear line for the rest."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import unweave
from unweave.metrics import METRICS

SCRIPT = Path(__file__).with_name("without_torch.py")
MISSING = "this needs torch, which is not installed; run: pip install 'unweave[train]'"
SLOW = {"dci-es", "dci-random-forest", "dci-logistic", "downstream-gbt"}
"""Metrics that take longer than all others together, and share their imports with others."""
OF_ARRAYS = {"codes", "factors", "test", "categorical", "seed"}
"""What a metric may need to score arrays alone; one that ends in -sampled needs posteriors too."""
SCORED = """
import json, numpy, unweave
from unweave.metrics import METRICS
found = numpy.load("codes.npz")
table = unweave.evaluate(found["codes"], found["factors"], metrics={metrics}, intervals=False)
print(json.dumps(dict(table.select("metric", "value").iter_rows())))
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Codes, other codes, points on a sphere and a folder that looks like a run."""
    folder = tmp_path_factory.mktemp("without")
    rng = np.random.default_rng(0)
    factors = rng.integers(0, 4, size=(400, 2))
    codes = factors + rng.normal(scale=0.2, size=factors.shape)
    np.savez(folder / "codes.npz", codes=codes, factors=factors)
    np.savez(folder / "worse.npz", codes=codes + rng.normal(size=codes.shape), factors=factors)
    points = rng.normal(size=(300, 3))
    np.save(folder / "points.npy", points / np.linalg.norm(points, axis=1, keepdims=True))
    (folder / "run").mkdir()
    (folder / "run" / "config.json").write_text("{}")
    return folder


def without(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, SCRIPT, *words], cwd=folder, capture_output=True, text=True, timeout=300)


def test_torch_is_missing_indeed(folder):
    done = without(folder, "-c", "import unweave, torch")
    assert done.stderr.splitlines()[-1] == "ModuleNotFoundError: No module named 'torch'"  # ours is not the answer


def test_every_metric_of_arrays_gives_the_same_score(folder):
    of_arrays = [name for name in METRICS if set(METRICS[name].needs) <= OF_ARRAYS and not name.endswith("-sampled")]
    metrics = [name for name in of_arrays if name not in SLOW]
    assert len(metrics) > 25
    done = without(folder, "-c", SCORED.format(metrics=metrics))
    assert done.returncode == 0, done.stderr
    found = np.load(folder / "codes.npz")
    table = unweave.evaluate(found["codes"], found["factors"], metrics=metrics, intervals=False)
    expected = dict(table.select("metric", "value").iter_rows())
    assert json.loads(done.stdout) == pytest.approx(expected, abs=1e-12, nan_ok=True)


def test_python_without_torch(folder):
    done = without(
        folder,
        "-c",
        "import numpy, unweave\n"
        "found, worse = numpy.load('codes.npz'), numpy.load('worse.npz')\n"
        "print(unweave.compare(found['codes'], worse['codes'], found['factors'], metrics=['mig']).height > 0)\n"
        "print(unweave.load('shapes2d').images([0]).shape)\n"
        "print(round(unweave.gaussian.im_score([[1.0]], [[0.6]], [[1.0]]).value, 6) > 0)\n"
        "print(unweave.geometry.__name__, unweave.study.analysis.__name__, unweave.selection.udr.__name__)\n",
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "True\n(1, 64, 64, 1)\nTrue\nunweave.geometry unweave.study.analysis udr\n"


WORK = {
    "--help": "learns, measures and studies",
    "evaluate codes.npz --metrics mig dci --no-intervals": "dci-completeness",
    "compare --codes codes.npz worse.npz --metrics mig": "mig",
    "metrics list": "factor-vae-score",
    "metrics info dci": "learner",
    "data list": "rooms3d",
    "data show xysquares:size=32 --out grid.png": "wrote grid.png",
    "gaussian 3-in-2 --repeats 1 --steps 3": "next: unweave",
    "geomancer points.npy --dim 2 --out factors.npz": "next: unweave",
    "completion bash": "complete -F _unweave unweave",
}
"""Commands that run without torch, and what they say."""
NEED_TORCH = (
    "train beta-vae --data shapes2d",
    "train --help",
    "evaluate run",
    "report run",
    "perceive xysquares",
    "encode pixels --data xysquares --out pixels.npz",
    "sparsify codes.npz --out sparse",
)
CALLED = """
import contextlib, io, json
from unweave.cli import main
for words in {commands}:
    out, err, code = io.StringIO(), io.StringIO(), 0
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main(words.split())
        except SystemExit as stop:
            code = stop.code or 0
    print(json.dumps([words, code, out.getvalue(), err.getvalue()]))
"""


def test_commands_without_torch(folder):
    done = without(folder, "-c", CALLED.format(commands=[*WORK, *NEED_TORCH]))
    assert done.returncode == 0, done.stderr
    answers = {words: rest for words, *rest in map(json.loads, done.stdout.splitlines())}
    for words, said in WORK.items():
        code, out, err = answers[words]
        assert code == 0, (words, err)
        assert said in out, words
    for words in NEED_TORCH:
        assert answers[words] == [2, "", f"unweave: {MISSING}\n"], words


def test_the_command_itself_without_torch(folder):
    done = without(folder, "train", "vae", "--data", "shapes2d")
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"unweave: {MISSING}\n")


ENTRIES = (
    "unweave.train",
    "unweave.Run.open('run')",
    "unweave.methods.BetaVAE",
    "unweave.nets",
    "unweave.losses",
    "unweave.perception",
    "unweave.encoders.encode",
    "__import__('unweave.penalties')",
    "unweave.gaussian.descend(next(iter(unweave.gaussian.SCENARIOS.values())).world())",
)
EACH = """
import unweave
for entry in {entries}:
    try:
        eval(entry)
    except unweave.UsageError as error:
        print(type(error).__name__, isinstance(error, ImportError), error)
"""


def test_every_entry_that_needs_torch_says_what_to_install(folder):
    done = without(folder, "-c", EACH.format(entries=ENTRIES))
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [f"MissingPackage True {MISSING}"] * len(ENTRIES)
