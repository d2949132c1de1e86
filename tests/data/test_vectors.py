"""Vectors from arrays and files: what is read, and what is refused in one line."""

from __future__ import annotations

import h5py
import numpy as np
import polars
import pytest
from scipy import sparse

import unweave
from unweave.data import Vectors
from unweave.data.vector_files import VectorFile
from unweave.data.vectors import are_counts
from unweave.errors import UsageError

RNG = np.random.default_rng(0)
VALUES = RNG.normal(3.0, 2.0, (50, 4))
KINDS = np.array(["b", "a", "c"])[np.arange(50) % 3]


def read(name, **options) -> VectorFile:
    data = unweave.load(name, **options)
    assert isinstance(data, VectorFile)
    return data


def write_h5ad(path, values, **obs):
    """Write the parts of an h5ad file that are read, as AnnData lays them out."""
    with h5py.File(path, "w") as file:
        if sparse.issparse(values):
            group = file.create_group("X")
            group.attrs.update({"encoding-type": f"{values.format}_matrix", "shape": values.shape})
            for part in ("data", "indices", "indptr"):
                group[part] = getattr(values, part)
        else:
            file["X"] = values
        file["layers/raw"] = np.arange(values.shape[0] * values.shape[1]).reshape(values.shape)
        for name, length in (("obs", values.shape[0]), ("var", values.shape[1])):
            file.create_group(name).attrs["_index"] = "_index"
            file[f"{name}/_index"] = [f"{name}{number}".encode() for number in range(length)]
        for name, column in obs.items():
            if column.dtype.kind == "U":
                categories, codes = np.unique(column, return_inverse=True)
                file[f"obs/{name}/categories"] = [word.encode() for word in categories]
                file[f"obs/{name}/codes"] = codes.astype(np.int8)
            else:
                file[f"obs/{name}"] = column


def test_vectors_without_factors():
    data = Vectors(VALUES, features=["a", "b", "c", "d"])
    assert (data.shape, len(data), data.has_images, data.is_labelled, data.is_grid) == ((4,), 50, False, False, False)
    rows = data.inputs([3, 0])
    assert rows.dtype == np.float32
    np.testing.assert_array_equal(rows, VALUES[[3, 0]].astype(np.float32))
    mean, deviation = data.scale()
    np.testing.assert_allclose(mean, VALUES.mean(axis=0), rtol=1e-6)
    np.testing.assert_allclose(deviation, VALUES.std(axis=0), rtol=1e-6)
    with pytest.raises(UsageError, match="has no images: its rows are vectors"):
        data.images([0])


def test_a_full_grid_of_vectors_is_put_into_its_order():
    cells = RNG.permutation(12)
    factors = np.stack(np.unravel_index(cells, (3, 4)), axis=1)
    data = Vectors(np.arange(24.0).reshape(12, 2), factors, names=["a", "b"])
    assert data.is_grid
    np.testing.assert_array_equal(data.inputs(cells), np.arange(24.0).reshape(12, 2))


def test_sparse_rows_are_those_of_the_dense_matrix():
    dense = RNG.poisson(0.3, (2000, 30)).astype(np.float32)
    data, same = Vectors(sparse.csc_array(dense)), Vectors(dense)
    np.testing.assert_array_equal(data.inputs([5, 1999]), dense[[5, 1999]])
    assert data.digest == same.digest
    assert data.nbytes < same.nbytes
    np.testing.assert_allclose(data.scale(), same.scale())
    assert data.library == np.median(dense.sum(axis=1)[dense.sum(axis=1) > 0])


def test_a_table_gives_its_columns_as_features():
    assert Vectors(polars.DataFrame({"height": [1.0, 2.0], "weight": [3, 4]})).features == ("height", "weight")


def test_a_constant_feature_is_centred_and_not_scaled():
    data = Vectors(np.column_stack([VALUES[:, 0], np.full(50, 0.1)]))
    assert data.varies.tolist() == [True, False]
    assert data.scale()[1][1] == 1.0


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (np.array([[1.0, np.nan], [0, 0]]), "'x1' of row 0 is nan"),
        (np.array([[1.0, 2.0], [np.inf, 0]]), "'x0' of row 1 is inf"),
        (np.array([[1.0, 2.0], [1e300, 0]]), "'x0' of row 1 is 1e"),
        (sparse.csr_array(np.array([[0.0, 2.0], [0, np.nan]])), "'x1' of row 1 is nan"),
        ([["a", "b"], ["c", "d"]], "must be numbers, not strings"),
        (np.ones((3, 2), complex), "must be numbers, not of type complex128"),
        ([[1.0, 2.0], [3.0]], "must be one array"),
        (np.ones(5), r"shape \(n, D\)"),
        (np.ones((5, 0)), "and not be empty"),
        (np.ones((1, 5)), "at least two rows"),
    ],
)
def test_bad_arrays_are_refused_with_their_place(values, message):
    with pytest.raises(UsageError, match=message):
        Vectors(values)


def test_names_of_features_must_be_as_many():
    with pytest.raises(UsageError, match="4 features, but 2 names"):
        Vectors(VALUES, features=["a", "b"])
    with pytest.raises(UsageError, match="a list of names"):
        Vectors(VALUES, features="abcd")


def test_the_first_value_that_is_no_count_is_named():
    counts = np.array([[1, 2], [3, -4]])
    with pytest.raises(UsageError, match="nb needs whole numbers, but 'x1' of row 1 is -4"):
        Vectors(counts).require(are_counts, "whole numbers", "nb")
    assert Vectors(np.abs(counts)).outside(are_counts) is None


