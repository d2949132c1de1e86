"""Training further: a finished run goes on to more steps, and equals one that was trained so long at once."""

from __future__ import annotations

import json
import shlex

import numpy as np
import pytest

import unweave
from unweave.again import train_command
from unweave.cli.train import _parse
from unweave.config import Config
from unweave.data.labels import Labels
from unweave.errors import UsageError
from unweave.methods import AnnealedVAE, BetaTCVAE, BetaVAE, FactorVAE, Schedule
from unweave.runs import CHECKPOINT, FILES
from unweave.training import folder as folders

SAME = ("config.json", "log.parquet", "weights.safetensors", "checkpoint.pt")
"""The files of equal runs that have equal bytes."""


def files(run: unweave.Run) -> dict[str, bytes]:
    return {name: (run.path / name).read_bytes() for name in SAME}


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"method": FactorVAE(adversary_units=4)},
        {"method": BetaVAE(beta=Schedule(0.0, 4.0, 12))},
        {"labels": Labels(20, kind="partial")},
        {"standardise": True, "weight_decay": 0.1},
    ],
    ids=["plain", "adversary", "schedule", "labels", "decay"],
)
@pytest.mark.parametrize("log_every", [5, 7])  # one ends a window at step 20, the other does not
def test_a_run_that_is_trained_further_equals_one_that_was_trained_so_long_at_once(
    quick_train, tmp_path, options, log_every
):
    whole = quick_train(**options, log_every=log_every, steps=33, out=tmp_path / "whole")
    short = quick_train(**options, log_every=log_every, steps=20)
    assert short.log()["step"][-1] == 20
    before = short.id
    rows = []
    further = quick_train(**options, log_every=log_every, steps=33, on_result=rows.append)
    assert rows[0]["step"] > 20
    assert (further.id, further.state, further.step) == (whole.id, "finished", 33)
    assert further.id != before
    assert files(further) == files(whole)


def test_a_snapshot_of_the_step_where_a_run_had_ended(quick_train, tmp_path):
    whole = quick_train(steps=20, snapshots=[10], out=tmp_path / "whole")
    quick_train(steps=10, snapshots=[10])
    further = quick_train(steps=20, snapshots=[10])
    assert further.snapshots == whole.snapshots == [10]
    assert further.at(10).weights == whole.at(10).weights
    assert quick_train(steps=20, overwrite=True).snapshots == []


def test_equal_runs_have_equal_checkpoints(quick_train, tmp_path):
    assert files(quick_train()) == files(quick_train(out=tmp_path / "again"))


def test_a_run_that_dies_while_it_is_made_longer_is_of_either_length(quick_train, tmp_path, monkeypatch):
    whole = quick_train(steps=30, out=tmp_path / "whole")
    short = quick_train(steps=20, out=tmp_path / "short")
    quick_train(steps=20)

    def killed(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(folders, "_record", killed)
    with pytest.raises(KeyboardInterrupt):
        quick_train(steps=30)
    monkeypatch.undo()
    assert files(quick_train(steps=20)) == files(short)
    assert files(quick_train(steps=30)) == files(whole)


def test_what_depends_on_the_number_of_steps_cannot_go_on(quick_train):
    method = AnnealedVAE(gamma=10.0)
    run = quick_train(method=method, steps=12)
    before = files(run)
    message = (
        r"was trained for 12 steps, and settings depend on that number "
        r"\(method.capacity 0:25@4 → 0:25@8\), so it cannot be trained further; choose another folder, or --overwrite"
    )
    with pytest.raises(UsageError, match=message):
        quick_train(method=method, steps=24)
    assert files(run) == before
    # The same schedule in steps is another matter: it means the same at any length.
    assert quick_train(method=AnnealedVAE(gamma=10.0, capacity=Schedule(0.0, 25.0, 4)), steps=24).step == 24


def test_a_weight_of_labels_that_depends_on_the_number_of_steps(quick_train):
    labels = Labels(20, kind="partial", weight=Schedule(0.0, 5.0, share=0.5))
    quick_train(labels=labels, steps=12)
    with pytest.raises(UsageError, match=r"depend on that number \(labels.weight 0:5@6 → 0:5@12\)"):
        quick_train(labels=labels, steps=24)


def test_fewer_steps_than_it_has_is_one_line(quick_train):
    quick_train(steps=20)
    with pytest.raises(UsageError, match=r"has already been trained for 20 steps, more than 15; choose another folder"):
        quick_train(steps=15)


def test_a_finished_run_of_an_earlier_version_has_no_checkpoint(quick_train, tmp_path):
    run = quick_train(steps=20)
    (run.path / CHECKPOINT).unlink()
    assert quick_train(steps=20).state == "finished"
    with pytest.raises(UsageError, match=r"has no checkpoint.pt \(earlier versions removed it\).* or --overwrite"):
        quick_train(steps=30)
    assert files(quick_train(steps=30, overwrite=True)) == files(quick_train(steps=30, out=tmp_path / "whole"))


def test_overwrite_removes_what_is_the_runs_and_nothing_else(quick_train, tmp_path):
    run = quick_train(track=["tensorboard"])
    run.evaluate(["mig"], intervals=False, floors=False, samples=50)
    (run.path / "report.html").write_text("a page")
    (run.path / "notes.txt").write_text("mine")
    (run.path / "tensorboard" / "notes.txt").write_text("mine")
    again = quick_train(method=BetaVAE(beta=3), overwrite=True)
    assert files(again) == files(quick_train(method=BetaVAE(beta=3), out=tmp_path / "new"))
    assert again.scores() is None
    assert {path.name for path in again.path.iterdir()} == {
        *(set(FILES) - {"scores.parquet", "report.html"}),
        *(".lock", ".scores.parquet.lock", "notes.txt", "tensorboard"),
    }
    assert [path.name for path in (run.path / "tensorboard").iterdir()] == ["notes.txt"]


def test_overwrite_of_nothing_is_a_new_run(quick_train):
    assert quick_train(overwrite=True).state == "finished"


@pytest.mark.parametrize("content", ['{"architectures": ["Bert"]}', "half of a {"])
@pytest.mark.parametrize("overwrite", [True, False])
def test_a_configuration_that_is_not_ours_is_left_alone(quick_train, tmp_path, content, overwrite):
    """A config.json is in the folders of many programs."""
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "config.json").write_text(content)
    (tmp_path / "run" / "weights.safetensors").write_text("theirs")
    with pytest.raises(UsageError, match=r"does not belong to a run of unweave|cannot be read as JSON"):
        quick_train(overwrite=overwrite)
    assert (tmp_path / "run" / "config.json").read_text() == content
    assert (tmp_path / "run" / "weights.safetensors").read_text() == "theirs"


