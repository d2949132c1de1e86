from __future__ import annotations

import errno
import json
import os
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars
import pytest

from unweave.cli.evaluate import BOUNDS, MEANING
from unweave.errors import UsageError
from unweave.metrics import METRICS, mcc, mig, noisy_labels, sap
from unweave.metrics.inputs import bin_factors
from unweave.metrics.resampling import Sampled
from unweave.runs import Run

FILES = ("--codes", "z.npy", "--factors", "v.npy")


@pytest.fixture
def files(tmp_path, monkeypatch) -> tuple[np.ndarray, np.ndarray]:
    """Codes and factors of 300 samples, as z and v, in both formats; the first two codes are the factors."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    factors = rng.integers(0, 4, size=(300, 2))
    codes = np.column_stack([factors + rng.normal(0, 0.1, size=(300, 2)), rng.normal(size=300)])
    for name, array in {"z": codes, "v": factors}.items():
        np.save(f"{name}.npy", array)
        np.savetxt(f"{name}.csv", array, delimiter=",", header="a,b,c"[: 2 * array.shape[1] - 1], comments="")
    np.savetxt("bare.csv", codes, delimiter=",")
    return codes, factors


def test_scores_of_a_run_are_shown_and_saved(cli, run, tmp_path):
    run = shutil.copytree(run, tmp_path / "copy", ignore=shutil.ignore_patterns("scores.parquet"))
    code, out, err = cli("evaluate", run, "--metrics", "mig", "--samples", "500", "--seed", "3")
    assert (code, err) == (0, "")
    head, row, encoding, *rest = out.splitlines()
    assert head.split() == ["metric", "value", "low", "high", "floor", "ceiling", "adjusted", "seconds"]
    saved = Run.open(run).scores()
    assert saved is not None
    score = saved.row(0, named=True)
    numbers = ("value", "low", "high", "floor", "ceiling", "adjusted")
    assert row.split()[:7] == ["mig", *(f"{score[name]:.3f}" for name in numbers)]
    assert encoding.split()[:7] == ["encoding", *["–"] * 6]
    assert score["value"] == Run.open(run).evaluate("mig", samples=500, seed=3)["value"][0]
    assert rest == ["", MEANING, BOUNDS, "", f"next: unweave report {run}"]


def test_columns_of_categories_are_named(cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    factor = np.arange(600) % 6
    np.save("z.npy", np.array([3, 0, 5, 1, 4, 2])[factor][:, None].astype(float))
    np.save("v.npy", factor[:, None])
    words = ("evaluate", "--codes", "z.npy", "--factors", "v.npy", "--metrics", "mcc", "--json")
    as_number, as_names = (json.loads(cli(*words, *more).out)["scores"][0] for more in ((), ("--categorical", "0")))
    assert as_number["value"] < 0.2
    assert as_names["value"] == pytest.approx(1.0)
    assert as_names["options"]["categorical"] == [0]
    assert "from 0 to 0, got 3" in cli(*words, "--categorical", "3").err


def test_all_that_can_be_had_is_the_default(cli, files):
    scores = json.loads(cli("evaluate", "--codes", "z.npy", "--json").out)["scores"]
    alone = {"codes", "categorical"}
    names = [name for name, each in METRICS.items() if {*each.needs} <= alone and each.representation == "mean"]
    assert [score["metric"] for score in scores] == [row for name in names for row in METRICS[name].names(name)]


def test_options_of_metrics_by_hand(cli, files):
    words = ("evaluate", *FILES, "--metrics", "mig", "--no-intervals", "--json")
    result = json.loads(cli(*words, "--set", "mig.bins=5", "--label-noise", "2").out)["scores"][0]
    assert result["options"] == {"bins": 5, "rows": 300, "label_noise": 2, "seed": 0}
    assert result["value"] == mig(files[0], noisy_labels(files[1], regime=2), bins=5)


def test_an_option_of_several_values_may_be_given_again(cli, files):
    words = ("evaluate", *FILES, "--metrics", "mig", "--set", "mig.bins=3", "--no-intervals", "--json")
    scores = json.loads(cli(*words, "--metrics", "mig-sup", "--set=mig-sup.bins=30").out)["scores"]
    assert [(score["metric"], score["options"]["bins"]) for score in scores] == [("mig", 3), ("mig-sup", 30)]


def interrupt(codes: np.ndarray, factors: np.ndarray) -> Sampled[float]:
    raise KeyboardInterrupt


def refuse(codes: np.ndarray, factors: np.ndarray) -> Sampled[float]:
    raise UsageError("too odd")


@pytest.mark.parametrize(
    ("failure", "code", "line"), [(interrupt, 130, "unweave: interrupted\n"), (refuse, 2, "unweave: too odd\n")]
)
@pytest.mark.parametrize("where", ["files", "run"])
def test_what_was_finished_before_a_failure_is_shown(cli, files, run, monkeypatch, where, failure, code, line):
    monkeypatch.setitem(METRICS, "mcc", replace(METRICS["mcc"], sample=failure, bound={}))
    source = FILES if where == "files" else (run, "--samples", "100", "--test-samples", "100")
    words = ("evaluate", *source, "--metrics", "mig", "mcc", "--no-intervals")
    ended, out, err = cli(*words)
    assert (ended, err) == (code, line)
    assert [row.split()[0] for row in out.splitlines()] == ["metric", "mig"]
    assert [score["metric"] for score in json.loads(cli(*words, "--json").out)["scores"]] == ["mig"]


def test_scores_that_find_no_room_in_the_run_are_shown(cli, run, monkeypatch):
    def full_disk(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full_disk)
    before = sorted(os.listdir(run))
    code, out, err = cli("evaluate", run, "--metrics", "mig", "--samples", "100", "--test-samples", "100")
    assert (code, err) == (2, f"unweave: cannot write '{run}': No space left on device\n")
    assert [row.split()[0] for row in out.splitlines()] == ["metric", "mig"]
    assert {*os.listdir(run)} - {".scores.parquet.lock"} == {*before} - {".scores.parquet.lock"}


@pytest.mark.filterwarnings("default")
def test_few_rows_are_one_line_of_warning(cli, files):
    code, _, err = cli("evaluate", *FILES, "--metrics", "mig")
    assert code == 0
    assert err == (
        "unweave: warning: 300 rows are few for a factor of 4 values: below 800 scores are biased; "
        "give more rows or, for a run, --samples 800 (in Python, samples=800)\n"
    )


def test_scores_for_machines(cli, run):
    words = ("evaluate", run, "--metrics", "mig", "sap-correlation", "--samples", "200", "--no-intervals", "--json")
    result = json.loads(cli(*words).out)
    assert result["run"] == str(run)
    assert [score["metric"] for score in result["scores"]] == ["mig", "sap-correlation", "encoding"]
    assert result["scores"][2]["value"] is None
    assert result["scores"][2]["seconds"] > 0
    assert result["scores"][0]["low"] is None
    assert result["scores"][0]["options"]["bins"] == 20


@pytest.mark.parametrize(("codes", "factors"), [("z.npy", "v.npy"), ("z.csv", "v.csv"), ("bare.csv", "v.npy")])
def test_scores_of_files(cli, files, codes, factors):
    words = ("evaluate", "--codes", codes, "--factors", factors, "--metrics", "mig", "--json")
    code, out, err = cli(*words)
    assert (code, err) == (0, "")
    assert json.loads(out)["run"] is None
    assert json.loads(out)["scores"][0]["value"] == pytest.approx(mig(*files))


def test_test_files_reach_the_metrics(cli, files):
    words = ("evaluate", *FILES, "--metrics", "sap", "--no-intervals", "--json")
    test = ("--test-codes", "z.csv", "--test-factors", "v.csv")
    assert json.loads(cli(*words).out)["scores"][0]["options"]["test"] == "split"
    assert json.loads(cli(*words, *test).out)["scores"][0]["options"]["test"] == "given"


def test_numbers_that_nothing_has_are_no_columns(cli, files):
    """Without intervals no sentence about them either."""
    lines = cli("evaluate", *FILES, "--metrics", "mig", "--no-intervals").out.splitlines()
    assert lines[0].split() == ["metric", "value", "floor", "ceiling", "adjusted", "seconds"]
    assert lines[2:] == ["", BOUNDS, "", "next: unweave metrics list"]
    lines = cli("evaluate", *FILES, "--metrics", "mig", "--no-intervals", "--no-floors").out.splitlines()
    assert lines[0].split() == ["metric", "value", "seconds"]
    assert lines[2:] == ["", "next: unweave metrics list"]
    with_intervals = cli("evaluate", *FILES, "--metrics", "mig", "modularity", "--no-floors").out.splitlines()
    assert with_intervals[0].split() == ["metric", "value", "low", "high", "seconds"]
    assert with_intervals[3:] == ["", MEANING, "", "next: unweave metrics list"]


def test_a_number_that_one_score_lacks_is_a_dash(cli, files):
    words = ("evaluate", *FILES, "--metrics", "mig", "total-correlation", "--no-intervals")
    head, first, second, *_ = cli(*words).out.splitlines()
    assert head.split() == ["metric", "value", "floor", "ceiling", "adjusted", "seconds"]
    assert "–" not in first
    assert second.split()[2:5] == ["–", "–", "–"]


def test_the_sentence_says_what_an_interval_is_over():
    assert "another draw of this many rows" in MEANING
    assert "Training seeds are not counted" in MEANING


def test_details_have_a_column_for_the_factor(cli, files):
    words = ("evaluate", *FILES, "--metrics", "mig", "--details", "--no-intervals", "--no-floors")
    lines = [line.split() for line in cli(*words).out.splitlines()]
    assert lines[0] == ["metric", "factor", "value", "seconds"]
    codes, factors = files
    for k in (0, 1):
        assert lines[2 + k][:4] == ["mig", "factor", f"{k + 1}", f"{mig(codes, factors[:, [k]]):.3f}"]
    scores = json.loads(cli(*words, "--json").out)["scores"]
    assert [score["factor"] for score in scores] == [None, "factor 1", "factor 2"]


@pytest.mark.filterwarnings("default:'d.parquet'")
def test_columns_name_the_factors_and_others_are_one_line_of_warning(cli, files):
    codes, factors = files
    columns = {"id": range(len(codes)), "code0": codes[:, 0], "factor_hue": factors[:, 0], "factor_x": factors[:, 1]}
    polars.DataFrame(columns).write_parquet("d.parquet")
    words = ("--metrics", "mig", "--details", "--no-intervals", "--no-floors", "--json")
    code, out, err = cli("evaluate", "--codes", "d.parquet", *words)
    line = "'d.parquet': the column id is ignored; only names that begin with code or factor are read"
    assert (code, err) == (0, f"unweave: warning: {line}\n")
    assert [score["factor"] for score in json.loads(out)["scores"]] == [None, "hue", "x"]
    polars.DataFrame(columns).select("factor_hue", "factor_x").write_parquet("v.parquet")
    scores = json.loads(cli("evaluate", "--codes", "z.npy", "--factors", "v.parquet", *words).out)["scores"]
    assert [score["factor"] for score in scores] == [None, "hue", "x"]


@pytest.mark.parametrize("name", ["scores.csv", "scores.parquet", "scores.json"])
def test_scores_are_written_to_a_file_too(cli, files, name):
    code, out, err = cli("evaluate", *FILES, "--metrics", "mig", "mcc", "--out", name)
    assert (code, err) == (0, "")
    assert out.splitlines()[1].split()[0] == "mig"
    read = {".csv": polars.read_csv, ".parquet": polars.read_parquet, ".json": polars.read_json}[Path(name).suffix]
    table = read(name)
    assert table["metric"].to_list() == ["mig", "mcc"]
    assert table["value"].to_list() == pytest.approx([mig(*files), mcc(*files)])
    assert {"low", "high", "floor", "ceiling", "adjusted", "seconds", "options"} < {*table.columns}
    options = table["options"][0]
    assert (json.loads(options) if isinstance(options, str) else options)["bins"] == 20


def test_scores_of_a_run_are_written_to_a_file_too(cli, run, tmp_path):
    path = tmp_path / "scores.csv"
    words = ("evaluate", run, "--metrics", "mig", "--samples", "100", "--test-samples", "100", "--no-intervals")
    assert cli(*words, "--out", path).code == 0
    saved = Run.open(run).scores()
    assert saved is not None
    assert polars.read_csv(path).filter(metric="mig")["value"].item() in saved["value"].to_list()


@pytest.mark.parametrize(
    ("path", "complaint"),
    [
        ("scores.txt", "write scores to a .csv, .parquet or .json file, not to 'scores.txt'"),
        ("none/scores.csv", "there is no folder 'none' to write 'scores.csv' into; make it first"),
        ("folder.csv", "'folder.csv' is a folder; choose another name"),
    ],
)
def test_where_scores_cannot_be_written_is_said_before_any_work(cli, files, path, complaint, monkeypatch):
    Path("folder.csv").mkdir()
    monkeypatch.setitem(METRICS, "mcc", replace(METRICS["mcc"], sample=refuse, bound={}))
    assert cli("evaluate", *FILES, "--metrics", "mcc", "--out", path) == (2, "", f"unweave: {complaint}\n")


def write_parquet(files) -> tuple[str, ...]:
    codes, factors = files
    columns = {f"code{j}": code for j, code in enumerate(codes.T)} | {f"factor{k}": v for k, v in enumerate(factors.T)}
    polars.DataFrame(columns).write_parquet("both.parquet")
    return "--codes", "both.parquet"


def write_two_parquets(files) -> tuple[str, ...]:
    for name, array in zip(("z", "v"), files, strict=True):
        polars.DataFrame({f"column{j}": column for j, column in enumerate(array.T)}).write_parquet(f"{name}.parquet")
    return "--codes", "z.parquet", "--factors", "v.parquet"


def write_npz(files) -> tuple[str, ...]:
    np.savez("both.npz", codes=files[0], factors=files[1])
    return "--codes", "both.npz"


def write_members(files) -> tuple[str, ...]:
    np.savez("several.npz", z=files[0], v=files[1])
    return "--codes", "several.npz:z", "--factors", "several.npz:v"


def write_npz_and_factors(files) -> tuple[str, ...]:
    np.savez("other.npz", codes=files[0], factors=files[1][::-1])  # the file of factors is asked for
    return "--codes", "other.npz", "--factors", "v.npy"


WRITERS = [write_parquet, write_two_parquets, write_npz, write_members, write_npz_and_factors]


@pytest.mark.parametrize("write", WRITERS)
def test_scores_of_npz_and_parquet_files(cli, files, write):
    code, out, err = cli("evaluate", *write(files), "--metrics", "mig", "--no-intervals", "--json")
    assert (code, err) == (0, "")
    assert json.loads(out)["scores"][0]["value"] == pytest.approx(mig(*files))


def test_an_npz_file_may_hold_test_rows(cli, files):
    codes, factors = files
    np.savez("all.npz", codes=codes[:200], factors=factors[:200], test_codes=codes[200:], test_factors=factors[200:])
    out = cli("evaluate", "--codes", "all.npz", "--metrics", "sap", "--no-intervals", "--json").out
    (score,) = json.loads(out)["scores"]
    assert score["value"] == sap(codes[:200], factors[:200], test=(codes[200:], factors[200:]))
    assert score["options"]["test"] == "given"


def test_continuous_factors_on_the_command_line(cli, files):
    codes, factors = files
    np.save("numbers.npy", factors + codes[:, 2:] / 10)
    words = ("evaluate", "--codes", "z.npy", "--factors", "numbers.npy", "--no-intervals", "--json")
    code, out, err = cli(*words, "--metrics", "mig")
    assert (code, out) == (2, "")
    assert err.startswith("unweave: the metric 'mig' needs factors that are classes; ")
    assert err.count("\n") == 1
    assert json.loads(cli(*words, "--metrics", "mcc").out)["scores"][0]["value"] > 0.9
    (binned,) = json.loads(cli(*words, "--metrics", "mig", "--bin-factors", "4").out)["scores"]
    assert binned["value"] == mig(codes, bin_factors(np.load("numbers.npy"), 4))


@pytest.mark.filterwarnings("default:factor 1 holds strings")
def test_texts_are_numbered_with_one_line_of_warning(cli, files):
    names = np.array(["blue", "green", "red", "white"])[files[1][:, 0]]
    Path("colours.csv").write_text("\n".join(["colour", *names]))
    words = ("evaluate", "--codes", "z.npy", "--factors", "colours.csv", "--metrics", "mig", "--no-intervals", "--json")
    code, out, err = cli(*words)
    line = "factor 1 holds strings: numbered in alphabetical order, 'blue' = 0 ... 'white' = 3"
    assert (code, err) == (0, f"unweave: warning: {line}\n")
    assert json.loads(out)["scores"][0]["value"] == pytest.approx(mig(files[0], files[1][:, :1]))


class Payload:
    """Would run code when unpickled."""

    def __reduce__(self):
        return Path.touch, (Path("executed"),)


@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        ("missing.npy", "cannot read 'missing.npy': No such file or directory"),
        ("folder.npy", "cannot read 'folder.npy': Is a directory"),
        ("empty.npy", "'empty.npy' does not hold a plain array of numbers"),
        ("text.npy", "'text.npy' does not hold a plain array of numbers"),
        ("pickle.npy", "'pickle.npy' does not hold a plain array of numbers"),
        ("empty.csv", "'empty.csv' does not hold a plain array of numbers: it has no rows"),
        ("words.csv", "'words.csv' does not hold a plain array of numbers"),
        ("ragged.csv", "'ragged.csv' does not hold a plain array of numbers"),
        ("binary.csv", "'binary.csv' does not hold a plain array of numbers"),
        ("z.pt", "'z.pt' must be a .npy or .npz file (numpy.save, numpy.savez), a .csv or a .parquet file"),
        ("short.npy", ""),
        ("flat.npy", ""),
        ("strings.npy", ""),
    ],
)
def test_a_file_without_an_array_is_one_line(cli, files, name, complaint):
    Path("folder.npy").mkdir()
    Path("empty.npy").touch()
    Path("text.npy").write_text("these are not numbers")
    np.save("pickle.npy", np.array([Payload()], dtype=object), allow_pickle=True)
    Path("empty.csv").touch()
    Path("words.csv").write_text("a,b\n1,2\n3,four\n")
    Path("ragged.csv").write_text("1,2\n3\n")
    Path("binary.csv").write_bytes(bytes(range(128, 256)))
    np.save("short.npy", files[0][:-1])
    np.save("flat.npy", files[0][0, 0])
    np.save("strings.npy", np.array([["a", "b"]] * 300))
    code, out, err = cli("evaluate", "--codes", name, "--factors", "v.npy", "--metrics", "mig")
    assert (code, out) == (2, "")
    assert err.startswith(f"unweave: {complaint}")
    assert err.count("\n") == 1
    assert not Path("executed").exists()


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("--factors", "v.npy"), "name a run, or give --codes and --factors"),
        (
            ("--codes", "z.npy", "--metrics", "active-units", "mig"),
            "the metric 'mig' needs factors, but 'z.npy' has no factors; give --factors FILE\n",
        ),
        (("z.npy",), "'z.npy' is a file, not the folder of a run; give files with --codes z.npy\n"),
        ((*FILES, "--preset", "quick"), "no preset is called 'quick'"),
        ((*FILES, "--replicates", "1"), "--replicates must be 2 or more, not 1"),
        ((*FILES, "--bin-factors", "1"), "--bin-factors must be 2 or more, not 1"),
        ((*FILES, "--seed", "-1"), "--seed must be 0 or more, not -1"),
        ((*FILES, "--set", "mig.bins"), "--set takes METRIC.OPTION=VALUE, such as mig.bins=30, not 'mig.bins'"),
        ((*FILES, "--set", "mig.bin=3"), "no option is called 'bin'; did you mean 'bins'?"),
        ((*FILES, "--set", "mig.bins=3", "mig.bins=30"), "--set: mig.bins is given twice"),
        ((*FILES, "--set", "mig.bins=3", "--set", "mig.bins=30"), "--set: mig.bins is given twice"),
        ((*FILES, "--label-noise", "0"), "--label-noise must be 1, 2 or 3, not 0\n"),
        ((*FILES, "--metrics", "mig", "--label-noise", "7"), "--label-noise must be 1, 2 or 3, not 7\n"),
        (("--codes", "z.npy", "--label-noise", "1"), "--label-noise, --test-codes and --test-factors need --factors"),
        (("--codes", "z.npy", "--test-factors", "v.npy"), "--test-codes and --test-factors must be given together"),
        (
            ("--codes", "z.npy", "--test-codes", "z.npy", "--test-factors", "v.npy"),
            "--label-noise, --test-codes and --test-factors need --factors",
        ),
        ((*FILES, "--test-codes", "z.npy"), "--test-codes and --test-factors must be given together"),
        ((*FILES, "--metrics", "mgi"), "no metric is called 'mgi'; did you mean 'mig'?"),
        (
            (*FILES, "--metrics", "mig,sap"),
            "separate the names of metrics by spaces, not commas: --metrics mig sap\n",
        ),
        (
            (*FILES, "--metrics", "elbo"),
            "the metric 'elbo' needs log_variances and reconstruction; score a run instead",
        ),
        ((*FILES, "--metrics", "z-max-variance"), "the metric 'z-max-variance' needs codebook; score a run instead"),
        ((*FILES, "--samples", "30"), "--samples and --test-samples are for a run; with files, all rows are scored"),
        ((*FILES, "--test-samples", "30"), "--samples and --test-samples are for a run; with files, all rows are"),
        ((*FILES, "--step", "5"), "--step is for a run that keeps snapshots, not for files"),
        ((*FILES, "--data", "xysquares"), "--data is for a run, not for files"),
        ((*FILES, "--samples", "-3"), "--samples must be 2 or more, not -3"),
        ((*FILES, "--test-samples", "1"), "--test-samples must be 2 or more, not 1"),
    ],
)
def test_what_does_not_go_together_is_one_line(cli, files, words, complaint):
    code, out, err = cli("evaluate", *words)
    assert (code, out) == (2, "")
    assert err.startswith(f"unweave: {complaint}")


def test_what_a_file_lacks_is_named(cli, files):
    np.savez("z.npz", codes=files[0])
    np.savez("y.npz", codes=files[0])
    table = polars.DataFrame(files[0], schema=["code_0", "code_1", "code_2"])
    table.write_parquet("z.parquet")
    lines = {
        ("evaluate", "z.npz"): "'z.npz' has no array named factors",
        ("evaluate", "y.npz", "z.npz"): "'y.npz' has no array named factors",
        ("evaluate", "--codes", "z.parquet"): "'z.parquet' has no columns whose names begin with factor",
        ("compare", "--codes", "z.npz", "y.npz"): "'z.npz' has no array named factors",
    }
    for words, lack in lines.items():
        line = f"unweave: the metric 'mig' needs factors, but {lack}; give --factors FILE\n"
        assert cli(*words, "--metrics", "mig") == (2, "", line)
    assert cli("evaluate", "z.npz", "--metrics", "active-units").code == 0


@pytest.mark.filterwarnings("default")
def test_constant_codes_are_one_line_of_warning(cli, files):
    np.savez("same.npz", codes=np.ones((300, 2)), factors=files[1])
    code, out, err = cli("evaluate", "same.npz", "--metrics", "mig", "--no-floors", "--no-intervals")
    assert (code, "mig     0.000" in out) == (0, True)
    assert "unweave: warning: all latents are constant: every row of codes is the same; check what wrote them\n" in err


def test_a_run_and_files_do_not_go_together(cli, files, run):
    code, _, err = cli("evaluate", run, "--codes", "z.npy")
    assert code == 2
    assert err.startswith("unweave: score either a run or files")


def test_a_run_needs_weights(cli, tmp_path, run):
    (tmp_path / "config.json").write_bytes((run / "config.json").read_bytes())
    code, out, err = cli("evaluate", tmp_path, "--metrics", "mig")
    assert (code, out) == (2, "")
    assert "has no weights" in err
    assert err.count("\n") == 1


def test_report_writes_the_page_and_prints_its_path(cli, run, tmp_path):
    page = tmp_path / "page.html"
    code, out, err = cli("report", run, "--out", page)
    assert (code, err) == (0, "")
    path, collapsed, *rest = out.splitlines()
    assert (path, rest) == (str(page), ["", f"next: open {page} in a browser"])
    assert collapsed.startswith("This model has nearly collapsed: no latent is active")  # after twenty steps
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert cli("report", run).out.startswith(f"{run / 'report.html'}\n")
    assert (run / "report.html").read_bytes() == page.read_bytes()


def test_a_snapshot_is_scored_by_its_step(cli, tmp_path):
    out = tmp_path / "kept"
    small = ("--net", "mlp", "--width", "0.05", "--batch", "8")
    trained = cli(
        "train", "vae", "--data", "xysquares:size=32", "--steps", "6", "--snapshots", "3", *small, "--out", out
    )
    assert trained.code == 0
    words = ("--metrics", "mig", "--samples", "200", "--no-intervals", "--no-floors", "--json")
    by_step = {step: json.loads(cli("evaluate", out, "--step", step, *words).out)["scores"][0] for step in (3, 6)}
    run = Run.open(out)
    few = {"samples": 200, "intervals": False, "floors": False, "progress": False}
    assert by_step[3]["value"] == run.at(3).evaluate("mig", **few)["value"][0]
    assert by_step[6]["value"] == run.evaluate("mig", **few)["value"][0]
    refused = cli("evaluate", out, "--step", "4", *words)
    assert (refused.code, refused.err) == (2, f"unweave: '{out}' has no snapshot of step 4 (saved: 3, 6)\n")
