"""`unweave encode`, and what `unweave evaluate` makes of its files."""

from __future__ import annotations

import json

import numpy as np
import pytest

WORDS = ("encode", "pca", "--data", "xysquares:size=32", "--samples", "60", "--width", "5")


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_codes_are_written_and_scored(cli, here):
    code, out, err = cli(*WORDS, "--out", "codes.npz")
    assert (code, err) == (0, "")
    assert "codes       60 × 5" in out
    assert out.endswith("next: unweave evaluate codes.npz\n")
    with np.load("codes.npz", allow_pickle=False) as file:
        assert file["codes"].shape == (60, 5)
        assert file["factors"].shape == (60, 6)
        assert json.loads(str(file["record"]))["encoder"] == "pca"
    quick = ("--metrics", "mig", "--no-intervals", "--no-floors", "--json")
    named, given = cli("evaluate", "codes.npz", *quick), cli("evaluate", "--codes", "codes.npz", *quick)
    assert named.code == given.code == 0
    values = [json.loads(result.out)["scores"][0]["value"] for result in (named, given)]
    assert values[0] == values[1] > 0


def test_several_files_are_one_table(cli, here):
    cli(*WORDS, "--out", "a.npz")
    cli("encode", "pixels:size=2", *WORDS[2:6], "--out", "b.npz")
    quick = ("--metrics", "mig", "--no-intervals", "--no-floors")
    code, out, _ = cli("evaluate", "a.npz", "b.npz", *quick, "--details")
    assert code == 0
    assert out.splitlines()[0].split()[:3] == ["key", "metric", "factor"]
    assert out.splitlines()[2].split()[:3] == ["a", "mig", "x_R"]  # the factors have the data set's names
    assert out.count("b    mig") == 7  # the score, and that of each of six factors
    assert out.endswith("next: unweave compare --codes a.npz b.npz\n")
    rows = json.loads(cli("evaluate", "a.npz", "b.npz", *quick, "--json").out)["scores"]
    assert [(row["key"], row["metric"]) for row in rows if row["metric"] == "mig"] == [("a", "mig"), ("b", "mig")]


def test_layers_are_listed_and_nothing_is_encoded(cli, here):
    code, out, _ = cli("encode", "alexnet-shift", "--layers", "--random-weights", "--json")
    assert code == 0
    assert json.loads(out)["layers"]["slice1"] == 64
    lines = cli("encode", "pixels", "--layers", "--data", "xysquares:size=32").out.splitlines()
    assert lines[:2] == ["layer   width", "pooled  3,072"]
    assert lines[-1].startswith("next: unweave encode pixels --layer pooled")
    assert list(here.iterdir()) == []


