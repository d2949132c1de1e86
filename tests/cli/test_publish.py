"""`unweave publish`: the folder, what is said of it, and the upload that only happens when it is asked for."""

from __future__ import annotations

import json
import sys
from types import SimpleNamespace
from typing import Any

import pytest


@pytest.fixture
def hub(monkeypatch):
    """The repositories that were uploaded to."""
    repositories: list[str] = []

    class Api:
        def create_repo(self, repo_id: str, **options: Any) -> str:
            return f"https://hub.test/{repo_id}"

        def upload_folder(self, *, repo_id: str, **options: Any) -> None:
            repositories.append(repo_id)

    monkeypatch.setitem(sys.modules, "huggingface_hub", SimpleNamespace(HfApi=Api))
    return repositories


def test_a_run_is_published_and_scored_where_it_is_published(cli, tiny, tmp_path, hub):
    run, out = tmp_path / "run", tmp_path / "published"
    assert cli("train", "beta-vae", *tiny, "--steps", "20", "--out", run).code == 0
    done = cli("publish", run, "--out", out, "--repo", "ada/tiny")
    assert done.code == 0
    assert "model.safetensors" in done.out
    assert "The card has no scores" in done.out
    assert done.out.endswith(f"next: unweave evaluate {run}\n")
    assert not hub  # nothing is uploaded unasked
    scored = cli("evaluate", out, "--metrics", "mig", "--samples", "200", "--test-samples", "100")
    assert scored.code == 0
    again = json.loads(cli("publish", out, "--out", tmp_path / "again", "--json").out)
    assert again["scored"]
    assert again["address"] is None
    assert "scores.parquet" in again["files"]


def test_only_what_was_written_is_listed(cli, tiny, tmp_path):
    run, out = tmp_path / "run", tmp_path / "published"
    assert cli("train", "beta-vae", *tiny, "--steps", "20", "--out", run).code == 0
    assert cli("publish", run, "--out", out).code == 0
    assert cli("evaluate", out, "--metrics", "mig", "--samples", "200", "--test-samples", "100").code == 0
    assert cli("report", out).code == 0
    again = json.loads(cli("publish", run, "--out", out, "--json").out)
    assert again["files"] == sorted(path.name for path in out.iterdir())
    assert not {"report.html", ".scores.parquet.lock"} & set(again["files"])
    assert again["scored"]  # with the scores that were computed there


def test_upload(cli, run, tmp_path, hub):
    done = cli("publish", run, "--out", tmp_path / "out", "--repo", "ada/tiny", "--upload")
    assert "uploaded to https://hub.test/ada/tiny\n" in done.out
    assert hub == ["ada/tiny"]


def test_without_huggingface_hub_the_folder_stays(cli, run, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    done = cli("publish", run, "--out", tmp_path / "out", "--repo", "ada/tiny", "--upload")
    assert done.code == 2
    assert done.err.count("\n") == 1
    assert "pip install 'unweave[hub]'" in done.err
    assert (tmp_path / "out" / "README.md").is_file()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--upload"], "--upload needs --repo USER/NAME"),
        (["--repo", "tiny"], "the repository must have the form user/name, not 'tiny'"),
        (["--private"], "--private needs --upload"),
        (
            ["--license", "apache2"],
            "the hub has no licence 'apache2'; did you mean 'apache-2.0'? The others are on "
            "https://huggingface.co/docs/hub/repositories-licenses; give 'other' for one that is not there",
        ),
    ],
)
def test_mistakes(cli, run, tmp_path, words, said):
    done = cli("publish", run, "--out", tmp_path / "out", *words)
    assert (done.code, done.err) == (2, f"unweave: {said}\n")
    assert not (tmp_path / "out").exists()
