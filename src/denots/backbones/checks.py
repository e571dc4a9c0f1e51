"""Refuse options of a backbone that make no sense, naming them."""

from typing import Any

from denots.errors import InvalidOption


def check_at_least_one(config: Any, *names: str) -> None:
    for name in names:
        if getattr(config, name) < 1:
            raise InvalidOption(f"{name} must be at least 1; got {getattr(config, name)}.")


def check_choice(config: Any, name: str, *known: str) -> None:
    if getattr(config, name) not in known:
        raise InvalidOption(f"{name} must be one of {', '.join(known)}; got {getattr(config, name)!r}.")
