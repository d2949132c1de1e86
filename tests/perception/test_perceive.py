"""The table, the sentence, and what can be had of images that are no grid."""

from __future__ import annotations

import numpy as np
import pytest

from unweave.data import Table, Vectors
from unweave.errors import UsageError
from unweave.losses import loss_of
from unweave.perception import FewPairs, correlations, importance, perceive
from unweave.perception.measured import Distances
from unweave.perception.perceive import candidates
from unweave.perception.verdict import BETA, ORDERED, Factor, order_of_correlation, sentence

VALUES = np.stack(np.unravel_index(np.arange(8 * 5), (8, 5)), axis=1)


def squares(step: int) -> np.ndarray:
    """Return images of a bar, 4 wide, that moves by `step` pixels in 8 steps, in 5 shades of grey."""
    images = np.zeros((40, 32, 32), dtype=np.uint8)
    for image, (place, shade) in zip(images, VALUES, strict=True):
        image[:, step * place : step * place + 4] = 55 + 50 * shade
    return images


def test_a_bar_that_jumps_is_confused_and_one_that_slides_is_seen():
    jumps = perceive(Table(squares(4), VALUES, names=["place", "shade"]), pairs=2000, others=False)
    slides = perceive(Table(squares(1), VALUES, names=["place", "shade"]), pairs=2000, others=False)
    place, shade = jumps.factors
    assert (place.kind, place.order, shade.kind) == ("confused", 0.5, "seen")
    assert [each.kind for each in slides.factors] == ["seen", "seen"]
    assert jumps.sentence.startswith("In part: on table, the loss mse sees shade but confuses place")
    assert slides.sentence.startswith("Yes: on table, the loss mse sees all 2 factors (")


def test_a_loss_that_follows_the_factors_better_is_named():
    found = perceive("xysquares:size=32", pairs=512)
    assert list(found.losses)[:2] == ["mse-box:radius=15", "mse-gauss:radius=15"]
    assert set(found.better) == set(list(found.losses)[:2])
    assert found.sentence.startswith(
        "No: on xysquares, the loss mse confuses all 6 factors (x_R, y_R, x_G, y_G, x_B, y_B)"
    )
    assert "mse-box:radius=15 follows the factors better (mean rank correlation 0.97, not 0.5" in found.sentence
    again = perceive("xysquares:size=32", "mse-box:radius=15", pairs=512)
    assert not again.better
    assert again.sentence.startswith("Yes")


def test_the_table_has_the_numbers_of_the_two_functions():
    found = perceive("xysquares:size=32,spacing=4", pairs=2048, others=False).table()
    assert found["factor"][-1] == "random"
    alone = correlations("xysquares:size=32,spacing=4", pairs=2048)
    for name, linear, rank in alone.iter_rows():
        row = found.filter(factor=name).row(0, named=True)
        assert (row["linear"], row["rank"]) == (linear, rank)
    mean = importance("xysquares:size=32,spacing=4", pairs=2048, factors=["x_R"])["mean"][0]
    assert found.filter(factor="x_R")["mean"][0] == pytest.approx(mean, rel=0.03)
    assert found["mean"].to_list()[:-1] == sorted(found["mean"].to_list()[:-1], reverse=True)


def test_triplets_are_in_order_or_tied():
    truth = np.array([1.0, 2, 3, 1, 0, 2, 2, 2, 1, 3])
    perceived = np.array([0.1, 0.2, 0.1, 0.2, 0.1, 0.3, 0.2, 0.3, 0.4, 0.4])
    assert Distances(truth, perceived).order() == pytest.approx((1 + 0 + 0.5) / 3)
    assert Distances(np.array([1.0, 1]), np.array([0.1, 0.2])).order() is None


def test_signal_is_worth_in_order():
    jumps = perceive(Table(squares(4), VALUES, names=["place", "shade"]), pairs=2000, others=False)
    place, shade = jumps.factors
    assert place.worth is not None
    assert shade.worth is not None
    assert place.worth > shade.worth
    assert (place.signal, shade.signal) == (0, shade.worth)
    assert jumps.table()["signal"].to_list() == [0, shade.worth, None]


def test_two_values_are_always_in_order():
    images = np.zeros((2, 8, 8), dtype=np.uint8)
    images[1] = 200
    assert perceive(Table(images, np.array([[0], [1]])), pairs=50, others=False).factors[0].order == 1
    assert perceive(Table(0 * images, np.array([[0], [1]])), pairs=50, others=False).factors[0].kind == "overlooked"


def test_a_change_of_one_pixel_is_not_worth_a_code():
    images = np.full((8, 16, 16), 255, dtype=np.uint8)
    images[:, 3, 3] = np.arange(8) * 30
    factor = perceive(Table(images, np.arange(8)[:, None]), pairs=500, others=False).factors[0]
    assert factor.kind == "overlooked"
    assert factor.order == 1
    assert factor.worth is not None
    levels = images[:, 3, 3] / 255
    assert factor.worth == pytest.approx(2 * np.var(levels), rel=0.1)
    assert factor.worth < BETA


def test_a_correlation_of_one_half_is_the_limit_of_order():
    assert order_of_correlation(0.5) == pytest.approx(ORDERED)
    assert (order_of_correlation(-1.0), order_of_correlation(1.0)) == (0.0, 1.0)


def factor(name: str, kind: str) -> Factor:
    orders = {
        "seen": (0.95, 50.0), "half seen": (0.8, 50.0), "confused": (0.5, 50.0), "overlooked": (0.95, 1.0),
        "unknown": (0.5, None),
    }  # fmt: skip
    order, pays = orders[kind]
    return Factor(name, 8, 0.1, 0.0, 0.3, pays, 0.5, 0.5, order)


