"""The loop: it learns, repeats itself, resumes exactly, and fails clearly."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from types import SimpleNamespace

import numpy as np
import polars
import pytest
import torch
from safetensors.numpy import load_file

import unweave
from unweave.errors import UsageError
from unweave.methods import VAE, Batch, BetaVAE
from unweave.nets import Net
from unweave.runs import CHECKPOINT
from unweave.training import loop


def weights(run: unweave.Run) -> dict[str, np.ndarray]:
    return load_file(run.path / "weights.safetensors")


def assert_same(first: unweave.Run, second: unweave.Run) -> None:
    ours, theirs = weights(first), weights(second)
    assert ours.keys() == theirs.keys()
    for name, value in ours.items():
        np.testing.assert_array_equal(value, theirs[name], err_msg=name)
    assert first.log().equals(second.log())


class Stop(Exception):
    """Raised by a watcher to end a training abruptly, as a crash would."""


def stop_at(step: int):
    def watch(row: dict[str, float]) -> None:
        if row["step"] >= step:
            raise Stop

    return watch


def test_training_lowers_the_loss(quick_train):
    run = quick_train(steps=400, width=0.1, log_every=50)
    loss = run.log()["loss"]
    assert loss[-1] < 0.6 * loss[0]


def test_the_log_adds_up_and_its_windows_are_means(quick_train):
    every = quick_train(log_every=1).log()
    windows = quick_train(log_every=7, out=quick_train().path.parent / "windows").log()
    assert every.columns == ["step", "loss", "reconstruction", "kl"]
    assert windows["step"].to_list() == [7, 14, 21, 28, 30]
    np.testing.assert_allclose(every["loss"], every["reconstruction"] + every["kl"], rtol=1e-6)
    np.testing.assert_allclose(windows["kl"][1], every["kl"][7:14].mean(), rtol=1e-12)
    np.testing.assert_allclose(windows["kl"][4], every["kl"][28:30].mean(), rtol=1e-12)


def test_the_first_step_is_adam_written_out(quick_train):
    """One step from the seeded start, by hand: Adam's first update is lr * g / (|g| + eps)."""
    run = quick_train(steps=1, lr=0.01)
    initialisation, batches, noise = np.random.SeedSequence(0).spawn(3)

    def torch_seed(sequence):
        return torch.Generator().manual_seed(int(sequence.generate_state(1, np.uint64)[0]) >> 1)

    model = Net("mlp", 4, 0.02).build((32, 32, 3), torch_seed(initialisation))
    data = unweave.load("xysquares:size=32")
    indices = np.random.Generator(np.random.PCG64(batches)).integers(len(data), size=16)
    x = torch.from_numpy(data.images(indices) / 255).permute(0, 3, 1, 2).float()
    method, batch = BetaVAE(beta=2, loss=run.settings.method.loss), Batch(x)
    terms = method.terms(model, batch, *method.infer(model, batch, 0, torch_seed(noise)), 0)
    (terms["reconstruction"] + terms["kl"]).backward()
    for name, parameter in model.named_parameters():
        gradient = parameter.grad
        assert gradient is not None
        expected = parameter.detach() - 0.01 * gradient / (gradient.abs() + 1e-8)
        moved = gradient.abs() > 1e-6  # where the gradient is rounding noise, so is the direction
        np.testing.assert_allclose(weights(run)[name][moved], expected[moved], atol=1e-5, err_msg=name)


def test_the_same_seed_gives_the_same_run_and_another_seed_another(quick_train, tmp_path):
    first = quick_train()
    assert_same(first, quick_train(out=tmp_path / "again"))
    other = quick_train(out=tmp_path / "other", seed=1)
    assert any((value != weights(other)[name]).any() for name, value in weights(first).items())


def test_training_leaves_the_global_random_state_alone(quick_train):
    torch.manual_seed(3)
    before = torch.get_rng_state()
    quick_train()
    assert torch.equal(before, torch.get_rng_state())


@pytest.mark.parametrize("net", ["mlp", "conv"])
@pytest.mark.parametrize("crash", [7, 14, 28])
def test_a_resumed_run_equals_an_uninterrupted_one(quick_train, tmp_path, net, crash):
    whole = quick_train(net=net, width=0.1)
    with pytest.raises(Stop):
        quick_train(net=net, width=0.1, out=tmp_path / "cut", on_result=stop_at(crash))
    cut = quick_train(net=net, width=0.1, out=tmp_path / "cut")
    assert_same(whole, cut)


