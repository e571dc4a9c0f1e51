"""Rows of a wide or long table, packed into one block of values."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from denots.data.categories import encode, encoded_names
from denots.data.column import Columns, describe, float_type, is_integer, is_numeric, kind_of, numbers, quoted, seen
from denots.data.duplicates import REFUSE, merge
from denots.data.groups import Groups
from denots.data.schema import TableSchema
from denots.data.stamps import Stamps, ordered_rows
from denots.errors import InvalidTable
from denots.registry import listed, lookup, nearest
from denots.shapes import BoolArray, FloatArray, IntArray

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
            "Empty the cells where nothing was observed or name what stands for that (na=..., --na), say so if a "
            "column is the target or static (target=..., --target; static=..., --static), name the channels "
            "(values=..., --channels), among which text is read as categories, or drop these columns."
        )
    if not rest:
        raise InvalidTable(f"no column is left for the channels; the table has only {quoted(columns.names)}.")
    return tuple(rest)


def read_wide(columns: Columns, schema: TableSchema, groups: Groups, stamps: Stamps) -> Observations:
    """One observation per row, or per time where rows of one time are merged; columns of text as categories."""
    rows = ordered_rows(stamps, groups, sort=schema.sort, repeats=schema.duplicates != REFUSE)
    wanted, known = schema.channels or (), schema.categories or {}
    plain = [columns[name] for name in wanted if name not in known]
    channels = encoded_names(wanted, known)
    table = np.empty((len(rows), len(channels)), float_type(plain) if len(plain) == len(wanted) else np.float64)
    place = 0
    for name in wanted:
        width = len(known.get(name, (name,)))
        if name in known:
            table[:, place : place + width] = encode(columns[name], known[name])
        else:
            table[:, place] = numbers(columns[name], name, "value", groups, table.dtype.type)
        place += width
    if (rows[1:] < rows[:-1]).any():
        table = table[rows]
    new = new_times(groups.codes[rows], stamps.ticks[rows])
    if new.all():
        return Observations(rows, table, groups.offsets, channels)
    cell = (np.cumsum(new) - 1)[:, None] * len(channels) + np.arange(len(channels))
    merged = merge(table.ravel(), cell.ravel(), int(new.sum()) * len(channels), schema.duplicates)
    return Observations(rows[new], merged.reshape(-1, len(channels)), _offsets(groups.codes[rows][new]), channels)


def read_long(columns: Columns, schema: TableSchema, groups: Groups, stamps: Stamps) -> Observations:
    """One observation per id and time, sorted; a variable without a row there is NaN."""
    assert schema.variable is not None
    assert schema.value is not None
    which, channels = _read_variables(columns[schema.variable], schema.variable, schema.channels, groups)
    value = columns[schema.value]
    cells = numbers(value, schema.value, "value", groups, float_type([value]))
    by_time = np.lexsort((stamps.ticks, groups.codes))
    new = new_times(groups.codes[by_time], stamps.ticks[by_time])
    place = (np.cumsum(new) - 1) * len(channels) + which[by_time]  # of each cell in the flat pivoted table
    if schema.duplicates == REFUSE:
        _refuse_twins(place, by_time, groups, lambda a: channels[which[a]], value, stamps)
    table = merge(cells[by_time], place, int(new.sum()) * len(channels), schema.duplicates)
    return Observations(by_time[new], table.reshape(-1, len(channels)), _offsets(groups.codes[by_time][new]), channels)


def new_times(owner: IntArray, ticks: npt.NDArray[Any]) -> BoolArray:
    """Which rows are the first of their series and time; the rows are sorted."""
    new = np.ones(len(owner), dtype=bool)
    new[1:] = (owner[1:] != owner[:-1]) | (ticks[1:] != ticks[:-1])
    return new


def _offsets(owner: IntArray) -> IntArray:
    return np.concatenate([[0], np.cumsum(np.bincount(owner))]).astype(np.int64)


def _refuse_twins(
    place: IntArray,
    rows: IntArray,
    groups: Groups,
    channel: Callable[[int], str],
    value: "pd.Series[Any]",
    stamps: Stamps,
) -> None:
    """Refuse series of a long table in which a variable has two values at one time."""
    if np.bincount(place).max() < 2:
        return
    ranked = np.argsort(place, kind="stable")
    twins = np.flatnonzero(np.diff(place[ranked]) == 0)
    before, after = rows[ranked[twins]], rows[ranked[twins + 1]]
    follower = dict(zip(before.tolist(), after.tolist(), strict=True))
    groups.reject(
        InvalidTable,
        "several values of a variable at one time",
        before,
        lambda a: (
            f"series {groups.owner(a)!r}: variable {channel(a)!r} has two values at time {stamps.show(a)}, "
            f"{seen(value, a)} and {seen(value, follower[a])}; keep one of them, or have them merged "
            "(duplicates='mean', --duplicates mean)."
        ),
    )


def _read_variables(
    column: "pd.Series[Any]", name: str, order: tuple[str, ...] | None, groups: Groups
) -> tuple[IntArray, tuple[str, ...]]:
    """The channel number of each row of a long table, and the channels."""
    import pandas as pd

    missing = np.flatnonzero(column.isna().to_numpy())
    if len(missing):
        words = f"names no variable in column {name!r}; name it or drop the row."
        groups.reject(InvalidTable, f"no variable in {name!r}", missing, lambda row: f"{groups.place(row)} {words}")
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
