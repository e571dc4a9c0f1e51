"""Look a name up in a literal dict, and offer the nearest names when it is not there."""

import difflib
from collections.abc import Mapping
from typing import TypeVar

from denots.errors import UnknownName

T = TypeVar("T")


def lookup(registry: Mapping[str, T], name: str, kind: str) -> T:
    """Return `registry[name]`; `kind` ("field", "data set") is the word used in the error."""
    if name in registry:
        return registry[name]
    near = difflib.get_close_matches(name, registry, n=3, cutoff=0.4)
    hint = f"Did you mean {' or '.join(map(repr, near))}? " if near else ""
    raise UnknownName(f"unknown {kind} {name!r}. {hint}Known: {', '.join(sorted(registry))}.")
