"""A published run: the folder of the hub, which opens with the same codes, whatever the run is."""

from __future__ import annotations

import errno
import json
import re
import shutil
import sys
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars
import pytest
from torch import nn

import unweave
from unweave import plugins
from unweave.errors import UsageError
from unweave.files import exclusive
from unweave.publishing import upload
from unweave.publishing.files import published_files
from unweave.runs import Run

TINY: dict[str, Any] = {"net": "mlp", "width": 0.02, "latents": 3, "batch": 8, "threads": 1, "progress": False}
SQUARES = "xysquares:size=32"
METHOD = '''
from unweave.methods import BetaVAE
from dataclasses import dataclass

@dataclass(frozen=True)
class GentleVAE(BetaVAE):
    """A gentle VAE."""
'''


@pytest.fixture(scope="module")
def scored(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A run with scores; tests must leave it as it is."""
    out = tmp_path_factory.mktemp("runs") / "first"
    run = unweave.train("beta-vae", beta=2, data=SQUARES, steps=20, out=out, **TINY)
    run.evaluate(["mig", "sap"], samples=200, test_samples=100, progress=False)
    return run


def images() -> np.ndarray:
    return unweave.load(SQUARES).images(np.arange(9))


def header(card: str) -> dict[str, Any]:
    """Return the header of a card, which is YAML of a simple kind."""
    first, text, _ = card.split("---\n", 2)
    assert not first
    found: dict[str, Any] = {}
    key = ""
    for line in text.splitlines():
        if line.startswith("- "):
            found[key].append(json.loads(line[2:]))
        else:
            key, _, value = line.partition(":")
            found[key] = json.loads(value) if value.strip() else []
    return found


def test_the_folder_opens_with_the_same_codes(scored, tmp_path, monkeypatch):
    folder = unweave.publish(scored, tmp_path / "published")
    assert sorted(path.name for path in folder.iterdir()) == [
        *("README.md", "config.json", "log.parquet", "model.safetensors", "scores.parquet", "status.json"),
        "traversals.png",
    ]
    moved = shutil.move(folder, tmp_path / "elsewhere")
    monkeypatch.chdir(tmp_path)
    run = Run.open(moved)
    assert (run.id, run.weights, run.step, run.state) == (scored.id, scored.weights, 20, "finished")
    assert np.array_equal(run.encode(images()), scored.encode(images()))
    assert np.array_equal(run.decode(np.eye(3)), scored.decode(np.eye(3)))
    scores = run.scores()
    assert scores is not None
    assert scores["current"].all()
    again = run.evaluate(["mig"], samples=200, test_samples=100, progress=False)
    before = scored.scores().filter(polars.col("metric") == "mig")
    assert again["value"][0] == before["value"][0]
    assert (tmp_path / "elsewhere" / "traversals.png").read_bytes().startswith(b"\x89PNG")


def test_the_card_has_scores_with_intervals_and_identity(scored, tmp_path):
    card = (unweave.publish(scored, tmp_path / "out", repo="ada/squares", license="mit") / "README.md").read_text()
    assert header(card) == {
        "library_name": "unweave",
        "license": "mit",
        "pipeline_tag": "feature-extraction",
        "tags": ["disentanglement", "representation-learning", "beta-vae"],
        "datasets": ["xysquares"],
    }
    mig = scored.scores().filter(polars.col("metric") == "mig").to_dicts()[0]
    numbers = [f"{mig[name]:.3f}".replace("-", "−") for name in ("value", "low", "high", "floor", "ceiling")]
    value, low, high, floor, ceiling = numbers
    assert f"| mig | {value} | {low} … {high} | {floor} | {ceiling} | 200 |" in card
    assert "run.encode(inputs)  # uint8 images (n, 32, 32, 3) to codes (n, 3)" in card
    assert f"`{scored.weights}`, step 20" in card
    assert 'unweave.Run.open(snapshot_download("ada/squares"))' in card
    assert "![One row for each latent](traversals.png)" in card
    assert str(Path.home()) not in card


def test_prose_on_the_card_is_in_lines(scored, tmp_path):
    card = (unweave.publish(scored, tmp_path / "out") / "README.md").read_text()
    assert max(len(line) for line in card.splitlines() if not line.startswith(("|", "    "))) <= 100
    assert "seeds. Floor: the score with the factors shuffled." in " ".join(card.split())


def test_the_machine_is_not_published(scored, tmp_path):
    folder = unweave.publish(scored, tmp_path / "out")
    status = json.loads((folder / "status.json").read_text())
    assert set(status) == {"state", "step", "seconds", "device", "threads", "versions"}
    assert "machine" in scored.status
    assert "| trained on | device=cpu, threads=1 |" in (folder / "README.md").read_text()


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("foo", "the hub has no licence 'foo'; its names are on https://"),
        ("MIT", "no licence 'MIT'; did you mean 'mit'? The others are on"),
        ("apache", "no licence 'apache'; did you mean 'apache-2.0'?"),
        ("cc-by", "did you mean 'cc-by-4.0'?"),
        ("mit\ntags: [x]", r"no licence 'mit\ntags: [x]'; its names"),
        ("", "no licence ''; its names"),
    ],
)
def test_a_licence_is_one_of_the_hub(scored, tmp_path, name, said):
    with pytest.raises(UsageError, match=re.escape(said)) as error:
        unweave.publish(scored, tmp_path / "out", license=name)
    assert "\n" not in str(error.value)
    assert not (tmp_path / "out").exists()


def test_no_licence_is_named_unless_it_is_given(scored, tmp_path):
    assert "license" not in header((unweave.publish(scored, tmp_path / "out") / "README.md").read_text())


def test_the_lines_of_the_card_load_the_run(scored, tmp_path, monkeypatch):
    card = (unweave.publish(scored, tmp_path / "out") / "README.md").read_text()
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"inputs": images()}
    exec(card.partition("```python\n")[2].partition("```")[0], names)
    assert np.array_equal(names["codes"], scored.encode(images()))


def test_scores_of_earlier_weights_are_not_on_the_card(scored, tmp_path):
    copy = shutil.copytree(scored.path, tmp_path / "longer")
    run = unweave.train("beta-vae", beta=2, data=SQUARES, steps=25, out=copy, **TINY)
    card = (unweave.publish(run, tmp_path / "out") / "README.md").read_text()
    assert "There are scores of earlier weights only. This scores it: `unweave evaluate longer`" in card
    assert "| mig |" not in card


def test_publishing_again_brings_new_scores(tmp_path):
    run = unweave.train("vae", data=SQUARES, steps=3, out=tmp_path / "run", **TINY)
    folder = unweave.publish(run, tmp_path / "out")
    assert "None yet. This scores it: `unweave evaluate run`" in (folder / "README.md").read_text()
    run.evaluate(["mig"], samples=200, test_samples=100, progress=False)
    assert "| mig |" in (unweave.publish(run.path, folder) / "README.md").read_text()


def test_publishing_again_removes_what_was_left_and_keeps_scores(tmp_path):
    run = unweave.train("vae", data=SQUARES, steps=3, out=tmp_path / "run", **TINY)
    folder = unweave.publish(run, tmp_path / "out")
    first = published_files(folder)
    few = {"samples": 200, "test_samples": 100, "progress": False}
    Run.open(folder).evaluate(["mig"], **few)
    run.evaluate(["sap"], **few)
    Run.open(folder).report()
    (folder / "LICENSE").write_text("As you like.")
    assert (folder / ".scores.parquet.lock").exists()
    card = (unweave.publish(run, folder) / "README.md").read_text()
    assert all(f"| {metric} |" in card for metric in ("mig", "sap"))
    assert {path.name for path in folder.iterdir()} == {*first, "scores.parquet", "LICENSE"}
    assert published_files(folder) == sorted([*first, "scores.parquet"])
    own = run.scores()
    assert own is not None
    assert own["metric"].to_list() == ["sap"]  # the run itself is as it was


def test_a_lock_that_is_held_stays(scored, tmp_path):
    folder = unweave.publish(scored, tmp_path / "out")
    lock = folder / ".scores.parquet.lock"
    with exclusive(lock):
        unweave.publish(scored, folder)
        assert lock.exists()


def test_a_damaged_publication_is_downloaded_or_published_again(scored, tmp_path):
    folder = unweave.publish(scored, tmp_path / "out")
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-9])
    with pytest.raises(UsageError, match=r"weights \(.*\); download it again, or publish the run again$"):
        Run.open(folder).encode(images())


def test_a_run_without_a_decoder_has_no_picture(tmp_path):
    run = unweave.train("lejepa", data=SQUARES, steps=3, out=tmp_path / "run", **TINY)
    folder = unweave.publish(run, tmp_path / "out")
    assert not (folder / "traversals.png").exists()
    assert "None: the method has no decoder." in (folder / "README.md").read_text()
    assert np.array_equal(Run.open(folder).encode(images()), run.encode(images()))


def test_vectors_and_data_of_ones_own(tmp_path):
    rng = np.random.default_rng(0)
    (tmp_path / "private").mkdir()
    values, factors = rng.normal(size=(60, 5)).astype(np.float32), rng.integers(0, 3, size=(60, 2))
    np.savez(tmp_path / "private" / "cells.npz", values=values, factors=factors)
    run = unweave.train("vae", data=tmp_path / "private" / "cells.npz", steps=3, out=tmp_path / "run", **TINY)
    folder = unweave.publish(run, tmp_path / "out")
    texts = [(folder / name).read_text() for name in ("README.md", "config.json", "status.json")]
    assert not any("private" in text for text in texts)  # no place of this machine
    assert "vectors of 5 numbers" in texts[0]
    assert header(texts[0])["datasets"] == ["cells.npz"]
    assert (folder / "traversals.png").exists()
    opened = Run.open(folder)
    assert opened.id == run.id
    assert np.array_equal(opened.encode(values), run.encode(values))
    with pytest.raises(UsageError, match="say where they are: --data PATH"):
        len(opened.data)
    found = Run.open(folder, data=str(tmp_path / "private" / "cells.npz"))
    assert len(found.data) == 60


def test_without_its_data_a_run_has_no_picture(tmp_path):
    pixels = np.random.default_rng(0).integers(0, 255, size=(30, 8, 8, 1)).astype(np.uint8)
    run = unweave.train("vae", data=pixels, steps=3, out=tmp_path / "run", **TINY)
    folder = unweave.publish(Run.open(run.path), tmp_path / "out")
    assert not (folder / "traversals.png").exists()
    assert "None: the data set was missing" in (folder / "README.md").read_text()
    assert np.array_equal(Run.open(folder).encode(pixels), run.encode(pixels))


@pytest.fixture
def _forgets_plugins() -> Iterator[None]:
    """Forget what a test defines: other tests would ask for its file."""
    before = [(kind, dict(kind.own)) for kind in plugins.KINDS]
    yield
    for kind, own in before:
        kind.own.clear()
        kind.own.update(own)
    for name in [name for name in sys.modules if name.startswith(plugins.FILE)]:
        del sys.modules[name]


@pytest.mark.usefixtures("_forgets_plugins")
def test_a_plugin_and_the_file_of_a_loss_come_along(tmp_path):
    (tmp_path / "mine").mkdir()
    plugin, kernel = tmp_path / "mine" / "gentle.py", tmp_path / "mine" / "kernel.npy"
    plugin.write_text(METHOD)
    np.save(kernel, np.full((3, 3), 1 / 9))
    plugins.load(str(plugin))
    loss = f"mse-kernel:path={kernel}"
    run = unweave.train("gentle-vae", data=SQUARES, loss=loss, steps=3, out=tmp_path / "run", **TINY)
    expected = run.losses(images(), run.encode(images()))
    folder = unweave.publish(run, tmp_path / "out")
    card = (folder / "README.md").read_text()
    assert str(tmp_path) not in card + (folder / "config.json").read_text()
    assert 'unweave.plugins.load(f"{folder}/gentle.py")' in card
    shutil.move(tmp_path / "mine", tmp_path / "gone")
    assert {"gentle.py", "kernel.npy"} <= set(published_files(folder))
    opened = Run.open(folder)
    assert [Path(plugin).resolve() for plugin in opened.plugins] == [folder.resolve() / "gentle.py"]
    assert np.array_equal(opened.losses(images(), opened.encode(images())), expected)
    with pytest.raises(UsageError, match=r"the run's loss is in .* cannot be read: No such file"):
        unweave.publish(run, tmp_path / "later")
    shutil.move(tmp_path / "gone", tmp_path / "mine")
    plugin.unlink()
    with pytest.raises(UsageError, match=r"the run needs GentleVAE in '.*gentle\.py', which is missing: put it back"):
        unweave.publish(run, tmp_path / "later")
    assert not (tmp_path / "later").exists()


def test_two_modules_of_ones_own(tmp_path):
    def modules() -> tuple[nn.Module, nn.Module]:
        encoder = nn.Sequential(nn.Flatten(), nn.Linear(3072, 6))
        return encoder, nn.Sequential(nn.Linear(2, 3072), nn.Unflatten(1, (3, 32, 32)))

    brief = {"steps": 3, "batch": 8, "threads": 1, "progress": False, "latents": 2}
    run = unweave.train("vae", data=SQUARES, net=modules(), out=tmp_path / "run", **brief)
    with pytest.raises(UsageError, match="open it with"):
        unweave.publish(run.path, tmp_path / "out")
    run = Run.open(run.path, net=modules())
    folder = unweave.publish(run, tmp_path / "out")
    assert "net=(encoder, decoder)" in (folder / "README.md").read_text()
    assert np.array_equal(Run.open(folder, net=modules()).encode(images()), run.encode(images()))


def test_an_unfinished_run_says_so(scored, tmp_path):
    copy = shutil.copytree(scored.path, tmp_path / "copy")
    status = json.loads((copy / "status.json").read_text())
    (copy / "status.json").write_text(json.dumps({**status, "state": "unfinished", "step": 12}))
    card = (unweave.publish(copy, tmp_path / "out") / "README.md").read_text()
    assert "12 of 20 steps; **the run is unfinished**" in card


def test_a_run_without_weights_is_refused(scored, tmp_path):
    copy = shutil.copytree(scored.path, tmp_path / "copy")
    (copy / "weights.safetensors").unlink()
    with pytest.raises(UsageError, match=r"has no weights\.safetensors"):
        unweave.publish(copy, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_other_folders_are_left_alone(scored, tmp_path):
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter.tex").write_text("…")
    with pytest.raises(UsageError, match="not empty and not a published run"):
        unweave.publish(scored, tmp_path / "thesis")
    with pytest.raises(UsageError, match="is the run itself"):
        unweave.publish(scored, scored.path)
    with pytest.raises(UsageError, match="is a file"):
        unweave.publish(scored, tmp_path / "thesis" / "chapter.tex")
    other = unweave.publish(scored, tmp_path / "other")
    config = json.loads((other / "config.json").read_text())
    (other / "config.json").write_text(json.dumps({**config, "id": "0" * 16}))
    with pytest.raises(UsageError, match="holds another published run"):
        unweave.publish(scored, other)
    with pytest.raises(UsageError, match="is a published run, which is not trained further"):
        unweave.train("beta-vae", beta=2, data=SQUARES, steps=30, out=other, **TINY)


def test_a_full_disk_leaves_nothing(scored, tmp_path, monkeypatch):
    from unweave.publishing import folder as module

    write, written = module.write_atomically, []

    def full(path: Path, content: bytes) -> None:
        if len(written) == 3:
            raise OSError(errno.ENOSPC, "No space left on device", str(path))
        written.append(path)
        write(path, content)

    monkeypatch.setattr(module, "write_atomically", full)
    with pytest.raises(OSError, match="No space left"):
        unweave.publish(scored, tmp_path / "out")
    assert len(written) == 3
    assert not (tmp_path / "out").exists()


class FakeApi:
    """Stands for huggingface_hub's API object: nothing leaves the machine."""

    calls: list[tuple[str, Any]] = []  # noqa: RUF012
    failure: Exception | None = None

    def create_repo(self, repo_id: str, **options: Any) -> str:
        if self.failure:
            raise self.failure
        self.calls.append(("create", (repo_id, options)))
        return f"https://hub.test/{repo_id}"

    def upload_folder(self, *, repo_id: str, folder_path: str, allow_patterns: list[str], commit_message: str) -> None:
        names = (path.name for path in Path(folder_path).iterdir())
        kept = sorted(name for name in names if any(fnmatch(name, pattern) for pattern in allow_patterns))
        self.calls.append(("upload", (repo_id, kept)))


@pytest.fixture
def api(monkeypatch):
    monkeypatch.setitem(sys.modules, "huggingface_hub", SimpleNamespace(HfApi=FakeApi))
    monkeypatch.setattr(FakeApi, "calls", [])
    return FakeApi


def test_a_folder_is_uploaded(scored, tmp_path, api):
    folder = unweave.publish(scored, tmp_path / "out")
    for other in ("report.html", ".scores.parquet.lock", "notes.txt"):
        (folder / other).touch()
    assert upload(folder, "ada/squares", private=True) == "https://hub.test/ada/squares"
    (first, (repo, options)), (second, (_, files)) = api.calls
    assert (first, second, repo) == ("create", "upload", "ada/squares")
    assert options == {"repo_type": "model", "private": True, "exist_ok": True}
    assert files == [
        *("README.md", "config.json", "log.parquet", "model.safetensors", "scores.parquet", "status.json"),
        "traversals.png",
    ]


def test_what_the_hub_refuses_is_one_line_and_the_folder_stays(scored, tmp_path, api, monkeypatch):
    folder = unweave.publish(scored, tmp_path / "out")
    monkeypatch.setattr(api, "failure", ConnectionError("no route to host\nmore"))
    with pytest.raises(
        UsageError, match=r"could not be uploaded: no route to host; the folder '.*out' is ready"
    ) as said:
        upload(folder, "ada/squares")
    assert "\n" not in str(said.value)
    assert (folder / "model.safetensors").is_file()


def test_only_a_published_folder_is_uploaded(scored, tmp_path, api):
    for folder in (tmp_path, scored.path, tmp_path / "missing"):
        with pytest.raises(UsageError, match="is not a published run; first: unweave publish RUN --out FOLDER"):
            upload(folder, "ada/squares")
    assert api.calls == []


def test_without_the_package_the_extra_is_named(scored, tmp_path, monkeypatch):
    folder = unweave.publish(scored, tmp_path / "out")
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(UsageError, match=r"pip install 'unweave\[hub\]'; the folder '.*' is ready"):
        upload(folder, "ada/squares")


@pytest.mark.parametrize("repo", ["squares", "ada/squares/more", "ada/squares!", ""])
def test_a_repository_has_a_user_and_a_name(scored, tmp_path, repo):
    with pytest.raises(UsageError, match="must have the form user/name"):
        unweave.publish(scored, tmp_path / "out", repo=repo)
    assert not (tmp_path / "out").exists()
