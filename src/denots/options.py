"""Options are fields of dataclasses: read from `key=value`, as typed on a command line, and searched where they say so."""

import math
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, fields
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from denots.errors import InvalidOption
from denots.registry import lookup

TRUTH = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}


@dataclass(frozen=True)
class Range:
    """Numbers from `low` to `high`, both included; with `log` each factor is as likely as any other."""

    low: float
    high: float
    log: bool = False

    def __post_init__(self) -> None:
        if not (math.isfinite(self.low) and math.isfinite(self.high) and self.low < self.high):
            raise InvalidOption(f"a range goes from a lower to a higher number; {self.low} to {self.high} is empty.")
        if self.log and not self.low > 0:
            raise InvalidOption(f"a logarithmic range begins above zero; got {self.low}.")

    def __str__(self) -> str:
        return f"{self.low:g} to {self.high:g}{', logarithmic' if self.log else ''}"


@dataclass(frozen=True)
class Choice:
    """One of several values."""

    values: tuple[Any, ...]

    def __post_init__(self) -> None:
        if len(set(self.values)) < 2:
            raise InvalidOption(
                f"a choice needs two different values; got {', '.join(map(str, self.values)) or 'none'}."
            )

    def __str__(self) -> str:
        return ", ".join(map(str, self.values))


def tunable(default: Any, among: Range | Choice) -> Any:
    """A field of a dataclass with a default, and where `denots tune` looks for a better value."""
    return field(default=default, metadata={"among": among})


def tunables(configs: Iterable[Any]) -> dict[str, Range | Choice]:
    """The options that say where to look for better values."""
    return {
        option.name: option.metadata["among"]
        for config in configs
        for option in fields(config)
        if "among" in option.metadata
    }


def parse(
    config: type, assignments: Iterable[str], *, without: Collection[str] = (), prefix: str = ""
) -> dict[str, Any]:
    """The options that `depth=20` and its like set, checked against the fields of a dataclass.

    A later assignment to the same option replaces an earlier one; `none` is None where that is allowed.

    Args:
        without: fields that may not be set.
        prefix: put before the names in errors, such as "train.".
    """
    hints = get_type_hints(config)
    known = {f"{prefix}{option.name}": option.name for option in fields(config) if option.name not in without}
    found = {}
    for text in assignments:
        key, value = split(text)
        name = lookup(known, f"{prefix}{key}", "option")
        found[name] = read_value(value, hints[name], f"{prefix}{key}")
    return found


def split(text: str) -> tuple[str, str]:
    """Key and value of an assignment."""
    key, sign, value = text.partition("=")
    if not sign or not key:
        raise InvalidOption(f"cannot read {text!r}; write key=value, such as depth=20.")
    return key.strip(), value.strip()


def read_value(text: str, kind: Any, name: str) -> Any:
    """The text as a value of the kind: int, float, bool, str, Literal, or any of them or None.

    Of a union a word of a Literal counts first, else the first kind that can be written as text; what else
    it may be, such as a class, cannot.
    """
    if get_origin(kind) in (Union, UnionType):
        if text.lower() in ("none", "null") and NoneType in get_args(kind):
            return None
        if any(get_origin(each) is Literal and text in get_args(each) for each in get_args(kind)):
            return text
        kind = next(each for each in get_args(kind) if each in (int, float, bool, str) or get_origin(each) is Literal)
    if kind is bool and text.lower() in TRUTH:
        return TRUTH[text.lower()]
    if get_origin(kind) is Literal and text in get_args(kind):
        return text
    if kind in (int, float, str):
        try:
            return kind(text)
        except ValueError:
            pass  # said below, in the same words as for the other kinds
    raise InvalidOption(f"{name}={text}: expected {_described(kind)}.")


def _described(kind: Any) -> str:
    if get_origin(kind) is Literal:
        return f"one of {', '.join(map(str, get_args(kind)))}"
    return {int: "a whole number", float: "a number", bool: "true or false"}[kind]
