"""The rates of the reproduction against cells solved and scored one by one."""

from __future__ import annotations

import numpy as np
import pytest

from unweave.gaussian import SCENARIOS, blahut_arimoto, im_score
from unweave.gaussian.model import as_partition
from unweave.gaussian.study import GAMMAS, LAMBDAS
from unweave.reproduce.linear_gaussian import CHOICES, PUBLISHED, VARIED, LinearGaussian, _shares


def test_a_smoke_run_has_both_tables_and_a_figure():
    seen = []
    found = LinearGaussian().run(
        LinearGaussian.presets["smoke"], seed=0, watch=lambda what, done, total: seen.append((what, done, total))
    )
    assert [row.published for row in found.rows] == [value for pair in PUBLISHED.values() for value in pair]
    assert all(0 <= row.low <= row.ours <= row.high <= 100 for row in found.rows)
    assert seen[0] == ("3-in-3", 0, 6)
    assert set(found.figures) == {"rates"}
    assert found.rows[4].what == "3-in-1, success of I_m, %"
    assert found.rows[4].ours == 100  # all factors hang together, and I_m says so


def test_a_rate_is_the_share_of_cells_that_succeed():
    im, sap, inside = _shares("3-in-2", 1, seed=4)
    world = SCENARIOS["3-in-2"].world()
    seeds = np.random.SeedSequence(4).generate_state(25, np.uint32)
    wins = [0, 0]
    for seed, (gamma, lam) in zip(seeds, ((g, k) for g in GAMMAS for k in LAMBDAS), strict=True):
        cell = blahut_arimoto(world, gamma, lam, seeds=int(seed), start="principal")
        assert cell.error[0] <= 0.05
        x, xv = (array[0] for array in world.seen_by(cell.encoder))
        wins[0] += as_partition(im_score(x, xv, world.sigma_v).groups) == world.groups
        best = (xv**2 / np.diag(x)[:, None]).argmax(axis=0)
        wins[1] += bool(best[0] == best[1] != best[2])
    assert (im.value, sap.value, inside) == (wins[0] / 25, wins[1] / 25, 1.0)


def test_every_choice_that_is_varied_has_its_default_among_the_values():
    assert set(VARIED) == set(CHOICES)
    for name, value in CHOICES.items():
        assert value in VARIED[name]
    defaults = SCENARIOS["3-in-2"].world()
    assert defaults.noise == CHOICES["noise"]
    np.testing.assert_array_equal(
        defaults.sigma_v, SCENARIOS["3-in-2"].sigma_v(weight=CHOICES["weight"], own=CHOICES["own"])
    )


@pytest.mark.slow
def test_the_sensitivity_is_drawn():
    settings = LinearGaussian.presets["small"]
    found = LinearGaussian().run(type(settings)(repeats=1, varied=1), seed=0, watch=lambda *_: None)
    assert set(found.figures) == {"rates", "sensitivity"}
    assert len(found.figures["sensitivity"].axes) == 36