@pytest.mark.parametrize(
    ("kinds", "better", "expected"),
    [
        ("s", {}, "Yes: on table, the loss mse sees a; no other loss is needed."),
        ("ss", {"mae": 0.9}, "Yes: on table, the loss mse sees all 2 factors (a, b); mae follows the factors better"),
        ("scs", {}, "In part: on table, the loss mse sees a and c but confuses b; no other loss tried follows"),
        ("sco", {}, "In part: on table, the loss mse sees a, confuses b but overlooks c; no other"),
        (
            "cc",
            {},
            "No: on table, the loss mse confuses all 2 factors (a, b), because distances do not follow the values;",
        ),
        ("h", {}, "Hardly: on table, the loss mse half sees a, because only some distances are in order; no other"),
        (
            "hc",
            {},
            "Hardly: on table, the loss mse half sees a, because only some distances are in order and confuses",
        ),
        ("shc", {}, "In part: on table, the loss mse sees a, half sees b but confuses c; no other loss"),
        (
            "u",
            {},
            "Unknown: on table, the loss mse says nothing certain about a, because too few images differ in",
        ),
        ("su", {}, "In part: on table, the loss mse sees a but says nothing certain about b; no other"),
        ("co", {}, "No: on table, the loss mse confuses a, because distances do not follow the values and overlooks"),
    ],
)
def test_the_sentence_names_every_factor(kinds, better, expected):
    data = Table(squares(4), VALUES)
    words = {"s": "seen", "h": "half seen", "c": "confused", "o": "overlooked", "u": "unknown"}
    known = [factor(name, words[kind]) for name, kind in zip("abc", kinds, strict=False)]
    found = sentence(data, "mse", known, better, 0.5)
    assert found.startswith(expected)
    assert found.endswith(".")
    assert "\n" not in found


@pytest.mark.parametrize(
    ("kinds", "better", "learnable", "end"),
    [
        ("c", {}, "kernel", "follows the factors better; a learnt loss may: unweave learn-loss."),
        ("c", {}, "autoencoder", "a learnt loss may: unweave learn-loss --kind autoencoder."),
        ("c", {"mae": 0.6}, "kernel", "not 0.50), and a learnt loss may do more: unweave learn-loss."),
        ("c", {}, None, "no other loss tried follows the factors better."),
        ("s", {}, None, "no other loss is needed."),
    ],
)
def test_the_sentence_ends_with_what_to_do(kinds, better, learnable, end):
    known = [factor("a", {"s": "seen", "c": "confused"}[kinds])]
    assert sentence(Table(squares(4), VALUES), "mse", known, better, 0.5, learnable).endswith(end)


def test_a_loss_is_to_be_learnt_where_none_that_was_tried_sees_all():
    blurred = perceive("xysquares:size=32", pairs=512)
    assert blurred.learnable is None  # the box does
    shapes = perceive("shapes2d:size=32", pairs=512)
    assert shapes.learnable == "autoencoder"  # and no blur is better than mse
    assert "unweave learn-loss --kind autoencoder" in shapes.sentence
    vectors = Vectors(np.random.default_rng(0).normal(size=(50, 3)), np.arange(50)[:, None] % 5)
    assert perceive(vectors, pairs=200).learnable is None


def test_images_without_factors_get_their_distances_and_a_line():
    found = perceive(squares(4), pairs=100)
    assert found.table()["factor"].to_list() == ["random"]
    assert found.random[0] > 0
    assert found.sentence == "Unknown: table has no factors that distances could follow."
    assert found.notes[0].startswith(
        "'table' has no factors: only the distances of random pairs are measured; provide a table of"
    )


def test_rows_that_are_no_grid_get_what_can_be_had_and_a_line():
    rng = np.random.default_rng(0)
    light = rng.random(60)
    places = rng.integers(0, 8, size=60)
    images = np.zeros((60, 16, 16), dtype=np.uint8)
    for image, place, grey in zip(images, places, light, strict=True):
        image[:, 2 * place : 2 * place + 2] = 255 * grey
    data = Table(images, np.stack([places, light], axis=1), names=["place", "light"])
    found = perceive(data, pairs=3000, others=False)
    of_place, of_light = found.factors
    assert of_place.mean is None  # no two images are equally light
    assert of_light.mean is not None  # but several have the same place
    assert of_light.order > 0.95
    assert of_light.rank == correlations_of(data)["light"]
    assert found.notes[0].startswith("'table' has fewer than 100 pairs that differ only in place: correlations")
    assert found.sentence.startswith("In part: on table, the loss mse sees light but says nothing certain about place")


def correlations_of(data: Table) -> dict[str, float]:
    with pytest.warns(FewPairs, match="differ only in place"):
        return dict(correlations(data, pairs=3000).select("factor", "rank").iter_rows())


def test_what_is_tried_suits_the_data():
    for name in candidates(Table(squares(4))):
        loss_of(name)
    assert candidates(Table(squares(4)))[2] == "mse-box:radius=15"
    assert candidates(Table(np.zeros((2, 2, 9, 1), dtype=np.uint8)))[2] == "mse-box:radius=1"
    vectors = Vectors(np.random.default_rng(0).normal(size=(50, 3)), np.arange(50)[:, None] % 5)
    assert candidates(vectors) == ["mse", "mae"]
    assert set(perceive(vectors, pairs=200).losses) == {"mse", "mae"}


def test_a_table_of_one_value_has_nothing_to_say():
    found = perceive(Table(squares(4)[:5], np.zeros((5, 1), dtype=int)), pairs=50)
    assert found.sentence == "Unknown: table has no factor that varies."
    with pytest.raises(UsageError, match="no factor that varies"):
        correlations(Table(squares(4)[:5], np.zeros((5, 1), dtype=int)))
