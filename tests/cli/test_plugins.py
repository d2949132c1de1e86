"""The whole way on the command line with a plugin: a method with a schedule, a net, a metric and a data set."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from unweave import plugins

# Without postponed annotations. It interrupts itself once, after its fifth step, where a file asks for it.
PLUGIN = '''
import signal
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import nn

import unweave
from unweave.data import Dataset, FactorSpace
from unweave.methods import Method, Scheduled, value_at
from unweave.metrics import Sampled, by_rows, metric


@dataclass(frozen=True)
class NoisyVAE(Method):
    """Noisy VAE: a VAE whose penalty has noise of torch's own generator."""

    beta: Scheduled = 1.0
    """Weight of the KL term."""
    bound: float | None = None
    """An upper bound of the KL term."""

    def penalty(self, model, q, z, step):
        asked = Path("interrupt")
        if step == 4 and asked.exists():
            asked.unlink()
            signal.raise_signal(signal.SIGINT)
        kl = q.kl().sum(1).mean() + 0.1 * (torch.randn(()) * z).square().mean()
        return {"kl": value_at(self.beta, step) * kl}


@unweave.nets.register("dropped")
def dropped(shape, latents, width, rate=0.2):
    height, breadth, channels = shape
    pixels = height * breadth * channels
    encoder = nn.Sequential(nn.Flatten(), nn.Linear(pixels, 12), nn.BatchNorm1d(12), nn.Dropout(rate))
    return encoder, nn.Sequential(nn.Linear(latents, pixels), nn.Unflatten(1, (channels, height, breadth)))


@metric("nobody", "a thing of its own", continuous=True)
def widest_code(codes: np.ndarray) -> Sampled[float]:
    """Widest code."""
    return by_rows(lambda z: float(np.tanh(np.ptp(z))), np.asarray(codes))


class Dots(Dataset):
    """A dot."""

    def __init__(self, size: int = 16) -> None:
        self.factors = FactorSpace(["x", "y"], [size, size])
        self.shape, self.binary, self.options = (size, size, 1), True, {"size": size}

    def _draw(self, indices):
        images = np.zeros((len(indices), *self.shape), np.uint8)
        x, y = self.factors.from_index(indices).T
        images[np.arange(len(indices)), y, x] = 255
        return images