def test_a_run_killed_after_its_last_checkpoint_only_has_to_finish(quick_train, tmp_path, monkeypatch):
    whole = quick_train()
    write_status = loop.write_status

    def killed(state, data, folder, phase):
        if phase == "finished":
            raise Stop
        write_status(state, data, folder, phase)

    monkeypatch.setattr(loop, "write_status", killed)
    with pytest.raises(Stop):
        quick_train(out=tmp_path / "cut")
    monkeypatch.undo()
    assert unweave.Run.open(tmp_path / "cut").state == "unfinished"
    rows = []
    again = quick_train(out=tmp_path / "cut", on_result=rows.append)
    assert (again.state, rows) == ("finished", [])
    assert_same(whole, again)


def test_the_number_of_steps_decides_only_where_a_run_ends(quick_train, tmp_path):
    """A longer run passes through the weights that a shorter one ends with."""
    short = quick_train(steps=14)
    with pytest.raises(Stop):
        quick_train(steps=30, checkpoint_every=14, out=tmp_path / "long", on_result=stop_at(21))
    long = unweave.Run.open(tmp_path / "long")
    assert long.step == short.step == 14
    np.testing.assert_equal(weights(long), weights(short))


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_an_interrupt_saves_a_checkpoint_and_the_run_goes_on(quick_train, tmp_path, name):
    whole = quick_train()
    number = getattr(signal, name)
    before = signal.getsignal(number)

    def interrupt(row: dict[str, float]) -> None:
        if row["step"] == 14:
            signal.raise_signal(number)

    with pytest.raises(KeyboardInterrupt):
        quick_train(out=tmp_path / "cut", on_result=interrupt, checkpoint_every=1000)
    # The signal came after step 14's row, and is heard at the end of the next step.
    assert unweave.Run.open(tmp_path / "cut").step == 15
    assert signal.getsignal(number) is before
    assert_same(whole, quick_train(out=tmp_path / "cut", checkpoint_every=1000, resume=True))


def test_a_hangup_that_is_ignored_stays_so(quick_train):
    """As under nohup, which is there for training to go on."""
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        run = quick_train(on_result=lambda row: signal.raise_signal(signal.SIGHUP))
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)
    assert run.step == 30


def test_training_works_outside_the_main_thread(quick_train):
    thread = threading.Thread(target=quick_train)
    thread.start()
    thread.join()
    assert quick_train().state == "finished"


def test_a_finished_run_is_returned_as_it_is(quick_train):
    run = quick_train()
    before = {path.name: path.stat().st_mtime_ns for path in run.path.iterdir()}
    again = quick_train()
    assert {path.name: path.stat().st_mtime_ns for path in again.path.iterdir()} == before
    assert (run.path / CHECKPOINT).exists()  # so that it can be trained further


def test_another_configuration_in_the_folder_is_refused_and_left_alone(quick_train):
    run = quick_train()
    before = weights(run)
    with pytest.raises(UsageError, match=r"method\.beta 2\.0 → 3\.0.*choose another folder"):
        quick_train(method=BetaVAE(beta=3))
    np.testing.assert_equal(weights(run), before)


def test_a_folder_that_is_no_run_is_refused(quick_train, tmp_path):
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter1.tex").write_text("dear")
    with pytest.raises(UsageError, match="not empty and not a run"):
        quick_train(out=tmp_path / "thesis")
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="is a file"):
        quick_train(out=tmp_path / "file")


def test_a_run_without_a_checkpoint_has_nothing_to_lose(quick_train, monkeypatch):
    """Stopped before its first checkpoint, a folder is free for another configuration."""
    monkeypatch.setitem(sys.modules, "wandb", None)
    with pytest.raises(UsageError, match="pip install"):
        quick_train(track=["wandb"], seed=5)
    with pytest.raises(UsageError, match="nothing to resume"):
        quick_train(resume=True)
    assert quick_train().settings.training.seed == 0


