"""How the tests find a browser, and what they do without one."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from . import conftest


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Return the only folder of the PATH, which is empty; Playwright has no browser either."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(conftest, "_of_playwright", lambda: None)
    return tmp_path


def program(folder: Path, name: str) -> str:
    path = folder / name
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return str(path)


def test_a_browser_of_the_path_comes_first(bare: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(conftest, "_of_playwright", lambda: "playwright's")
    assert conftest.find_chromium() == "playwright's"
    google = program(bare, "google-chrome")
    assert conftest.find_chromium() == google
    assert conftest.find_chromium() != program(bare, "chromium") == conftest.find_chromium()


def test_debian_is_asked_only_where_it_may_install(bare: Path, monkeypatch: pytest.MonkeyPatch):
    asked: list[list[str]] = []

    def run(words: list[str], **_: object) -> None:
        asked.append(words)
        if "install" in words:
            program(bare, "chromium")

    monkeypatch.setattr(subprocess, "run", run)
    assert conftest.find_chromium() is None  # there is no apt-get
    program(bare, "apt-get")
    monkeypatch.setattr(conftest.os, "geteuid", lambda: 1000)
    assert conftest.find_chromium() is None
    assert asked == []
    monkeypatch.setattr(conftest.os, "geteuid", lambda: 0)
    assert conftest.find_chromium() == str(bare / "chromium")
    assert [words[2] for words in asked] == ["update", "install"]


def test_an_installation_that_fails_or_takes_too_long_is_none(bare: Path, monkeypatch: pytest.MonkeyPatch):
    program(bare, "apt-get")
    monkeypatch.setattr(conftest.os, "geteuid", lambda: 0)

    def slow(words: list[str], timeout: float, **_: object) -> None:
        assert timeout <= conftest.PATIENCE
        raise subprocess.TimeoutExpired(words, timeout)

    monkeypatch.setattr(subprocess, "run", slow)
    assert conftest.find_chromium() is None


def test_without_a_browser_tests_are_skipped_and_fail_under_ci(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("CI", raising=False)
    with pytest.raises(pytest.skip.Exception, match="no Chromium"):
        conftest.without_chromium()
    monkeypatch.setenv("CI", "true")
    with pytest.raises(pytest.fail.Exception, match="no Chromium"):
        conftest.without_chromium()