def test_an_npz_is_read(tmp_path):
    path = tmp_path / "cells.npz"
    np.savez(path, x=VALUES, factors=np.arange(50)[:, None] % 3, names=["kind"], features=list("abcd"))
    data = read(f"vectors:path={path}")
    assert (data.factors.names, data.factors.sizes, data.features) == (("kind",), (3,), tuple("abcd"))
    assert data.digest == Vectors(VALUES, np.arange(50)[:, None] % 3, names=["kind"]).digest
    assert read(**data.description).digest == read(path).digest == data.digest


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_columns_of_a_table_are_features_factors_or_ignored(ending, tmp_path):
    table = polars.DataFrame(
        {"name": [f"cell{i}" for i in range(50)], **dict(zip("abcd", VALUES.T, strict=True)), "kind": KINDS}
    ).with_columns(age=polars.Series(np.arange(50) / 4))
    path = tmp_path / f"cells.{ending}"
    getattr(table, f"write_{ending}")(path)
    data = read(f"vectors:path={path},factors=kind,age,ignore=name")
    assert data.features == tuple("abcd")
    assert (data.factors.names, data.continuous, data.levels) == (("kind", "age"), ("age",), {"kind": ("a", "b", "c")})
    np.testing.assert_allclose(data.values([1, 5]), [[0, 0.25], [2, 1.25]])
    assert read(f"vectors:path={path},features=b,d").features == ("b", "d")
    assert not read(f"vectors:path={path},features=b,d").is_labelled
    with pytest.raises(UsageError, match=r"column 'name' of .* does not hold numbers; name it as a factor"):
        read(f"vectors:path={path},factors=kind")
    with pytest.raises(UsageError, match="no column is called 'knd'; did you mean 'kind'"):
        read(f"vectors:path={path},factors=knd")


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix, sparse.csc_matrix])
def test_an_h5ad_is_read_dense_or_sparse(form, tmp_path):
    counts = RNG.poisson(0.5, (50, 4)).astype(np.float32)
    path = tmp_path / "cells.h5ad"
    write_h5ad(path, form(counts), kind=KINDS, batch=np.arange(50) % 2)
    data = read(path, factors="kind,batch")
    np.testing.assert_array_equal(data.inputs(np.arange(50)), counts)
    assert data.features == ("var0", "var1", "var2", "var3")
    assert (data.factors.names, data.factors.sizes, data.levels["kind"]) == (("kind", "batch"), (3, 2), ("a", "b", "c"))
    np.testing.assert_array_equal(data.values([0, 1]), [[1, 0], [0, 1]])
    assert read(f"{path}:layer=raw").inputs([1]).tolist() == [[4, 5, 6, 7]]
    with pytest.raises(UsageError, match="no layer is called 'rw'; did you mean 'raw'"):
        read(path, layer="rw")
    with pytest.raises(UsageError, match="no column of obs is called 'knd'"):
        read(path, factors="knd")


def test_ten_thousand_sparse_features_stay_sparse(tmp_path):
    matrix = sparse.random_array((300, 10_000), density=0.01, format="csr", rng=RNG, dtype=np.float32)
    write_h5ad(tmp_path / "wide.h5ad", matrix)
    data = read(tmp_path / "wide.h5ad")
    assert data.shape == (10_000,)
    assert data.nbytes < 1_000_000
    np.testing.assert_array_equal(data.inputs([7]), matrix[[7]].toarray())


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("broken.h5ad", b"nothing", "cannot be read as an h5ad file"),
        ("broken.parquet", b"nothing", "cannot be read as a table"),
        ("empty.csv", b"", "cannot be read as a table"),
        ("gap.csv", b"a,b\n1,2\n3,\n", "'b' of row 1 of .* is missing"),
        ("nan.csv", b"a,b\n1,2\n3,nan\n", "'b' of row 1 of .* is missing"),
        ("notes.txt", b"1 2", "must end in .npz, .csv, .parquet, .h5ad"),
    ],
)
def test_broken_files_are_refused(name, content, message, tmp_path):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(UsageError, match=message):
        read(f"vectors:path={tmp_path / name}")


def test_what_an_npz_lacks_and_a_file_that_is_not_there_are_named(tmp_path):
    np.savez(tmp_path / "other.npz", images=VALUES)
    with pytest.raises(UsageError, match="no array 'values' or 'x'"):
        read(f"vectors:path={tmp_path / 'other.npz'}")
    with pytest.raises(UsageError, match="there is no file"):
        read(f"vectors:path={tmp_path / 'absent.npz'}")
    with pytest.raises(UsageError, match="vectors need a path"):
        read("vectors")
    with pytest.raises(UsageError, match="the option layer does not apply"):
        read(f"vectors:path={tmp_path / 'other.npz'},layer=raw")


def test_variants_of_images_refuse_vectors():
    for suffix in ("noisy", "color"):
        with pytest.raises(UsageError, match=f"the variant '{suffix}' needs images, but table holds vectors"):
            unweave.data.WRAPPERS[suffix](Vectors(VALUES))


def test_a_restricted_grid_of_vectors_gives_its_rows():
    data = Vectors(VALUES[:6], np.stack(np.unravel_index(np.arange(6), (2, 3)), 1), names=["a", "b"])
    few = unweave.data.WRAPPERS["restricted"](data, exclude="a=0&b=0")
    np.testing.assert_array_equal(few.inputs([5]), data.inputs([5]))
    assert few.scale() == data.scale()
