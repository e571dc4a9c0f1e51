"""Time columns: numbers or dates in, time since the start of each series out."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from denots.data.column import Groups, describe, integers, is_integer, kind_of, numbers, odd_cells, seen, show
from denots.data.reject import reject
from denots.errors import InvalidSeries, InvalidTable
from denots.registry import lookup
from denots.shapes import FloatArray, IntArray

if TYPE_CHECKING:
    import pandas as pd

SECONDS = {"s": 1, "min": 60, "h": 3600, "d": 86400}
UNITS = {
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), "s"),
    **dict.fromkeys(("min", "mins", "minute", "minutes"), "min"),
    **dict.fromkeys(("h", "hr", "hrs", "hour", "hours"), "h"),
    **dict.fromkeys(("d", "day", "days"), "d"),
}

# A bare year or a run of digits is left out: it could as well be a number.
_ISO = r"^\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?P<zone>Z|[+-]\d\d(?::?\d\d)?)?)?$"


@dataclass(frozen=True, slots=True, eq=False)
class Stamps:
    """When each row of a table was observed, in ticks that sort and subtract exactly."""

    name: str
    column: "pd.Series[Any]"
    ticks: npt.NDArray[Any]  # [rows]
    per_second: int | None = None  # None: the ticks are the user's own numbers
    zone: str = ""

    def show(self, row: int) -> str:
        return show(self.column, row)


def read_stamps(column: "pd.Series[Any]", name: str, groups: Groups) -> Stamps:
    """Read numbers, dates or ISO 8601 text; a missing or unreadable stamp is refused with its row."""
    missing = np.flatnonzero(column.isna().to_numpy())
    if len(missing):
        words = f"has no value in column {name!r}; every row needs one, so fill or drop it."
        reject(InvalidTable, {groups.owner(row): f"{groups.place(row)} {words}" for row in groups.worst(missing)})
    kind = kind_of(column)
    if kind == "number":
        return Stamps(name, column, _plain_numbers(column, name, groups))
    if odd_cells(column) is not None:
        numbers(column, name, "time", groups)
    if kind == "text" or (kind == "date" and column.dtype == object):
        return _read_text(column.astype(str), name, groups)
    if kind == "date":
        zone = "" if column.dt.tz is None else _zone_name(str(column.dt.tz))
        return Stamps(name, column, *_ticks(column), zone)
    raise InvalidTable(
        f"column {name!r} holds {describe(column)}; times are numbers, dates or ISO 8601 text, so convert it "
        "(durations: divide by one unit of time)."
    )


def elapsed(
    stamps: Stamps, begin: Stamps | None, groups: Groups, rows: IntArray, offsets: IntArray, unit: str | None
) -> tuple[FloatArray, FloatArray, str]:
    """Times of the given rows, start of each series and the unit of both.

    Numbers are kept as they are. Dates become the time since `begin`, or since the first
    observation of the series.
    """
    heads = rows[offsets[:-1]]
    if begin is not None:
        stamps, begin = _one_clock(stamps, begin)
        _check_begin(stamps, begin, groups, heads)
    origin = stamps.ticks[heads] if begin is None else begin.ticks[groups.first]
    ticks = stamps.ticks[rows]
    if stamps.per_second is None:
        return ticks.astype(np.float64), origin.astype(np.float64), "" if unit is None else unit_name(unit)
    if unit is None:
        raise InvalidTable(
            f"column {stamps.name!r} holds dates such as {stamps.show(0)}; say in which unit the model counts time "
            f"(time_unit=..., --time-unit): {', '.join(SECONDS)}."
        )
    short = unit_name(unit)
    since = ticks - np.repeat(origin, np.diff(offsets))
    return since / (stamps.per_second * SECONDS[short]), np.zeros(len(origin)), short


def unit_name(spelling: str) -> str:
    """The short name of a unit of time; other units are refused, also where they would be a mere label."""
    return lookup(UNITS, spelling.strip().lower(), "time unit")


def check_order(stamps: Stamps, groups: Groups) -> None:
    """Refuse a table whose times do not increase from row to row within a series."""
    step = np.diff(stamps.ticks[groups.rows])
    step[groups.offsets[1:-1] - 1] = 1
    bad = np.flatnonzero(step <= 0)
    reasons: dict[str | int, str] = {}
    for place in bad[np.unique(groups.codes[groups.rows[bad]], return_index=True)[1]]:
        before, after = groups.rows[place], groups.rows[place + 1]
        same = stamps.ticks[before] == stamps.ticks[after]
        todo = "Merge rows with the same stamp first." if same else "Sort the table by id and time first."
        reasons[groups.owner(before)] = (
            f"series {groups.owner(before)!r}: times must increase strictly, but {seen(stamps.column, before)} "
            f"is followed by {seen(stamps.column, after)}. {todo}"
        )
    if reasons:
        reject(InvalidSeries, reasons)


def _plain_numbers(column: "pd.Series[Any]", name: str, groups: Groups) -> npt.NDArray[Any]:
    if not is_integer(column):
        return numbers(column, name, "time", groups)
    ticks = integers(column)
    if np.abs(ticks.astype(np.float64)).max() > 2**53:
        raise InvalidTable(
            f"column {name!r} holds integers up to {ticks.max()}, which a 64-bit float cannot tell apart; "
            "subtract an origin, use a coarser unit, or convert the column to dates."
        )
    return ticks


def _ticks(column: "pd.Series[Any]") -> tuple[IntArray, int]:
    """Whole microseconds since 1970 (UTC where a zone is known), or nanoseconds where those are needed."""
    dates = column if column.dt.tz is None else column.dt.tz_convert("UTC").dt.tz_localize(None)
    stamps = dates.to_numpy()
    if stamps.dtype == np.dtype("datetime64[ns]") and (stamps.view(np.int64) % 1000).any():
        return stamps.view(np.int64), 10**9
    return stamps.astype("datetime64[us]").view(np.int64), 10**6


def _read_text(text: "pd.Series[Any]", name: str, groups: Groups) -> Stamps:
    import pandas as pd
    import pyarrow as pa
    import pyarrow.compute as pc

    found = pc.extract_regex(pa.array(text, type=pa.large_string()), _ISO)
    dates = pd.to_datetime(text, format="ISO8601", utc=True, errors="coerce")
    bad = np.flatnonzero(dates.isna().to_numpy() | ~found.is_valid().to_numpy(zero_copy_only=False))
    if len(bad):
        words = "write dates as ISO 8601, such as 2024-05-31T13:30:00, and numbers as a numeric column."
        reasons = {
            groups.owner(row): f"{groups.place(row)}: {show(text, row)} in column {name!r} is text but no date; {words}"
            for row in groups.worst(bad)
        }
        if len(bad) > len(text) / 2:
            raise InvalidTable(reasons[groups.owner(bad[0])])
        reject(InvalidTable, reasons)
    codes, spellings = pd.factorize(pc.struct_field(found, "zone").to_pandas())
    zones = np.array([_zone_name(spelling) for spelling in spellings])[codes]
    other = np.flatnonzero(zones != zones[0])
    if len(other):
        raise InvalidTable(
            f"{groups.place(other[0])}: {show(text, other[0])} in column {name!r} has another time zone than "
            f"{seen(text, 0)}; write all stamps in one zone, best UTC."
        )
    return Stamps(name, text, *_ticks(dates), str(zones[0]))


def _zone_name(zone: str) -> str:
    """One spelling per zone: "" for none, "UTC", a region, or an offset such as +02:00."""
    if zone in ("", "UTC"):
        return zone
    offset = zone.removeprefix("UTC")
    if offset[0] in "+-":
        digits = offset[1:].replace(":", "").ljust(4, "0")
        return "UTC" if digits == "0000" else f"{offset[0]}{digits[:2]}:{digits[2:]}"
    return "UTC" if zone == "Z" else zone


def _one_clock(stamps: Stamps, begin: Stamps) -> tuple[Stamps, Stamps]:
    """Both in the finer of their ticks; numbers do not mix with dates, nor one time zone with another."""
    if stamps.per_second is None and begin.per_second is None:
        return stamps, begin
    if stamps.per_second is None or begin.per_second is None:
        raise InvalidTable(
            f"column {stamps.name!r} holds {describe(stamps.column)} but start column {begin.name!r} holds "
            f"{describe(begin.column)}; both must be numbers or both dates."
        )
    if stamps.zone != begin.zone:
        raise InvalidTable(
            f"column {stamps.name!r} has time zone {stamps.zone or 'none'} ({seen(stamps.column, 0)}) but start column "
            f"{begin.name!r} has {begin.zone or 'none'} ({begin.show(0)}); write both in one zone, best UTC."
        )
    fine = max(stamps.per_second, begin.per_second)
    return _refine(stamps, fine // stamps.per_second), _refine(begin, fine // begin.per_second)


def _refine(stamps: Stamps, factor: int) -> Stamps:
    if np.abs(stamps.ticks).max() > np.iinfo(np.int64).max // factor:
        raise InvalidTable(
            f"column {stamps.name!r} reaches dates that nanoseconds cannot express; round both time columns to microseconds."
        )
    per_second = None if stamps.per_second is None else stamps.per_second * factor
    return replace(stamps, ticks=stamps.ticks * factor, per_second=per_second)


def _check_begin(stamps: Stamps, begin: Stamps, groups: Groups, heads: IntArray) -> None:
    """One start per series, not after its first observation in row `heads[k]`."""
    own = begin.ticks[groups.first]
    odd = np.flatnonzero(begin.ticks != own[groups.codes])
    if len(odd):
        reasons = {}
        for row in groups.worst(odd):
            head = groups.first[groups.codes[row]]
            reasons[groups.owner(row)] = (
                f"series {groups.owner(row)!r}: start column {begin.name!r} must be constant within a series, but it is "
                f"{seen(begin.column, head)} and {seen(begin.column, row)}; make it one value per series."
            )
        reject(InvalidTable, reasons)
    late = heads[np.flatnonzero(own > stamps.ticks[heads])]
    if len(late):
        reasons = {
            groups.owner(head): f"series {groups.owner(head)!r} starts at {begin.show(head)} (column {begin.name!r}), "
            f"after its first observation at {stamps.show(head)}; start must not be later."
            for head in late
        }
        reject(InvalidSeries, reasons)
