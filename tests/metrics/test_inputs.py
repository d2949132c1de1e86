"""Every mistake in the arrays is answered by one clear line."""

from __future__ import annotations

import inspect
import subprocess
import sys
import warnings
from decimal import Decimal
from fractions import Fraction

import hypothesis.extra.numpy as arrays
import numpy as np
import polars
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from unweave.errors import UsageError
from unweave.metrics import compare, evaluate, mcc, mig
from unweave.metrics.inputs import (
    bin_count,
    bin_factors,
    bin_pair,
    check,
    check_codes,
    check_factors,
    check_sets,
    generator,
    is_continuous,
    split,
    varying,
    warn_of_inputs,
    whole_number,
)
from unweave.metrics.presets import (
    ConstantCodes,
    ConstantFactor,
    DistinctValues,
    FewSamples,
    LeftOut,
    LooksTransposed,
    NumberedLabels,
    UnseenValues,
    warn_of_few,
    warn_of_unseen_values,
)

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
    "infinity in factors": (CODES, put(FACTORS, np.inf), "factors hold NaN or an infinity"),
    "fractions in factors": (CODES, put(FACTORS, 0.37), r"^factor 1 is continuous \(0.37\): .* bin them: evaluate"),
    "labels beyond 2**53": (CODES, put(FACTORS, 2.0**54), r"a value beyond 2\*\*53: number the values from 0 up"),
    "rows that do not match": (CODES[:5], FACTORS, "codes have 5 rows but factors have 6"),
    "no rows": (CODES[:0], FACTORS[:0], "codes are empty"),
    "no codes": (CODES[:, :0], FACTORS, "codes are empty"),
    "no factors": (CODES, FACTORS[:, :0], "factors are empty"),
    "one sample": (CODES[:1], FACTORS[:1], "at least two samples, got 1"),
    "words in codes": ([[0.5, "red"]] * 6, FACTORS, "codes must be numbers, got strings in column 2, such as 'red'"),
    "a word": ("red", FACTORS, "codes must be numbers"),
    "times": (CODES, np.zeros((6, 1), "M8[s]"), "factors must be numbers, got an array of type datetime64"),
    "a missing text": (CODES, [["red"]] * 5 + [[None]], r"factor 1 holds texts \('red'\) and None mixed; leave out"),
    "a missing number": (CODES, [[1]] * 5 + [[None]], "factor 1 holds None, which is no number; leave out rows"),
    "NaN among texts": (CODES, np.array([["a"]] * 5 + [[np.nan]], object), r"factor 1 holds texts \('a'\) and nan mix"),
    "texts and numbers": (CODES, [[0, "a"]] * 5 + [[0, 3]], r"factor 2 holds texts \('a'\) and 3 mixed"),
    "lists in a frame": (CODES, polars.DataFrame({"a": [[1, 2]] * 6}), "factor 1 holds array.*, which is no number"),
    "codes transposed": (CODES.T, FACTORS, "codes have 2 rows but factors have 6; transposed"),
    "factors transposed": (CODES, FACTORS.T, "codes have 6 rows but factors have 1; transposed"),
    "both transposed": (CODES.T, FACTORS.T, "codes have 2 rows but factors have 1; transposed"),
    "masked codes": (np.ma.masked_greater(CODES, 1), FACTORS, "codes have 4 masked entries: fill them in, or leave"),
    "masked factors": (CODES, np.ma.masked_equal(FACTORS, 2), "factors have 2 masked entries"),
    "a sparse tensor": (torch.eye(6).to_sparse(), FACTORS, "codes cannot be read as one array: can't convert Sparse"),
    "a tensor without values": (torch.ones(6, 2, device="meta"), FACTORS, "codes cannot be read as one array"),
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


