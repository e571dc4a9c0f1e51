"""Rows of a wide or long table, packed into one block of values."""

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from denots.data.column import (
    Columns,
    Groups,
    describe,
    float_type,
    is_integer,
    is_numeric,
    kind_of,
    numbers,
    quoted,
    seen,
)
from denots.data.reject import reject
from denots.data.schema import TableSchema
from denots.data.stamps import Stamps, check_order
from denots.errors import InvalidTable
from denots.registry import listed, lookup, nearest
from denots.shapes import FloatArray, IntArray

if TYPE_CHECKING:
    import pandas as pd

# Row numbers that were saved as data; as a channel they would leak the order of the table.
_ROW_NUMBERS = re.compile(r"\s*|Unnamed: \d+|__index_level_\d+__")


@dataclass(frozen=True, slots=True, eq=False)
class Observations:
    """Packed values, and the table row that each observation takes its time from."""

    rows: IntArray  # [N]
    values: FloatArray  # [N, C]
    offsets: IntArray  # [n + 1]
    channels: tuple[str, ...]


def wide_channels(columns: Columns, rest: list[str], schema: TableSchema) -> tuple[str, ...]:
    """The channels of the schema, or else all remaining columns, which must then be numeric."""
    if schema.channels is not None:
        known = [*rest, *(schema.channels if schema.picked else ())]
        missing = [name for name in schema.channels if name not in known]
        if missing:
            near = [f"{other!r} for {name!r}" for name in missing for other in nearest(name, rest)]
            hint = f" Should it be {listed(near)}?" if near else ""
            raise InvalidTable(
                f"the table must have the channels {quoted(schema.channels)}; it lacks {quoted(missing)}.{hint} "
                "Rename or add columns (empty cells where nothing was observed)."
            )
        return schema.channels
    odd = [f"{name!r} holds {describe(columns[name])}" for name in rest if not is_numeric(columns[name])]
    odd += [f"{name!r} looks like row numbers" for name in rest if _ROW_NUMBERS.fullmatch(name)]
    if odd:
        raise InvalidTable(
            f"not every remaining column is a numeric channel: {listed(odd)}. "
            "Empty the cells where nothing was observed, say so if a column is the target or static "
            "(target=..., --target; static=..., --static), name the channels (values=..., --channels), "
            "encode these columns as numbers, or drop them."
        )
    if not rest:
        raise InvalidTable(f"no column is left for the channels; the table has only {quoted(columns.names)}.")
    return tuple(rest)


def read_wide(columns: Columns, channels: tuple[str, ...], groups: Groups, stamps: Stamps) -> Observations:
    """One observation per row; refused unless times increase within each series."""
    check_order(stamps, groups)
    dtype = float_type(columns[name] for name in channels)
    table = np.empty((len(groups.codes), len(channels)), dtype)
    for c, name in enumerate(channels):
        table[:, c] = numbers(columns[name], name, "value", groups, dtype)
    grouped = bool((np.diff(groups.codes) >= 0).all())
    return Observations(groups.rows, table if grouped else table[groups.rows], groups.offsets, channels)


def read_long(
    columns: Columns, variable: str, value: str, order: tuple[str, ...] | None, groups: Groups, stamps: Stamps
) -> Observations:
    """One observation per id and time, sorted; a variable without a row there is NaN."""
    which, channels = _read_variables(columns[variable], variable, order, groups)
    cells = numbers(columns[value], value, "value", groups, float_type([columns[value]]))
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
        twins = np.flatnonzero(np.diff(place[ranked]) == 0)
        pairs = zip(by_time[ranked[twins]], by_time[ranked[twins + 1]], strict=True)
        reasons: dict[str | int, str] = {}
        for a, b in pairs:
            reasons.setdefault(
                groups.owner(a),
                f"series {groups.owner(a)!r}: variable {channels[which[a]]!r} has two values at time {stamps.show(a)}, "
                f"{seen(columns[value], a)} and {seen(columns[value], b)}; keep or average one of them.",
            )
        reject(InvalidTable, reasons)
    table.reshape(-1)[place] = cells[by_time]
    offsets = np.concatenate([[0], np.cumsum(np.bincount(owner[new]))]).astype(np.int64)
    return Observations(by_time[new], table, offsets, channels)


def _read_variables(
    column: "pd.Series[Any]", name: str, order: tuple[str, ...] | None, groups: Groups
) -> tuple[IntArray, tuple[str, ...]]:
    """The channel number of each row of a long table, and the channels."""
    import pandas as pd

    missing = np.flatnonzero(column.isna().to_numpy())
    if len(missing):
        words = f"names no variable in column {name!r}; name it or drop the row."
        reject(InvalidTable, {groups.owner(row): f"{groups.place(row)} {words}" for row in groups.worst(missing)})
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