'''
WORDS = (
    "train noisy-vae --data dots:size=16 --net dropped --beta 0:2@50% --steps 12 --batch 8 --latents 3 --log-every 2"
)


def forget() -> None:
    for kind in plugins.KINDS:
        kind.own.clear()
    for name in [name for name in sys.modules if name.startswith(plugins.FILE)]:
        del sys.modules[name]


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    before = [(kind, dict(kind.own)) for kind in plugins.KINDS]
    forget()
    monkeypatch.chdir(tmp_path)
    Path("noisy.py").write_text(PLUGIN)
    yield
    forget()
    for kind, own in before:
        kind.own.update(own)


@pytest.mark.filterwarnings("default")  # of few samples and a collapsed model
def test_train_interrupt_resume_evaluate_and_report(cli):
    words = [*WORDS.split(), "--plugin", "noisy.py"]
    assert cli(*words, "--out", "runs/whole").code == 0
    Path("interrupt").touch()
    code, _, err = cli(*words, "--out", "runs/parts")
    assert code == 130
    assert "interrupt" not in [path.name for path in Path().iterdir()]
    assert json.loads(Path("runs/parts/status.json").read_text())["step"] == 5
    forget()

    code, out, _ = cli(*words, "--out", "runs/parts", "--resume")
    assert code == 0
    assert out.endswith("next: unweave evaluate runs/parts --plugin noisy.py\n")
    whole, parts = (Path(f"runs/{name}/weights.safetensors").read_bytes() for name in ("whole", "parts"))
    assert whole == parts
    config = json.loads(Path("runs/parts/config.json").read_text())
    assert config["method"] == {"name": "noisy-vae", "beta": "0:2@6", "bound": None, "loss": "bce"}
    assert config["net"]["name"] == "dropped:rate=0.2"
    assert {origin["file"] for origin in config["origins"].values()} == {"../../noisy.py"}
    forget()

    for command in ("evaluate", "report"):
        code, _, err = cli(command, "runs/parts")
        assert code == 2
        assert "its method is NoisyVAE in 'noisy.py': give --plugin noisy.py" in err
    assert cli("compare", "runs/parts", "runs/whole").code == 2
    forget()

    scored = ("--metrics", "mig", "widest-code", "--samples", "150", "--test-samples", "50", "--replicates", "5")
    code, out, err = cli("evaluate", "runs/parts", *scored, "--plugin", "noisy.py")
    assert code == 0, err
    assert "widest-code" in out
    assert out.endswith("next: unweave report runs/parts --plugin noisy.py\n")
    code, out, _ = cli("compare", "runs/parts", "runs/whole", *scored, "--plugin=noisy.py")
    assert code == 0
    assert out.endswith("next: unweave report runs/whole --plugin noisy.py\n")
    assert cli("report", "runs/parts", "--plugin", "noisy.py").code == 0
    assert "noisy-vae" in Path("runs/parts/report.html").read_text()


def test_a_plugin_s_things_are_listed_and_shown(cli):
    given = ("--plugin", "noisy.py")
    assert "  noisy-vae " in cli("train", *given).out
    assert "Weight of the KL term." in cli("train", "noisy-vae", *given, "--help").out
    assert "of plugins  dots" in cli("data", "list", *given).out
    assert "widest-code" in cli("metrics", "list", *given).out
    forget()
    assert "Widest code." in cli("metrics", "info", "widest-code", *given).out
    told = json.loads(cli("data", "info", "dots:size=16", *given, "--json").out)
    assert (told["files"], told["licence"]) == ("made by Dots", "your own")
    assert cli("data", "show", "dots", *given).code == 0
    assert cli("data", "show", "dots-noisy", *given).code == 0


def test_mistakes(cli):
    assert cli("report", "runs/none", "--plugin").err.startswith(
        "unweave: --plugin needs a Python file or the name of a module"
    )
    assert cli("evaluate", "--plugin", "none.py", "runs/none").err.startswith("unweave: there is no plugin 'none.py'")
    assert "unknown option --plugin" in cli("reproduce", "list", "--plugin", "noisy.py").err
    assert (
        "no option of dropped is called 'rat'; did you mean 'rate'?"
        in cli(*WORDS.replace("dropped", "dropped:rat=1").split(), "--plugin", "noisy.py").err
    )
    Path("noisy.py").write_text("raise ValueError('no\\nway')\n")
    said = cli("report", "x", "--plugin", "noisy.py").err
    assert said == "unweave: the plugin 'noisy.py', line 1: ValueError: no way\n"


TRAINED = "train slow-start --plugin mine.py --data xysquares:size=32 --net mlp --width 0.02 --steps 2 --batch 4"


@pytest.mark.parametrize(
    ("returned", "said"),
    [
        ("{'kl': q.misspelt()}", "the plugin 'mine.py', line 8: AttributeError: 'Gaussian' object has no attribute"),
        ("{'kl': q.kl()}", "the term 'kl' of SlowStart must be a tensor of one number (a sum over latents, a mean"),
        ("{'kl': 1.0}", "the term 'kl' of SlowStart must be a tensor of one number"),
        ("q.kl().sum()", "SlowStart.penalty must return a dict of terms by name, not a tensor of shape ()"),
    ],
)
def test_a_method_that_fails_while_it_trains_gets_one_line(cli, returned, said):
    lines = [
        "from dataclasses import dataclass",
        "from unweave.methods import Method",
        "@dataclass(frozen=True)",
        "class SlowStart(Method):",
        '    """Slow start."""',
        "    weight: float = 1.0",
        "    def penalty(self, model, q, z, step):",
        f"        return {returned}",
    ]
    Path("mine.py").write_text("\n".join(lines))
    code, _, err = cli(*TRAINED.split(), "--out", "runs/mine")
    assert code == 2
    assert err.startswith(f"unweave: {said}")
    assert err.count("\n") == 1


def test_a_mistake_elsewhere_is_not_blamed_on_a_plugin(cli):
    assert cli("data", "list", "--plugin", "noisy.py").code == 0
    with pytest.raises(ZeroDivisionError) as failed:
        divmod(1, 0)
    assert plugins.mistake_in_plugin(failed.value) is None


STUDY = """
data = ["dots:size=16"]
seeds = 2
steps = 6
batch = 8
net = "dropped"
latents = 3
metrics = ["mig", "widest-code"]
[evaluate]
preset = "fast"
samples = 60
test_samples = 20
intervals = false
floors = false
[[methods]]
name = "noisy-vae"
beta = [1, 4]
"""


def test_a_study_of_a_plugins_own_in_two_workers(cli):
    Path("sweep.toml").write_text(STUDY)
    code, _, err = cli("study", "run", "sweep.toml")
    assert code == 2
    assert "no data set is called 'dots'" in err
    code, out, err = cli("study", "run", "sweep.toml", "--workers", 2, "--plugin", "noisy.py")
    assert (code, err) == (0, "")
    assert "4 done, 0 failed, 0 to do, after " in out
    assert out.endswith("next: unweave study report studies/sweep --plugin noisy.py\n")
    forget()

    code, _, err = cli("study", "status", "studies/sweep")
    assert code == 2
    assert "no metric is called 'widest-code'" in err
    assert err.endswith("the study was run with --plugin noisy.py\n")
    status = cli("study", "status", "studies/sweep", "--plugin", "noisy.py", "--json").out
    assert json.loads(status)["done"] == 4
    assert cli("study", "report", "studies/sweep", "--plugin", "noisy.py").code == 0
    page = Path("studies/sweep/report.html").read_text()
    assert "unweave study run sweep.toml --out studies/sweep --workers 2 --plugin noisy.py" in page
    assert cli("study", "table", "studies/sweep", "--out", "scores.csv").code == 0
    assert Path("scores.csv").read_text().count("widest-code") == 4