class OnADevice:
    """What numpy refuses to read as long as it is on its device, and carries gradients."""

    def __init__(self, values, steps=()):
        self.values, self.steps = values, steps

    def detach(self):
        return OnADevice(self.values, (*self.steps, "detach"))

    def cpu(self):
        return OnADevice(self.values, (*self.steps, "cpu"))

    def __array__(self, dtype=None, copy=None):
        if self.steps != ("detach", "cpu"):
            raise TypeError("it is still on its device")
        return np.asarray(self.values, dtype)


TENSOR = torch.tensor(CODES)


@pytest.mark.parametrize(
    "codes",
    [
        TENSOR.requires_grad_(),
        TENSOR.float(),
        TENSOR.bfloat16(),
        TENSOR.half(),
        TENSOR.bfloat16().requires_grad_() * 1,
        torch.nn.Parameter(TENSOR),
        OnADevice(CODES),
        polars.DataFrame(CODES),
        np.ma.masked_array(CODES),
        np.ma.masked_greater(CODES, 9),
        CODES.astype(object),
        [[Fraction(value), Decimal(other)] for value, other in CODES.tolist()],
    ],
    ids=lambda given: type(given).__name__,
)
def test_tensors_and_frames_are_codes(codes):
    coarse = getattr(codes, "dtype", None) in (torch.bfloat16, torch.float16)
    values = check_codes(codes)
    assert values.dtype == np.float64
    np.testing.assert_allclose(values, CODES, rtol=2**-8 if coarse else 1e-7, atol=0)


@pytest.mark.parametrize(
    "factors",
    [
        torch.tensor(FACTORS),
        torch.tensor(FACTORS, dtype=torch.bfloat16),
        OnADevice(FACTORS),
        polars.DataFrame(FACTORS),
        polars.Series(FACTORS[:, 0]),
        polars.DataFrame(FACTORS.astype(str)),
        np.ma.masked_array(FACTORS),
        FACTORS.astype(object),
        FACTORS.astype(str),
        FACTORS.astype(float).astype("S"),
    ],
    ids=lambda given: type(given).__name__,
)
def test_tensors_frames_and_texts_of_numbers_are_factors(factors):
    labels = check(CODES, factors)[1]
    assert labels.dtype == np.int64
    np.testing.assert_array_equal(labels, FACTORS)


def test_large_labels_of_a_tensor_are_exact():
    labels = torch.tensor([[2**53], [2**53 - 1]])
    assert check_factors(labels).tolist() == [[2**53], [2**53 - 1]]


def test_tensors_are_known_without_torch():
    code = "import sys, unweave.metrics as m; m.mig([[0.0], [1.0]], [['a'], ['b']]); print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


WORDS = ["circle", "heart", "Square", "circle", "heart", "heart"]
PLACES = [1, 2, 0, 1, 2, 2]
NUMBERED = r"^factor 2 holds strings: numbered in alphabetical order, 'Square' = 0 \.\.\. 'heart' = 2$"


@pytest.mark.parametrize(
    "factors",
    [
        np.array([[0] * 6, WORDS], dtype=object).T,
        np.array([["0"] * 6, WORDS]).T,
        np.array([["0"] * 6, WORDS], dtype=np.dtypes.StringDType()).T,
        np.array([["0"] * 6, WORDS], dtype="S").T,
        [[0, word] for word in WORDS],
        [[0, word.encode()] for word in WORDS],
        polars.DataFrame({"a": [0] * 6, "b": WORDS}),
        polars.DataFrame({"a": [0] * 6, "b": polars.Series(WORDS, dtype=polars.Categorical)}),
    ],
    ids=["object", "str", "StringDType", "bytes", "lists", "lists of bytes", "frame", "categories"],
)
def test_texts_are_numbered_in_their_order_and_that_is_said(factors):
    with pytest.warns(NumberedLabels, match=NUMBERED) as caught:
        labels = check(CODES, factors)[1]
    assert len(caught) == 1
    assert caught[0].filename == __file__
    np.testing.assert_array_equal(labels, np.column_stack([[0] * 6, PLACES]))
    assert labels.dtype == np.int64


