from __future__ import annotations

import csv
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from unweave.cli.arrays import read_array
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


def complaint(path: Path) -> str:
    """Return what is said about a file, without its name, after a look at the manners."""
    with pytest.raises(UsageError) as caught:
        read_array(path)
    text = str(caught.value)
    assert text.startswith(f"'{path}' ")
    assert "\n" not in text
    return text.removeprefix(f"'{path}' ").removeprefix(PLAIN)


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
        ("", "it has no rows; write a line of numbers a sample"),
        ("\ufeff\n\n# 1,2\n", "it has no rows; write a line of numbers a sample"),
        ("a,b\n\n", "it has no rows below its names; write a line of numbers a sample"),
        ("1,2\n\n3\n", "line 3: its number of cells is 1, that of line 1 is 2; make all rows alike"),
        ("a,b\n1,2,3\n", "line 2: its number of cells is 3, that of line 1 is 2; make all rows alike"),
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
    words = f"its first column has no name, as an index that pandas wrote; write it without ({how})"
    assert complaint(write(f"{head}\n0,0.5,0.25\n1,0.125,0.5\n")) == words


def test_a_suffix_may_have_capitals(tmp_path):
    (tmp_path / "A.CSV").write_text("1,2\n")
    np.save(tmp_path / "a.npy", FLOATS)
    (tmp_path / "a.npy").rename(tmp_path / "A.NPY")
    assert same(read_array(tmp_path / "A.CSV"), np.array([[1, 2]]))
    assert same(read_array(tmp_path / "A.NPY"), FLOATS)


def test_other_suffixes_are_refused(tmp_path):
    assert complaint(tmp_path / "a.NPZ") == "may hold several arrays; save one of them as a .npy file (numpy.save)"
    assert complaint(tmp_path / "a.txt") == "must be a .npy file (numpy.save) or a .csv file"


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
    assert complaint(tmp_path / "a.npy") == "it holds Python objects, which are refused; save numbers"