@pytest.mark.parametrize("beta", [2, 3])
def test_a_finished_run_whose_weights_are_gone_is_refused_and_keeps_its_configuration(quick_train, beta):
    run = quick_train()
    (run.path / "weights.safetensors").unlink()
    (run.path / CHECKPOINT).unlink()
    before = (run.path / "config.json").read_bytes()
    gone = r"had reached step 30, but its weights.safetensors is missing; put it back, or --overwrite"
    with pytest.raises(UsageError, match=gone):
        quick_train(method=BetaVAE(beta=beta))
    assert (run.path / "config.json").read_bytes() == before
    assert quick_train(method=BetaVAE(beta=beta), overwrite=True).settings.method == BetaVAE(beta=beta, loss="bce")


@pytest.mark.parametrize("steps_left", [True, False])
def test_weights_that_are_gone_are_written_again_from_the_checkpoint(quick_train, tmp_path, steps_left):
    whole = quick_train()
    if steps_left:
        with pytest.raises(Stop):
            quick_train(out=tmp_path / "cut", on_result=stop_at(21))
    else:
        quick_train(out=tmp_path / "cut")
    (tmp_path / "cut" / "weights.safetensors").unlink()
    with pytest.raises(UsageError, match="holds another run"):
        quick_train(out=tmp_path / "cut", method=BetaVAE(beta=3))
    assert_same(whole, quick_train(out=tmp_path / "cut", resume=True))


def test_a_run_that_failed_before_its_first_checkpoint_has_nothing_to_lose(quick_train):
    with pytest.raises(UsageError, match="no checkpoint is saved"):
        quick_train(lr=1e30)
    assert quick_train().settings.training.lr == 1e-3


def test_resume_demands_a_run_and_its_refusal_a_new_folder(quick_train):
    with pytest.raises(UsageError, match="nothing to resume"):
        quick_train(resume=True)
    quick_train()
    with pytest.raises(UsageError, match="already holds a run"):
        quick_train(resume=False)


def test_two_trainings_in_one_folder_are_kept_apart(quick_train):
    def second(row: dict[str, float]) -> None:
        with pytest.raises(UsageError, match="another process is training"):
            quick_train()
        raise Stop

    with pytest.raises(Stop):
        quick_train(on_result=second)
    assert quick_train().state == "finished"


def test_a_loss_that_is_no_number_stops_the_run_and_keeps_the_last_checkpoint(quick_train, tmp_path, monkeypatch):
    good = quick_train(steps=20, out=tmp_path / "good")
    penalty = BetaVAE.penalty

    def poisoned(self, model, q, z, step):
        return {"kl": penalty(self, model, q, z, step)["kl"] * (float("nan") if step >= 23 else 1)}

    monkeypatch.setattr(BetaVAE, "penalty", poisoned)
    with pytest.raises(UsageError, match=r"after step 28; the checkpoint of step 20 is saved"):
        quick_train()
    run = unweave.Run.open(tmp_path / "run")
    assert (run.state, run.step) == ("failed", 20)
    np.testing.assert_equal(weights(run), weights(good))
    monkeypatch.setattr(BetaVAE, "penalty", penalty)
    whole = quick_train(out=tmp_path / "whole")
    assert_same(whole, quick_train())


def test_a_learning_rate_that_explodes_says_so(quick_train):
    with pytest.raises(UsageError, match=r"no longer finite.*try a smaller lr"):
        quick_train(lr=1e30)


def test_a_damaged_checkpoint_is_one_clear_line(quick_train, tmp_path):
    with pytest.raises(Stop):
        quick_train(on_result=stop_at(21))
    (tmp_path / "run" / CHECKPOINT).write_bytes(b"PK\x03\x04 not really")
    with pytest.raises(UsageError, match=r"is damaged; --overwrite \(in Python, overwrite=True\) starts again"):
        quick_train()
    assert_same(quick_train(out=tmp_path / "whole"), quick_train(overwrite=True))


def change_step(values: dict, by: int) -> dict:
    return {**values, "step": values["step"] + by}


