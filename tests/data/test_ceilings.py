"""Ceilings by hand, against a slow referee, and of sets whose twins are known."""

from __future__ import annotations

from collections import Counter
from math import log
from pathlib import Path

import numpy as np
import pytest

from unweave.data import DATASETS, load
from unweave.data.ceilings import Ceilings, cached_ceilings, ceilings, fingerprint, known_ceilings, three_digits
from unweave.data.files import source
from unweave.data.restricted import Restricted
from unweave.data.table import Table


def table(looks: list[int], values: list[list[int]]) -> Table:
    """Images that look alike where the numbers are equal."""
    return Table(np.array(looks, dtype=np.uint8).reshape(-1, 1, 1, 1), values)


def of(data) -> Ceilings:
    found = ceilings(data)
    assert found is not None
    return found


def test_a_case_by_hand():
    """Images A A B C: of A, the first factor is 0 or 1; the second is told by the image."""
    found = of(table([1, 1, 2, 3], [[0, 0], [1, 0], [0, 1], [1, 1]]))
    assert (found.images, found.distinct) == (4, 3)
    first, second = found.factors
    assert first.accuracy == 0.75
    assert first.information == pytest.approx(log(2) - 0.5 * log(2))
    assert first.share == pytest.approx(0.5)
    assert (second.accuracy, second.share) == (1.0, 1.0)


def test_a_set_without_twins_has_no_ceiling():
    found = of(table(list(range(8)), [[i, i % 2] for i in range(8)]))
    assert found.distinct == found.images == 8
    assert all(factor.accuracy == factor.share == 1.0 for factor in found.factors)


def test_a_factor_that_never_shows_is_guessed():
    values = [[a, b] for a in range(5) for b in range(3)]
    hidden = of(table([a for a, _ in values], values)).factors[1]
    assert hidden.accuracy == pytest.approx(1 / 3)
    assert hidden.information == pytest.approx(0.0, abs=1e-12)
    assert hidden.entropy == pytest.approx(log(3))


def test_against_sums_over_a_dictionary():
    rng = np.random.default_rng(0)
    looks, values = rng.integers(0, 30, 300), rng.integers(0, (4, 7), (300, 2))
    found = of(table(looks.tolist(), values.tolist()))
    for axis, factor in enumerate(found.factors):
        pairs = Counter(zip(looks.tolist(), values[:, axis].tolist(), strict=True))
        alone = Counter(looks.tolist())
        best = sum(max(count for (look, _), count in pairs.items() if look == wanted) for wanted in alone)
        left = sum(count / 300 * log(alone[look] / count) for (look, _), count in pairs.items())
        entropy = sum(count / 300 * log(300 / count) for count in Counter(values[:, axis].tolist()).values())
        assert factor.accuracy == pytest.approx(best / 300)
        assert factor.information == pytest.approx(entropy - left)
        assert factor.entropy == pytest.approx(entropy)


def test_shapes2d_shows_its_orientation_where_it_has_the_pixels_to():
    """Over all of a cut of the grid; with steps of 9°, a quarter of squares and half of ellipses were told apart."""
    found = of(Restricted(load("shapes2d"), keep="scale=5&x<2&y<2"))
    assert found.images == 3 * 40 * 4
    assert found.distinct == (32 + 40 + 40) * 4
    turn = found.factors[2]
    assert turn.accuracy == pytest.approx(112 / 120)
    assert 0.97 < turn.share < 1.0


DRAWN = ["xysquares", "xyobject", "xyobject-shaded", "shapes2d", "rooms3d", "scenes2d"]


def page_of(name: str) -> str:
    """Return the text of a data set's page, with single spaces."""
    pages = Path(__file__).parents[2] / "docs" / "data"
    return " ".join((pages / f"{name.partition('-')[0]}.md").read_text(encoding="utf-8").split())


@pytest.mark.parametrize("name", DATASETS)
def test_every_page_says_what_no_code_can_exceed(name: str):
    assert "**Ceilings" in page_of(name)


@pytest.mark.parametrize("name", [name for name in DATASETS if not source(name)])
def test_every_set_that_is_drawn_comes_with_its_ceilings(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Where this fails, the set is drawn in another way than before: python benchmarks/ceilings.py --write."""
    monkeypatch.setenv("UNWEAVE_DATA", str(tmp_path))
    data = load(name)
    found = known_ceilings(data)
    assert found is not None
    assert found.images == len(data)
    assert tuple(factor.factor for factor in found.factors) == data.factors.names
    assert cached_ceilings(data, lambda *_: pytest.fail("the images are compared")) == found


def test_other_options_are_another_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("UNWEAVE_DATA", str(tmp_path))
    assert fingerprint(load("xyobject", size=32)) != fingerprint(load("xyobject"))
    assert known_ceilings(load("xyobject", size=32)) is None
    assert known_ceilings(load("shapes2d-noisy")) is None


@pytest.mark.slow
@pytest.mark.parametrize("name", DRAWN)
def test_the_numbers_of_pages_and_those_that_are_shipped_are_those_of_all_images(name: str):
    found, page = of(load(name)), page_of(name)
    assert known_ceilings(load(name)) == found
    if found.distinct == found.images:
        assert f"All {found.images:,} images are distinct" in page
        return
    assert f"{found.distinct:,} of {found.images:,} images are distinct" in page
    for factor in found.factors:
        limits = f"an accuracy of {three_digits(factor.accuracy)} and {three_digits(factor.share)} of its information"
        assert (f"`{factor.factor}`, {limits}" in page) == (factor.accuracy < 1)


def test_noise_has_no_ceilings():
    assert ceilings(load("shapes2d-noisy")) is None
    assert cached_ceilings(load("shapes2d-noisy")) is None


def test_they_are_computed_once_and_again_for_other_images(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("UNWEAVE_DATA", str(tmp_path))
    data = table([1, 1, 2, 3], [[0, 0], [1, 0], [0, 1], [1, 1]])
    seen: list[float] = []
    found = [cached_ceilings(data, lambda _, done, __: seen.append(done)) for _ in range(2)]
    assert found[0] == found[1] == ceilings(data)
    assert seen == [4]
    (kept,) = (tmp_path / "ceilings").iterdir()
    kept.write_text("{}")
    assert cached_ceilings(data) == found[0]
    other = cached_ceilings(table([1, 4, 2, 3], [[0, 0], [1, 0], [0, 1], [1, 1]]))
    assert other is not None
    assert other.distinct == 4