def test_a_run_is_not_resumed_and_overwritten(quick_train):
    quick_train()
    with pytest.raises(UsageError, match="resume and overwrite exclude each other"):
        quick_train(resume=True, overwrite=True)


def named_command(message: str) -> list[str]:
    """Return the words of the command that a message names at its end."""
    return shlex.split(message[message.index("unweave train") :])[1:]


@pytest.mark.parametrize("checkpoint", ["whole", "gone", "half"])
@pytest.mark.parametrize("damage", ["gone", "half"])
def test_the_command_that_is_named_for_missing_weights_helps(quick_train, tmp_path, checkpoint, damage):
    from unweave.cli import main

    whole = quick_train(out=tmp_path / "whole", labels=Labels(20, kind="partial", noise=0.3), log_every=50)
    run = quick_train(labels=Labels(20, kind="partial", noise=0.3), log_every=50)
    path = run.path / "weights.safetensors"
    if damage == "gone":
        path.unlink()
    else:
        path.write_bytes(path.read_bytes()[:200])
    kept = run.path / CHECKPOINT
    if checkpoint == "gone":
        kept.unlink()
    elif checkpoint == "half":
        kept.write_bytes(kept.read_bytes()[: kept.stat().st_size // 2])
    with pytest.raises(UsageError) as caught:
        assert unweave.Run.open(run.path).model
    words = named_command(str(caught.value))
    assert ("--overwrite" in words) is (checkpoint != "whole")
    main(words)
    assert files(unweave.Run.open(run.path)) == files(whole)


@pytest.mark.filterwarnings("ignore::unweave.data.table_files.DataNote")
def test_the_command_that_is_named_finds_own_data_from_anywhere(quick_train, tmp_path, monkeypatch):
    from unweave.cli import main

    images = unweave.load("xysquares:size=32").images(range(0, 2000, 50))
    np.savez(tmp_path / "my.npz", images=images)
    run = quick_train(data=f"{tmp_path / 'my.npz'}")
    before = files(run)
    (run.path / "weights.safetensors").unlink()
    with pytest.raises(UsageError) as caught:
        assert unweave.Run.open(run.path).model
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    main(named_command(str(caught.value)))
    assert files(unweave.Run.open(run.path)) == before

    arrays = quick_train(data=images, out=tmp_path / "arrays")
    (arrays.path / "weights.safetensors").unlink()
    with pytest.raises(UsageError, match=r"has no weights.safetensors; train it again with the same arrays$"):
        assert unweave.Run.open(arrays.path).model
    assert quick_train(data=images, out=tmp_path / "arrays").model


@pytest.mark.parametrize("flipped", [True, False])
def test_a_run_with_a_damaged_checkpoint_stays_what_it_is(quick_train, flipped):
    run = quick_train()
    kept = run.path / CHECKPOINT
    content = bytearray(kept.read_bytes())
    content[len(content) // 2] ^= 255
    kept.write_bytes(bytes(content) if flipped else b"no archive")
    before = files(run)
    with pytest.raises(UsageError, match=r"checkpoint.pt' is damaged, so the run cannot be trained further"):
        quick_train(steps=40)
    again = quick_train()
    assert (again.state, again.step, files(again)) == ("finished", 30, before)


@pytest.mark.parametrize("state", ["finished", "unfinished"])
def test_a_damaged_status_is_written_again(quick_train, tmp_path, state):
    whole = quick_train(out=tmp_path / "whole")
    run = quick_train()
    (run.path / "status.json").write_text(json.dumps({"state": state, "step": "many"}))
    with pytest.raises(UsageError, match=r"is damaged.*unweave train") as caught:
        assert run.step
    from unweave.cli import main

    main(named_command(str(caught.value)))
    assert (run.state, run.step, files(run)) == ("finished", 30, files(whole))


@pytest.mark.parametrize(
    "config",
    [
        Config(BetaVAE(beta=2.5, normalise_beta=True, loss="mse"), {"name": "shapes2d", "size": 32}),
        Config(BetaTCVAE(beta=Schedule(1, 4, 100)), {"name": "xysquares"}, labels=Labels(10, term="cross-entropy")),
        Config(FactorVAE(), {"name": "xysquares"}, labels=Labels(10, kind="partial", factors="x_R,y_B", batch=3)),
    ],
)
def test_a_command_says_all_that_decides_the_run(config, tmp_path):
    command = train_command(config, tmp_path / "a b")
    words = shlex.split(command)[2:]
    options = _parse(words[0], words[1:])
    assert options.method == config.method
    assert options.labels.labels() == config.labels
    assert unweave.load(options.run.data).description == unweave.load(**config.data).description
    assert options.run.out == tmp_path / "a b"