@pytest.mark.parametrize(
    "change",
    [
        lambda values: [1, 2],
        lambda values: {},
        lambda values: {**values, "step": None},
        lambda values: {**values, "step": 10.5},
        lambda values: {**values, "streams": {}},
        lambda values: {**values, "window": None},
        lambda values: {**values, "optimiser": values["model"]},
        lambda values: change_step(values, 1),
        lambda values: change_step(values, -3),
        lambda values: change_step(values, 1000),
    ],
)
def test_a_checkpoint_that_can_be_read_but_is_none_is_one_clear_line(quick_train, tmp_path, change):
    """Also one that lies about its step: Adam counts for itself."""
    with pytest.raises(Stop):
        quick_train(on_result=stop_at(21))
    path = tmp_path / "run" / CHECKPOINT
    values = torch.load(path, weights_only=True)
    torch.save(change(values), path)
    with pytest.raises(UsageError, match=r"checkpoint.pt' is damaged; --overwrite"):
        quick_train()


class Command:
    """What pickle would run when it is read."""

    def __init__(self, path) -> None:
        self.path = path

    def __reduce__(self):
        return os.mkdir, (str(self.path),)


def test_nothing_in_a_checkpoint_is_executed(quick_train, tmp_path):
    with pytest.raises(Stop):
        quick_train(on_result=stop_at(21))
    path, trap = tmp_path / "run" / CHECKPOINT, tmp_path / "executed"
    torch.save({**torch.load(path, weights_only=True), "note": Command(trap)}, path)
    with pytest.raises(UsageError, match="is damaged"):
        quick_train()
    assert not trap.exists()
    torch.load(path, weights_only=False)  # the trap works
    assert trap.exists()


def test_a_checkpoint_that_is_gone_is_missed(quick_train, tmp_path):
    with pytest.raises(Stop):
        quick_train(on_result=stop_at(14))
    weights = (tmp_path / "run" / "weights.safetensors").read_bytes()
    (tmp_path / "run" / "checkpoint.pt").unlink()
    with pytest.raises(
        UsageError, match=r"had reached step 10, but its checkpoint.pt is missing; put it back, or --overwrite"
    ):
        quick_train()
    assert (tmp_path / "run" / "weights.safetensors").read_bytes() == weights


def test_a_run_of_another_device_is_not_called_damaged(quick_train, tmp_path):
    with pytest.raises(Stop):
        quick_train(on_result=stop_at(14))
    folder = tmp_path / "run"
    values = torch.load(folder / "checkpoint.pt", weights_only=True)
    values["streams"] = {}  # another device's generator has another state
    torch.save(values, folder / "checkpoint.pt")
    status = json.loads((folder / "status.json").read_text())
    (folder / "status.json").write_text(json.dumps({**status, "device": "cuda"}))
    with pytest.raises(UsageError, match="was trained on cuda; resume it there, not on cpu"):
        quick_train()


def test_a_watcher_that_fails_does_not_cost_the_checkpoint(quick_train, tmp_path):
    with pytest.raises(Stop):
        quick_train(on_result=stop_at(30), log_every=10)
    assert json.loads((tmp_path / "run" / "status.json").read_text())["step"] == 30


def test_a_log_that_is_gone_is_missed(quick_train, tmp_path):
    with pytest.raises(Stop):
        quick_train(on_result=stop_at(21))
    (tmp_path / "run" / "log.parquet").unlink()
    with pytest.raises(UsageError, match=r"log.parquet' is missing; put it back, or --overwrite"):
        quick_train()


def test_a_full_disk_leaves_the_last_checkpoint_whole(quick_train, tmp_path, monkeypatch):
    whole = quick_train(out=tmp_path / "whole")
    calls = 0
    fsync = os.fsync

    def full(descriptor: int) -> None:
        nonlocal calls
        calls += 1
        if calls > 14:
            raise OSError(28, "No space left on device")
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        quick_train()
    monkeypatch.undo()
    assert not list((tmp_path / "run").glob(".*.tmp"))
    assert_same(whole, quick_train())


def test_bce_on_grey_images_warns_and_auto_chooses_by_the_data(quick_train, tmp_path):
    with pytest.warns(UserWarning, match="not black and white"):
        quick_train(method=BetaVAE(loss="bce"), data="xyobject:size=32")
    grey = quick_train(method=VAE(), data="xyobject:size=32", out=tmp_path / "grey")
    assert grey.settings.method.loss == "mse"
    binary = quick_train(method=VAE(), data="xysquares", out=tmp_path / "binary", width=0.01)
    assert binary.settings.method.loss == "bce"


