"""Worlds and encoders are what they are said to be, claims are counted, and the stored page is that of the file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from unweave.metrics import METRICS
from unweave.reproduce import reproduce
from unweave.reproduce.guardians import QUICK, SLOW, Guardians, Settings, of_rows, score
from unweave.reproduce.guardians_claims import CLAIM_OF, CLAIMS, Expected, verdict
from unweave.reproduce.guardians_page import Score, as_csv, as_list, conclusions, from_csv, page, tally
from unweave.reproduce.guardians_worlds import ENCODERS, WORLDS

DOCS = Path(__file__).parents[2] / "docs"
ROWS, FACTORS = 4000, 4


def world(name):
    return WORLDS[name](np.random.default_rng(0).normal(size=(ROWS, FACTORS)))


def encode(name, factors):
    return ENCODERS[name](factors, np.random.default_rng(1))


def correlations(codes, factors):
    """|corr| of every code, (d,), with every factor, (k,)."""
    return np.abs(np.corrcoef(codes.T, factors.T)[: codes.shape[1], codes.shape[1] :])


def test_the_worlds_have_the_dependence_they_are_named_for():
    off = ~np.eye(FACTORS, dtype=bool)
    among = {name: np.array(np.corrcoef(world(name).T), ndmin=2)[off] for name in WORLDS}
    assert among["independent"] == pytest.approx(0, abs=0.06)
    assert among["correlated"] == pytest.approx(0.5, abs=0.06)
    assert among["dependent"] == pytest.approx(0, abs=0.06)
    copied, dependent = world("copied"), world("dependent")
    np.testing.assert_array_equal(copied[:, 0], copied[:, 1])
    np.testing.assert_array_equal(dependent[:, 2], dependent[:, 0] * dependent[:, 1])


def test_there_are_four_worlds_and_ten_encoders_and_all_are_described():
    assert (len(WORLDS), len(ENCODERS)) == (4, 10)
    text = (DOCS / "reproduce" / "guardians.md").read_text()
    for name, thing in {**WORLDS, **ENCODERS}.items():
        assert thing.__doc__
        assert f"| `{name}` |" in text, name


def test_the_encoders_do_what_they_say():
    factors = world("independent")
    found = {name: encode(name, factors) for name in ENCODERS}
    widths = {name: codes.shape[1] for name, codes in found.items()}
    assert widths == dict.fromkeys(("diagonal", "element-wise", "dense", "noise", "noisy"), 4) | dict.fromkeys(
        ("more", "duplicated", "wide", "circle"), 8
    ) | {"fewer": 2}
    known = {name: correlations(codes, factors) for name, codes in found.items()}
    assert np.sort(known["diagonal"].max(axis=1)) == pytest.approx(1)
    assert known["dense"].max() < 0.9
    assert known["wide"].max() < 0.97
    assert known["fewer"][:, :2].max() < 0.06
    assert known["fewer"][:, 2:].max(axis=0) == pytest.approx(1)
    assert np.sort(known["more"].max(axis=1)) == pytest.approx([0, 0, 0, 0, 1, 1, 1, 1], abs=0.06)
    assert (known["duplicated"] > 1 - 1e-9).sum(axis=0).tolist() == [2, 2, 2, 2]
    assert known["noise"].max() < 0.06
    assert known["noisy"].max(axis=0) == pytest.approx(0.2**0.5, abs=0.05)
    cosine, sine = np.hsplit(found["circle"], 2)
    np.testing.assert_allclose(cosine**2 + sine**2, 1)
    assert known["circle"][:4].max() < 0.06 < 0.5 < known["circle"][4:].max(axis=1).min()


def test_element_wise_codes_increase_with_their_factor():
    factors = world("independent")
    codes = encode("element-wise", factors)
    orders = {tuple(order) for order in np.argsort(factors, axis=0).T}
    assert {tuple(order) for order in np.argsort(codes, axis=0).T} == orders


def test_mixing_keeps_distances():
    factors = world("independent")[:100]
    for name in ("dense", "wide"):
        codes = encode(name, factors)
        np.testing.assert_allclose(codes @ codes.T, factors @ factors.T, atol=1e-9)


@pytest.mark.parametrize(
    ("expected", "score", "found"),
    [
        (Expected.HIGH, 0.7, 0),
        (Expected.HIGH, 0.6, -1),
        (Expected.HIGH, 1.2, 0),
        (Expected.LOW, 0.3, 0),
        (Expected.LOW, 0.4, 1),
        (Expected.LOW, -0.2, 0),
        (Expected.HALF, 0.2, -1),
        (Expected.HALF, 0.5, 0),
        (Expected.HALF, 0.8, 1),
        (Expected.NOT_HIGH, 0.7, 1),
        (Expected.NOT_HIGH, 0.0, 0),
    ],
)
def test_a_claim_is_missed_above_or_below(expected, score, found):
    assert expected.verdict(score) == found


def test_nothing_is_said_where_nothing_is_claimed_or_known():
    assert verdict("modularity", "noisy", 0.1) is None
    assert verdict("mig", "noise", None) is None
    assert verdict("mig", "noise", float("nan")) is None
    assert verdict("mig", "noise", 0.9) == 1
    assert Score(10, 4, 0, "copied", "noise", "dci-es-size", 0.5, None, None, None).verdict is None


def test_every_metric_of_rows_has_a_claim():
    """But for sizes, efficiencies, and accuracies from ten rows, which nothing can be told from, and many codes."""
    few_codes = tuple(name for name in METRICS if name not in ("k-sparse-probing", "dci-matched"))
    names = {row for name in of_rows(few_codes) for row in METRICS[name].names(name)}
    ends = ("-size", "-efficiency", "-accuracy-10", "-accuracy-10000")
    assert {name for name in names if not name.endswith(ends)} == set(CLAIM_OF)
    assert set(CLAIM_OF.values()) == set(CLAIMS)
    assert set(SLOW) & set(Guardians.presets["small"].metrics) == set()
    assert set(SLOW) < set(Guardians.presets["paper"].metrics)


def made(metric, encoder, adjusted, value=0.5):
    return Score(100, 4, 0, "independent", encoder, metric, value, 0.0, 1.0, adjusted)


def test_the_tally_counts_what_is_missed():
    scores = [
        made("mcc", "diagonal", 1.0, 0.9),
        made("mcc", "dense", 0.6, 0.6),
        made("mcc", "wide", 0.1, 0.4),
        made("mcc", "noise", None),
        made("im", "element-wise", 0.01, 4.0),
    ]
    mcc, im = tally(scores)
    assert (mcc.tested, mcc.missed, mcc.raw, dict(mcc.too_high), dict(mcc.too_low)) == (3, 1, 2, {"dense": 1}, {})
    assert (im.tested, im.missed, im.raw, dict(im.too_low)) == (1, 1, None, {"element-wise": 1})
    assert mcc.percent == pytest.approx(100 / 3)
    first, second, *rest = conclusions(scores)
    assert first == (
        "Of 4 claims, adjusted scores miss 2 (50 %). Of the 3 claims of metrics whose largest score is 1, they miss "
        "1, plain values 2."
    )
    assert second == (
        "Metrics that miss no claim: none. Of the others, the fewest: mcc 33 %, im 100 %; the most: im 100 %, mcc 33 %."
    )
    assert "Mostly too high for `dense`: mcc. Too low: none." in rest
    assert "Mostly too high for `element-wise`: none. Too low: im." in rest


def test_the_file_is_read_as_it_was_written():
    scores = (made("mcc", "dense", 0.123456), made("dci-es-size", "dense", None))
    assert from_csv(as_csv(scores)) == scores
    assert scores[0].adjusted == 0.1235


def test_metrics_that_need_classes_get_groups_and_others_numbers():
    factors = world("independent")[:500]
    (first, numbers, *_), (second, groups, _, ceiling, _) = score(factors, factors, ("mig", "mcc"), seed=0)
    assert (first, second) == ("mcc", "mig")
    assert numbers == pytest.approx(1)
    assert ceiling is not None
    assert 0.6 < groups < ceiling  # of the groups themselves


def test_a_smoke_run_is_saved_with_its_map_and_tables(tmp_path):
    told = []
    outcome = reproduce("guardians", preset="smoke", out=tmp_path, on_progress=lambda *step: told.append(step))
    files = {"result.json", "result.md", "map.png", "scores.csv", "fooled.md"}
    assert {path.name for path in tmp_path.iterdir()} == files
    scores = from_csv((tmp_path / "scores.csv").read_text())
    assert len(scores) == len(WORLDS) * len(ENCODERS) * len(QUICK)
    assert (tmp_path / "fooled.md").read_text() == page(scores)
    assert told[0] == ("300 rows, 4 factors, independent, diagonal", 0, 40)
    shares = {row.what.split()[0]: row.ours for row in outcome.findings.rows}
    assert shares["mcc"] >= 20  # two encoders of ten, in every world
    mcc = next(each for each in tally(scores) if each.metric == "mcc")
    assert {"dense", "wide"} <= set(mcc.too_high)
    assert outcome.record()["tables"] == ["scores.csv", "fooled.md"]
    assert "[scores.csv](scores.csv)" in (tmp_path / "result.md").read_text()


def test_sizes_are_drawn_and_draws_have_an_interval():
    settings = Settings(sizes=((60, 4), (90, 5)), metrics=("mcc",), repeats=2)
    found = Guardians().run(settings, seed=0, on_progress=lambda *_: None)
    assert set(found.figures) == {"map", "sizes"}
    assert all(np.isfinite([row.low, row.high]).all() for row in found.rows)
    assert any("at 90 rows of 5 factors" in note for note in found.notes)


def test_the_seed_decides_everything():
    settings = Settings(sizes=((60, 4),), metrics=("mcc",))
    first, second, other = (
        Guardians().run(settings, seed=seed, on_progress=lambda *_: None).tables for seed in (0, 0, 1)
    )
    assert first == second != other


def test_the_stored_page_is_that_of_the_stored_scores():
    scores = from_csv((DOCS / "results" / "guardians.csv").read_text())
    assert (DOCS / "results" / "guardians.md").read_text() == page(scores)
    text = (DOCS / "reproduce" / "guardians.md").read_text()
    assert f"<!-- claims -->\n{as_list(conclusions(scores))}\n<!-- /claims -->" in text
    for made_of in (page(scores), as_list(conclusions(scores))):
        assert max(len(line) for line in made_of.splitlines() if not line.startswith("|")) <= 120
    settings = Guardians.presets["small"]
    assert {(each.rows, each.factors) for each in scores} == set(settings.sizes)
    assert {name for name in settings.metrics if not any(each.metric.startswith(name) for each in scores)} == set()
