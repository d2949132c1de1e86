"""GeoManCEr's experiments against angles taken by hand, curves on SO(3) × S², and a small run of everything."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.patches import Rectangle
from scipy.linalg import subspace_angles
from scipy.spatial.transform import Rotation

from unweave.data.objects3d import Objects3D
from unweave.geometry import chance_error, geomancer, sample, subspace_error, unaligned_error
from unweave.reproduce.geomancer import Geomancer, object_rows, product_rows, remarks
from unweave.reproduce.geomancer_figures import objects_figure, products_figure
from unweave.reproduce.geomancer_objects import DIMS, FoundFactors, Training, codes, find_factors, true_frames
from unweave.reproduce.geomancer_products import CURVED, FLAT, PRODUCTS, Trials, factorised, trials
from unweave.training.interrupt import Interrupted

STEP = 1e-6


@pytest.fixture(scope="module")
def smoke():
    seen = []
    found = Geomancer().run(Geomancer.presets["smoke"], seed=0, on_progress=lambda *step: seen.append(step))
    return found, seen


def test_a_smoke_run_has_all_rows_and_figures(smoke):
    found, seen = smoke
    rows = {row.what: row for row in found.rows}
    assert len(rows) == len(found.rows) == 2 * 2 * 2 + 3 + 2 + 2
    assert [step[1:] for step in seen] == [(done, 7) for done in range(7)]
    assert (seen[0][0], seen[-1][0]) == ("S² × S², 300 points", "objects, codes, β = 1")
    assert rows["S² × S², 600 points: factors"].difference == 0
    assert rows["S² × S², 600 points: error (chance 1.00)"].high < chance_error([2, 2])
    assert rows["T² × S², 600 points: factors"].published is None
    assert rows["T² × S², 600 points: error (chance 1.00)"].ours == pytest.approx(np.pi / 2)
    for name in ("pixels", "codes, β = 1"):
        assert rows[f"objects, {name}: error (chance 1.25)"].high > 0.9 * chance_error(DIMS)
    assert all(0 <= row.low <= row.ours <= row.high <= np.pi / 2 for row in found.rows if "error" in row.what)
    assert set(found.figures) == {"products", "objects"}


def test_every_product_is_one_that_can_be_drawn_and_has_the_factors_of_its_name():
    assert set(PRODUCTS) == set(CURVED) | set(FLAT)
    for name, spec in PRODUCTS.items():
        assert len(sample(spec, 2).frames) == name.count("×") + 1
    for settings in Geomancer.presets.values():
        assert set(settings.products) <= set(PRODUCTS)
        assert settings.repeats > 1  # or there are no intervals


def test_an_error_is_the_mean_angle_to_the_better_match():
    seen = trials("S² × S²", 700, [5, 6])
    drawn = sample("S^2 x S^2", 700, seed=6)
    found = geomancer(drawn.points, 4, seed=6)
    truth = [[frame[i] for frame in drawn.frames] for i in range(700)]
    errors = []
    for bases, true in zip(found.components, truth, strict=True):
        pairs = (zip(bases, order, strict=True) for order in (true, true[::-1]))
        matches = [[subspace_angles(*pair).max() for pair in match] for match in pairs]
        errors.append(min(map(np.mean, matches)))
    assert seen.dims == found.dims == (2, 2)
    assert seen.counts == (2, 2)
    assert seen.right == (True, True)
    assert seen.errors[1] == pytest.approx(np.mean(errors))
    assert seen == trials("S² × S²", 700, [5, 6])


@pytest.mark.parametrize("product", FLAT)
def test_flat_factors_are_wrong_and_warned_of(product):
    seen = trials(product, 2_000, [0])
    assert seen.counts[0] != 2
    assert seen.right == (False,)
    assert seen.warned == (True,)
    assert seen.errors[0] == pytest.approx(np.pi / 2)


def test_true_frames_hold_the_velocities_of_curves():
    rng = np.random.default_rng(0)
    latents = Objects3D(n=20).latents(np.arange(20))
    turns, shifts = true_frames(latents)
    for frame in (turns, shifts):
        np.testing.assert_allclose(
            frame.transpose(0, 2, 1) @ frame,
            np.broadcast_to(np.eye(frame.shape[2]), (20, *2 * frame.shape[2:])),
            atol=1e-12,
        )
    np.testing.assert_allclose(turns.transpose(0, 2, 1) @ shifts, 0, atol=1e-12)
    small = Rotation.from_rotvec(STEP * rng.standard_normal((20, 3))).as_matrix()
    moved = latents.copy()
    moved[:, :9] = (small @ latents[:, :9].reshape(-1, 3, 3)).reshape(-1, 9)
    assert outside(moved - latents, turns) < 1e-5
    moved = latents.copy()
    moved[:, 9:] = np.einsum("nij,nj->ni", small, latents[:, 9:])
    assert outside(moved - latents, shifts) < 1e-5


def outside(steps: np.ndarray, frames: np.ndarray) -> float:
    """Return the largest share of a step that does not lie in the space of its frame."""
    inside = np.einsum("ndk,nek,ne->nd", frames, frames, steps)
    return float((np.linalg.norm(steps - inside, axis=1) / np.linalg.norm(steps, axis=1)).max())


def test_true_frames_are_those_of_the_same_points_drawn_as_a_product():
    drawn = sample("SO(3) x S^2", 50, seed=1)
    frames = true_frames(drawn.points)
    bases = [[frame[i] for frame in frames] for i in range(50)]
    assert subspace_error(bases, drawn.frames).max() < 1e-7


def test_aligning_tells_true_factors_from_random_ones():
    data = Objects3D(n=500, seed=2)
    latents = data.latents(np.arange(500))
    frames = true_frames(latents)
    truth = [[frame[i] for frame in frames] for i in range(500)]
    turn = np.linalg.qr(np.random.default_rng(0).standard_normal((12, 12)))[0]
    turned = [[turn @ basis for basis in bases] for bases in truth]
    assert unaligned_error(latents @ turn.T, turned, latents, frames).mean() < 1e-6
    guess = np.linalg.qr(np.random.default_rng(1).standard_normal((500, 5, 5)))[0]
    whole = np.concatenate(frames, axis=2) @ guess
    random = [[basis[:, :3], basis[:, 3:]] for basis in whole]
    assert unaligned_error(latents, random, latents, frames).mean() == pytest.approx(chance_error(DIMS), abs=0.03)


def test_latents_are_compared_both_ways_and_factors_counted_before_two_are_asked_for():
    latents = Objects3D(n=250).latents(np.arange(250))
    seen = find_factors(latents, latents, seed=3)
    assert seen.count == factorised(latents, 5, seed=3)[0].count
    told, _ = factorised(latents, 5, count=2, seed=3)
    assert seen.dims == told.dims
    assert seen.aligned is not None
    np.testing.assert_allclose(seen.aligned, subspace_error(told.components, true_frames(latents)))
    assert find_factors(2 * latents, latents, seed=3).aligned is None


def test_codes_are_those_of_the_seed_and_leave_no_folder(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    data = Objects3D(size=32, n=40)
    images = data.images(np.arange(40))
    training = Training(steps=2, width=0.1)
    first, second, other = (codes(data, images, 1.0, training, seed)[0] for seed in (0, 0, 1))
    assert first.shape == (40, 10)
    np.testing.assert_array_equal(first, second)
    assert not np.allclose(first, other)
    assert list(tmp_path.iterdir()) == []


def test_what_codes_explain_is_the_share_of_variance(monkeypatch):
    class Fixed:
        def encode(self, images):
            return np.zeros((len(images), 10))

        def reconstruct(self, images):
            return np.broadcast_to(np.rint(images.mean(axis=0)).astype(np.uint8), images.shape)

    monkeypatch.setattr("unweave.training.train", lambda *args, **options: Fixed())
    data = Objects3D(size=32, n=60)
    images = data.images(np.arange(60))
    assert codes(data, images, 1.0, Training(steps=1), 0)[1] == pytest.approx(0, abs=1e-3)  # no more than the mean
    monkeypatch.setattr(Fixed, "reconstruct", lambda self, images: images)
    assert codes(data, images, 1.0, Training(steps=1), 0)[1] == 1


def test_an_interrupted_training_names_no_folder_that_is_gone(monkeypatch, tmp_path):
    def stop(*args, **options):
        raise Interrupted(3, tmp_path)

    monkeypatch.setattr("unweave.training.train", stop)
    data = Objects3D(size=32, n=4)
    with pytest.raises(KeyboardInterrupt) as caught:
        codes(data, data.images(np.arange(4)), 1.0, Training(steps=1), 0)
    assert type(caught.value) is KeyboardInterrupt
    assert caught.value.args == ()


TWO = {
    "S² × S²": {
        1_000: Trials((2, 2), (0.3, 1.57, 0.32), (2, 1, 2), (True, False, True), (False, True, False)),
        2_000: Trials((2, 2), (0.2, 0.22, 0.21), (2, 2, 2), (True,) * 3, (False, True, False)),
    }
}
SEEN = {
    "true latents": FoundFactors(2, (3, 2), (), np.array([0.1, 0.2, 0.3]), np.array([0.2, 0.3, 0.4])),
    "pixels": FoundFactors(7, (), ("no gap", "flat"), np.full(3, 1.5)),
    "codes, β = 4": FoundFactors(1, (4, 1), ("no gap",), np.full(3, 1.5), explained=0.87),
}


def test_rows_have_the_claimed_number_of_factors_and_no_other_printed_number():
    rows = list(product_rows(TWO))
    assert [row.published for row in rows] == [2, None, 2, None]
    assert rows[3].ours == pytest.approx(0.21)
    assert rows[3].low < 0.2 < 0.22 < rows[3].high
    assert (rows[0].low, rows[1].low, rows[1].high) == (1, 0, np.pi / 2)  # as far as there can be factors and errors
    rows = {row.what: row for row in object_rows(SEEN)}
    assert {name: row.published for name, row in rows.items() if row.published is not None} == {
        "objects, true latents: factors": 2
    }
    assert rows["objects, true latents, not aligned: error (chance 1.25)"].ours == pytest.approx(0.3)
    assert rows["objects, pixels: factors"].ours == 7


def test_remarks_count_the_warnings():
    products, *objects = remarks(TWO, SEEN)
    assert products == "products: warned of 1 of 1 samples whose factors it got wrong, and of 1 of 5 others."
    assert objects == [
        "objects, true latents: two factors have dimensions 3 + 2; warned of: nothing.",
        "objects, pixels: two factors have dimensions that differ from point to point; warned of: no gap; flat.",
        "objects, codes, β = 4: they explain 87% of the pixels' variance; two factors have dimensions 4 + 1; "
        "warned of: no gap.",
    ]


def test_a_marker_is_hollow_where_a_sample_has_wrong_factors():
    (axes,) = products_figure(TWO).axes
    markers = [line for line in axes.lines if line.get_marker() == "o"]
    assert [to_hex(str(line.get_markerfacecolor())) == "#ffffff" for line in markers] == [True, False]
    assert [float(np.asarray(line.get_ydata())[0]) for line in markers] == pytest.approx([0.73, 0.21])
    dashed = [line for line in axes.lines if line.is_dashed()]
    assert float(np.asarray(dashed[0].get_ydata())[0]) == pytest.approx(chance_error([2, 2]))


def test_histograms_hold_every_point():
    *strip, first, second, third = objects_figure(SEEN, seed=0).axes
    assert len(strip) == 9
    for axes in (first, second, third):
        bars = [patch for patch in axes.patches if isinstance(patch, Rectangle)]
        assert sum(bar.get_height() for bar in bars) == 3
    assert "7 factors found" in second.get_title(loc="left")
