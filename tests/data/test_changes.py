"""Small steps against their exact probabilities, groups against counted ones, and pairs as they always were."""

from __future__ import annotations

import hashlib
import math
from collections import Counter, defaultdict
from itertools import product

import numpy as np
import pytest
from scipy.stats import chisquare

from unweave.data import Table
from unweave.data.changes import RULES, Changes
from unweave.data.restricted import Restricted
from unweave.data.sampling import draw_groups, draw_pairs
from unweave.errors import UsageError

SIZES = (3, 1, 4, 2)
CELLS = np.array(list(product(*map(range, SIZES))))
GRID = Table(np.zeros((len(CELLS), 2, 2, 1), np.uint8), CELLS, sizes=SIZES)


def laplace(start: tuple[int, ...], rate: float, fixed: tuple[int, ...] = ()) -> dict[tuple[int, ...], float]:
    """The probability of every second image, as the authors' program draws it, by adding up all its ways.

    Each factor is drawn from a Laplace density of scale log(size) / rate at whole numbers, normalised. If the outcome
    is the first image, a factor drawn uniformly is drawn again without its old value.
    """
    moving = [i for i, size in enumerate(SIZES) if size > 1 and i not in fixed]
    values = {}
    for i in moving:
        density = [math.exp(-abs(x - start[i]) / (math.log(SIZES[i]) / rate)) for x in range(SIZES[i])]
        values[i] = [p / sum(density) for p in density]
    result: dict[tuple[int, ...], float] = defaultdict(float)
    for end in product(*(range(size) if i in moving else [start[i]] for i, size in enumerate(SIZES))):
        chance = math.prod(values[i][end[i]] for i in moving)
        if end != start:
            result[end] += chance
            continue
        for i in moving:
            others = 1 - values[i][start[i]]
            for x in set(range(SIZES[i])) - {start[i]}:
                result[(*start[:i], x, *start[i + 1 :])] += chance / len(moving) * values[i][x] / others
    return result


@pytest.mark.parametrize(("rate", "fixed"), [(1.0, ()), (2.5, ()), (1.0, (0,))])
@pytest.mark.parametrize("start", [(0, 0, 0, 0), (1, 0, 2, 1)])
def test_small_steps_have_the_authors_probabilities(start, rate, fixed):
    expected = laplace(start, rate, fixed)
    assert sum(expected.values()) == pytest.approx(1)
    n = 40_000
    changes = Changes(rule="laplace", step_rate=rate, always_shared=",".join(f"factor{i}" for i in fixed))
    factors, rng = np.tile(start, (n, 1)), np.random.default_rng(6)
    drawn = CELLS[changes.move(GRID.factors, factors, changes.choose(GRID.factors, factors, rng), rng)]
    count = Counter(map(tuple, drawn.tolist()))
    assert set(count) <= set(expected)
    assert chisquare([count[end] for end in expected], [n * p for p in expected.values()]).pvalue > 0.001
    # The same draws are far from the probabilities of another rate: the test can fail.
    other = laplace(start, rate * 1.3, fixed)
    assert chisquare([count[end] for end in expected], [n * other[end] for end in expected]).pvalue < 1e-6


def test_steps_of_a_pair_are_those_of_its_first_image():
    first, second = draw_pairs(GRID, 60_000, np.random.default_rng(0), rule="laplace")
    count = np.zeros((len(CELLS), len(CELLS)))
    np.add.at(count, (first, second), 1)
    expected = np.array([[laplace(tuple(a), 1.0)[tuple(b)] for b in CELLS.tolist()] for a in CELLS.tolist()])
    expected *= count.sum(1, keepdims=True)
    assert not count[expected == 0].any()
    assert not np.diag(count).any(), "something changes in every pair"
    kept = expected > 5
    spread = (count - expected)[kept] / np.sqrt(expected[kept])
    assert np.mean(spread**2) == pytest.approx(1, abs=0.15)


