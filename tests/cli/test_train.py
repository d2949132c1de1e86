from __future__ import annotations

import inspect
import json
import resource
import shutil
import signal
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import pytest

from unweave import training
from unweave.cli.train import Place, _parse
from unweave.config import Training
from unweave.data.labels import Labels
from unweave.data.xysquares import XYSquares
from unweave.methods import METHODS, BetaVAE, Schedule
from unweave.nets import Net
from unweave.presets import PRESETS
from unweave.runs import Run


def test_training_ends_with_a_summary_and_the_next_command(cli, tiny, tmp_path):
    folder = tmp_path / "first run"
    code, out, err = cli(
        "train", "beta-vae", *tiny, "--beta", "2", "--steps", "12", "--log-every", "5", "--out", folder
    )
    assert (code, err) == (0, "")
    done, loss, blank, following = out.splitlines()
    assert done.startswith(f"'{folder}' has finished: beta-vae on xysquares, 12 steps in ")
    last = Run.open(folder).log().row(-1, named=True)
    assert last["step"] == 12
    terms = f"reconstruction {last['reconstruction']:.2f} + kl {last['kl']:.2f}"
    assert loss == f"loss {last['loss']:.2f} = {terms}, each with its weight"
    assert (blank, following) == ("", f"next: unweave evaluate '{folder}'")


def test_every_option_reaches_the_run(cli, tmp_path):
    words = "--data xysquares:size=32,spacing=2 --steps 3 --batch 4 --lr 0.01 --seed 7 --standardise --precision bf16"
    more = "--net mlp --latents 3 --width 0.05 --beta 2 --normalise-beta --loss mse --threads 1 --checkpoint-every 2"
    assert cli("train", "beta-vae", *words.split(), *more.split(), "--out", tmp_path / "run").code == 0
    run = Run.open(tmp_path / "run")
    assert run.settings.method == BetaVAE(beta=2.0, normalise_beta=True, loss="mse")
    assert run.settings.net == Net("mlp", 3, 0.05)
    assert run.settings.training == Training(3, 4, 0.01, 7, True, "bf16")
    assert run.settings.data == {"name": "xysquares", "size": 32, "spacing": 2}


def test_labels_reach_the_run(cli, tiny, tmp_path):
    words = "--labels 20 --label-weight 0:5@50% --label-term cross-entropy --label-kind partial --label-factors x_R,y_B"
    code, out, _ = cli("train", "vae", *tiny, *words.split(), "--steps", "4", "--out", tmp_path / "run")
    assert code == 0
    assert " + supervised " in out
    expected = Labels(20, Schedule(0, 5, 2), "cross-entropy", "partial", factors="x_R,y_B", batch=8)
    assert Run.open(tmp_path / "run").settings.labels == expected
    code, _, err = cli("train", "vae", *tiny, "--labels", "20", "--label-kind", "prefect")
    assert code == 2
    assert err.startswith("unweave: no kind of labels is called 'prefect'; did you mean 'perfect'?")


def test_without_a_folder_the_run_goes_below_runs(cli, tiny, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = json.loads(cli("train", "vae", *tiny, "--steps", "2", "--json").out)
    assert Path(result["run"]).parent == Path("runs")
    assert Run.open(result["run"]).id == result["id"]


def test_a_finished_run_says_so(cli, tiny, run):
    words = ("train", "beta-vae", *tiny, "--steps", "20", "--out", run)
    before = (run / "weights.safetensors").stat().st_mtime_ns
    code, out, err = cli(*words)
    assert (code, err) == (0, "")
    assert out.startswith(f"{run} had finished already: beta-vae on xysquares, 20 steps in ")
    assert (run / "weights.safetensors").stat().st_mtime_ns == before


def test_another_run_in_the_folder_is_left_alone(cli, tiny, run):
    code, out, err = cli("train", "beta-vae", *tiny, "--steps", "21", "--lr", "0.1", "--out", run)
    assert (code, out) == (2, "")
    assert err.startswith(f"unweave: '{run}' holds another run (training.steps 20 → 21, training.lr 0.001 → 0.1)")


def test_more_steps_train_a_finished_run_further(cli, tiny, tmp_path):
    words = ("train", "beta-vae", *tiny, "--out", tmp_path / "run")
    assert cli(*words, "--steps", "4").out.startswith(f"{tmp_path / 'run'} has finished: ")
    code, out, err = cli(*words, "--steps", "6")
    assert (code, err) == (0, "")
    assert out.startswith(
        f"{tmp_path / 'run'} continued from step 4 and has finished: beta-vae on xysquares, 6 steps in "
    )
    code, out, err = cli(*words, "--steps", "5")
    assert (code, out) == (2, "")
    assert err.startswith(f"unweave: '{tmp_path / 'run'}' has already been trained for 6 steps, more than 5; choose")
    code, out, err = cli(*words, "--steps", "5", "--overwrite")
    assert (code, err) == (0, "")
    assert out.startswith(f"{tmp_path / 'run'} has finished: beta-vae on xysquares, 5 steps in ")


def test_the_result_for_machines(cli, tiny, run):
    result = json.loads(cli("train", "beta-vae", *tiny, "--steps", "20", "--out", run, "--json").out)
    assert result["run"] == str(run)
    assert result["steps"] == 20
    assert result["loss"] == pytest.approx(sum(result["terms"].values()))
    assert result["steps_per_second"] == pytest.approx(20 / result["seconds"], abs=1e-3)


def test_what_is_only_watched_is_no_term(cli, tiny, tmp_path):
    words = (
        "train",
        "factor-vae",
        *tiny,
        "--adversary-units",
        "5",
        "--steps",
        "2",
        "--json",
        "--out",
        tmp_path / "run",
    )
    result = json.loads(cli(*words).out)
    assert list(result["terms"]) == ["reconstruction", "kl", "total_correlation"]
    assert result["loss"] == pytest.approx(sum(result["terms"].values()), rel=1e-5)


@pytest.mark.filterwarnings("default")
def test_a_warning_is_one_line(cli, tiny, tmp_path):
    words = (
        "--data",
        "xysquares:size=32,spacing=3",
        *tiny[2:],
        "--loss",
        "bce",
        "--steps",
        "1",
        "--out",
        tmp_path / "run",
    )
    code, _, err = cli("train", "vae", *words)
    assert code == 0
    assert err.startswith("unweave: warning: the loss bce treats pixels as probabilities, but 'xysquares'")
    assert err.count("\n") == 1


def test_a_full_disk_is_one_line_and_the_same_command_goes_on(cli, tiny, tmp_path):
    words = ("train", "vae", *tiny, "--steps", "3", "--out", tmp_path / "run")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (3000, before[1]))  # the configuration fits, the weights do not
    try:
        code, out, err = cli(*words)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert (code, out) == (2, "")
    assert err == f"unweave: cannot write '{tmp_path / 'run'}': File too large\n"
    assert cli(*words).code == 0


