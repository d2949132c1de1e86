"""From words to options: the fields of a dataclass, in all the ways that they are written."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal

import pytest
from tyro.conf import Positional, Suppress, arg

from unweave.cli.options import fill, given_words, options_of
from unweave.errors import UsageError
from unweave.fields import OneOf
from unweave.schedules import Schedule, Scheduled

NAMES = {"a": 1, "b": 2}


@dataclass(frozen=True)
class Inner:
    kind: Annotated[str, OneOf(NAMES)] = "a"
    rate: Scheduled = 1.0
    on: bool = True


@dataclass(frozen=True)
class Outer:
    where: Annotated[Positional[Path], arg(metavar="FOLDER")]
    size: int
    more: Positional[tuple[str, ...]] = ()
    hidden: Suppress[object] = None
    factors: Annotated[int | str, arg(name="label-factors")] = 2
    rates: tuple[float, ...] = (1.0,)
    limit: float | None = None
    mode: Literal["fast", "slow"] = "fast"
    loud: bool = False
    inner: Inner = field(default_factory=lambda: Inner(rate=3.0))


def read(words: str) -> Outer:
    return fill(Outer, words.split(), options_of(Outer), "try", "unweave try")


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("here --size 3", Outer(Path("here"), 3)),
        ("--size=3 here", Outer(Path("here"), 3)),
        ("--size 3 --loud here", Outer(Path("here"), 3, loud=True)),
        ("here there and --size 3", Outer(Path("here"), 3, ("there", "and"))),
        ("here --size 3 --rates 1 -2 .5 --limit -1e-3", Outer(Path("here"), 3, rates=(1.0, -2.0, 0.5), limit=-1e-3)),
        ("here --size 3 --rates 1 --loud --rates=2", Outer(Path("here"), 3, rates=(1.0, 2.0), loud=True)),
        ("here --size 3 --label-factors 3", Outer(Path("here"), 3, factors=3)),
        ("here --size 3 --label_factors x,y", Outer(Path("here"), 3, factors="x,y")),
        ("here --size 3 --kind b --no-on", Outer(Path("here"), 3, inner=Inner("b", 3.0, on=False))),
        ("here --size 3 --rate 1:4@50%", Outer(Path("here"), 3, inner=Inner(rate=Schedule(1, 4, share=0.5)))),
        ("size --size 3 --kind=--size", Outer(Path("size"), 3, inner=Inner("--size", 3.0))),
    ],
)
def test_words_fill_the_fields(words, expected):
    assert read(words) == expected


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("", "missing: FOLDER, --size INT; for example: unweave try"),
        ("here", "missing: --size INT; for example"),
        ("here --size", "--size needs a value; for example: unweave try"),
        ("here --size --loud", "--size needs a value"),
        ("here --size 3 --rates --loud", "--rates needs a value"),
        ("here --size 3.5", "--size: '3.5' is not a whole number"),
        ("here --size 3 --rates 1 one", "--rates: 'one' is not a number"),
        ("here --size 3 --limit low", "--limit: 'low' is not a number"),
        ("here --size 3 --size 4", "--size is given twice"),
        ("here --size 3 --loud --loud", "--loud is given twice"),
        ("here --size 3 --on", "unknown option --on for 'try'; did you mean --no-on?"),
        ("here --sise 3", "unknown option --sise for 'try'; did you mean --size?"),
        ("here --size 3 --hidden 1", "unknown option --hidden for 'try'"),
        ("here --size 3 --xyzzy", "unknown option --xyzzy for 'try'; see: unweave try --help"),
        ("here --size 3 --loud=no", "--loud takes no value, but 'no' was given"),
    ],
)
def test_mistakes_are_named(words, message):
    with pytest.raises(UsageError) as caught:
        read(words)
    assert str(caught.value).startswith(message)


def test_options_know_what_they_can_be():
    choices = {option.place: option.choices for option in options_of(Outer) if option.choices}
    assert choices == {("mode",): ("fast", "slow"), ("inner", "kind"): ("a", "b")}


def test_words_that_are_given_are_found_by_the_place_of_their_field():
    given = given_words(["size", "--rate=2", "--kind", "limit", "--wrong", "--loud"], options_of(Outer))
    assert given == {("inner", "rate"): ["2"], ("inner", "kind"): ["limit"], ("loud",): []}


def test_a_type_that_words_cannot_be_is_named():
    @dataclass
    class Odd:
        table: dict[str, int]

    with pytest.raises(UsageError, match="'table' is of a type that the command line cannot read"):
        options_of(Odd)