def test_standardised_training_sees_unit_variance(quick_train):
    run = quick_train(standardise=True)
    assert run.settings.method.loss == "mse"
    x = run.model.pixels(run.data.images(np.arange(0, len(run.data), 97)))
    statistics = run.data.statistics()
    np.testing.assert_allclose(weights(run)["pixel_mean"].ravel(), statistics.mean, rtol=1e-6)
    np.testing.assert_allclose(x.mean((0, 2, 3)), 0, atol=0.02)
    with pytest.raises(UsageError, match="bce needs pixels in"):
        quick_train(standardise=True, method=BetaVAE(loss="bce"))


def test_bf16_trains_close_to_fp32(quick_train, tmp_path):
    full = quick_train(steps=60)
    half = quick_train(steps=60, precision="bf16", out=tmp_path / "half")
    assert full.log()["loss"][-1] == pytest.approx(half.log()["loss"][-1], rel=0.05)
    assert any((value != weights(half)[name]).any() for name, value in weights(full).items())


def test_the_default_folder_is_named_after_the_run(quick_train, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run = quick_train(out=None)
    assert run.path.parts[0] == "runs"
    assert run.path.name == f"beta-vae-xysquares-{run.id[:8]}"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "beta-vea"}, "did you mean 'beta-vae'"),
        ({"data": "xysqares"}, "did you mean 'xysquares'"),
        ({"net": "cnov"}, "did you mean 'conv'"),
        ({"precision": "fp16"}, "did you mean"),
        ({"device": "gpu"}, "device 'gpu' is not available"),
        ({"steps": 0}, "at least 1"),
        ({"lr": float("nan")}, "learning rate must be positive"),
        ({"seed": -1}, "seed must be 0 or more"),
        ({"threads": 0}, "at least one thread"),
        ({"log_every": 0}, "at least 1"),
        ({"track": ["tensorbord"]}, "did you mean 'tensorboard'"),
    ],
)
def test_mistakes_are_one_clear_line(quick_train, options, message):
    with pytest.raises(UsageError, match=message) as caught:
        quick_train(**options)
    assert "\n" not in str(caught.value)


def test_tensorboard_holds_the_log(quick_train):
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    run = quick_train(track=["tensorboard"])
    events = EventAccumulator(str(run.path / "tensorboard"))
    events.Reload()
    log = run.log()
    scalars = events.Scalars("kl")
    assert [event.step for event in scalars] == log["step"].to_list()
    np.testing.assert_allclose([event.value for event in scalars], log["kl"], rtol=1e-6)


def test_wandb_receives_the_log_under_the_runs_identity(quick_train, monkeypatch):
    """Against a stand-in with the three calls we make: the service itself needs a network."""
    seen = {"rows": [], "finished": False, "settings": {}}

    def init(**settings):
        seen["settings"] = settings
        return SimpleNamespace(
            log=lambda row, step: seen["rows"].append((step, row)),
            finish=lambda: seen.update(finished=True),
        )

    monkeypatch.setitem(sys.modules, "wandb", SimpleNamespace(init=init))
    run = quick_train(track=["wandb"])
    assert seen["settings"]["id"] == run.id
    assert seen["settings"]["config"] == run.settings.to_json()
    assert [step for step, _ in seen["rows"]] == run.log()["step"].to_list()
    assert seen["finished"]


def test_an_absent_tracker_says_how_to_install_it(quick_train, monkeypatch):
    monkeypatch.setitem(sys.modules, "wandb", None)
    with pytest.raises(UsageError, match=r"pip install 'unweave\[wandb\]'"):
        quick_train(track=["wandb"])


def test_the_folder_is_readable_without_unweave(quick_train):
    path = quick_train().path
    config = json.loads((path / "config.json").read_text())
    assert config["method"] == {"name": "beta-vae", "loss": "bce", "beta": 2.0, "normalise_beta": False}
    assert config["data"]["name"] == "xysquares"
    assert json.loads((path / "status.json").read_text())["state"] == "finished"
    assert polars.read_parquet(path / "log.parquet")["step"][-1] == 30
    assert load_file(path / "weights.safetensors")["bottleneck.mean.weight"].shape == (4, 24)
