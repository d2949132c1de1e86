from __future__ import annotations

import json

import numpy as np
import pytest

FAST = ["--features", "12", "--k", "2", "--steps", "20", "--batch", "16", "--threads", "1"]


def fast(option, value):
    """The same options, with one of them changed or added."""
    pairs = dict(zip(FAST[::2], FAST[1::2], strict=True)) | {option: value}
    return [word for pair in pairs.items() for word in pair]


@pytest.fixture
def codes(tmp_path):
    rng = np.random.default_rng(0)
    factors = rng.integers(3, size=(90, 2))
    np.savez(
        tmp_path / "codes.npz", codes=rng.normal(size=(90, 4)) + factors[:, :1], factors=factors, indices=np.arange(90)
    )
    return tmp_path / "codes.npz"


def test_sparse_codes_are_written_with_factors_and_indices(cli, codes, tmp_path):
    code, out, err = cli("sparsify", codes, *FAST, "--out", tmp_path / "sae")
    assert (code, err) == (0, "")
    assert out.splitlines()[0] == "codes            90 rows of 4 columns, now 12 features"
    sparse = tmp_path / "sae" / "sparse.npz"
    assert out.splitlines()[-1] == f"next: unweave evaluate --codes {sparse} --metrics overcomplete"
    written, given = np.load(sparse), np.load(codes)
    assert written["codes"].shape == (90, 12)
    assert (written["codes"] > 0).sum(1).max() == 2
    for name in ("factors", "indices"):
        np.testing.assert_array_equal(written[name], given[name])


def test_the_same_command_again_gives_the_same_files(cli, codes, tmp_path):
    cli("sparsify", codes, *FAST, "--out", tmp_path / "sae")
    before = (tmp_path / "sae" / "sparse.npz").read_bytes()
    code, out, err = cli("sparsify", codes, *FAST, "--out", tmp_path / "sae", "--json")
    assert (code, err) == (0, "")
    assert json.loads(out)["l0"] <= 2
    assert (tmp_path / "sae" / "sparse.npz").read_bytes() == before


def test_the_record_of_codes_is_kept(cli, codes, tmp_path):
    record = '{"encoder": "pca", "factors": ["a", "b"]}'
    np.savez(tmp_path / "recorded.npz", **np.load(codes), record=np.array(record))
    assert cli("sparsify", tmp_path / "recorded.npz", *FAST, "--out", tmp_path / "sae").code == 0
    assert str(np.load(tmp_path / "sae" / "sparse.npz", allow_pickle=False)["record"]) == record


def test_old_sparse_codes_go_before_a_new_fit(cli, codes, tmp_path):
    assert cli("sparsify", codes, *FAST, "--out", tmp_path / "sae").code == 0
    words = ("sparsify", codes, *fast("--lr", "1e30"), "--overwrite", "--out", tmp_path / "sae")
    assert "smaller lr" in cli(*words).err
    assert not (tmp_path / "sae" / "sparse.npz").exists()


def test_codes_alone_will_do(cli, tmp_path):
    np.save(tmp_path / "codes.npy", np.random.default_rng(0).normal(size=(40, 3)))
    code, out, err = cli("sparsify", tmp_path / "codes.npy", *FAST, "--kind", "batch-topk", "--out", tmp_path / "sae")
    assert (code, err) == (0, "")
    assert np.load(tmp_path / "sae" / "sparse.npz").files == ["codes"]
    assert out.splitlines()[-1].startswith("next: python -c ")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--k", "13"], "k must be at most the number of features, 12, not 13"),
        (["--kind", "top"], "topk"),
        (["--lr", "0"], "the learning rate must be positive"),
        (["--threads", "0"], "--threads must be 1 or more"),
        (["--checkpoint-every", "0"], "--checkpoint-every must be 1 or more"),
    ],
)
def test_a_mistake_is_one_line(cli, codes, tmp_path, words, message):
    code, out, err = cli("sparsify", codes, *fast(*words), "--out", tmp_path / "sae")
    assert (code, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1


def test_files_that_cannot_be_used_are_answered(cli, codes, tmp_path):
    np.save(tmp_path / "nan.npy", np.full((5, 2), np.nan))
    np.savez(tmp_path / "odd.npz", codes=np.eye(5), indices=np.arange(4))
    for name, message in (("nan.npy", "NaN"), ("odd.npz", "4 of indices"), ("none.npz", "cannot read")):
        code, out, err = cli("sparsify", tmp_path / name, *FAST, "--out", tmp_path / "sae")
        assert (code, out) == (2, "")
        assert message in err
    (tmp_path / "file").write_text("")
    assert "is a file" in cli("sparsify", codes, *FAST, "--out", tmp_path / "file").err
    assert cli("sparsify", codes, *FAST, "--out", tmp_path / "sae").code == 0
    assert "was fitted with k 2, not 3" in cli("sparsify", codes, *fast("--k", "3"), "--out", tmp_path / "sae").err
    assert cli("sparsify", codes, *fast("--k", "3"), "--overwrite", "--out", tmp_path / "sae").code == 0