@pytest.mark.parametrize(
    ("texts", "said"),
    [(["a"], "order, 'a' = 0$"), (["b", "a"], "order, 'a' = 0, 'b' = 1$"), (["1_2", "12"], "'12' = 0")],
)
def test_few_texts_are_all_named(texts, said):
    with pytest.warns(NumberedLabels, match=said):
        check_factors([[text] for text in texts])


def test_a_metric_takes_texts():
    codes, words = np.arange(40.0)[:, None] % 4, np.array(["d", "b", "c", "a"] * 10)[:, None]
    with pytest.warns(NumberedLabels):
        found = mcc(codes, words)
    assert found == mcc(codes, np.array([3, 1, 2, 0] * 10)[:, None]) < 1  # alphabetical, not in order of occurrence


def test_texts_of_test_rows_have_the_numbers_of_the_train_rows():
    texts, others = [["b"], ["d"], ["b"]], [["d"], ["a"], ["b"], ["c"]]
    codes, test = CODES[:3], (CODES[:4], others)
    with pytest.warns(NumberedLabels, match="'b' = 0, 'd' = 1$"):
        (_, train), (_, tested) = split(codes, texts, test, 0)
    assert (train[:, 0].tolist(), tested[:, 0].tolist()) == ([0, 1, 0], [1, 2, 0, 3])
    with pytest.warns(NumberedLabels):
        _, tested = bin_pair([["b", 0.5], ["d", 0.25], ["b", 1]], [["d", 0.3], ["a", 9]], 2)
    assert tested.tolist() == [[1, 0], [2, 1]]


@pytest.mark.filterwarnings("ignore::unweave.metrics.presets.NumberedLabels")
@pytest.mark.parametrize(("label", "other"), [("a", 0), (0, "a")])
def test_texts_in_one_set_only_are_refused(label, other):
    with pytest.raises(UsageError, match=r"test factor 1 holds \w+ but factor 1 holds \w+: pass the same kind in both"):
        split(CODES, [[label]] * 6, (CODES, [[other]] * 6), 0)


CONTINUOUS = np.column_stack([FACTORS[:, 0], np.linspace(0, 1, 6)])


def test_continuous_factors_are_taken_where_they_are_wanted():
    labels = check(CODES, CONTINUOUS.astype(np.float32), continuous=True)[1]
    assert labels.dtype == np.float64
    np.testing.assert_array_equal(labels, CONTINUOUS.astype(np.float32))
    assert check(CODES, FACTORS.astype(float), continuous=True)[1].dtype == np.int64
    assert check_factors(CONTINUOUS, continuous=True).dtype == np.float64
    assert is_continuous(CONTINUOUS).tolist() == [False, True]
    assert is_continuous([["a", 1], ["b", 2]]).tolist() == [False, False]
    assert varying(CONTINUOUS[:, [1, 0, 1]] * [0.5, 0, 1]).tolist() == [True, False, True]
    for _, factors in split(CODES, CONTINUOUS, None, 0, continuous=True):
        assert factors.dtype == np.float64
    with pytest.raises(UsageError, match=r"factors hold NaN or an infinity"):
        check(CODES, put(CONTINUOUS, np.nan), continuous=True)


def test_both_sets_of_factors_have_one_type():
    for train, test in ((FACTORS, FACTORS + 0.5), (FACTORS + 0.5, FACTORS)):
        (_, first), second = check_sets(CODES, train, (CODES, test), continuous=True)
        assert second is not None
        assert first.dtype == second[1].dtype == np.float64
    with pytest.raises(UsageError, match=r"^test factor 1 is continuous \(0.5\)"):
        split(CODES, FACTORS, (CODES, FACTORS + 0.5), 0)
    assert check_sets(CODES, FACTORS, None)[1] is None


