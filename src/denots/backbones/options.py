"""Check the options of a backbone by their types."""

import math
from dataclasses import fields
from typing import Any, Literal, get_args, get_origin

from denots.errors import InvalidOption


def check_options(config: Any) -> None:
    """Whole numbers are at least one, other numbers positive, and a word is one of those it may be."""
    for option in fields(config):
        value = getattr(config, option.name)
        if option.type is int and value < 1:
            raise InvalidOption(f"{option.name} must be at least 1; got {value}.")
        if option.type is float and not (math.isfinite(value) and value > 0):
            raise InvalidOption(f"{option.name} must be a positive number; got {value}.")
        if get_origin(option.type) is Literal and value not in get_args(option.type):
            known = ", ".join(get_args(option.type))
            raise InvalidOption(f"{option.name} must be one of {known}; got {value!r}.")
