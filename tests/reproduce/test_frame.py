"""The frame around every reproduction: its table, its files, and what it refuses."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from io import BytesIO
from types import ModuleType
from typing import ClassVar

import numpy as np
import pytest
from matplotlib.figure import Figure
from PIL import Image

from unweave import reproduce as package
from unweave.errors import UsageError
from unweave.reproduce import RESULTS, Findings, Reproduction, Row, find, reproduce
from unweave.reproduce.parts import compute_always
from unweave.reproduce.save import Outcome


@dataclass(frozen=True)
class Settings:
    rolls: int


class Dice(Reproduction):
    """A mean of dice."""

    source: ClassVar[str] = "[Pascal1654]_, table 1"
    summary: ClassVar[str] = "A die shows 3.5 on average."
    presets: ClassVar[Mapping[str, Settings]] = {
        "smoke": Settings(10),
        "small": Settings(1000),
        "paper": Settings(100_000),
    }

    def run(self, settings, *, seed, on_progress, kept=compute_always):
        on_progress("rolling", 0, 1)
        rolls = np.random.default_rng(seed).integers(1, 7, size=settings.rolls)
        reach = 1.96 * rolls.std() / np.sqrt(len(rolls))
        figure = Figure()
        figure.add_subplot().hist(rolls)
        mean = np.float32(rolls.mean())
        rows = (
            Row("mean | all", 3.5, float(mean), mean - reach, mean + reach),
            Row("largest", None, 6.0, float("nan"), float("nan")),
        )
        return Findings(rows, ("Fair dice.",), {"rolls": figure})


@pytest.fixture(autouse=True)
def dice(monkeypatch):
    module = ModuleType("dice")
    module.Dice = Dice  # pyright: ignore[reportAttributeAccessIssue]
    monkeypatch.setitem(sys.modules, "dice", module)
    monkeypatch.setitem(RESULTS, "dice", "dice:Dice")


def test_every_result_is_whole():
    for name in RESULTS:
        kind = find(name)
        assert issubclass(kind, Reproduction)
        assert list(kind.presets) == ["smoke", "small", "paper"], name
        assert kind.summary.endswith(".")
        assert "[" in kind.source


def test_the_difference_is_ours_less_the_published():
    assert Row("a", 2.0, 1.5, 1.0, 2.0).difference == -0.5
    assert Row("a", None, 1.5, 1.0, 2.0).difference is None


def test_the_same_seed_gives_the_same_numbers():
    first, second, other = (reproduce("dice", seed=seed).findings.rows[0].ours for seed in (0, 0, 1))
    assert first == second != other


def test_the_table_puts_published_and_ours_beside_each_other():
    rows = (
        Row("log-likelihood", 0.0, 3e-16, -1e-15, 1e-15),
        Row("score", 0.5, 0.4546, 0.4, 0.5),
        Row("large", -1234.5, 12345678.0, 0.0, float("inf")),
        Row("new", None, 1.0, float("nan"), float("nan")),
    )
    outcome = Outcome.of("dice", Dice, "smoke", 0, Findings(rows), 1.0)
    assert outcome.table().splitlines() == [
        "result           published      ours        interval  difference",
        "log-likelihood           0     3e−16  −1e−15 … 1e−15       3e−16",
        "score                0.500     0.455   0.400 … 0.500      −0.045",
        "large           −1,234.500  1.23e+07               –    1.23e+07",
        "new                      –     1.000               –           –",
    ]


def test_the_files_hold_everything(tmp_path):
    told = []
    outcome = reproduce(
        "dice", preset="small", seed=3, out=tmp_path / "a" / "b", on_progress=lambda *step: told.append(step)
    )
    folder = tmp_path / "a" / "b"
    assert sorted(path.name for path in folder.iterdir()) == ["result.json", "result.md", "rolls.png"]
    assert told == [("rolling", 0, 1)]
    record = json.loads((folder / "result.json").read_text())
    assert record["command"] == "unweave reproduce dice --preset small --seed 3"
    assert record["settings"] == {"rolls": 1000}
    assert (record["source"], record["seed"], record["preset"]) == ("[Pascal1654], table 1", 3, "small")
    assert {"python", "unweave", "numpy", "scipy", "torch"} <= set(record["versions"])
    assert record["finished"].endswith("+00:00")
    assert record["seconds"] >= 0
    row = outcome.findings.rows[0]
    assert record["rows"][0] == {
        "what": "mean | all",
        "published": 3.5,
        "ours": row.ours,
        "low": pytest.approx(float(row.low)),
        "high": pytest.approx(float(row.high)),
        "difference": row.ours - 3.5,
    }
    assert record["rows"][1]["low"] is record["rows"][1]["published"] is None
    assert record["figures"] == ["rolls.png"]
    page = (folder / "result.md").read_text()
    assert r"| mean \| all | 3.500 |" in page
    for part in ("# dice", "Fair dice.", "![rolls](rolls.png)", record["command"], "[Pascal1654], table 1", "numpy"):
        assert part in page
    assert np.asarray(Image.open(BytesIO((folder / "rolls.png").read_bytes()))).std() > 0


def test_nothing_is_saved_unless_asked(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    reproduce("dice", preset="smoke")
    assert list(tmp_path.iterdir()) == []


def test_the_same_result_replaces_itself_and_no_other(tmp_path):
    reproduce("dice", preset="smoke", out=tmp_path)
    before = (tmp_path / "result.json").read_bytes()
    with pytest.raises(UsageError, match=r"holds another result \(dice, preset smoke, seed 0\); choose another folder"):
        reproduce("dice", preset="smoke", seed=1, out=tmp_path)
    assert (tmp_path / "result.json").read_bytes() == before
    (tmp_path / "result.md").unlink()
    reproduce("dice", preset="smoke", out=tmp_path)
    assert (tmp_path / "result.md").exists()
    (tmp_path / "result.json").write_text("[]")
    with pytest.raises(UsageError, match="is not the record of a result"):
        reproduce("dice", preset="smoke", out=tmp_path)


def test_a_place_that_cannot_be_is_refused_before_any_work(tmp_path, monkeypatch):
    monkeypatch.setattr(Dice, "run", lambda *args, **options: pytest.fail("worked"))
    (tmp_path / "file").touch()
    for out in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(UsageError, match="is a file; a result needs a folder"):
            reproduce("dice", out=out)
    monkeypatch.setattr("os.access", lambda path, mode: False)
    with pytest.raises(UsageError, match="cannot be written; choose another one"):
        reproduce("dice", out=tmp_path / "new")


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError])
def test_nothing_is_left_of_what_did_not_end(tmp_path, monkeypatch, error):
    def stop(*args, **options):
        raise error

    monkeypatch.setattr(Dice, "run", stop)
    with pytest.raises(error):
        reproduce("dice", out=tmp_path / "new")
    assert list(tmp_path.iterdir()) == []


def test_a_figure_that_cannot_be_drawn_leaves_nothing_behind(tmp_path, monkeypatch):
    def stop(*args, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(Figure, "savefig", stop)
    with pytest.raises(KeyboardInterrupt):
        reproduce("dice", out=tmp_path / "new")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"name": "dise"}, "no published result is called 'dise'; did you mean 'dice'?"),
        ({"name": "dice", "preset": "papr"}, "no preset is called 'papr'; did you mean 'paper'?"),
        ({"name": "dice", "seed": -1}, "the seed must be 0 or more, not -1"),
    ],
)
def test_mistakes(words, message):
    with pytest.raises(UsageError) as caught:
        reproduce(**words)
    assert str(caught.value).startswith(message)


def test_the_public_names_are_there():
    for name in package.__all__:
        assert hasattr(package, name)
