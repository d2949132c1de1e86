"""`unweave explore`: it starts, says where, answers, and ends quietly."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM])
def test_it_serves_until_it_is_stopped_and_ends_quietly(run, stop):
    command = [sys.executable, "-m", "unweave", "explore", str(run), "--json"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    lines = [process.stdout.readline() for _ in range(4)]
    said = json.loads("".join(lines))
    with urllib.request.urlopen(f"{said['url']}api/index") as answer:
        assert json.load(answer)["runs"] == 1
    assert said["folder"] == str(run)
    process.send_signal(stop)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (0, "", "")


def test_another_host_is_warned_of(run, cli, monkeypatch):
    served = []
    monkeypatch.setattr("unweave.cli.explore._meanwhile", lambda do, *given: None)
    monkeypatch.setattr("unweave.explorer.serve.serve", lambda app, listener, started: served.append(started()))
    code, out, err = cli("explore", run, "--host", "0.0.0.0")
    assert (code, len(served)) == (0, 1)
    assert err.startswith("unweave: warning: other machines can open http://127.0.0.1:")
    assert err.count("\n") == 1
    assert f"{run} is at http://127.0.0.1:" in out
    assert cli("explore", run).err == ""


def test_the_browser_is_opened_where_that_is_asked_for(run, cli, monkeypatch):
    from unweave.cli import explore

    opened = []
    monkeypatch.setattr("unweave.explorer.serve.serve", lambda app, listener, started: started())
    monkeypatch.setattr(explore, "_meanwhile", lambda do, *given: opened.extend(given))
    cli("explore", run)
    assert opened == []
    url = json.loads(cli("explore", run, "--open", "--json").out)["url"]
    assert opened == [url]


def test_mistakes_are_one_line(run, cli, monkeypatch, tmp_path):
    lines = {
        ("nowhere",): "there is no folder 'nowhere'",
        (str(Path(__file__)),): "is a file; explore its folder instead",
        (): "missing: DIR; for example: unweave explore runs --open",
        (str(run), "--port", "-1"): "--port must be 0 or more, not -1",
        (str(run), "--port", "70000"): "--port must be 65535 or less, not 70000",
        (str(run), "--samples", "1"): "--samples must be 2 or more, not 1",
        (str(run), "--host", "no.such.host.invalid"): "'no.such.host.invalid' is not an address of this machine",
    }
    monkeypatch.chdir(tmp_path)
    for words, line in lines.items():
        code, out, err = cli("explore", *words)
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert line in err


def test_nothing_is_exported_of_a_folder_without_runs(run, cli, tmp_path):
    (tmp_path / "empty").mkdir()
    code, out, err = cli("explore", tmp_path / "empty", "--export", tmp_path / "page")
    assert (code, out) == (2, "")
    assert err.startswith(
        f"unweave: nothing to show below '{tmp_path / 'empty'}': it has no runs, studies or manifolds;"
    )
    assert err.count("\n") == 1
    assert not (tmp_path / "page").exists()


def test_a_missing_extra_is_one_line(run, cli, monkeypatch):
    monkeypatch.setattr("unweave.explorer.served.NEEDED", ("no_such_package",))
    code, out, err = cli("explore", run)
    assert (code, out) == (2, "")
    assert err == "unweave: the explorer needs no_such_package; install the extra: pip install 'unweave[web]'\n"