def test_ctrl_c_says_at_which_step_and_the_same_command_goes_on(cli, tiny, tmp_path):
    folder = tmp_path / "run"
    often = ["--checkpoint-every", "10", "--log-every", "5"]
    words = ["train", "vae", *tiny, "--steps", "40", *often, "--out", str(folder)]
    done = subprocess.run([sys.executable, "-c", PRESS_CTRL_C, *words], stderr=subprocess.PIPE, text=True)
    assert (done.returncode, done.stderr) == (
        130,
        f"unweave: interrupted at step 24, saved in '{folder}'; the same command resumes it\n",
    )
    assert Run.open(folder).step == 24
    code, out, _ = cli(*words, "--resume")
    assert code == 0
    assert f"{folder} continued from step 24 and has finished: vae on xysquares, 40 steps in " in out


PRESS_CTRL_C = """
import os, signal, sys
from unweave.cli import main
from unweave.data.xysquares import XYSquares
draw, calls = XYSquares.images, iter(range(100))

def draw_and_press_ctrl_c(self, indices):
    if next(calls) == 23:
        os.kill(os.getpid(), signal.SIGINT)
    return draw(self, indices)

XYSquares.images = draw_and_press_ctrl_c
main(sys.argv[1:])
"""


def test_ctrl_c_before_the_first_row_of_the_log(cli, tiny, tmp_path, monkeypatch):
    draw, calls = XYSquares.images, iter(range(100))

    def draw_and_press_ctrl_c(self, indices):
        if next(calls) == 2:
            signal.raise_signal(signal.SIGINT)
        return draw(self, indices)

    monkeypatch.setattr(XYSquares, "images", draw_and_press_ctrl_c)
    words = ("train", "vae", *tiny, "--steps", "5", "--out", tmp_path / "run")
    kept = f"saved in '{tmp_path / 'run'}'; the same command resumes it"
    assert cli(*words) == (130, "", f"unweave: interrupted at step 3, {kept}\n")
    code, out, err = cli(*words)
    assert (code, err) == (0, "")
    assert "5 steps" in out


