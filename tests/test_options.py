"""`key=value` by the types of a dataclass."""

from dataclasses import dataclass
from typing import Literal, Optional

import pytest

from denots.errors import InvalidOption, UnknownName
from denots.options import parse


@dataclass(frozen=True)
class Config:
    depth: float = 1.0
    layers: int = 1
    presence: bool = False
    name: str = "none"
    holes: Literal["bridge", "zero"] = "bridge"
    width: int | None = None
    scale: Optional[float] = None  # noqa: UP045
    kind: Literal["a", "b"] | None = None
    part: str | type[int] = "gru"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("depth=20", 20.0), ("depth=1e-3", 1e-3), ("layers=-4", -4), ("presence=true", True), ("presence=No", False),
        ("name=none", "none"), ("name=a=b", "a=b"), ("name=", ""), ("holes=zero", "zero"), ("width=none", None),
        ("width=3", 3), ("scale=null", None), ("scale=2", 2.0), ("kind=b", "b"), ("kind=none", None), ("part=mine", "mine"), (" layers = 2 ", 2),
    ],
)  # fmt: skip
def test_a_value_has_the_type_of_its_field(text: str, value: object) -> None:
    (found,) = parse(Config, [text]).values()
    assert found == value
    assert type(found) is type(value)


def test_the_last_word_counts_and_only_what_was_said_is_returned() -> None:
    assert parse(Config, ["depth=1", "layers=2", "depth=3"]) == {"depth": 3.0, "layers": 2}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("depth=deep", "depth=deep: expected a number."),
        ("layers=1.5", "layers=1.5: expected a whole number."),
        ("layers=none", "layers=none: expected a whole number."),
        ("presence=maybe", "presence=maybe: expected true or false."),
        ("holes=open", "holes=open: expected one of bridge, zero."),
        ("kind=c", "kind=c: expected one of a, b."),
        ("depth", "cannot read 'depth'; write key=value"),
        ("=3", "cannot read '=3'"),
    ],
)
def test_a_wrong_value_is_told_with_what_was_expected(text: str, words: str) -> None:
    with pytest.raises(InvalidOption) as told:
        parse(Config, [text])
    assert words in str(told.value)


def test_a_wrong_name_is_offered_the_nearest_and_a_barred_one_is_unknown() -> None:
    with pytest.raises(UnknownName, match=r"unknown option 'train\.depht'\. Did you mean 'train\.depth'"):
        parse(Config, ["depht=3"], prefix="train.")
    with pytest.raises(UnknownName, match="unknown option 'name'"):
        parse(Config, ["name=x"], without=("name",))
