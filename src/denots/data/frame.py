"""Read series from a pandas or polars table, wide (a column per channel) or long (a row per value)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from denots.data.column import (
    Columns,
    Groups,
    describe,
    integers,
    is_integer,
    kind_of,
    numbers,
    one_per_series,
    read_groups,
)
from denots.data.observations import read_long, read_wide, wide_channels
from denots.data.series import SeriesSet
from denots.data.stamps import elapsed, read_stamps
from denots.errors import InvalidTable, InvalidTarget
from denots.shapes import FloatArray

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl


@dataclass(frozen=True, slots=True)
class _Roles:
    """Which column plays which part; no column plays two."""

    id: str
    time: str
    target: str | None
    static: tuple[str, ...]
    start: str | None
    values: tuple[str, ...] | None
    variable: str | None
    value: str | None

    def check(self, columns: Columns) -> list[str]:
        """Refuse unknown columns and those with two parts; return the columns without any."""
        part: dict[str, str] = {}
        for role in self.__slots__:
            for name in _names(getattr(self, role)) or ():
                columns.require(name, role)
                if name in part:
                    raise InvalidTable(
                        f"column {name!r} is named as {part[name]} and as {role}; every column has one role."
                    )
                part[name] = role
        return [name for name in columns.names if name not in part]

    def long_form(self, rest: list[str]) -> tuple[str, str] | None:
        """The variable and the value column of a long table, None for a wide one."""
        named = (self.variable, self.value)
        if self.values is None and named == (None, None) and set(rest) == {"variable", "value"}:
            return "variable", "value"
        if self.variable is None and self.value is None:
            return None
        if self.variable is None or self.value is None or self.values is not None:
            raise InvalidTable(
                "a long table is read with both variable=... and value=...; a wide one with values=... only."
            )
        return self.variable, self.value


def read_frame(
    frame: "pd.DataFrame | pl.DataFrame",
    *,
    id: str,
    time: str,
    target: str | None = None,
    static: str | Sequence[str] = (),
    values: str | Sequence[str] | None = None,
    variable: str | None = None,
    value: str | None = None,
    channels: Sequence[str] | None = None,
    time_unit: str | None = None,
    start: str | None = None,
) -> SeriesSet:
    """Read one series per id, in order of first appearance.

    A wide table has one row per id and time. Rows of different ids may interleave, but
    within an id the times must increase from row to row: an unsorted table is refused. A
    long table has one row per id, time and variable, in any order; pivoting it sorts it.
    Empty cells are unobserved values, Booleans count as 0 and 1. Columns that no argument
    names are channels only where neither `values` nor `channels` nor `variable` is given.

    Args:
        time: numbers, which are kept as they are; or dates (also as ISO 8601 text), which
            become the time since the start of their series and need a `time_unit`.
        target: a column that is constant within each id; numbers, text or Booleans.
        static: numeric columns that are constant within each id; empty means unknown.
        values: the channels of a wide table; all remaining columns by default.
        variable, value: the two columns of a long table. A table whose remaining columns
            are named exactly so is read as long; `values` then makes it wide. Channels
            are the variables sorted by name as text, so that two tables agree.
        channels: fixes the channels and their order, for tables that a fitted model will
            read. Other columns of a wide table are then left out; a long table may lack a
            variable, which is then never observed, but must not bring a new one.
        time_unit: "s", "min", "h" or "d" or a spelling of these; a mere label for numbers.
        start: a column, constant within each id, with the moment at which the series
            began; by default that is its first observation.
    """
    roles = _Roles(id, time, target, _names(static) or (), start, values=_names(values), variable=variable, value=value)
    return _read(Columns(frame), roles, _names(channels), time_unit)


def _read(columns: Columns, roles: _Roles, order: tuple[str, ...] | None, unit: str | None) -> SeriesSet:
    rest = roles.check(columns)
    long = roles.long_form(rest)
    groups = read_groups(columns[roles.id], roles.id)
    stamps = read_stamps(columns[roles.time], roles.time, groups)
    begin = None if roles.start is None else read_stamps(columns[roles.start], roles.start, groups)
    if long is None:
        found = read_wide(columns, wide_channels(columns, rest, roles.values, order), groups, stamps)
    else:
        found = read_long(columns, *long, order, groups, stamps)
    times, starts, unit = elapsed(stamps, begin, groups, found.rows, found.offsets, unit)
    return SeriesSet(
        times=times,
        values=found.values,
        offsets=found.offsets,
        start=starts,
        ids=groups.ids,
        channels=found.channels,
        static=_read_static(columns, roles.static, groups) if roles.static else None,
        static_names=roles.static,
        target=None if roles.target is None else _read_target(columns[roles.target], roles.target, groups),
        time_unit=unit,
    )


def _names(names: str | Sequence[str] | None) -> tuple[str, ...] | None:
    """One name or several as a tuple, so that one name is not read letter by letter."""
    if names is None:
        return None
    return (names,) if isinstance(names, str) else tuple(map(str, names))


def _read_static(columns: Columns, names: tuple[str, ...], groups: Groups) -> FloatArray:
    table = [numbers(one_per_series(columns[name], name, groups, InvalidTable), name, "static") for name in names]
    return np.stack(table, axis=1)


def _read_target(column: "pd.Series[Any]", name: str, groups: Groups) -> npt.NDArray[Any]:
    missing = np.flatnonzero(column.isna().to_numpy())
    if len(missing):
        raise InvalidTarget(
            f"series {groups.owner(missing[0])!r} has no target in column {name!r} (row {missing[0]}); "
            "give it in every row of the series, or leave the series out."
        )
    kind = kind_of(column)
    if kind not in ("number", "bool", "text"):
        raise InvalidTarget(
            f"target column {name!r} holds {describe(column)}; a target is a number, a class as text, or true or false."
        )
    own = one_per_series(column, name, groups, InvalidTarget)
    if kind == "text":
        return own.to_numpy(dtype=object).astype(str)
    if kind == "bool":
        return own.to_numpy(dtype=bool)
    if is_integer(own):
        return integers(own)
    target = numbers(own, name, "target")
    bad = np.flatnonzero(~np.isfinite(target))
    if len(bad):
        raise InvalidTarget(
            f"series {groups.ids[bad[0]].item()!r}: target {name!r} is {target[bad[0]]}; it must be finite."
        )
    return target