def nearest_cuts(column, bins):
    """Return the classes of a column by the stated rule, in the plainest way."""
    values = sorted(set(column))
    starts = values[1:]
    if len(values) > bins:
        below = {start: sum(value < start for value in column) for start in values[1:]}
        wanted = [Fraction(j * len(column), bins) for j in range(1, bins)]
        starts = {min(below, key=lambda start: (abs(below[start] - rows), start)) for rows in wanted}
    return [sum(value >= start for start in starts) for value in column]


FLOATS = st.floats(-(2.0**50), 2.0**50)
HALVES = st.integers(-6, 6).map(lambda number: number / 2)


@settings(deadline=None)
@given(arrays.arrays(float, st.integers(2, 60), elements=FLOATS | HALVES), st.integers(2, 12))
def test_the_rule_of_bins(column, bins):
    found = bin_factors(column[:, None], bins)[:, 0]
    if (column == np.rint(column)).all():
        np.testing.assert_array_equal(found, column)
        return
    order = np.argsort(column, kind="stable")
    steps, rises = np.diff(found[order]), np.diff(column[order])
    assert ((steps == 0) | (steps == 1)).all()  # monotone, and numbered without gaps
    assert (steps[rises == 0] == 0).all()  # equal values stay together
    assert found.min() == 0
    assert found.max() < bins
    assert found.max() > 0 or (column == column[0]).all()  # a factor that varies still does
    assert found.tolist() == nearest_cuts(column.tolist(), bins)


@settings(deadline=None)
@given(st.lists(FLOATS, min_size=2, max_size=80, unique=True), st.integers(2, 12))
def test_bins_of_different_values_have_equal_counts(values, bins):
    column = np.array([*values, 0.37]) if 0.37 not in values else np.array(values)
    counts = np.bincount(bin_factors(column[:, None], bins)[:, 0])
    assert len(counts) == min(bins, len(column))
    assert np.ptp(counts) <= 1


def test_bins_of_a_few_common_values():
    column = np.array([0.0] * 97 + [0.5] * 2 + [1.0])[:, None]
    for bins in (3, 10):  # no more values than bins: all are kept
        assert np.bincount(bin_factors(column, bins)[:, 0]).tolist() == [97, 2, 1]
    assert np.bincount(bin_factors(column, 2)[:, 0]).tolist() == [97, 3]
    column = np.concatenate([np.zeros(600), np.linspace(0.001, 1, 400)])[:, None]
    assert np.bincount(bin_factors(column, 10)[:, 0]).tolist() == [600, 100, 100, 100, 100]


def test_test_rows_are_binned_by_the_cuts_of_the_train_rows():
    rng = np.random.default_rng(0)
    train, test = rng.normal(size=(1000, 2)), rng.normal(1, size=(500, 2))
    train[:, 1], test[:, 1] = rng.integers(0, 99, 1000), rng.integers(0, 99, 500)
    classes, test_classes = bin_pair(train, test, 4)
    np.testing.assert_array_equal(classes, bin_factors(train, 4))
    np.testing.assert_array_equal(test_classes[:, 1], test[:, 1])
    for label in range(4):
        inside = train[classes[:, 0] == label, 0]
        between = (test[:, 0] >= inside.min()) & (test[:, 0] <= inside.max())
        assert (test_classes[between, 0] == label).all()
    assert (np.bincount(test_classes[:, 0]) != 125).all()
    whole = np.arange(8.0)[:, None]
    assert bin_pair(whole, whole + 0.5, 2)[0][:, 0].tolist() == [0] * 4 + [1] * 4  # continuous in either set
    with pytest.raises(UsageError, match="test factors have 1 columns but factors have 2"):
        bin_pair(train, test[:, :1], 4)


@pytest.mark.parametrize("bins", [1, 2.5, "10", True, 10_001])
def test_bad_numbers_of_bins(bins):
    with pytest.raises(UsageError, match=r"^bin_factors must be"):
        bin_factors(CONTINUOUS, bins)
    with pytest.raises(UsageError, match=r"^bins must be"):
        bin_count(bins)


