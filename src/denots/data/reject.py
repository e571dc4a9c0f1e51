"""Refuse series by name: every bad one with its reason, so that one look at a message finds them all."""

from collections.abc import Callable, Mapping, Sequence
from typing import NoReturn, TypeVar

from denots.errors import DenotsError, Rejected
from denots.registry import listed

T = TypeVar("T")
REASONS = 3  # spelled out in a message; the other series are named only


def reject(error: type[DenotsError], reasons: Mapping[str | int, str]) -> NoReturn:
    """Raise one error for all series in `reasons`; it does not return."""
    raise joint_error([Rejected(name, reason, error) for name, reason in reasons.items()])


def joint_error(rejected: Sequence[Rejected]) -> DenotsError:
    """One error for all of them, of the kind of the first: their number, some reasons, and more names."""
    message = rejected[0].reason
    if len(rejected) > 1:
        reasons = " ".join(f"({k}) {bad.reason}" for k, bad in enumerate(rejected[:REASONS], start=1))
        others = listed([repr(bad.id) for bad in rejected[REASONS:]])
        message = f"{len(rejected)} series cannot be read: {reasons}" + (f" Also: {others}." if others else "")
    error = rejected[0].error(message)
    error.rejected = tuple(rejected)
    return error


def leave_out(read: Callable[[set[str | int]], T], total: int) -> tuple[T, tuple[Rejected, ...]]:
    """What `read(names to leave out)` gives once every series that it rejects is left out.

    Each attempt names all series that fail the same check, so there are as many attempts as
    checks that fail. An error that blames no series, or all of them, is raised.
    """
    found: dict[str | int, Rejected] = {}
    while True:
        try:
            return read(set(found)), tuple(found.values())
        except DenotsError as error:
            new = {bad.id: bad for bad in error.rejected if bad.id not in found}
            found |= new
            if not new:
                raise
            if len(found) >= total:
                raise joint_error(list(found.values())) from error
