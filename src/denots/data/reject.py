"""Refuse series by name: every bad one with its reason, so that one look at a message finds them all."""

from collections.abc import Callable, Mapping, Sequence
from typing import NoReturn, TypeVar

from denots.errors import DenotsError, Rejected
from denots.registry import listed

T = TypeVar("T")
REASONS = 3  # spelled out for each kind of fault; the other series are named only


def reject(error: type[DenotsError], reasons: Mapping[str | int, str], kind: str = "") -> NoReturn:
    """Raise one error for all series in `reasons`; it does not return."""
    raise joint_error([Rejected(name, reason, error, kind) for name, reason in reasons.items()])


def joint_error(rejected: Sequence[Rejected]) -> DenotsError:
    """One error for all of them, of the type of the first: for each kind of fault its count, some reasons, more names."""
    kinds: dict[str, list[Rejected]] = {}
    for bad in rejected:
        kinds.setdefault(bad.kind, []).append(bad)
    if len(rejected) == 1:
        more = rejected[0].rows - 1
        message = rejected[0].reason + (f" ({more + 1} such rows in this series.)" if more else "")
    else:
        parts = " ".join(f"({k}) {_told(kind, found)}" for k, (kind, found) in enumerate(kinds.items(), start=1))
        message = f"{len(rejected)} series cannot be read: {parts}"
    error = rejected[0].error(message)
    error.rejected = tuple(rejected)
    return error


def _told(kind: str, found: Sequence[Rejected]) -> str:
    """One kind of fault: how often, the first places, and the names of the other series."""
    rows = sum(bad.rows for bad in found)
    count = f"{len(found)} series" if rows == len(found) else f"{rows} rows in {len(found)} series"
    reasons = " ".join(bad.reason for bad in found[:REASONS])
    others = listed([repr(bad.id) for bad in found[REASONS:]])
    return (f"{kind}, {count}: " if kind else "") + reasons + (f" Also: {others}." if others else "")


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
