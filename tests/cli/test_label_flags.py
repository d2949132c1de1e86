"""The flags for a few labels: every field of `Labels` has one, and none of them means none."""

from __future__ import annotations

from dataclasses import fields

import pytest

from unweave.cli.parsing import parse
from unweave.cli.train import LabelFlags, _parse
from unweave.data.labels import Labels
from unweave.errors import UsageError
from unweave.schedules import Schedule


def read(words: str) -> Labels | None:
    return parse(LabelFlags, words.split(), "train").labels()


def test_without_a_number_there_are_no_labels():
    assert read("") is None
    assert read("--labels 1000") == Labels()


def test_every_field_has_a_flag():
    words = (
        "--labels 50 --label-weight 0:5@50% --label-term cross-entropy --label-kind partial --label-bins 7 "
        "--label-error-rate 0.2 --label-factors x,y --label-batch 16 --label-sharpness 2"
    )
    assert read(words) == Labels(50, Schedule(0, 5, share=0.5), "cross-entropy", "partial", 7, 0.2, "x,y", 16, 2.0)
    assert len(words.split()) == 2 * len(fields(Labels))


def test_a_number_of_factors_and_their_names():
    chosen = read("--labels 10 --label-kind partial --label-factors 3")
    assert chosen is not None
    assert chosen.factors == 3


def test_help_says_what_the_fields_mean(capsys):
    with pytest.raises(SystemExit):
        read("--help")
    text = " ".join(capsys.readouterr().out.replace("│", " ").split())
    assert "--label-error-rate FLOAT Fraction of noisy labels that are drawn at random. (default: 0.1)" in text


def test_mistakes_are_one_line():
    with pytest.raises(UsageError, match="did you mean 'noisy'"):
        read("--labels 10 --label-kind nosy")
    with pytest.raises(UsageError, match="there must be at least one labelled image"):
        read("--labels -1")


def test_a_preset_brings_its_labels_and_flags_replace_them():
    words = ["--preset", "dlib-labels", "--data", "xysquares:size=32"]
    published = _parse("beta-vae", words).labels.labels()
    assert published == Labels(1000, 256.0, "cross-entropy")
    changed = _parse("beta-vae", [*words, "--labels", "100", "--label-weight", "64"]).labels.labels()
    assert changed == Labels(100, 64.0, "cross-entropy")
    assert _parse("beta-vae", [*words, "--labels", "0"]).labels.labels() is None
    assert _parse("beta-vae", ["--preset", "dlib", "--data", "xysquares:size=32"]).labels.labels() is None
