from __future__ import annotations

import subprocess
import sys
from io import StringIO
from time import sleep
from types import SimpleNamespace

import numpy as np
import pytest

import unweave
from unweave import compiled, progress
from unweave.progress import Bar

STEPS = [(40, 100), (100, 100), (0, 100), (50, 100), (0, None), (7, None), (1, 20), (20, 20)]


class Terminal(StringIO):
    def isatty(self) -> bool:
        return True


def on_a_terminal(monkeypatch: pytest.MonkeyPatch, patience: float = 0.02) -> Terminal:
    """Make stderr a terminal, on which a bar is shown after a moment; pytest sets stderr again after fixtures."""
    monkeypatch.setattr(sys, "stderr", found := Terminal())
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setattr(progress, "PATIENCE", patience)
    return found


def wait_for(bar: Bar) -> None:
    """Wait until a bar is drawn."""
    for _ in range(6_000):
        if bar._drawn is not None:
            return
        sleep(0.01)
    raise AssertionError("the bar is not drawn")


def test_the_bar_shows_steps_and_terms_and_is_gone_afterwards(monkeypatch):
    terminal = on_a_terminal(monkeypatch)
    with Bar("training", unit=" steps") as bar:
        bar("training", 500, 1000)
        bar.terms({"loss": 31.25, "reconstruction": 30.0, "kl": 1.25})
        wait_for(bar)
    assert "training:  50%" in terminal.getvalue()
    assert "500/1000" in terminal.getvalue()
    assert "loss=31.25, reconstruction=30, kl=1.25" in terminal.getvalue()
    assert terminal.getvalue().endswith("\r")


def test_the_bar_comes_by_itself_after_a_while(monkeypatch):
    terminal = on_a_terminal(monkeypatch)
    with Bar("drawing") as bar:
        wait_for(bar)
        assert "drawing … 00:" in terminal.getvalue()
        bar("first part", 0, 2)
        bar("second part", 1, 2)
        bar._drawn.refresh()
    assert "second part:  50%" in terminal.getvalue()


def test_quick_work_has_no_bar(monkeypatch):
    terminal = on_a_terminal(monkeypatch, patience=60.0)
    with Bar("drawing") as bar:
        bar("first part", 0, 2)
        sleep(0.05)
    assert terminal.getvalue() == ""
    assert not bar._timer.is_alive()


@pytest.mark.parametrize(("shown", "seen"), [(None, False), (False, False), (True, True)])
def test_elsewhere_there_is_no_bar_unless_it_is_asked_for(monkeypatch, shown, seen):
    monkeypatch.setattr(sys, "stderr", file := StringIO())
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    with Bar("drawing", shown=shown) as bar:
        if seen:
            wait_for(bar)
        bar("part", 1, 2)
    assert ("drawing" in file.getvalue()) == seen


def test_without_stderr_there_is_no_bar(monkeypatch):
    monkeypatch.setattr(sys, "stderr", None)
    with Bar() as bar:
        bar("part", 1, 2)
        assert Bar._open is None


def test_a_new_stage_starts_again_with_its_own_total_and_speed(monkeypatch):
    on_a_terminal(monkeypatch)
    seen = []
    with Bar("smallnorb", unit="B") as bar:
        wait_for(bar)
        for done, total in STEPS:
            bar("file", done, total)
            seen.append((bar._drawn.n, bar._drawn.total, bar._drawn.initial))
    assert [n for n, _, _ in seen] == [done for done, _ in STEPS]
    assert [total for _, total, _ in seen] == [total for _, total in STEPS]
    assert [initial for _, _, initial in seen] == [40, 40, 0, 0, 0, 0, 1, 1]


def test_bytes_and_shares_are_shown_as_such(monkeypatch):
    terminal = on_a_terminal(monkeypatch)
    with Bar(unit="B") as bar:
        bar("file", 2_500_000, 5_000_000)
        wait_for(bar)
        bar("spectrum", 0.25, 1)
    assert "2.50M/5.00M" in terminal.getvalue()
    assert "spectrum:  25 % [" in terminal.getvalue()


def test_of_bars_within_bars_the_first_is_shown(monkeypatch):
    terminal = on_a_terminal(monkeypatch)
    with Bar("outer") as outer:
        wait_for(outer)
        with Bar("inner") as inner:
            inner("inner", 1, 2)
            assert Bar._open is outer
        assert not inner._timer.is_alive()
    assert Bar._open is None
    assert "inner" not in terminal.getvalue()


def test_a_bar_says_when_kernels_are_compiled(monkeypatch):
    terminal = on_a_terminal(monkeypatch)
    before = list(compiled.on_compile)
    with Bar("dci") as bar:
        wait_for(bar)
        for tell in compiled.on_compile:
            tell()
        assert "compiling, once …" in terminal.getvalue()
    assert compiled.on_compile == before


def test_a_bar_is_closed_by_an_error(monkeypatch):
    terminal = on_a_terminal(monkeypatch)

    def interrupted() -> None:
        with Bar("drawing") as bar:
            wait_for(bar)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert Bar._open is None
    assert terminal.getvalue().endswith("\r")


@pytest.mark.parametrize(("widgets", "module"), [(object(), "tqdm.notebook"), (None, "tqdm")])
def test_a_notebook_shows_widgets_if_it_can_and_else_text(monkeypatch, widgets, module):
    shell = SimpleNamespace(config={"IPKernelApp": {}})
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    monkeypatch.setattr(progress, "find_spec", lambda name: widgets)
    imported = []
    monkeypatch.setattr(progress, "import_module", lambda name: imported.append(name) or SimpleNamespace(tqdm=None))
    assert progress._is_seen()
    progress._notebook_bar()
    assert imported == [module]


def codes_and_factors() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    factors = rng.integers(0, 4, size=(200, 2))
    return factors + 0.1 * rng.normal(size=(200, 2)), factors


@pytest.mark.parametrize(("asked", "opened"), [(None, True), (False, False)])
def test_python_calls_show_a_bar_unless_told_not_to(monkeypatch, tmp_path, asked, opened):
    on_a_terminal(monkeypatch, patience=60.0)
    wanted = []
    enter = Bar.__enter__

    def watched(bar: Bar) -> Bar:
        entered = enter(bar)
        wanted.append(Bar._open is bar)
        return entered

    monkeypatch.setattr(Bar, "__enter__", watched)
    codes, factors = codes_and_factors()
    tiny = {"data": "xysquares:size=32", "net": "mlp", "width": 0.02, "batch": 4, "steps": 2, "out": tmp_path}
    run = unweave.train("beta-vae", beta=2, **tiny, progress=asked)
    run.evaluate("mig", samples=50, test_samples=20, progress=asked)
    unweave.evaluate(codes, factors, "mig", progress=asked)
    unweave.evaluate({"a": codes, "b": codes}, factors, "mig", progress=asked)
    unweave.compare(codes, codes, factors, "mig", progress=asked)
    assert len(wanted) == 6
    assert set(wanted) == {opened}


def test_who_reports_progress_otherwise_has_no_bar(monkeypatch):
    on_a_terminal(monkeypatch)
    seen = []
    with progress.reporting(lambda *news: seen.append(news), None) as on_progress:
        assert Bar._open is None
        on_progress("part", 1, 2)
    assert seen == [("part", 1, 2)]


def test_the_bar_loads_no_tqdm_before_it_is_drawn():
    code = "import sys, unweave, unweave.progress as p\nwith p.Bar(): pass\nprint('tqdm' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
