"""The run-time checker that enforces the shapes and types of arrays that signatures promise (see conftest.py)."""

from collections.abc import Callable
from typing import Any, get_args

from beartype import beartype
from jaxtyping import AbstractArray


def checked(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, checked where an annotation speaks of arrays; others are mypy's work, and bad values ours to refuse."""
    function.__annotations__ = {
        name: hint for name, hint in function.__annotations__.items() if _speaks_of_arrays(hint)
    }
    return beartype(function) if function.__annotations__ else function


def _speaks_of_arrays(hint: Any) -> bool:
    if isinstance(hint, type) and issubclass(hint, AbstractArray):
        return True
    return any(map(_speaks_of_arrays, get_args(hint)))
