"""Time columns: numbers or dates in, time since the start of each series out."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
import numpy.typing as npt

from denots.data.column import describe, integers, is_integer, kind_of, numbers, odd_cells, seen, show
from denots.data.groups import Groups
from denots.errors import InvalidOption, InvalidSeries, InvalidTable
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
    zoned: bool = False  # whether the stamps say where on earth their clock stands

    def show(self, row: int) -> str:
        return show(self.column, row)


def read_stamps(column: "pd.Series[Any]", name: str, groups: Groups, form: str | None = None) -> Stamps:
    """Read numbers, dates, or text in ISO 8601 or in the given format of strptime; a bad stamp is refused with its row."""
    missing = np.flatnonzero(column.isna().to_numpy())
    if len(missing):
        words = f"has no value in column {name!r}; every row needs one, so fill or drop it."
        groups.reject(InvalidTable, f"no value in {name!r}", missing, lambda row: f"{groups.place(row)} {words}")
    kind = kind_of(column)
    if form is not None and kind != "date":
        return _read_format(column.astype(str), name, groups, form)
    if kind == "number":
        return Stamps(name, column, _plain_numbers(column, name, groups))
    if odd_cells(column) is not None:
        numbers(column, name, "time", groups)
    if kind == "text" or (kind == "date" and column.dtype == object):
        return _read_text(column.astype(str), name, groups)
    if kind == "date":
        return Stamps(name, column, *_ticks(column), zoned=column.dt.tz is not None)
    raise InvalidTable(
        f"column {name!r} holds {describe(column)}; times are numbers, dates, ISO 8601 text or text in a format that is "
        "told (time_format=..., --time-format), so convert it "
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


def ordered_rows(stamps: Stamps, groups: Groups, *, sort: bool, repeats: bool) -> IntArray:
    """All rows, series by series; refused unless times increase within each, or are to be sorted or may repeat."""
    rows: IntArray = np.lexsort((stamps.ticks, groups.codes)) if sort else groups.rows
    before, after = rows[:-1], rows[1:]
    inner = groups.codes[before] == groups.codes[after]
    earlier, later = stamps.ticks[before], stamps.ticks[after]
    for kind, bad, allowed, todo in (
        (
            "unsorted times",
            earlier > later,
            False,
            "Sort the table by id and time, or have it sorted (sort=True, --sort).",
        ),
        (
            "several rows at one time",
            earlier == later,
            repeats,
            "Merge rows with the same stamp, or have them merged (duplicates='mean', --duplicates mean).",
        ),
    ):
        places = np.flatnonzero(inner & bad)
        if len(places) and not allowed:
            _refuse_order(stamps, groups, kind, before[places], after[places], todo)
    return rows


def _refuse_order(stamps: Stamps, groups: Groups, kind: str, before: IntArray, after: IntArray, todo: str) -> NoReturn:
    follower = dict(zip(before.tolist(), after.tolist(), strict=True))
    groups.reject(
        InvalidSeries,
        kind,
        before,
        lambda row: (
            f"series {groups.owner(row)!r}: times must increase strictly, but {seen(stamps.column, row)} "
            f"is followed by {seen(stamps.column, follower[row])}. {todo}"
        ),
    )


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


def zone_words(stamps: Stamps) -> str:
    return "a time zone" if stamps.zoned else "no time zone"


def _read_text(text: "pd.Series[Any]", name: str, groups: Groups) -> Stamps:
    """ISO 8601; stamps with an offset are read to one clock, whatever their offsets are."""
    import pandas as pd
    import pyarrow as pa
    import pyarrow.compute as pc

    found = pc.extract_regex(pa.array(text, type=pa.large_string()), _ISO)
    dates = pd.to_datetime(text, format="ISO8601", utc=True, errors="coerce")
    bad = dates.isna().to_numpy() | ~found.is_valid().to_numpy(zero_copy_only=False)
    _refuse_dates(
        text,
        name,
        groups,
        bad,
        "text but no date; write dates as ISO 8601, such as 2024-05-31T13:30:00, or tell their format "
        "(time_format=..., --time-format), and write numbers as a numeric column.",
    )
    zoned = (pc.struct_field(found, "zone").to_pandas().fillna("") != "").to_numpy()
    other = np.flatnonzero(zoned != zoned[0])
    if len(other):
        which = "no UTC offset" if zoned[0] else "a UTC offset"
        raise InvalidTable(
            f"{groups.place(other[0])}: {show(text, other[0])} in column {name!r} has {which}, unlike "
            f"{seen(text, 0)}; write an offset in every stamp or in none."
        )
    return Stamps(name, text, *_ticks(dates), zoned=bool(zoned[0]))


def _read_format(text: "pd.Series[Any]", name: str, groups: Groups, form: str) -> Stamps:
    import pandas as pd

    zoned = "%z" in form or "%Z" in form
    try:
        dates = pd.to_datetime(text, format=form, utc=zoned, errors="coerce")
    except ValueError as error:
        raise InvalidOption(
            f"{form!r} is no format of dates ({error}); write it as for strptime, such as %d.%m.%Y %H:%M."
        ) from error
    words = f"no date of the format {form!r}; repair the cell, or the format (time_format=..., --time-format)."
    _refuse_dates(text, name, groups, dates.isna().to_numpy(), words)
    return Stamps(name, text, *_ticks(dates), zoned=zoned)


def _refuse_dates(text: "pd.Series[Any]", name: str, groups: Groups, bad: npt.NDArray[np.bool_], words: str) -> None:
    """Refuse the series with a cell that is no date; if most cells are none, the column is to blame."""
    rows = np.flatnonzero(bad)

    def reason(row: int) -> str:
        return f"{groups.place(row)}: {show(text, row)} in column {name!r} is {words}"

    if len(rows) > len(text) / 2:
        raise InvalidTable(reason(int(rows[0])))
    if len(rows):
        groups.reject(InvalidTable, f"no date in {name!r}", rows, reason)


def _one_clock(stamps: Stamps, begin: Stamps) -> tuple[Stamps, Stamps]:
    """Both in the finer of their ticks; numbers do not mix with dates, nor dates with and without a zone."""
    if stamps.per_second is None and begin.per_second is None:
        return stamps, begin
    if stamps.per_second is None or begin.per_second is None:
        raise InvalidTable(
            f"column {stamps.name!r} holds {describe(stamps.column)} but start column {begin.name!r} holds "
            f"{describe(begin.column)}; both must be numbers or both dates."
        )
    if stamps.zoned != begin.zoned:
        raise InvalidTable(
            f"column {stamps.name!r} has {zone_words(stamps)} ({seen(stamps.column, 0)}) but start column "
            f"{begin.name!r} has {zone_words(begin)} ({begin.show(0)}); write both with a zone, or both without."
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

        def reason(row: int) -> str:
            head = groups.first[groups.codes[row]]
            return (
                f"series {groups.owner(row)!r}: start column {begin.name!r} must be constant within a series, but it is "
                f"{seen(begin.column, head)} and {seen(begin.column, row)}; make it one value per series."
            )

        groups.reject(InvalidTable, f"several values of {begin.name!r} in one series", odd, reason)
    late = heads[np.flatnonzero(own > stamps.ticks[heads])]
    if len(late):
        groups.reject(
            InvalidSeries,
            "a start after the first observation",
            late,
            lambda head: (
                f"series {groups.owner(head)!r} starts at {begin.show(head)} (column {begin.name!r}), "
                f"after its first observation at {stamps.show(head)}; start must not be later."
            ),
        )