def test_the_first_images_are_taken_in_order(cli, here):
    code, out, _ = cli(*WORDS, "--first", "--out", "codes.npz", "--json")
    assert code == 0
    assert (json.loads(out)["images"], json.loads(out)["shape"]) == ("first", [60, 5])
    with np.load("codes.npz") as file:
        assert file["indices"].tolist() == list(range(60))


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("encode", "pca"), "missing: --data NAME and --out FILE; for example: unweave encode pca"),
        ((*WORDS, "--out", "codes.npy"), "codes must be written to an .npz file, not to 'codes.npy'"),
        ((*WORDS, "--out", "there.npz"), "'there.npz' already exists; choose another name, or --overwrite"),
        ((*WORDS, "--out", "no/codes.npz"), "there is no folder 'no' to write 'codes.npz' into; make it first"),
        (
            ("encode", "resnet18", *WORDS[2:], "--out", "x.npz"),
            "no encoder is called 'resnet18' (known: efficientnet-lite0",
        ),
        (("encode", "runs/none", *WORDS[2:], "--out", "x.npz"), "there is no folder 'runs/none', and no encoder"),
        (("encode", "pcaa", *WORDS[2:], "--out", "x.npz"), "no encoder is called 'pcaa'; did you mean 'pca'?"),
        ((*WORDS, "--out", "x.npz", "--projection", "pcs"), "no projection is called 'pcs'; did you mean 'pca'?"),
        ((*WORDS, "--out", "x.npz", "--pooling", "men"), "no pooling is called 'men'; did you mean 'mean'?"),
        ((*WORDS, "--out", "x.npz", "--layer", "top"), "no layer of pca is called 'top'"),
        ((*WORDS[:5], "1", "--out", "x.npz"), "--samples must be 2 or more, not 1"),
        (("encode", "text.onnx", *WORDS[2:6], "--out", "x.npz"), "'text.onnx' is not a readable ONNX file"),
        (("evaluate", "there.npz", "other.npz"), "'there.npz' and 'other.npz' hold codes of different samples"),
        (("evaluate", "first.npz", "second.npz"), "'first.npz' and 'second.npz' have different image indices; encode"),
        (("evaluate", "there.npz", "tested.npz"), "'tested.npz' holds test_codes, but several files are scored"),
        (("evaluate", "there.npz", "run"), "score either a run or .npz files: 'there.npz' is a file"),
        (("evaluate", "run", "other"), "score one run at a time; to compare several: unweave compare run other"),
        (("evaluate", "there.npz", "--codes", "other.npz"), "give codes once"),
        (("evaluate", "there.npz", "there.npz"), "'there.npz' is given twice"),
        (("evaluate", "there.npz", "other.npz", "--samples", "9"), "--samples and --test-samples are for a run"),
    ],
)
def test_mistakes_are_one_line(cli, here, words, complaint):
    (here / "text.onnx").write_text("this is no network")
    np.savez("there.npz", codes=np.zeros((9, 2)), factors=np.zeros((9, 1), int))
    np.savez("other.npz", codes=np.zeros((9, 2)), factors=np.ones((9, 1), int))
    same = {"codes": np.zeros((9, 2)), "factors": np.zeros((9, 1), int)}
    np.savez("first.npz", **same, indices=np.arange(9))
    np.savez("second.npz", **same, indices=np.arange(9)[::-1])
    np.savez("tested.npz", **same, test_codes=np.zeros((4, 2)), test_factors=np.zeros((4, 1), int))
    if "text.onnx" in words:
        pytest.importorskip("onnxruntime")
    code, out, err = cli(*words)
    assert (code, out) == (2, "")
    assert err.startswith(f"unweave: {complaint}")
    assert err.count("\n") == 1


def test_a_run_is_encoded_on_its_own_data_set(cli, here):
    trained = ("train", "vae", "--data", "xysquares:size=32", "--net", "mlp", "--width", "0.05", "--steps", "1")
    assert cli(*trained, "--out", "run").code == 0
    found = cli("encode", "run", "--samples", "20", "--out", "codes.npz", "--json")
    assert (found.code, json.loads(found.out)["data"]["name"]) == (0, "xysquares")
    hint = cli("encode", "resnet18", "--data", "xysquares", "--out", "x.npz").err
    assert hint.endswith("for a timm model, write timm:resnet18\n")


@pytest.mark.usefixtures("_libraries")
@pytest.mark.filterwarnings("ignore")
def test_a_model_of_timm_is_encoded_by_name(cli, here):
    words = ("--random-weights", "--data", "xysquares:size=32", "--samples", "3", "--out", "codes.npz", "--json")
    code, out, err = cli("encode", "timm:resnet10t:size=32", *words)
    assert (code, err) == (0, "")
    assert json.loads(out)["encoder"] == "timm:resnet10t"
    assert json.loads(out)["shape"] == [3, 512]


def test_a_name_that_is_cut_short_is_completed(cli, here):
    code, _, err = cli("encode", "efficientnet", "--data", "xysquares:size=32", "--out", "codes.npz")
    assert code == 2
    assert "did you mean 'efficientnet-lite0'?" in err


def test_images_that_are_too_small_are_refused_in_plain_words(cli, here):
    words = ("--random-weights", "--data", "xysquares:size=32", "--samples", "3", "--out", "codes.npz")
    code, _, err = cli("encode", "alexnet-shift:size=8", *words)
    assert code == 2
    assert err == "unweave: alexnet-shift:size=8 cannot encode images of 8 × 8 pixels; give it another size\n"