def warned(*given):
    """Return the kinds and texts of all that is warned of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warn_of_inputs(*given)
    line = inspect.getsourcelines(warned)
    assert all(one.filename == __file__ and line[1] < one.lineno < line[1] + len(line[0]) for one in caught)
    return [(one.category, str(one.message)) for one in caught]


RNG = np.random.default_rng(0)
MANY = RNG.normal(size=(2000, 3))
CLASSES = RNG.integers(0, 3, (2000, 2))


def few(text: str, wanted: int) -> str:
    """Return the warning of few rows, with what to do."""
    return f"{text}; give more rows or, for a run, --samples {wanted} (in Python, samples={wanted})"


DOUBTS = {
    "nothing": ((MANY, CLASSES), []),
    "continuous": ((MANY, MANY), []),
    "no factors": ((MANY,), []),
    "texts": ((MANY, CLASSES.astype(str)), []),
    "transposed codes": ((MANY[:300].T,), [(LooksTransposed, "codes have 3 rows and 300 columns: transposed?")]),
    "codes of 8 rows": (
        (np.zeros((8, 2000)), np.arange(8)[:, None] % 2),
        [(LooksTransposed, "codes have 8 rows and 2,000 columns: transposed?")],
    ),
    "transposed factors": (
        (MANY[:3], np.array([range(9), [1] * 9, [2] * 9])),
        [(LooksTransposed, "factors have 3 rows and 9 columns: transposed?")],
    ),
    "a constant": (
        (MANY, CLASSES * [0, 1]),
        [(ConstantFactor, "factor 1 has a single value and is left out")],
    ),
    "two constants": (
        (MANY, CLASSES[:, [0, 1, 0]] * [0, 1, 0]),
        [(ConstantFactor, "factors 1, 3 have a single value and are left out")],
    ),
    "constants only": ((MANY, CLASSES * 0), []),  # metrics refuse them
    "an index": (
        (MANY, np.column_stack([CLASSES, np.arange(2000)])),
        [(DistinctValues, "factor 3 has as many values as rows: continuous or an index?")],
    ),
    "many indices": (
        (MANY[:50], np.tile(np.arange(50)[:, None], 12)),
        [
            (
                DistinctValues,
                "factors 1, 2, 3, 4, 5, 6, 7, 8 and 4 more have as many values as rows: continuous or an index?",
            ),
            (FewSamples, few("50 rows are few for codes of 3 columns: below 100 scores are biased", 100)),
        ],
    ),
    "few rows for the values": (
        (MANY[:599], CLASSES[:599]),
        [(FewSamples, few("599 rows are few for a factor of 3 values: below 600 scores are biased", 600))],
    ),
    "rows enough for the codes": ((MANY.reshape(300, 20),), []),
    "few rows for the codes": (
        (MANY[:300].reshape(30, 30),),
        [(FewSamples, few("30 rows are few for codes of 30 columns: below 300 scores are biased", 300))],
    ),
    "few rows at all": (
        (MANY[:99],),
        [(FewSamples, few("99 rows are few for codes of 3 columns: below 100 scores are biased", 100))],
    ),
    "too few rows for an interval": (
        (MANY[:5],),
        [
            (
                FewSamples,
                few(
                    "5 rows are too few for an interval, and few for codes of 3 columns: below 100 scores are biased",
                    100,
                ),
            )
        ],
    ),
    "few rows and continuous factors": (
        (MANY[:99], MANY[:99]),
        [(FewSamples, few("99 rows are few for codes of 3 columns: below 100 scores are biased", 100))],
    ),
}


@pytest.mark.parametrize(("given", "doubts"), DOUBTS.values(), ids=DOUBTS)
def test_doubtful_inputs_are_warned_of_once(given, doubts):
    assert warned(*given) == doubts


def test_constant_codes_are_warned_of_once():
    constant = MANY * 0 + [1, 2, 3]
    said = "all latents are constant: every row of codes is the same; check what wrote them"
    with pytest.warns(ConstantCodes) as caught:
        evaluate(constant, CLASSES, "mig")
    assert [str(one.message) for one in caught] == [said]
    with pytest.warns(ConstantCodes) as caught:
        evaluate({"good": MANY, "bad": constant}, CLASSES, "mig", floors=False)
    assert [str(one.message) for one in caught] == [f"bad: {said}"]
    with pytest.warns(ConstantCodes, match=f"^b: {said}"):
        compare(MANY, constant, CLASSES, "mig")
    constant[7, 1] = 0  # one value of one latent is enough for silence
    evaluate(constant, CLASSES, "mig", floors=False)


def test_codes_and_factors_may_be_swapped():
    swapped = r"\(--bin-factors 10\).*; or are codes and factors swapped\?$"
    with pytest.raises(UsageError, match=swapped):
        evaluate(CLASSES, MANY, "mig")
    with pytest.warns(LeftOut, match=swapped):
        evaluate(CLASSES, MANY, ["mcc", "overcomplete"], floors=False, intervals=False)
    with pytest.raises(UsageError, match=r"groups of equal counts$"):  # codes are no whole numbers
        evaluate(MANY, MANY, "mig")
    with pytest.raises(UsageError, match=r"groups of equal counts$"):  # or they are meant to be
        evaluate(CLASSES, MANY, "mig", categorical=[0, 1])


def test_codes_and_factors_that_are_both_transposed_are_refused():
    with pytest.raises(UsageError, match=r"3 rows and 2,000 and 2,000 columns: a row must be a sample; pass codes\.T"):
        evaluate(MANY.T, CLASSES[:, [0, 1, 0]].T, "mig")


def test_where_the_first_nan_is():
    codes, factors = MANY.copy(), MANY.copy()
    codes[4, 1] = factors[7, 2] = np.nan
    with pytest.raises(UsageError, match=r"codes hold NaN.*1 of 6,000 entries, the first in row 5, column 2"):
        mig(codes, CLASSES)
    with pytest.raises(UsageError, match=r"factors hold NaN.*the first in row 8, column 3\): leave these rows out"):
        mig(MANY, factors)


def test_there_is_a_name_for_each_factor():
    with pytest.raises(UsageError, match="there are 2 factors but 1 names: pass one name for each factor"):
        evaluate(MANY, CLASSES, "mig", details=True, names=["x"])


def test_a_mistake_in_one_of_several_codes_is_said_of_its_key():
    with pytest.raises(UsageError, match=r"^late: codes have 5 rows but factors have 2000"):
        evaluate({"early": MANY, "late": MANY[:5]}, CLASSES, "mig")


def test_a_part_of_a_metric_is_answered_with_the_metric():
    with pytest.raises(UsageError, match="'dci-disentanglement' is a part of the metric 'dci': request 'dci'"):
        evaluate(MANY, CLASSES, "dci-disentanglement")


def test_metrics_called_directly_are_silent():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        score = mig(np.eye(4, 5), np.column_stack([np.arange(4), [1] * 4, [0, 0, 1, 1], [0] * 4, [0] * 4]))
    assert 0 <= score <= 1


def test_the_warnings_of_few_rows_and_of_strangers_know_continuous_factors():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_of_few(MANY)
        warn_of_unseen_values(MANY[:1000], MANY[1000:])
        warn_of_unseen_values(CLASSES[:1000], CLASSES[1000:])
    with pytest.warns(UnseenValues, match="no test row has a value of factor 2"):
        warn_of_unseen_values(np.column_stack([MANY, CLASSES])[:, 2:4], np.column_stack([MANY, CLASSES + 3])[:, 2:4])


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
    train, tested = split(CODES, FACTORS, (CODES[:3], FACTORS[:3]), 0)
    np.testing.assert_array_equal(train[0], CODES)
    np.testing.assert_array_equal(tested[0], CODES[:3])


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
