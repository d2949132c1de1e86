from __future__ import annotations

import numpy as np
import pytest

import unweave
from unweave.data.restricted import drawn_cells
from unweave.errors import UsageError


def test_training_draws_from_so_many_images_each_as_often():
    data = unweave.load("xyobject-subset:images=50,size=32")
    drawn = data.sample(20_000, np.random.default_rng(0))
    found, counts = np.unique(drawn, return_counts=True)
    assert len(found) == 50
    assert len(data) == 75_000  # all can still be scored
    assert (np.abs(counts - 400) < 5 * np.sqrt(400)).all()


def test_a_smaller_subset_is_part_of_a_larger_one_and_seeds_differ():
    cells = {n: set(drawn_cells(unweave.load(f"xyobject-subset:images={n}"))) for n in (10, 100)}
    assert cells[10] < cells[100]
    other = set(drawn_cells(unweave.load("xyobject-subset:images=100,subset_seed=1")))
    assert len(other & cells[100]) < 10


def test_a_subset_is_spread_over_all_images():
    values = unweave.load("shapes2d-subset:images=2000")
    places = drawn_cells(values) / len(values)
    assert np.abs(np.histogram(places, 10, (0, 1))[0] - 200).max() < 5 * np.sqrt(200)


def test_of_a_restricted_set_only_what_it_draws():
    data = unweave.load("shapes2d-restricted-subset:exclude=shape=0,images=300")
    assert (data.values(drawn_cells(data))[:, 0] > 0).all()
    assert len(drawn_cells(data)) == 300


def test_it_is_loaded_again_from_its_description():
    data = unweave.load("shapes2d-subset:images=7,subset_seed=3,size=32")
    again = unweave.load(**data.description)  # pyright: ignore[reportArgumentType]
    assert (drawn_cells(again) == drawn_cells(data)).all()


@pytest.mark.parametrize("options", ["", ":images=0", ":images=1.5", ":images=5,subset_seed=-1", ":images=many"])
def test_wrong_numbers(options):
    with pytest.raises(UsageError, match="must be an integer"):
        unweave.load(f"shapes2d-subset{options}")


def test_more_than_there_are():
    with pytest.raises(UsageError, match="has 75,000"):
        unweave.load("xyobject-subset:images=75001")
