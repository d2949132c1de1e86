from __future__ import annotations

from dataclasses import replace

import numpy as np

from unweave.report import reconstructions, survey, traversals
from unweave.report.grids import GAP, MARGIN
from unweave.report.latents import reconstruction_rows, traversal_rows


def test_traversal_rows_are_ordered_by_kl_and_name_the_unused(run):
    grid = traversal_rows(run, survey(run))
    assert [row.label for row in grid.rows] == ["z3", "z1", "z4", "z0", "z2", "z5"]
    assert [row.muted for row in grid.rows] == [False] * 3 + [True] * 3
    assert [row.note for row in grid.rows][3:] == ["unused"] * 3
    assert grid.rows[0].note == f"{survey(run).carried[3]:.2f} nats"
    assert grid.header == ["−2", "−1.5", "−1", "−0.5", "0", "0.5", "1", "1.5", "2"]


def test_a_traversal_changes_one_latent_of_one_image(run):
    seed = 11
    grid = traversal_rows(run, survey(run), columns=5, seed=seed)
    index = np.random.default_rng(seed).integers(len(run.data), size=1)
    base = run.data.factors.from_index(index)[0] / (np.array(run.data.factors.sizes) - 1)
    for axis, row in enumerate(grid.rows[:3]):
        places = np.tile(base, (5, 1))
        places[:, axis] = np.linspace(0, 1, 5)
        error = np.abs(row.images.astype(int) - run.data.render(places))
        assert error.max() <= 8  # the encoder reads the place off rounded pixels
    for row in grid.rows[3:]:
        assert (row.images == row.images[0]).all()


def test_a_point_is_traversed_through_its_own_range(run):
    points = replace(run, point=True)
    seen = survey(points)
    grid = traversal_rows(points, seen, columns=5)
    assert grid.header == ()
    assert [row.label for row in grid.rows][:3] == ["z4", "z1", "z3"]  # by variance: the fewer values, the larger
    assert [row.note for row in grid.rows][3:] == ["unused"] * 3
    code = points.posterior(run.data.images(np.random.default_rng(0).integers(len(run.data), size=1)))[0]
    for row in grid.rows[:3]:
        latent = int(row.label[1:])
        low, high = np.quantile(seen.codes[:, latent], [0.01, 0.99])
        codes = np.tile(code, (2, 1))
        codes[:, latent] = [low, high]
        np.testing.assert_allclose(row.images[[0, -1]].astype(int), run.decode(codes), atol=2)
        assert row.note.splitlines()[0] == f"variance {seen.codes[:, latent].var():.2g}"
    assert traversals(points).height == 6 * (128 + GAP) - GAP + 2 * MARGIN  # no headings: each row has its own ends


def test_the_picture_of_the_traversals_shows_as_many_rows_as_asked(run):
    tall, short = traversals(run), traversals(run, rows=2)
    assert tall.height - short.height == 4 * (128 + GAP)
    assert tall.width == short.width
    pixels = np.asarray(short)
    first = traversal_rows(run, survey(run)).rows[0].images
    left = short.width - MARGIN - (9 * (128 + GAP) - GAP)
    top = short.height - MARGIN - (2 * (128 + GAP) - GAP)
    np.testing.assert_array_equal(pixels[top : top + 128 : 2, left : left + 128 : 2], first[0])


def test_reconstructions_stand_below_their_images(run):
    inverted = replace(run, places=(1, 3, 4))  # decodes x as y: what is below must differ from above
    rows = reconstruction_rows(inverted, n=4, seed=2).rows
    assert [row.label for row in rows] == ["image", "reconstruction"]
    np.testing.assert_array_equal(rows[1].images, inverted.reconstruct(rows[0].images))
    drawn = np.random.default_rng(2).integers(len(run.data), size=4)
    np.testing.assert_array_equal(rows[0].images, run.data.images(drawn))
    assert reconstructions(run, n=4).height == 2 * 128 + GAP + 2 * MARGIN
