"""Ranking the runs below a folder."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import polars
import pytest

import unweave
from unweave.selection import SCORES, select, udr
from unweave.selection.specifications import run_folders

from .conftest import QUICK, train_many

NOTED = ("unfinished run", "seed1", "weights", "copy")
FAST = {"model-centrality": {"votes": 20, "test_votes": 20, "batch": 8, "variance_rows": 40}}


@pytest.fixture(scope="module")
def everything(many: Path):
    return select(many, "all", against=["mig", "dci-disentanglement"], samples=80, options=FAST, progress=False)


def test_every_score_ranks_specifications_and_runs(everything):
    table = everything.specifications
    assert table["score"].unique(maintain_order=True).to_list() == list(SCORES)
    assert table.group_by("score").len()["len"].to_list() == [3] * len(SCORES)
    assert set(table["specification"]) == {"beta-vae beta=1", "beta-vae beta=4", "beta-vae beta=16"}
    assert table["seeds"].to_list() == [5] * len(table)
    assert table.select("value", "low", "high", "chance", "rank").null_count().sum_horizontal()[0] == 0
    assert (table["low"] <= table["value"]).all()
    assert (table["value"] <= table["high"]).all()
    for (score,), rows in table.group_by("score"):
        best = rows["value"].max() if SCORES[str(score)].higher_is_better else rows["value"].min()
        assert (rows.filter(rank=1)["value"] == best).all()
        assert rows["chance"].sum() == pytest.approx(1)
    assert len(everything.runs) == 15 * len(SCORES)
    inside = everything.runs.group_by("score", "specification").agg(polars.col("value").mean())
    joined = table.join(inside, on=["score", "specification"])
    np.testing.assert_allclose(joined["value"], joined["value_right"])


def test_runs_within_a_specification_have_the_scores_of_the_pure_functions(many: Path, everything):
    runs = [unweave.Run.open(many / "beta4" / f"seed{seed}") for seed in range(5)]
    data = runs[0].data
    images = data.inputs(data.sample(80, np.random.default_rng(0)))
    posteriors = [run.posterior(images) for run in runs]
    kl = [unweave.metrics.kl_per_code(mean, spread) for mean, spread in posteriors if spread is not None]
    expected = udr([mean for mean, _ in posteriors], "lasso", kl=kl)
    found = everything.runs.filter(score="udr-lasso", specification="beta-vae beta=4").sort("seed")
    np.testing.assert_allclose(found["value"], expected)


def test_the_choice_is_the_best_run_of_the_best_specification(everything):
    assert len(everything.choices) == len(SCORES)
    for choice in everything.choices:
        first = everything.specifications.filter(score=choice.score, rank=1)
        assert choice.specification in first["specification"].to_list()
        runs = everything.runs.filter(score=choice.score, specification=choice.specification)
        best = runs["value"].max() if SCORES[choice.score].higher_is_better else runs["value"].min()
        assert runs.filter(run=str(choice.run))["value"][0] == best
        if not choice.ties:
            assert f"by {choice.score}: {choice.specification} ranks first and is the best with" in choice.sentence
            assert choice.sentence.endswith(f"; keep {choice.run}")


def test_against_supervised_scores(many: Path, everything):
    table = everything.against
    assert table.group_by("score", "supervised", "over").len()["len"].to_list() == [1] * (len(SCORES) * 4)
    row = table.filter(score="reconstruction", supervised="mig", over="specifications").row(0, named=True)
    means = {}
    for beta in (1, 4, 16):
        scores = [unweave.Run.open(many / f"beta{beta}" / f"seed{seed}").scores() for seed in range(5)]
        values = [each.filter(metric="mig")["value"][0] for each in scores if each is not None]
        means[f"beta-vae beta={beta}"] = np.mean(values)
    ours = everything.specifications.filter(score="reconstruction")
    from scipy.stats import spearmanr

    expected = spearmanr(-ours["value"].to_numpy(), [means[name] for name in ours["specification"]])[0]
    assert row["correlation"] == pytest.approx(expected)
    assert row["count"] == 3
    assert row["low"] <= row["correlation"] <= row["high"]
    assert table.filter(over="runs")["count"].to_list() == [15] * (len(SCORES) * 2)


def test_saved_scores_are_read_and_the_same_is_found_again(many: Path, everything, monkeypatch):
    monkeypatch.setattr(unweave.Run, "evaluate", None)  # all is saved by now
    again = select(many, ["elbo", "udr-spearman", "dynamics"], against="mig", samples=80, progress=False)
    for table in ("specifications", "runs", "against"):
        before = getattr(everything, table).filter(polars.col("score").is_in(["elbo", "udr-spearman", "dynamics"]))
        if table == "against":
            before = before.filter(supervised="mig")
        order = [name for name in ("score", "specification", "run", "over") if name in before.columns]
        assert getattr(again, table).sort(order).equals(before.sort(order))


def test_all_runs_may_be_partners(many: Path):
    found = select(many, "udr-spearman", partners="all", samples=80, progress=False)
    runs = [unweave.Run.open(path) for path in run_folders(many)]
    data = runs[0].data
    images = data.inputs(data.sample(80, np.random.default_rng(0)))
    posteriors = [run.posterior(images) for run in runs]
    kl = [unweave.metrics.kl_per_code(mean, spread) for mean, spread in posteriors if spread is not None]
    expected = dict(
        zip([str(run.path) for run in runs], udr([mean for mean, _ in posteriors], "spearman", kl=kl), strict=True)
    )
    for run, value in found.runs.select("run", "value").iter_rows():
        assert value == pytest.approx(expected[run])


def test_one_seed_a_specification(many: Path):
    alone = [many / f"beta{beta}" / "seed0" for beta in (1, 4, 16)]
    with pytest.raises(unweave.UsageError, match="udr-lasso compares seeds, but no specification has two: train more"):
        select(alone, samples=50, progress=False)
    found = select(alone, ["elbo", "kl"], samples=80, progress=False)
    assert found.specifications["chance"].null_count() == 6
    assert found.specifications["low"].null_count() == 6
    assert "ranks first, with 1 seed: train at least 5 of every" in found.choices[0].sentence
    both = select([*alone, many / "beta1" / "seed1"], samples=50, progress=False)
    assert both.specifications.drop_nulls("value")["specification"].to_list() == ["beta-vae beta=1"]
    assert both.notes == ("udr-lasso: 2 of 3 specifications have one seed and cannot be compared",)
    assert "is the only specification with this score" in both.choices[0].sentence
    everyone = select(alone, partners="all", samples=50, progress=False)
    assert everyone.specifications["value"].null_count() == 0


def test_runs_without_traces(many: Path, tmp_path: Path):
    folder = shutil.copytree(many, tmp_path / "runs")
    shutil.rmtree(folder / "beta1" / "seed0" / "traces")
    found = select(folder, "dynamics", progress=False)
    assert found.notes == ("dynamics: 1 of 15 runs have no traces and are left out",)
    assert found.specifications.filter(specification="beta-vae beta=1")["seeds"][0] == 4
    assert found.runs["value"].null_count() == 1
    for traces in folder.rglob("traces"):
        shutil.rmtree(traces)
    with pytest.raises(unweave.UsageError, match="dynamics needs traces, but no run has them: train with"):
        select(folder, "dynamics", progress=False)
    rest = select(folder, "udr-lasso", samples=50, progress=False)
    assert rest.notes == ()
    some = select(folder, "all", samples=80, options=FAST, progress=False)
    assert "dynamics" not in set(some.specifications["score"])
    assert some.notes[0].startswith("left out: dynamics needs traces")


def test_other_moments_are_named(many: Path, tmp_path: Path):
    runs = [many / "beta4" / f"seed{seed}" for seed in range(2)]
    other = unweave.train("beta-vae", beta=4, seed=7, out=tmp_path / "other", trace_every=3, trace_samples=12, **QUICK)
    found = select([*runs, other], "dynamics", progress=False)
    assert found.specifications["seeds"].to_list() == [2]
    assert found.notes == (
        f"dynamics: left out, '{other.path}', whose traces have other moments or images than those of most seeds",
    )
    same = unweave.selection.dynamics([unweave.Run.open(run).traces() for run in runs])
    assert found.specifications["value"][0] == pytest.approx(same)


def test_as_many_moments_at_other_steps_are_not_compared(tmp_path: Path):
    """Three moments each, after 0, 6 and 12 steps and after 0, 7 and 12."""
    quick = {**QUICK, "steps": 12}
    for seed, every in enumerate((6, 6, 7)):
        unweave.train("vae", seed=seed, out=tmp_path / str(seed), trace_every=every, trace_samples=12, **quick)
    found = select(tmp_path, "dynamics", progress=False)
    assert found.runs.drop_nulls("value")["seed"].to_list() == [0, 1]
    assert "have other moments" in found.notes[0]


def test_damaged_traces_are_left_out_by_name(many: Path, tmp_path: Path):
    folder = shutil.copytree(many / "beta4", tmp_path / "runs")
    broken = next((folder / "seed0" / "traces").iterdir())
    broken.write_bytes(broken.read_bytes()[:-10])
    found = select(folder, "dynamics", progress=False)
    assert found.specifications["seeds"].to_list() == [4]
    assert found.notes[0].startswith(f"dynamics: left out, '{broken}' cannot be read as a trace")
    for path in folder.glob("seed*/traces/*"):
        path.write_bytes(b"")
    with pytest.raises(unweave.UsageError, match="cannot be read as a trace"):
        select(folder, "dynamics", progress=False)


def test_weights_that_are_nan_are_left_out(many: Path, tmp_path: Path):
    from safetensors.numpy import load_file, save_file

    folder = shutil.copytree(many / "beta4", tmp_path / "runs")
    file = folder / "seed0" / "weights.safetensors"
    save_file({name: np.full_like(tensor, np.nan) for name, tensor in load_file(file).items()}, file)
    found = select(folder, ["udr-lasso", "dynamics"], samples=50, progress=False)
    assert found.notes == (f"left out: '{file.parent}' has weights that are NaN or infinite: its training failed",)
    assert 0 not in found.runs["seed"].to_list()


def test_a_damaged_configuration_is_said(many: Path, tmp_path: Path):
    folder = shutil.copytree(many / "beta4", tmp_path / "runs")
    (folder / "seed0" / "config.json").write_text("{")
    found = select(folder, "udr-lasso", samples=50, progress=False)
    assert found.specifications["seeds"].to_list() == [4]
    assert "seed0" in found.notes[0]
    for seed in (1, 2, 3):
        shutil.rmtree(folder / f"seed{seed}")
    with pytest.raises(unweave.UsageError, match=r"no specification has two.*left out: .*seed0"):
        select(folder, "udr-lasso", samples=50, progress=False)


def test_one_data_set_that_cannot_be_ranked_does_not_stop_another(many: Path, tmp_path: Path):
    train_many(tmp_path / "other", betas=(1,), seeds=1, data="xysquares:size=32,spacing=4")
    folders = [*run_folders(many), *run_folders(tmp_path / "other")]
    found = select(folders, samples=50, progress=False)
    assert found.specifications["data"].n_unique() == 1
    assert found.notes[0].startswith("left out on xysquares:spacing=4,size=32: udr-lasso compares seeds")


def test_equal_values_are_no_choice(many: Path):
    from dataclasses import replace

    found = select(many, "udr-lasso", samples=50, progress=False)
    same = found.specifications.with_columns(value=polars.lit(0.5), rank=polars.lit(1, polars.Int64))
    (choice,) = replace(found, specifications=same).choices
    assert choice.ties == 2
    assert choice.sentence.endswith(
        "beta-vae beta=1 and 2 others are equal by this score; "
        "rank by another score, such as --score elbo, or train more seeds"
    )
    assert "keep" not in choice.sentence


def test_a_specification_that_is_best_more_often_is_named():
    from unweave.selection.result import Choice

    choice = Choice("data", "kl", "a", Path("run"), 0.24, "b", 5, likeliest=("b", 0.31))
    assert "a ranks first and is the best with a chance of 24 % (b: 31 %); b is next: uncertain" in choice.sentence


def test_intervals_keep_within_what_a_score_can_be(everything):
    for row in everything.specifications.iter_rows(named=True):
        low, high = SCORES[row["score"]].limits(QUICK["latents"])
        assert low <= row["low"] <= row["high"] <= high


def test_scores_of_different_numbers_of_images_are_said(many: Path, tmp_path: Path):
    folder = shutil.copytree(many, tmp_path / "runs")
    for path in folder.rglob("scores.parquet"):
        path.unlink()
    unweave.Run.open(folder / "beta1" / "seed0").evaluate("mig", samples=30, test_samples=20, progress=False)
    found = select(folder, "udr-lasso", against="mig", samples=50, progress=False)
    assert found.notes[0].startswith("mig: saved scores are on 30 to 50 images and may not be comparable")


def test_few_specifications_have_no_correlation_and_it_is_said(many: Path):
    found = select(many / "beta1", "udr-lasso", against="mig", samples=50, progress=False)
    assert found.notes[-1].endswith("a rank correlation over specifications needs at least 3 of them")


def test_data_sets_are_ranked_separately(many: Path, tmp_path: Path):
    train_many(tmp_path / "other", betas=(1, 4), seeds=2, data="xysquares:size=32,spacing=4")
    folders = [*run_folders(many), *run_folders(tmp_path / "other")]
    found = select(folders, samples=50, progress=False)
    assert found.specifications.group_by("data", maintain_order=True).len()["len"].to_list() == [3, 2]
    assert [choice.data for choice in found.choices] == found.specifications["data"].unique(
        maintain_order=True
    ).to_list()
    for (_,), rows in found.specifications.group_by("data"):
        assert rows["rank"].min() == 1


def test_what_is_left_out_is_said(many: Path, tmp_path: Path):
    folder = shutil.copytree(many, tmp_path / "runs")
    shutil.copytree(folder / "beta1" / "seed0", folder / "copy")
    (folder / "beta4" / "seed0" / "weights.safetensors").write_bytes(b"nothing")
    (folder / "beta4" / "seed1" / "config.json").write_text('{"unweave": "1", "method": 3}')
    status = folder / "beta16" / "seed0" / "status.json"
    status.write_text(status.read_text().replace("finished", "unfinished"))
    (folder / "notes").mkdir()
    found = select(folder, samples=50, progress=False)
    assert found.specifications["seeds"].sort().to_list() == [3, 4, 5]
    unfinished, config, weights, copies = (next(n for n in found.notes if w in n) for w in NOTED)
    assert unfinished == f"left out, 1 unfinished run, the first '{folder / 'beta16' / 'seed0'}'"
    assert config.startswith("left out: ")
    assert weights.endswith("weights.safetensors' is damaged or missing")
    assert copies == "left out, 1 copy of a run"
    assert "train at least 5 of every specification to know how certain that is" in found.choices[0].sentence


def test_a_folder_without_runs(tmp_path: Path, many: Path):
    with pytest.raises(unweave.UsageError, match="there is no run below"):
        select(tmp_path)
    with pytest.raises(unweave.UsageError, match="does not exist: name a folder with runs below it"):
        select(tmp_path / "nowhere")
    half = shutil.copytree(many / "beta1" / "seed0", tmp_path / "half")
    (half / "status.json").write_text('{"state": "unfinished", "step": 3}')
    with pytest.raises(unweave.UsageError, match=r"there is no finished run below .*: left out, 1 unfinished run"):
        select(tmp_path)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"scores": "udr-laso"}, "no label-free score is called 'udr-laso'; did you mean 'udr-lasso'?"),
        ({"scores": []}, "name at least one score"),
        ({"against": "migg"}, "no metric is called 'migg'; did you mean 'mig'?"),
        ({"partners": "some"}, "no kind of partners is called 'some'"),
        ({"samples": 1}, "samples must be"),
        ({"options": {"dynamics": {}}}, "there are options for 'dynamics', which is not a requested score"),
        ({"options": {"udr-lasso": {"avraging": 1}}}, "no option of udr-lasso is called 'avraging'; did you mean"),
        ({"options": {"udr-lasso": {"averaging": "no"}}}, "no averaging of UDR is called 'no'"),
        ({"scores": "elbo", "options": {"elbo": {}}}, "the score 'elbo' takes no options"),
        ({"scores": "dynamics", "options": {"dynamics": {"layers": ["9"]}}}, "no layer is called '9'"),
    ],
)
def test_mistakes_are_named(many: Path, options, message):
    with pytest.raises(unweave.UsageError) as error:
        select(many, progress=False, **options)
    assert message in str(error.value)


def test_a_wrong_option_is_named_before_any_run_is_opened(tmp_path: Path):
    with pytest.raises(unweave.UsageError, match="no averaging of UDR is called 'no'"):
        select(tmp_path, options={"udr-lasso": {"averaging": "no"}})


def test_codes_that_are_points_and_data_without_labels(tmp_path: Path):
    images = np.random.default_rng(0).integers(0, 255, (40, 32, 32), np.uint8)
    quick = {**QUICK, "data": images}
    runs = [
        unweave.train(method, seed=seed, out=tmp_path / f"{method}{seed}", **quick)
        for method in ("ae", "vae")
        for seed in (0, 1)
    ]
    found = select(runs, ["udr-lasso", "agreement", "model-centrality", "active-units"], samples=50, options=FAST)
    assert len(found.specifications.drop_nulls("value")) == 8
    with pytest.raises(unweave.UsageError, match="elbo needs posteriors, but the codes of some runs are points"):
        select(runs, "elbo", samples=50)
    with pytest.raises(unweave.UsageError, match="mig"):
        select(runs, "udr-lasso", against="mig", samples=50)


def test_a_study_folder_has_the_runs_that_it_asks_for(tmp_path: Path):
    from unweave.study import Study
    from unweave.study.work import perform

    quick = {name: QUICK[name] for name in ("data", "steps", "batch", "net", "latents", "width")}
    study = Study(methods=[{"name": "beta-vae", "beta": [1, 4]}], seeds=2, out=tmp_path / "study", **quick)
    study.folder.write_plan(study.plan)
    for task in study.plan.tasks:
        perform(study._job(task, "cpu"))
    shutil.copytree(study.folder.run_of(study.plan.tasks[0]), study.path / "replaced" / "earlier")
    shutil.copytree(study.folder.run_of(study.plan.tasks[0]), study.path / "runs" / "foreign")
    assert run_folders(study.path) == [study.folder.run_of(task) for task in study.plan.tasks]
    found = select(study.path, samples=50, progress=False)
    assert found.specifications["seeds"].to_list() == [2, 2]
    assert found.notes == ()
