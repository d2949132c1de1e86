from __future__ import annotations

import csv
import json
import os
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars
import pytest

from unweave.cli.arrays import (
    check_scores_path,
    read_array,
    read_codes,
    read_codes_and_factors,
    read_factor_names,
    read_factors,
    read_test_codes_and_factors,
    write_scores,
)
from unweave.errors import UsageError

PLAIN = "does not hold a plain array of numbers: "
Write = Callable[[str | bytes], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write a file of comma-separated values, byte for byte."""

    def write(content: str | bytes) -> Path:
        path = tmp_path / "table.csv"
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write


def complaint(path: Path, read: Callable[[Path], object] = read_array) -> str:
    """Return what is said about a file, without its name, after checking how it is said."""
    with pytest.raises(UsageError) as caught:
        read(path)
    text = str(caught.value)
    assert text.startswith(f"'{path}' ")
    assert "\n" not in text
    return text.removeprefix(f"'{path}' ").removeprefix(PLAIN)


def read_texts(path: Path) -> np.ndarray:
    return read_array(path, texts=True)


def same(found: np.ndarray, wanted: np.ndarray) -> bool:
    return found.dtype == wanted.dtype and found.shape == wanted.shape and found.tobytes() == wanted.tobytes()


FLOATS = np.random.default_rng(0).normal(size=(50, 7)) * 10.0 ** np.arange(-150, 200, 50)
WHOLE = np.random.default_rng(1).integers(-(2**63), 2**63, (50, 3), endpoint=False)
WHOLE[:2, 0] = -(2**63), 2**63 - 1


@pytest.mark.parametrize("comments", ["", "# "])
@pytest.mark.parametrize("named", [False, True])
@pytest.mark.parametrize(
    ("array", "fmt"), [(FLOATS, "%.18e"), (FLOATS[:, :1], "%.17g"), (WHOLE, "%d"), (WHOLE[:, :1], "%d")]
)
def test_what_savetxt_writes_is_read_back_exactly(tmp_path, array, fmt, named, comments):
    names = ",".join("abcdefg"[: array.shape[1]]) if named else ""
    np.savetxt(tmp_path / "a.csv", array, fmt, ",", header=names, comments=comments)
    assert same(read_array(tmp_path / "a.csv"), array)


@pytest.mark.parametrize("array", [FLOATS, FLOATS[:, :1], WHOLE, WHOLE[:, :1], WHOLE[:1]])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("quoting", [csv.QUOTE_MINIMAL, csv.QUOTE_ALL])
@pytest.mark.parametrize("named", [False, True])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
def test_what_the_csv_module_writes_is_read_back_exactly(tmp_path, array, end, quoting, named, encoding):
    names = ["größe, in m", 'a "b"', "", "d_1", "latent 2", "x", "y"][: array.shape[1]]
    with (tmp_path / "a.csv").open("w", newline="", encoding=encoding) as file:
        csv.writer(file, quoting=quoting, lineterminator=end).writerows([names] * named + array.tolist())
    assert same(read_array(tmp_path / "a.csv"), array)


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("9007199254740993,1\n-9007199254740993,2", [[2**53 + 1, 1], [-(2**53) - 1, 2]]),  # not a float64
        ("1.0,2.00\n3e2,-0.0", [[1, 2], [300, 0]]),
        ("9223372036854775808,0", [[2.0**63, 0.0]]),  # whole, and one too many for int64
        ("9223372036854775808.0,1", [[2.0**63, 1.0]]),
        ("1,2.5", [[1.0, 2.5]]),
        ("1\n2\n", [[1], [2]]),
        (" 1 ,\t+2", [[1, 2]]),
        ('a, "b, c"\n1, "2"\n', [[1, 2]]),
        ("z\n1\n", [[1]]),
        ("\n1,2\n\n \t\n3,4\n\n\n", [[1, 2], [3, 4]]),
        ('# "not closed, "nor here\n# 5,6\na,b\n#\n1,2\n  # 7,8\n', [[1, 2]]),
        ('"a\nb",c\n1,2\n', [[1, 2]]),
        ("none,,b\n1,2,3", [[1, 2, 3]]),
    ],
)
def test_what_is_read(write, text, rows):
    assert same(read_array(write(text)), np.array(rows))


def test_what_is_not_finite_is_read_without_a_warning(write):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = read_array(write("1,nan\ninf,-Infinity\n"))
    assert same(found, np.array([[1, np.nan], [np.inf, -np.inf]]))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("größe,b\n1,2\n3,4\n".encode("latin-1"), "it is not UTF-8 text; save it as UTF-8"),
        (b"1,2\n" * 9999 + b"3,\xb5", "it is not UTF-8 text; save it as UTF-8"),
        ("a,b\n1,2\n".encode("utf-16"), "it is not UTF-8 text; save it as UTF-8"),
        ("a,b\n1,2\n".encode("utf-16-le"), "line 1 has a zero byte, so it is not UTF-8 text; save it as UTF-8"),
        (b"1,2\n3,4\0\n", "line 2 has a zero byte, so it is not UTF-8 text; save it as UTF-8"),
        ("", "it has no rows; write one line of numbers per sample"),
        ("\ufeff\n\n# 1,2\n", "it has no rows; write one line of numbers per sample"),
        ("a,b\n\n", "it has no rows below its names; write one line of numbers per sample"),
        ("1,2\n\n3\n", "line 3: its number of cells is 1, that of line 1 is 2; make all rows equally long"),
        ("a,b\n1,2,3\n", "line 2: its number of cells is 3, that of line 1 is 2; make all rows equally long"),
        ('1,2\n3,"4\n5,6\n', "line 2 cannot be split into cells; take quotes off, save with commas"),
        ('1,2\n3,"4"5\n', "line 2 cannot be split into cells; take quotes off, save with commas"),
        ("1;" * 99999, "line 1 cannot be split into cells; take quotes off, save with commas"),
        ('1,2\n"' + "3,4\n" * 99999, "line 2 cannot be split into cells; take quotes off, save with commas"),
    ],
)
def test_what_is_no_table_is_refused(write, text, words):
    assert complaint(write(text)) == words


@pytest.mark.parametrize(
    ("text", "where", "cell"),
    [
        ("NA,0.5\n1,2\n", "line 1, column 1", "'NA'"),
        ("NA\n1\n", "line 1, column 1", "'NA'"),
        ("1,\n1,2\n", "line 1, column 2", "an empty cell"),
        (",\n1,2\n", "line 1, column 1", "an empty cell"),
        (",0.5,0.7\n1,2,3\n", "line 1, column 1", "an empty cell"),
        ('1\n""\n2\n', "line 2, column 1", "an empty cell"),
        ('"a\nb",c\n\n1,2\n3,four\n', "line 5, column 2", "'four'"),
        ("a\nb\n1\n", "line 2, column 1", "'b'"),
        ("1,2\n1,2 # two", "line 2, column 2", "'2 # two'"),
        ("1,2\r\r3,1_000\r", "line 3, column 2", "'1_000'"),
        ("1.5\n1_000", "line 2, column 1", "'1_000'"),
        ('1\n"a\nb"\n', "line 2, column 1", r"'a\nb'"),
        ("1\n" + "x" * 9999, "line 2, column 1", f"'{'x' * 40}'"),
    ],
)
def test_a_cell_that_is_not_a_number_is_refused(write, text, where, cell):
    assert complaint(write(text)) == f"{where}: {cell} is not a number; write one, or leave out the row"


@pytest.mark.parametrize(
    ("text", "line", "name", "number"),
    [("a,2020\n1,2\n", 1, "a", "2020"), ("\n#\n1,b\n1,2\n", 3, "b", "1"), ("nan,x\n1,2\n", 1, "x", "nan")],
)
def test_names_and_numbers_in_one_line_are_refused(write, text, line, name, number):
    mixed = f"line {line} has names and numbers mixed ('{name}' is not a number, '{number}' is)"
    assert complaint(write(text)) == f"{mixed}; give every column a name, or none"


@pytest.mark.parametrize(
    ("text", "where", "cause"),
    [
        ("1;2\n3;4\n", "line 1, column 1: '1;2'", "cells are separated by ';'; save with commas"),
        ("a;b\n1,5;2,5\n", "line 2: '5;2'", "cells are separated by ';'; save with commas"),
        ("1;" * 99, f"line 1, column 1: '{'1;' * 20}'", "cells are separated by ';'; save with commas"),
        ("1,5;2,5\n", "line 1, column 2: '5;2'", "cells are separated by ';'; save with commas"),
        ("a\tb\n1\t2\n", r"line 2, column 1: '1\t2'", "cells are separated by tabs; save with commas"),
        ("1 2  3\n", "line 1, column 1: '1 2  3'", "cells are separated by spaces; save with commas"),
        (
            'a,b\n1,"2,5"\n',
            "line 2, column 2: '2,5'",
            "a comma stands within quotes; write decimal points, and no quotes around numbers",
        ),
        ("'1',2\n", "line 1, column 1: \"'1'\"", "quotes stand around numbers; take them off"),
    ],
)
def test_the_likely_cause_is_named(write, text, where, cause):
    assert complaint(write(text)) == f"{where} shows that {cause}"


@pytest.mark.parametrize(
    ("head", "how"),
    [
        (",a,b", "index=False"),
        ('"","a","b"', "index=False"),
        ("\ufeffUnnamed: 0,a,b", "index=False"),
        (",0,1", "index=False, header=False"),
        ("Unnamed: 0,0,1", "index=False, header=False"),
    ],
)
def test_an_index_of_pandas_is_refused(write, head, how):
    words = f"its first column has no name, like an index of pandas; write it without ({how})"
    assert complaint(write(f"{head}\n0,0.5,0.25\n1,0.125,0.5\n")) == words


def test_a_suffix_may_have_capitals(tmp_path):
    (tmp_path / "A.CSV").write_text("1,2\n")
    np.save(tmp_path / "a.npy", FLOATS)
    (tmp_path / "a.npy").rename(tmp_path / "A.NPY")
    assert same(read_array(tmp_path / "A.CSV"), np.array([[1, 2]]))
    assert same(read_array(tmp_path / "A.NPY"), FLOATS)


def test_other_suffixes_are_refused(tmp_path):
    words = "must be a .npy or .npz file (numpy.save, numpy.savez), a .csv or a .parquet file"
    assert complaint(tmp_path / "a.txt") == words
    assert complaint(tmp_path / "a.npy:b") == words


def test_a_broken_npy_is_refused(tmp_path):
    np.save(tmp_path / "a.npy", FLOATS)
    whole = (tmp_path / "a.npy").read_bytes()
    words = "it is not, or not all of, what numpy.save writes; save it again"
    cut, spoilt = (
        (b"", whole[:60], whole[:-1]),
        (b"text", whole.replace(b"}", b"("), whole.replace(b"'descr'", b"3" * 7)),
    )
    for broken in (*cut, *spoilt):
        (tmp_path / "a.npy").write_bytes(broken)
        assert complaint(tmp_path / "a.npy") == words
    np.savez(tmp_path / "a.npz", FLOATS)
    (tmp_path / "a.npz").rename(tmp_path / "a.npy")
    assert complaint(tmp_path / "a.npy") == words
    np.save(tmp_path / "a.npy", np.array([{}]), allow_pickle=True)
    assert complaint(tmp_path / "a.npy") == "it holds Python objects, which are not read; save numbers"


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("shape,size\nsquare,1\nheart,2\n", [["square", 1], ["heart", 2]]),
        ("square,1\nheart,2\n", [["square", 1], ["heart", 2]]),  # a number: no line of names
        ("square\nheart\nsquare\n", [["square"], ["heart"], ["square"]]),  # a word that occurs again: neither
        ("shape\nsquare\nheart\nsquare\n", [["square"], ["heart"], ["square"]]),
        ("a,b\nred,x\nblue,y\n", [["red", "x"], ["blue", "y"]]),
        ('"dark red",0.5\n# no\n\n "1 a",2\n', [["dark red", 0.5], ["1 a", 2.0]]),
        ("größe\n1\n2\n", [[1], [2]]),
        ("1,2.5\n3,4\n", [[1.0, 2.5], [3.0, 4.0]]),
    ],
)
def test_columns_of_words(write, text, rows):
    found = read_texts(write(text)).tolist()
    assert repr(found) == repr(rows)  # types too


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a,b\nx,1\nNA,2\n", "line 3, column 1: 'NA' means a missing value; leave out the row, or ren"),
        ("a,b\nx,1\n,2\n", "line 3, column 1: an empty cell means a missing value; leave out the row"),
        ("a,b\nx,1\n3,2\n", "column 1 mixes words and numbers ('x' in line 2, '3' in line 3); use one"),
        ("a,b\n\n1,x\n2,y\nthree,z\n", "column 1 mixes words and numbers ('three' in line 5, '1' in line 3); us"),
        ("red,green\nred,1\n", "column 2 mixes words and numbers ('green' in line 1, '1' in line 2)"),
        ("a;b\nx;1\ny;2\n", "'a;b' shows that cells are separated by ';'; save with commas"),
        ("a\tb\nx\t1\n", r"'a\tb' shows that cells are separated by tabs; save with commas"),
        ("x,1;2\ny,2\n", "line 1, column 2: '1;2' shows that cells are separated by ';'; save with commas"),
        ("x,1\ny\n", "line 2: its number of cells is 1, that of line 1 is 2; make all rows equally long"),
        (
            ",shape\n0,x\n1,y\n",
            "its first column has no name, like an index of pandas; write it without",
        ),
        ("shape\n", "it has no rows below its names"),
        ("", "it has no rows"),
        ("1,2\n1,\n", "line 2, column 2: an empty cell is not a number"),
        (b"x,1\n\xff,2\n", "it is not UTF-8 text; save it as UTF-8"),
    ],
)
def test_words_that_are_no_labels_are_refused(write, text, words):
    assert complaint(write(text), read_texts).startswith(words)


SAVED = "it is not, or not all of, what numpy.savez writes; save it again"
LABELS = np.arange(50)[:, None] % 4


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_arrays_of_an_npz(tmp_path, save):
    save(tmp_path / "one.npz", FLOATS)
    assert same(read_array(tmp_path / "one.npz"), FLOATS)
    save(tmp_path / "z.npz", **{"codes": FLOATS, "a/b": WHOLE, "words": np.array([["x"], ["y"]])})
    assert same(read_array(tmp_path / "z.npz:codes"), FLOATS)
    assert same(read_array(tmp_path / "z.npz:a/b"), WHOLE)
    assert read_texts(tmp_path / "z.npz:words").tolist() == [["x"], ["y"]]
    words = f"holds codes, a/b, words; choose one ({tmp_path}/z.npz:codes), or name them codes and factors"
    assert complaint(tmp_path / "z.npz") == words
    with pytest.raises(UsageError, match=r"z\.npz' has no array 'd'; it holds codes, a/b, words$"):
        read_array(tmp_path / "z.npz:d")
    (tmp_path / "odd.npz:x.npy").write_bytes(b"")
    np.save(tmp_path / "odd.npz:x.npy", FLOATS)  # a file of such a name is a file
    assert same(read_array(tmp_path / "odd.npz:x.npy"), FLOATS)


def test_a_file_that_is_not_there(tmp_path):
    for name in ("a.npz", "a.npz:b", "a.parquet", "a.csv", "a.npy"):
        for read in (read_array, read_texts, read_codes_and_factors):
            with pytest.raises(UsageError, match=f"^cannot read '{tmp_path}/{name}': No such file or directory$"):
                read(tmp_path / name)


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
@pytest.mark.parametrize("read", [read_array, read_codes_and_factors])
def test_a_broken_npz_is_refused(tmp_path, save, read):
    path = tmp_path / "a.npz"
    save(path, codes=FLOATS)
    whole = path.read_bytes()
    middle = len(whole) // 2
    flipped = whole[:middle] + bytes([whole[middle] ^ 255]) + whole[middle + 1 :]
    np.save(tmp_path / "b.npy", FLOATS)
    for broken in (b"", b"text", whole[:60], whole[:middle], whole[:-1], flipped, (tmp_path / "b.npy").read_bytes()):
        path.write_bytes(broken)
        assert complaint(path, read) == SAVED
    save(path, codes=np.array([[{}]]))
    assert complaint(path, read) == "it holds Python objects, which are not read; save numbers"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("codes.txt", "1,2")
    assert complaint(path, read) == "it is an archive without arrays; write it with numpy.savez"


def test_codes_and_factors_of_an_npz(tmp_path):
    path = tmp_path / "z.npz"
    np.savez(path, factors=LABELS, codes=FLOATS, other=WHOLE, test_factors=LABELS[:9], test_codes=FLOATS[:9])
    codes, factors = read_codes_and_factors(path)
    assert same(codes, FLOATS)
    assert factors is not None
    assert same(factors, LABELS)
    test = read_test_codes_and_factors(path)
    assert test is not None
    assert same(test[0], FLOATS[:9])
    assert same(test[1], LABELS[:9])
    for arrays in ({"codes": FLOATS, "other": WHOLE}, {"codes": FLOATS}, {"z": FLOATS}):
        np.savez(path, **arrays)  # pyright: ignore[reportArgumentType]
        codes, factors = read_codes_and_factors(path)
        assert same(codes, FLOATS)
        assert factors is None
        assert read_test_codes_and_factors(path) is None


@pytest.mark.parametrize(
    ("names", "words"),
    [
        ("ab", "holds a, b; name the arrays codes and factors"),
        (["factors"], "holds factors; name the arrays codes and factors"),
        ("abcdefghijk", "holds a, b, c, d, e, f, g, h, …; name the arrays codes and factors"),
    ],
)
def test_an_npz_without_codes_is_refused(tmp_path, names, words):
    np.savez(tmp_path / "z.npz", **dict.fromkeys(names, FLOATS))  # pyright: ignore[reportArgumentType]
    assert complaint(tmp_path / "z.npz", read_codes_and_factors) == words


def test_test_codes_without_test_factors_are_refused(tmp_path):
    np.savez(tmp_path / "z.npz", codes=FLOATS, test_codes=FLOATS)
    words = "has no array test_factors; test_codes and test_factors come together"
    assert complaint(tmp_path / "z.npz", read_test_codes_and_factors) == words


def test_other_files_hold_codes_alone(tmp_path):
    np.save(tmp_path / "z.npy", FLOATS)
    np.savez(tmp_path / "z.npz", a=FLOATS, b=WHOLE)
    for name in ("z.npy", "z.npz:a"):
        codes, factors = read_codes_and_factors(tmp_path / name)
        assert same(codes, FLOATS)
        assert factors is None
        assert read_test_codes_and_factors(tmp_path / name) is None


def frame(**columns: object) -> polars.DataFrame:
    return polars.DataFrame(columns)


@pytest.mark.parametrize(
    ("table", "array"),
    [
        (polars.DataFrame(FLOATS), FLOATS),
        (polars.DataFrame(WHOLE), WHOLE),
        (frame(a=[1, 2], b=[True, False]), np.array([[1, 1], [2, 0]])),
        (frame(a=[1, 2], b=[0.5, np.nan]), np.array([[1, 0.5], [2, np.nan]])),
        (frame(a=[1, 2]).cast(polars.Decimal(9, 2)), np.array([[1.0], [2.0]])),
        (frame(a=[1, 2]).cast(polars.UInt8), np.array([[1], [2]], np.uint8)),
    ],
)
def test_numbers_of_a_parquet_file(tmp_path, table, array):
    table.write_parquet(tmp_path / "a.parquet")
    found = read_array(tmp_path / "a.parquet")
    assert same(np.ascontiguousarray(found), array)


@pytest.mark.parametrize("kind", [polars.String, polars.Categorical, polars.Enum(["y", "x"])])
def test_texts_of_a_parquet_file(tmp_path, kind):
    path = tmp_path / "a.parquet"
    polars.DataFrame({"shape": polars.Series(["x", "y"], dtype=kind), "size": [1, 2]}).write_parquet(path)
    assert read_texts(path).tolist() == [["x", 1], ["y", 2]]
    assert complaint(path) == "column 'shape' holds texts, not numbers"


@pytest.mark.parametrize("read", [read_array, read_codes_and_factors])
@pytest.mark.parametrize(
    ("table", "words"),
    [
        (frame(code0=[1.0, None]), "column 'code0' has no value in row 1; leave out rows without values"),
        (frame(code0=[[1.0], [2.0]]), "column 'code0' is of type List(Float64); save plain numbers, one per c"),
        (frame(code0=[{"a": 1}]), "column 'code0' is of type Struct({'a': Int64}); save plain numbers"),
        (frame(code0=[1]).cast(polars.Date), "column 'code0' is of type Date; save plain numbers"),
        (frame(code0=["x"]), "column 'code0' holds texts, not numbers"),
        (frame(code0=[]), "it has no rows; write a row for each sample"),
        (frame(), "it has no rows"),
        (
            frame(code0=[1.0], __index_level_0__=[0]),
            "it has an index that pandas wrote; write it without (index=False)",
        ),
    ],
    ids=["null", "list", "struct", "date", "texts", "no rows", "no columns", "index"],
)
def test_a_parquet_file_of_other_things_is_refused(tmp_path, table, words, read):
    table.write_parquet(tmp_path / "a.parquet")
    assert complaint(tmp_path / "a.parquet", read).startswith(words)


def test_a_broken_parquet_file_is_refused(tmp_path):
    path = tmp_path / "a.parquet"
    polars.DataFrame(FLOATS).write_parquet(path)
    whole = path.read_bytes()
    for broken in (b"", b"text", whole[:60], whole[:-1]):
        path.write_bytes(broken)
        assert complaint(path) == "is not a readable Parquet file; write it again"


def test_codes_and_factors_of_a_parquet_file(tmp_path):
    path = tmp_path / "a.parquet"
    table = frame(factor_shape=["x", "y"], code10=[1, 2], code_2=[0.5, 0.25], factor_size=[3, 4])
    table.write_parquet(path)
    codes, factors = read_codes_and_factors(path)
    assert codes.tolist() == [[1, 0.5], [2, 0.25]]
    assert factors is not None
    assert factors.tolist() == [["x", 3], ["y", 4]]
    assert read_test_codes_and_factors(path) is None
    table.select("code10").write_parquet(path)
    assert read_codes_and_factors(path)[1] is None
    how = "begin the names of its columns with code or factor, or give --factors too"
    table.select("factor_size").write_parquet(path)
    assert complaint(path, read_codes_and_factors) == f"has no codes; {how}"


def test_other_columns_of_a_parquet_file_are_ignored_and_named(tmp_path):
    """Whatever is in them; so are factors beside codes whose factors are in another file."""
    path = tmp_path / "a.parquet"
    frame(id=["a", None], code0=[1.5, 2.5], factor_x=[0, 1], when=[[1], [2]]).write_parquet(path)
    with pytest.warns(UserWarning, match="the columns id, when are ignored; only names that begin with code or factor"):
        codes, factors = read_codes_and_factors(path)
    assert factors is not None
    assert (codes.tolist(), factors.tolist()) == ([[1.5], [2.5]], [[0], [1]])
    with pytest.warns(UserWarning, match="the columns id, when are ignored; only names that begin with code"):
        assert read_codes(path).tolist() == codes.tolist()
    with pytest.warns(UserWarning, match="the columns id, when are ignored; only names that begin with factor"):
        assert read_factors(path).tolist() == factors.tolist()
    frame(z=[1.5, 2.5]).write_parquet(path)  # the names of all columns are free where the file holds one thing
    assert read_codes(path).tolist() == [[1.5], [2.5]]
    assert read_factors(path).tolist() == [[1.5], [2.5]]


@pytest.mark.parametrize(
    ("columns", "names"),
    [
        (["code0", "factor_x", "id", "factor_wall hue"], ["x", "wall hue"]),
        (["factor0", "factor 1", "factor_2", "factors"], ["factor0", "factor 1", "factor_2", "factors"]),
        (["factor_factor0", "factor0"], ["factor_factor0", "factor0"]),  # names differ
        (["shape", "size"], ["shape", "size"]),
    ],
)
def test_the_names_of_factors_are_those_of_their_columns(tmp_path, columns: list[str], names: list[str]):
    frame(**{name: [1] for name in columns}).write_parquet(tmp_path / "a.parquet")
    assert read_factor_names(tmp_path / "a.parquet") == names
    np.savez(tmp_path / "a.npz", codes=np.zeros((2, 1)))
    assert read_factor_names(tmp_path / "a.npz") is None


def test_codes_and_factors_of_archives_are_taken_by_their_names(tmp_path):
    path = tmp_path / "a.npz"
    factors, codes, test_codes = (np.full((2, 1), value) for value in range(3))
    np.savez(path, factors=factors, codes=codes, test_codes=test_codes)
    assert read_codes(path).tolist() == [[1], [1]]
    assert read_codes(path, test=True).tolist() == [[2], [2]]
    assert read_factors(path).tolist() == read_factors(path, test=True).tolist() == [[0], [0]]
    assert read_codes(Path(f"{path}:factors")).tolist() == [[0], [0]]
    np.savez(path, a=codes, b=factors)
    assert complaint(path, read_codes).startswith("holds a, b; choose one")


SCORES = frame(
    metric=["mig", 'a "b", c'],
    value=[0.1 + 0.2, float("nan")],
    low=[None, 0.25],
    options=['{"bins": 20, "test": "split"}', "{}"],
)


def test_scores_are_written_and_read_again(tmp_path):
    for name in ("a.csv", "a.CSV", "a.parquet", "a.json"):
        (tmp_path / name).write_text("old")
        write_scores(SCORES, tmp_path / name)
    assert polars.read_csv(tmp_path / "a.csv").equals(SCORES)
    assert polars.read_csv(tmp_path / "a.CSV").equals(SCORES)
    assert polars.read_parquet(tmp_path / "a.parquet").equals(SCORES)
    assert json.loads((tmp_path / "a.json").read_text()) == [
        {"metric": "mig", "value": 0.1 + 0.2, "low": None, "options": {"bins": 20, "test": "split"}},
        {"metric": 'a "b", c', "value": None, "low": 0.25, "options": {}},  # JSON has no NaN
    ]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.CSV", "a.csv", "a.json", "a.parquet"]


def test_scores_without_options_are_written(tmp_path):
    write_scores(SCORES.select("metric"), tmp_path / "a.json")
    assert json.loads((tmp_path / "a.json").read_text()) == [{"metric": "mig"}, {"metric": 'a "b", c'}]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("a.txt", "write scores to a .csv, .parquet or .json file, not to '{path}'"),
        ("scores", "write scores to a .csv, .parquet or .json file, not to '{path}'"),
        ("folder.csv", "'{path}' is a folder; choose another name"),
        ("pipe.json", "'{path}' is not a regular file; choose another name"),
        ("none/a.csv", "there is no folder '{path.parent}' to write 'a.csv' into; make it first"),
    ],
)
def test_scores_go_to_a_file_only(tmp_path, name, words):
    (tmp_path / "folder.csv").mkdir()
    os.mkfifo(tmp_path / "pipe.json")
    path = tmp_path / name
    for write in (check_scores_path, lambda path: write_scores(SCORES, path)):
        with pytest.raises(UsageError) as caught:
            write(path)
        assert str(caught.value) == words.format(path=path)


@pytest.mark.parametrize("name", ["a.csv", "a.npy", "a.npz", "a.parquet", "a.npz:codes"])
def test_a_pipe_is_refused_and_not_waited_for(tmp_path, name):
    os.mkfifo(tmp_path / name.partition(":")[0])
    for read in (read_array, read_codes_and_factors):
        with pytest.raises(UsageError, match=r"'.*' is not a regular file; choose another name"):
            read(tmp_path / name)


def test_a_device_is_refused_and_not_read_to_its_end(tmp_path):
    (tmp_path / "a.csv").symlink_to("/dev/zero")
    with pytest.raises(UsageError, match="is not a regular file"):
        read_array(tmp_path / "a.csv")
