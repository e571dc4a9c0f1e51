"""Check options by their types, before anything is computed with them."""

import math
from collections.abc import Mapping
from dataclasses import fields
from numbers import Integral, Real
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

from denots.errors import InvalidOption

LARGEST = 10**8  # of whole numbers: no size, count or number of steps comes near
MOST_LAYERS = 100  # each is built before its size can be judged


def check_options(config: Any, *, from_zero: tuple[str, ...] = (), most: Mapping[str, int] | None = None) -> None:
    """Whole numbers are at least one, other numbers positive, truth is true or false, and words are known ones.

    Args:
        from_zero: numbers that may be zero, too; whole ones among them, such as seeds, may be as large as they like.
        most: the largest whole number of an option, where that is less than for all.
    """
    for option in fields(config):
        value = getattr(config, option.name)
        largest = (most or {}).get(option.name, LARGEST)
        expected = _violated(value, option.type, option.name in from_zero, largest)
        if expected:
            raise InvalidOption(f"{option.name} must be {expected}; got {value!r}.")


def _violated(value: Any, kind: Any, from_zero: bool, largest: int) -> str | None:
    """What is expected of the value and does not hold; None where all is well."""
    if get_origin(kind) in (Union, UnionType):
        expected = [_violated(value, each, from_zero, largest) for each in get_args(kind)]
        return None if None in expected else " or ".join(words for words in expected if words)
    number = isinstance(value, Real) and not isinstance(value, bool)
    if kind is int:
        whole = int(value) if number and isinstance(value, Integral) else -1
        if from_zero:
            return None if whole >= 0 else "a whole number from 0"
        return None if 1 <= whole <= largest else f"a whole number from 1 to {largest:,}"
    if kind is float:
        good = number and math.isfinite(value) and (value > 0 or (from_zero and value == 0))
        return None if good else "zero or a positive number" if from_zero else "a positive number"
    if kind is bool:
        return None if isinstance(value, bool) else "True or False"
    if kind is str:
        return None if isinstance(value, str) else "a name"
    if kind is NoneType:
        return None if value is None else "None"
    if get_origin(kind) is type:
        return None if isinstance(value, type) else "a class"
    if get_origin(kind) is Literal:
        return None if value in get_args(kind) else f"one of {', '.join(get_args(kind))}"
    return None