def test_interrupted_before_the_first_step(cli, tiny, tmp_path, monkeypatch):
    def interrupted(*args, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(training, "train", interrupted)
    for place in ((), ("--out", tmp_path / "run")):
        code, out, err = cli("train", "vae", *tiny, *place)
        assert (code, out) == (130, "")
        assert err == "unweave: interrupted\n"


def test_options_and_their_defaults_are_those_of_the_function():
    known = inspect.signature(training.train).parameters
    asked = {field.name: field.default for field in fields(Place)}
    for name in ("device", "threads", "checkpoint_every", "log_every", "out"):
        assert asked[name] == known[name].default
    ours = {
        "method",
        "fields",
        "progress",
        "on_result",
        "net",
        "labels",
        "jacobian",
        *asked,
        *(field.name for kind in (Net, Training) for field in fields(kind)),
    }
    assert set(known) <= ours


def test_no_option_means_two_things():
    # Options of labels begin with "label"; no other does.
    shared = [field.name for kind in (Place, Training) for field in fields(kind)] + ["net", "latents", "width"]
    assert len(set(shared)) == len(shared)
    for kind in METHODS.values():
        assert not {field.name for field in fields(kind)} & set(shared)
        assert not any(field.name.startswith("label") for field in fields(kind))


def test_a_preset_fills_what_is_not_given(cli, tiny, tmp_path):
    words = ("--preset", "thesis-3.3.4", "--steps", "2", "--normalise-beta", "--latents=7", "--out", tmp_path / "run")
    assert cli("train", "beta-vae", *tiny, *words).code == 0
    settings = Run.open(tmp_path / "run").settings
    assert settings.method == BetaVAE(beta=0.001, normalise_beta=True, loss="mse")
    assert settings.net == Net("mlp", 7, 0.02)
    training = settings.training
    assert (training.steps, training.batch, training.lr, training.standardise) == (2, 8, 1e-3, True)


@pytest.mark.parametrize("value", ["lr", "steps", "no-standardise", "--lr"])
def test_a_value_that_looks_like_an_option_leaves_the_preset_alone(value, monkeypatch):
    words = ["--data", "xysquares:size=32", "--preset", "dlib", f"--out={value}"]
    training = _parse("beta-vae", words).training
    assert (training.lr, training.steps) == (1e-4, 300_000)
    if not value.startswith("--"):
        assert _parse("beta-vae", [*words[:-1], "--out", value]).training == training
    given = ["--preset", "dlib", "--label-kind", "noisy", "--label-batch", "3"]
    assert _parse("dip-vae", ["--data", "xysquares", *given]).training.batch == 64


@pytest.mark.filterwarnings("ignore:the loss bce")
def test_what_a_preset_switches_on_can_be_switched_off(cli, tiny, tmp_path):
    words = ("--preset=thesis-3.3.4", "--steps", "1", "--no-standardise", "--no-normalise-beta", "--loss", "bce")
    assert cli("train", "beta-vae", *tiny, *words, "--out", tmp_path / "run").code == 0
    settings = Run.open(tmp_path / "run").settings
    assert settings.method == BetaVAE(beta=0.001, loss="bce")
    assert not settings.training.standardise


def test_a_preset_may_depend_on_the_data(cli, tiny, tmp_path):
    words = ("--preset", "tripod", "--loss", "mse", "--steps", "1", "--out", tmp_path / "run")
    assert cli("train", "tripod", *tiny, *words).code == 0
    settings = Run.open(tmp_path / "run").settings
    assert settings.net.latents == 12  # twice the factors
    assert settings.training.clip == 3072  # one a pixel


def test_help_shows_presets_and_what_they_set(cli):
    _, out, _ = cli("train", "--help")
    assert all(f"\n  {name} " in out for name in PRESETS)
    _, out, _ = cli("train", "tripod", "--help")
    assert "presets of tripod: tripod\n" in out
    _, out, _ = cli("train", "beta-vae", "--preset", "dlib", "--help")
    text = " ".join(out.replace("│", " ").split())
    assert "Number of updates. (default: 300000)" in text
    assert "--loss {auto,bce," in text
    assert "otherwise mse. (default: bce)" in text


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("beta-vae", "--preset", "qlae"), "the preset qlae is for qlae, not for beta-vae (presets of beta-vae: dlib"),
        (("vae", "--preset", "dilb"), "no preset is called 'dilb'; did you mean 'dlib'?"),
        (("vae", "--preset"), "--preset needs a value"),
        (("vae", "--preset", "dlib", "--bta", "3"), "unknown option --bta"),
    ],
)
def test_a_wrong_preset_is_one_line(cli, words, message):
    code, out, err = cli("train", words[0], "--data", "shapes2d", *words[1:])
    assert (code, out) == (2, "")
    assert err.startswith(f"unweave: {message}")
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("damage", "text"),
    [
        ({"seconds": 0}, "had finished already: beta-vae on xysquares, 20 steps\nloss "),
        ({"seconds": None}, "has finished: beta-vae on xysquares, 20 steps\nloss "),  # the checkpoint knows the step
    ],
)
def test_a_finished_run_without_its_seconds(cli, run, tiny, tmp_path, damage, text):
    folder = Path(shutil.copytree(run, tmp_path / "copy"))
    status = json.loads((folder / "status.json").read_text())
    (folder / "status.json").write_text(json.dumps({**status, **damage}))
    code, out, err = cli("train", "beta-vae", *tiny, "--steps", "20", "--out", folder)
    assert text in out
    assert (code, err) == (0, "")


def test_a_finished_run_without_its_log(cli, run, tiny, tmp_path):
    folder = Path(shutil.copytree(run, tmp_path / "copy"))
    (folder / "log.parquet").unlink()
    code, out, err = cli("train", "beta-vae", *tiny, "--steps", "20", "--out", folder)
    assert (code, err) == (0, "")
    assert "\nits log is missing\n" in out
