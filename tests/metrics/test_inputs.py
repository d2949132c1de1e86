"""Every mistake in the arrays is answered by one clear line."""

from __future__ import annotations

import numpy as np
import pytest

from unweave.errors import UsageError
from unweave.metrics.inputs import check, generator, split, varying, whole_number

CODES = np.arange(12.0).reshape(6, 2) / 7
FACTORS = np.arange(6)[:, None] % 3


def put(array, value):
    changed = np.array(array, dtype=float)
    changed[2, 0] = value
    return changed


MISTAKES = {
    "codes of one dimension": (CODES[:, 0], FACTORS, r"codes must have two dimensions.*array\[:, None\]"),
    "factors of one dimension": (CODES, FACTORS[:, 0], "factors must have two dimensions"),
    "codes of three dimensions": (CODES[None], FACTORS, "codes must have two dimensions"),
    "NaN in codes": (put(CODES, np.nan), FACTORS, "codes hold NaN"),
    "infinity in codes": (put(CODES, -np.inf), FACTORS, "codes hold NaN, an infinity"),
    "codes that would overflow": (put(CODES, 1e200), FACTORS, r"a value beyond 1e\+100"),
    "NaN in factors": (CODES, put(FACTORS, np.nan), "factors hold NaN"),
    "infinity in factors": (CODES, put(FACTORS, np.inf), "factors hold NaN, an infinity"),
    "fractions in factors": (CODES, put(FACTORS, 0.5), "factors must be whole numbers .* got 0.5"),
    "rows that do not match": (CODES[:5], FACTORS, "codes have 5 rows but factors have 6"),
    "no rows": (CODES[:0], FACTORS[:0], "codes are empty"),
    "no codes": (CODES[:, :0], FACTORS, "codes are empty"),
    "no factors": (CODES, FACTORS[:, :0], "factors are empty"),
    "one sample": (CODES[:1], FACTORS[:1], "at least two samples, got 1"),
    "words": (CODES, [["red"]] * 6, "factors must be numbers"),
    "complex numbers": (CODES * 1j, FACTORS, "codes must be numbers"),
    "nothing": (None, FACTORS, "codes must be numbers"),
    "rows of unequal length": ([[1.0], [1.0, 2.0]], FACTORS, "codes cannot be read as one array"),
}


@pytest.mark.parametrize(("codes", "factors", "line"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_gets_one_line(codes, factors, line):
    with pytest.raises(UsageError, match=line) as caught:
        check(codes, factors)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("codes", [CODES, CODES.tolist(), CODES.astype(np.float32), np.asfortranarray(CODES)])
@pytest.mark.parametrize("factors", [FACTORS, FACTORS.tolist(), FACTORS.astype(np.uint8), FACTORS.astype(float)])
def test_lists_and_other_types_are_read(codes, factors):
    values, labels = check(codes, factors)
    assert (values.dtype, labels.dtype) == (np.float64, np.int64)
    np.testing.assert_allclose(values, CODES, rtol=1e-6)
    np.testing.assert_array_equal(labels, FACTORS)


def test_the_split_holds_out_a_third_by_the_seed():
    codes, factors = np.arange(30.0)[:, None], np.arange(30)[:, None]
    (kept, kept_factors), (held, held_factors) = split(codes, factors, None, 3)
    assert (len(kept), len(held)) == (20, 10)
    assert sorted([*kept[:, 0], *held[:, 0]]) == codes[:, 0].tolist()
    np.testing.assert_array_equal(kept, kept_factors)
    np.testing.assert_array_equal(held, held_factors)
    np.testing.assert_array_equal(split(codes, factors, None, 3)[1][0], held)
    assert (split(codes, factors, None, 4)[1][0] != held).any()


def test_a_test_set_is_taken_as_it_is():
    fitted, judged = split(CODES, FACTORS, (CODES[:3], FACTORS[:3]), 0)
    np.testing.assert_array_equal(fitted[0], CODES)
    np.testing.assert_array_equal(judged[0], CODES[:3])


@pytest.mark.parametrize(
    ("test", "line"),
    [
        (CODES, "test must be a pair"),
        ((CODES[:, :1], FACTORS), "test codes have 1 columns but codes have 2"),
        ((CODES, np.hstack([FACTORS, FACTORS])), "test factors have 2 columns but factors have 1"),
        ((put(CODES, np.nan), FACTORS), "test codes hold NaN"),
        ((CODES[:4], FACTORS), "test codes have 4 rows but test factors have 6"),
    ],
)
def test_a_mistake_in_the_test_set_gets_one_line(test, line):
    with pytest.raises(UsageError, match=line):
        split(CODES, FACTORS, test, 0)


def test_factors_that_vary():
    assert varying(np.array([[1, 5, 0], [1, 6, 0], [1, 5, 1]])).tolist() == [False, True, True]
    with pytest.raises(UsageError, match="single value"):
        varying(np.ones((4, 2), dtype=int))


@pytest.mark.parametrize("seed", [-1, 0.5, "a", None])
def test_a_bad_seed(seed):
    with pytest.raises(UsageError, match="seed must be a whole number"):
        generator(seed, 0)


@pytest.mark.parametrize("value", [1, 2.0, True, "20"])
def test_a_bad_option(value):
    with pytest.raises(UsageError, match="bins must be a whole number from 2 up"):
        whole_number(value, "bins", 2)
