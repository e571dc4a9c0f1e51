"""Read `key=value`, as typed on a command line, by the types of a dataclass's fields."""

from collections.abc import Collection, Iterable
from dataclasses import fields
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from denots.errors import InvalidOption
from denots.registry import lookup

TRUTH = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}


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
