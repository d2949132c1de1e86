from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars
import pytest

import unweave
from unweave.cli import main
from unweave.cli.compare import SEEDS
from unweave.errors import UsageError
from unweave.metrics import METRICS, mig
from unweave.metrics.resampling import Sampled
from unweave.runs import Run

from .conftest import TINY

FEW = ("--samples", "200", "--test-samples", "100")
CODES = ("--codes", "one.npy", "two.npy", "--factors", "v.npy")


@pytest.fixture(scope="session")
def other(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of another run of the same data set."""
    folder = tmp_path_factory.mktemp("more") / "other"
    main(["train", "beta-vae", *TINY, "--steps", "20", "--seed", "1", "--out", str(folder)])
    return folder


@pytest.fixture
def files(tmp_path, monkeypatch) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Two sets of codes of 300 samples, and their factors."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    factors = rng.integers(0, 4, size=(300, 2))
    one, two = factors + rng.normal(0, 0.1, size=(300, 2)), factors + rng.normal(0, 1.0, size=(300, 2))
    for name, array in {"one": one, "two": two, "v": factors, "short": one[:100]}.items():
        np.save(f"{name}.npy", array)
    return one, two, factors


def test_runs_are_compared_on_the_same_images(cli, run, other):
    code, out, err = cli("compare", run, other, "--metrics", "mig", "elbo", *FEW, "--seed", "3")
    assert (code, err) == (0, "")
    head, *rows, blank, seeds, blank_too, following = out.splitlines()
    assert head.split() == ["metric", "tiny", "other", "difference", "low", "high", "better"]
    assert [row.split()[0] for row in rows] == ["mig", "elbo-rate", "elbo-distortion", "elbo-bound"]
    assert (blank, seeds, blank_too, following) == ("", SEEDS, "", f"next: unweave report {other}")
    result = json.loads(cli("compare", run, other, "--metrics", "mig", "elbo", *FEW, "--seed", "3", "--json").out)
    assert result["compared"] == [str(run), str(other)]
    for folder, value in ((run, "value_a"), (other, "value_b")):
        scored = Run.open(folder).evaluate(
            ["mig", "elbo"], samples=200, test_samples=100, seed=3, intervals=False, floors=False
        )
        known = dict(zip(scored["metric"], scored["value"], strict=True))
        assert {row["metric"]: row[value] for row in result["differences"]} == {
            name: known[name] for name in ("mig", "elbo-rate", "elbo-distortion", "elbo-bound")
        }


def test_the_page_is_written_where_asked_for(cli, run, other, tmp_path):
    page = tmp_path / "new" / "compare.html"
    code, out, err = cli("compare", run, other, "--metrics", "mig", *FEW, "--out", page)
    assert (code, err) == (0, "")
    assert out.endswith(f"next: open {page} in a browser\n")
    text = page.read_text()
    assert "other <small>against</small> tiny" in text
    assert "xysquares" in text


def test_the_table_is_written_where_asked_for(cli, files):
    rows = json.loads(cli("compare", *CODES, "--metrics", "mig", "--json").out)["differences"]
    for name, read in (("a.csv", polars.read_csv), ("a.PARQUET", polars.read_parquet)):
        code, out, err = cli("compare", *CODES, "--metrics", "mig", "--out", name)
        assert (code, err) == (0, "")
        assert out.endswith("next: unweave metrics list\n")  # a table is not opened in a browser
        (found,) = read(name).to_dicts()
        timeless = {"options": rows[0]["options"], "seconds": rows[0]["seconds"]}
        assert json.loads(found["options"]) == rows[0]["options"]
        assert {**found, **timeless} == rows[0]


def test_several_runs_have_a_table_each_and_names_of_their_own(cli, run, other, tmp_path):
    same = tmp_path / "other"
    shutil.copytree(other, same)
    out = cli("compare", run, other, same, "--metrics", "mig", *FEW).out
    heads = [line.split() for line in out.splitlines() if line.startswith("metric")]
    expected = ["/".join(folder.parts[-2:]) for folder in (run, other, same)]
    assert [head[1:3] for head in heads] == [[expected[0], expected[1]], [expected[0], expected[2]]]


def test_runs_in_python(run, other):
    few = {"metrics": "mig", "samples": 200, "test_samples": 100}
    runs = [Run.open(run), Run.open(other)]
    table = unweave.compare(runs, **few)
    assert (table["a"].item(), table["b"].item()) == ("tiny", "other")
    assert unweave.compare(runs[0], runs[1], **few).drop("seconds").equals(table.drop("seconds"))
    named = unweave.compare({"seed 0": runs[0], "seed 1": runs[1]}, **few)
    assert (named["a"].item(), named["b"].item()) == ("seed 0", "seed 1")
    assert named["low"].equals(table["low"])


def test_mistakes_in_python_are_one_line(run):
    opened = Run.open(run)
    mistakes = {
        "compare takes two or more runs, got 1": ([opened],),
        f"'{run}' is given twice, as a and b: compare it with another run": ({"a": opened, "b": opened},),
        "compare takes two runs, a list of runs, or codes; not a single run, nor a run and codes": (opened,),
    }
    for line, arguments in mistakes.items():
        with pytest.raises(UsageError) as refusal:
            unweave.compare(*arguments)
        assert str(refusal.value) == line
    with pytest.raises(UsageError, match="runs have their own factors and test rows"):
        unweave.compare(opened, opened, [[0], [1]])


@pytest.mark.filterwarnings("default")
def test_an_unfinished_run_is_said_to_be_so(cli, run, other, tmp_path):
    half = tmp_path / "half"
    shutil.copytree(other, half)
    status = json.loads((half / "status.json").read_text())
    (half / "status.json").write_text(json.dumps({**status, "state": "unfinished", "step": 7}))
    page = tmp_path / "compare.html"
    code, _, err = cli("compare", run, half, "--metrics", "active-units", *FEW, "--out", page)
    assert code == 0
    assert '<p class="alert">half is unfinished, at step 7 of 20' in page.read_text()
    warnings = [line for line in err.splitlines() if "nearly collapsed" not in line]  # after twenty steps
    assert warnings == [
        "unweave: warning: half is unfinished, at step 7 of 20: these are scores of a half-trained model"
    ]


def test_a_run_without_weights_and_a_point_code_are_named(cli, run, other, tmp_path):
    bare = tmp_path / "bare"
    shutil.copytree(other, bare)
    (bare / "weights.safetensors").unlink()
    code, _, err = cli("compare", run, bare, "--metrics", "mig", *FEW)
    assert code == 2
    assert err.startswith(f"unweave: bare: '{bare}' has no weights")
    points = tmp_path / "points"
    main(["train", "ae", *TINY, "--steps", "20", "--out", str(points)])
    assert cli("compare", run, points, "--metrics", "elbo", *FEW).err.startswith(
        "unweave: points: the metric 'elbo' needs posteriors, but the codes of this model are points"
    )


def test_codes_in_files(cli, files):
    one, two, factors = files
    code, out, err = cli("compare", *CODES, "--metrics", "mig", "--json")
    assert (code, err) == (0, "")
    row = json.loads(out)["differences"][0]
    assert (row["a"], row["b"], row["differs"], row["better"]) == ("one", "two", True, "one")
    assert row["difference"] == pytest.approx(mig(two, factors) - mig(one, factors))
    assert row["options"]["bins"] == 20
    assert cli("compare", *CODES, "--metrics", "mig").out.endswith("next: unweave metrics list\n")


def test_factors_may_be_in_the_files_of_the_codes(cli, files):
    one, two, factors = files
    np.savez("one.npz", codes=one, factors=factors)
    np.savez("two.npz", codes=two, factors=factors)
    words = ("--metrics", "mig", "--json")
    expected = json.loads(cli("compare", *CODES, *words).out)["differences"][0]
    found = json.loads(cli("compare", "--codes", "one.npz", "two.npz", *words).out)["differences"][0]
    assert {**found, "seconds": 0} == {**expected, "seconds": 0}
    np.savez("two.npz", codes=two, factors=1 - factors)
    assert cli("compare", "--codes", "one.npz", "two.npz", *words).err == (
        "unweave: the factors in two are not those in one: compare codes of the same samples\n"
    )


def test_test_files_are_those_of_each(cli, files):
    one, two, factors = files
    test = ("--test-codes", "two.npy", "one.npy", "--test-factors", "v.npy")
    row = json.loads(cli("compare", *CODES, *test, "--metrics", "sap", "--json").out)["differences"][0]
    assert row["value_a"] == METRICS["sap"](one, factors, test=(two, factors))
    assert row["value_b"] == METRICS["sap"](two, factors, test=(one, factors))


def test_arrays_of_one_file_have_names(cli, files):
    one, two, _ = files
    np.savez("both.npz", one=one, two=two)
    out = cli("compare", "--codes", "both.npz:one", "both.npz:two", "--factors", "v.npy", "--metrics", "mig").out
    assert out.split()[1:3] == ["both.npz:one", "both.npz:two"]


def test_a_file_may_be_called_like_a_column(cli, files):
    np.save("low.npy", files[0])
    out = cli("compare", "--codes", "low.npy", "two.npy", "--factors", "v.npy", "--metrics", "mig").out
    assert out.splitlines()[0].split() == ["metric", "'low'", "two", "difference", "low", "high", "better"]


def test_what_was_finished_before_an_interrupt_is_shown(cli, files, monkeypatch):
    def interrupt(codes: np.ndarray, factors: np.ndarray) -> Sampled[float]:
        raise KeyboardInterrupt

    # An entry of its own: one that is changed in place would keep what it read off the other signature.
    monkeypatch.setitem(METRICS, "mcc", replace(METRICS["mcc"], sample=interrupt, bound={}))
    code, out, err = cli("compare", *CODES, "--metrics", "mig", "mcc")
    assert (code, err) == (130, "unweave: interrupted\n")
    assert [row.split()[0] for row in out.splitlines()] == ["metric", "mig"]


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ((), "name two runs, or give --codes A.npy B.npy and --factors; for example: unweave compare runs/first"),
        (("{run}",), "one run is not enough: name two or more; for example: unweave compare runs/first"),
        (("{run}", "{run}"), "'{run}' is given twice: compare it with another one"),
        (("{run}", "{run}/../tiny"), "'{run}/../tiny' is given twice: compare it with another one"),
        (("{run}", "nowhere"), "there is no folder 'nowhere'"),
        (
            ("one.npy", "two.npy"),
            "'one.npy' is a file, not the folder of a run; give files with --codes one",
        ),
        (("{run}", "."), "'.' is not a run: it has no config.json"),
        (("{run}", "{other}", "--codes", "one.npy", "two.npy"), "compare either runs or files: leave out the folders"),
        (("{run}", "{other}", "--metrics", "mgi"), "no metric is called 'mgi'; did you mean 'mig'?"),
        (("{run}", "{other}", "--metrics", "mig,sap"), "separate the names of metrics by spaces, not commas"),
        (("{run}", "{other}", "--preset", "quick"), "no preset is called 'quick'"),
        (("{run}", "{other}", "--out", "."), "'.' is a folder; name a page, such as compare.html"),
        ((*CODES, "--out", "a.txt"), "write a comparison to a .html, .csv or .parquet file, not to 'a.txt'"),
        ((*CODES, "--out", "page"), "write a comparison to a .html, .csv or .parquet file, not to 'page'"),
        ((*CODES, "--out", "none/a.csv"), "there is no folder 'none' to write 'a.csv' into; make it first"),
        (("{run}", "{other}", "--replicates", "1"), "--replicates must be 2 or more, not 1"),
        (("--codes", "one.npy", "--factors", "v.npy"), "one file is not enough to compare: --codes takes two or more"),
        (("--codes", "one.npy", "one.npy"), "'one.npy' is given twice: compare it with another one"),
        (("--codes", "one.npy", "none.npy"), "cannot read 'none.npy': No such file or directory"),
        (("--codes", "one.npy", "short.npy"), "'one' has 300 rows and 'short' 100: compare takes codes of the same"),
        ((*CODES[:2], "short.npy", *CODES[3:]), "short: codes have 100 rows but factors have 300"),
        ((*CODES, "--samples", "10"), "--samples and --test-samples are for runs; with files, all rows are scored"),
        ((*CODES, "--data", "xysquares"), "--data is for runs; with files, all rows are scored"),
        ((*CODES, "--test-factors", "v.npy"), "--test-codes and --test-factors must be given together"),
        (
            (*CODES, "--test-codes", "one.npy", "--test-factors", "v.npy"),
            "--codes has 2 files and --test-codes 1; give",
        ),
        ((*CODES, "--metrics", "linearity"), "one: the metric 'linearity' needs codebook"),
    ],
)
def test_a_mistake_is_one_clear_line(cli, files, run, other, words, line):
    named = {"run": str(run), "other": str(other)}
    code, out, err = cli("compare", *(word.format(**named) for word in words))
    assert (code, out) == (2, "")
    assert err.startswith(f"unweave: {line.format(**named)}")
    assert err.count("\n") == 1


def test_runs_of_other_data_are_refused(cli, run, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    main(
        [
            "train",
            "beta-vae",
            *TINY[2:],
            "--data",
            "xysquares:size=32,spacing=4",
            "--steps",
            "2",
            "--out",
            str(elsewhere),
        ]
    )
    code, _, err = cli("compare", run, elsewhere, "--metrics", "mig")
    assert code == 2
    assert err == (
        "unweave: tiny was trained on xysquares:spacing=8,size=32 and elsewhere on xysquares:spacing=4,size=32: "
        "compare runs of one data set\n"
    )
