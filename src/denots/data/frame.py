"""Read series from a pandas or polars table, wide (a column per channel) or long (a row per value)."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from denots.data.column import (
    Columns,
    Groups,
    describe,
    float_type,
    integers,
    is_integer,
    kind_of,
    numbers,
    one_per_series,
    quoted,
    read_groups,
    show,
)
from denots.data.series import SeriesSet
from denots.data.stamps import Stamps, check_order, elapsed, read_stamps
from denots.errors import InvalidTable, InvalidTarget
from denots.registry import lookup
from denots.shapes import FloatArray, IntArray

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

# Row numbers that were saved as data; as a channel they would leak the order of the table.
_ROW_NUMBERS = re.compile(r"\s*|Unnamed: \d+|__index_level_\d+__")


@dataclass(frozen=True, slots=True, eq=False)
class _Observations:
    """Packed values, and the table row that each observation takes its time from."""

    rows: IntArray  # [N]
    values: FloatArray  # [N, C]
    offsets: IntArray  # [n + 1]
    channels: tuple[str, ...]


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
    columns = Columns(frame)
    sides = _names(static)
    used = {"id": [id], "time": [time], "target": _names(target), "static": sides, "start": _names(start)}
    used |= {"variable": _names(variable), "value": _names(value), "values": _names(values)}
    _check_roles(columns, used)
    rest = [name for name in columns.names if not any(name in named for named in used.values())]
    if values is None and variable is None and value is None and set(rest) == {"variable", "value"}:
        variable, value = "variable", "value"
    if (variable is None) != (value is None) or (variable is not None and values is not None):
        raise InvalidTable(
            "a long table is read with both variable=... and value=...; a wide one with values=... only."
        )

    groups = read_groups(columns[id], id)
    stamps = read_stamps(columns[time], time, groups)
    begin = None if start is None else read_stamps(columns[start], start, groups)
    order = None if channels is None else tuple(map(str, channels))
    if variable is not None and value is not None:
        found = _read_long(columns, variable, value, order, groups, stamps)
    else:
        found = _read_wide(columns, _wide_channels(columns, rest, values, order), groups, stamps)
    times, starts, unit = elapsed(stamps, begin, groups, found.rows, found.offsets, time_unit)
    return SeriesSet(
        times=times,
        values=found.values,
        offsets=found.offsets,
        start=starts,
        ids=groups.ids,
        channels=found.channels,
        static=_read_static(columns, sides, groups) if sides else None,
        static_names=tuple(sides),
        target=None if target is None else _read_target(columns[target], target, groups),
        time_unit=unit,
    )


def _names(names: str | Sequence[str] | None) -> list[str]:
    if names is None:
        return []
    return [names] if isinstance(names, str) else list(map(str, names))


def _check_roles(columns: Columns, used: dict[str, list[str]]) -> None:
    """Every named column exists and has one role."""
    roles: dict[str, str] = {}
    for role, named in used.items():
        for name in named:
            columns.require(name, role)
            if name in roles:
                raise InvalidTable(
                    f"column {name!r} is named as {roles[name]} and as {role}; every column has one role."
                )
            roles[name] = role


def _wide_channels(
    columns: Columns, rest: list[str], values: str | Sequence[str] | None, order: tuple[str, ...] | None
) -> tuple[str, ...]:
    if order is not None:
        given = rest if values is None else _names(values)
        missing = [name for name in order if name not in given]
        strange = [name for name in given if name not in order]
        if missing or (values is not None and strange):
            raise InvalidTable(
                f"the table must have the channels {quoted(order)}; missing: {quoted(missing) or 'none'}; "
                f"unexpected: {quoted(strange) or 'none'}. Rename or add columns (empty cells where nothing was observed)."
            )
        return order
    if values is not None:
        return tuple(_names(values))
    odd = [f"{name!r} holds {describe(columns[name])}" for name in rest if not _is_numeric(columns[name])]
    odd += [f"{name!r} looks like row numbers" for name in rest if _ROW_NUMBERS.fullmatch(name)]
    if odd:
        raise InvalidTable(
            f"not every remaining column is a numeric channel: {'; '.join(odd)}. "
            "Name the channels with values=[...], encode these columns as numbers, or drop them."
        )
    if not rest:
        raise InvalidTable(f"no column is left for the channels; the table has only {quoted(columns.names)}.")
    return tuple(rest)


def _is_numeric(column: "pd.Series[Any]") -> bool:
    return kind_of(column) in ("number", "bool")


def _read_wide(columns: Columns, channels: tuple[str, ...], groups: Groups, stamps: Stamps) -> _Observations:
    check_order(stamps, groups)
    dtype = float_type(columns[name] for name in channels)
    table = np.empty((len(groups.codes), len(channels)), dtype)
    for c, name in enumerate(channels):
        table[:, c] = numbers(columns[name], name, "value", dtype)
    grouped = bool((np.diff(groups.codes) >= 0).all())
    return _Observations(groups.rows, table if grouped else table[groups.rows], groups.offsets, channels)


def _read_long(
    columns: Columns, variable: str, value: str, order: tuple[str, ...] | None, groups: Groups, stamps: Stamps
) -> _Observations:
    which, channels = _read_variables(columns[variable], variable, order)
    cells = numbers(columns[value], value, "value", float_type([columns[value]]))
    by_time = np.lexsort((stamps.ticks, groups.codes))
    owner, ticks = groups.codes[by_time], stamps.ticks[by_time]
    new = np.ones(len(by_time), dtype=bool)
    new[1:] = (owner[1:] != owner[:-1]) | (ticks[1:] != ticks[:-1])
    place = (np.cumsum(new) - 1) * len(channels) + which[by_time]  # of each cell in the flat pivoted table
    table = np.full((int(new.sum()), len(channels)), np.nan, dtype=cells.dtype)
    taken = np.zeros(table.size, dtype=bool)
    taken[place] = True
    if taken.sum() < len(place):
        ranked = np.argsort(place, kind="stable")
        twin = np.flatnonzero(np.diff(place[ranked]) == 0)[0]
        a, b = by_time[ranked[twin]], by_time[ranked[twin + 1]]
        raise InvalidTable(
            f"series {groups.owner(a)!r}: variable {channels[which[a]]!r} has two values at time {stamps.show(a)}, "
            f"{show(columns[value], a)} in row {a} and {show(columns[value], b)} in row {b}; keep or average one of them."
        )
    table.reshape(-1)[place] = cells[by_time]
    offsets = np.concatenate([[0], np.cumsum(np.bincount(owner[new]))]).astype(np.int64)
    return _Observations(by_time[new], table, offsets, channels)


def _read_variables(
    column: "pd.Series[Any]", name: str, order: tuple[str, ...] | None
) -> tuple[IntArray, tuple[str, ...]]:
    """The channel number of each row of a long table, and the channels."""
    import pandas as pd

    missing = np.flatnonzero(column.isna().to_numpy())
    if len(missing):
        raise InvalidTable(f"row {missing[0]} names no variable in column {name!r}; name it or drop the row.")
    if kind_of(column) != "text" and not is_integer(column):
        raise InvalidTable(
            f"variable column {name!r} holds {describe(column)}; variables are named by text or integers."
        )
    codes, found = pd.factorize(column)
    spelled = [str(label) for label in np.asarray(found).tolist()]
    channels = tuple(sorted(spelled)) if order is None else order
    known = {channel: k for k, channel in enumerate(channels)}
    number = np.array([lookup(known, label, f"variable in column {name!r}:") for label in spelled], dtype=np.int64)
    return number[codes], channels


def _read_static(columns: Columns, names: list[str], groups: Groups) -> FloatArray:
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