@pytest.mark.parametrize("rate", [1e-6, 1e6])
def test_steps_at_the_ends_of_the_rate(rate):
    line = Table(np.zeros((9, 2, 2, 1), np.uint8), np.arange(9)[:, None])
    first, second = draw_pairs(line, 9000, np.random.default_rng(0), rule="laplace", step_rate=rate)
    steps = np.abs(second - first)
    if rate > 1:
        assert (steps == 1).all()  # the nearest value only
    else:
        assert chisquare(np.bincount(second, minlength=9)).pvalue > 0.001  # any other


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("size", [2, 3, 6])
def test_a_group_shares_what_its_rule_leaves(size, rule):
    groups = CELLS[draw_groups(GRID, 3000, np.random.default_rng(2), Changes(rule=rule), size)]
    assert groups.shape == (size, 3000, 4)
    differs = groups[1:] != groups[0]  # (size - 1, n, k)
    if rule in ("exact", "laplace"):
        assert (differs == differs[0]).all(), "all further images differ from the first in the same factors"
        assert differs[0].any(1).all()
        free = (groups[:, differs[0][:, 2], 2]).T
        assert size == 2 or any(len(set(row)) > 2 for row in free.tolist()), "and are drawn one by one"
    touched = differs.any(0).sum(1)  # of three factors that vary; by default at most two are chosen
    assert touched.max() == (3 if rule == "laplace" else 2)
    np.testing.assert_array_equal(groups[0], CELLS[GRID.sample(3000, np.random.default_rng(2))])


def test_further_images_are_drawn_like_the_second():
    """Given the first image and the factors that change, all others have one distribution, with combinations held out.

    Before any is dropped they are uniform over the other values; so they are uniform over those that are left.
    """
    held = Restricted(GRID, exclude="factor0=1&factor2>=2")
    groups = CELLS[draw_groups(held, 60_000, np.random.default_rng(3), Changes(changed=2), 4)]
    assert not ((groups[..., 0] == 1) & (groups[..., 2] >= 2)).any()
    rows = (groups[0] == [0, 0, 0, 0]).all(1) & (groups[1, :, 0] != 0) & (groups[1, :, 2] != 0)
    assert (groups[1:, rows, 3] == 0).all()
    left = [(a, b) for a in (1, 2) for b in (1, 2, 3) if not (a == 1 and b >= 2)]
    for member in groups[1:, rows]:
        count = Counter(map(tuple, member[:, [0, 2]].tolist()))
        assert set(count) == set(left)
        assert chisquare([count[pair] for pair in left]).pvalue > 0.001


@pytest.mark.parametrize("rule", RULES)
def test_what_is_held_out_is_in_no_group(rule):
    held = Restricted(GRID, exclude="factor0=1&factor2>=2")
    for size in (2, 5):
        cells = CELLS[draw_groups(held, 2000, np.random.default_rng(0), Changes(rule=rule), size)]
        assert not ((cells[..., 0] == 1) & (cells[..., 2] >= 2)).any()
        assert (cells[1:, :, 0] == 1).any()
    lonely = Restricted(GRID, keep="factor0=0&factor2=0&factor3=0")
    if rule in ("exact", "laplace"):
        with pytest.raises(UsageError, match="there is no partner"):
            draw_groups(lonely, 5, np.random.default_rng(0), Changes(rule=rule), 3)


def test_factors_that_are_always_shared_never_differ():
    for rule in RULES:
        changes = Changes(rule=rule, always_shared="factor0, factor3")
        groups = CELLS[draw_groups(GRID, 500, np.random.default_rng(0), changes, 3)]
        assert (groups[..., [0, 3]] == groups[0][:, [0, 3]]).all()
        assert (groups[1, :, 2] != groups[0, :, 2]).any()


PAIRS = {
    ("exact", None): "37534114e560140e",
    ("exact", 2): "c366b65683d9952e",
    ("redrawn", None): "f627dcf5afa5ed53",
    ("redrawn", 2): "99a594fa6842fc30",
    ("dlib", None): "fbec5ae5ce71ed1e",
    ("dlib", 2): "c1569e7ff477eab9",
}
"""What the rules drew before there were groups, as digests: runs of pairs keep their batches."""


@pytest.mark.parametrize(("rule", "changed"), PAIRS)
def test_pairs_are_the_ones_they_always_were(rule, changed):
    held = Restricted(GRID, exclude="factor0=1&factor2>=2")
    drawn = [draw_pairs(data, 300, np.random.default_rng(5), changed=changed, rule=rule) for data in (GRID, held)]
    digest = hashlib.sha256(np.stack(drawn).astype("<i8").tobytes()).hexdigest()
    assert digest[:16] == PAIRS[rule, changed]
