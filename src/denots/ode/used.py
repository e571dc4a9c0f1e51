"""Which solver did the work, for whoever has to say so later."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from denots.ode.solution import Solution

_seen: ContextVar[dict[str, str | None] | None] = ContextVar("_seen", default=None)


@contextmanager
def solvers_used() -> Iterator[dict[str, str | None]]:
    """Within the block, collect the backends of all solves, each with the reason why it was not the fused one."""
    seen: dict[str, str | None] = {}
    token = _seen.set(seen)
    try:
        yield seen
    finally:
        _seen.reset(token)


def noted(solution: Solution) -> Solution:
    """The same solution, after its backend was told to those who collect."""
    note(solution.backend, solution.fallback)
    return solution


def note(backend: str, fallback: str | None = None) -> None:
    """Tell those who collect which backend ran, and why it was not the fused one."""
    seen = _seen.get()
    if seen is not None:
        seen[backend] = seen.get(backend) or fallback
