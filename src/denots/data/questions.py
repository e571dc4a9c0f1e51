"""When a forecast is asked for: a table with one row, id and time, per question."""

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from denots.data.column import Columns
from denots.data.groups import Groups, read_groups
from denots.data.schema import TableSchema
from denots.data.series import SeriesSet
from denots.data.stamps import SECONDS, Stamps, read_stamps, unit_name, zone_words
from denots.errors import InvalidTable
from denots.registry import listed
from denots.shapes import FloatArray, IntArray

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class Questions:
    """Which series are asked, at which times each, and to which rows of the table the answers belong."""

    asked: "pd.DataFrame"  # id and time as the user wrote them
    series: IntArray
    times: list[FloatArray]
    rows: list[IntArray]


def read_questions(
    table: "pd.DataFrame", schema: TableSchema, frame: "pd.DataFrame", ids: npt.NDArray[Any]
) -> Questions:
    """The questions of a table with the id and time columns of `frame`, where `ids` are all series.

    Dates are counted from where the clock of their series begins; numbers are on that clock already.
    """
    import pandas as pd

    columns = Columns(table)
    for role, name in (("id", schema.id), ("time", schema.time)):
        columns.require(name, role)
    groups = read_groups(columns[schema.id], schema.id)
    owner = _positions(groups, ids.tolist())
    if (owner < 0).any():
        strangers = [repr(name) for name in groups.ids[owner < 0].tolist()]
        raise InvalidTable(
            f"the table of questions asks about series {listed(strangers)}, which is not in the table of observations; "
            "drop these questions or add the observations."
        )
    stamps = read_stamps(columns[schema.time], schema.time, groups, schema.time_format)
    times: FloatArray = stamps.ticks.astype(np.float64)
    if stamps.per_second is not None:
        times = _since_start(stamps, groups, schema, frame)
    rows = [groups.rows[a:b] for a, b in zip(groups.offsets[:-1], groups.offsets[1:], strict=True)]
    asked = pd.DataFrame({name: columns[name].reset_index(drop=True) for name in (schema.id, schema.time)})
    return Questions(asked, owner, [times[own] for own in rows], rows)


def same_questions(times: FloatArray, schema: TableSchema, ids: npt.NDArray[Any]) -> Questions:
    """The same times, on the clock of each series, for all of them."""
    import pandas as pd

    n, k = len(ids), len(times)
    asked = pd.DataFrame({schema.id: np.repeat(ids, k), schema.time: np.tile(times, n)})
    return Questions(asked, np.arange(n), [times] * n, list(np.arange(n * k).reshape(n, k)))


def row_questions(
    series: SeriesSet, schema: TableSchema, ids: npt.NDArray[Any], step: float | None = None, frame: Any = None
) -> Questions:
    """Every row of every series; or with a step, times so far apart from the first row of each to its last one.

    Args:
        frame: the table of the series; where it has dates, so have the questions, and those about rows as they stand there.
    """
    import pandas as pd

    times = {name: own.times for name, own in zip(series.ids.tolist(), series, strict=True)}
    if step is not None:
        times = {name: _every(own, step) for name, own in times.items()}
    each = [times.get(name, np.array([np.nan])) for name in ids.tolist()]  # its status tells why one has no times
    ends = np.cumsum([0, *map(len, each)])
    when: Any = np.concatenate(each)
    if frame is not None and len(series):
        when = _as_dates(when, np.repeat(ids, np.diff(ends)), series, schema, frame, written=step is None)
    asked = pd.DataFrame({schema.id: np.repeat(ids, np.diff(ends)), schema.time: when})
    rows = [np.arange(a, b) for a, b in pairwise(ends.tolist())]
    return Questions(asked, np.arange(len(ids)), each, rows)


def _every(times: FloatArray, step: float) -> FloatArray:
    count = int(np.floor((times[-1] - times[0]) / step + 1e-9))
    return times[0] + step * np.arange(count + 1)


def _as_dates(
    times: FloatArray, owners: npt.NDArray[Any], series: SeriesSet, schema: TableSchema, frame: Any, *, written: bool
) -> Any:
    """Times on the clocks of their owners as the dates of a table, in its zone; numbers stay, and NaN is no date.

    Args:
        written: take the cells of the table; else text is written anew, in the zone of the first row of its series.
    """
    import pandas as pd

    from denots.data.frame import picked_rows

    columns = Columns(frame, labels=(schema.id, schema.variable))
    found, known = read_groups(columns[schema.id], schema.id), set(series.ids.tolist())
    read = np.flatnonzero([name in known for name in found.ids.tolist()])
    columns = picked_rows(schema, columns.keep(np.isin(found.codes, read)))
    groups, column = read_groups(columns[schema.id], schema.id), columns[schema.time]
    stamps = read_stamps(column, schema.time, groups, schema.time_format)
    start = (
        stamps if schema.start is None else read_stamps(columns[schema.start], schema.start, groups, schema.time_format)
    )
    if stamps.per_second is None or start.per_second is None:
        return times
    fine = max(stamps.per_second, start.per_second)
    origin = np.full(len(groups.ids), np.iinfo(np.int64).max)
    np.minimum.at(origin, groups.codes, start.ticks * (fine // start.per_second))
    place = {name: group for group, name in enumerate(groups.ids.tolist())}
    group = np.array([place.get(name, 0) for name in owners.tolist()], dtype=np.int64)
    since = np.rint(np.nan_to_num(times) * (fine * SECONDS[unit_name(str(schema.time_unit))])).astype(np.int64)
    ticks = origin[group] + since
    dates = pd.Series(ticks.view("datetime64[ns]" if fine == 10**9 else "datetime64[us]")).mask(np.isnan(times))
    if pd.api.types.is_datetime64_any_dtype(column.dtype):
        return dates if column.dt.tz is None else dates.dt.tz_localize("UTC").dt.tz_convert(column.dt.tz)
    cells, told = column.tolist(), np.full(len(times), None, dtype=object)
    stood = zip(groups.codes.tolist(), (stamps.ticks * (fine // stamps.per_second)).tolist(), strict=True)
    cell = dict(zip(stood, cells, strict=True))
    zones = [pd.to_datetime(str(cells[row]), format=schema.time_format).tzinfo for row in groups.first]
    for k in np.flatnonzero(~np.isnan(times)):
        own = cell.get((int(group[k]), int(ticks[k]))) if written else None
        told[k] = _written(dates[k], zones[group[k]], schema.time_format) if own is None else own
    return told


def _written(date: "pd.Timestamp", zone: Any, form: str | None) -> str:
    """A date as text of ISO 8601, or in a format of strptime."""
    own = date if zone is None else date.tz_localize("UTC").tz_convert(zone)
    return own.isoformat() if form is None else own.strftime(form)


def _since_start(stamps: Stamps, groups: Groups, schema: TableSchema, frame: "pd.DataFrame") -> FloatArray:
    """Time since the start of the series that each question belongs to, in the unit of the model."""
    from denots.data.frame import picked_rows

    columns = picked_rows(schema, Columns(frame, labels=(schema.id, schema.variable)))
    observed = read_groups(columns[schema.id], schema.id)
    name = schema.time if schema.start is None else schema.start
    seen = read_stamps(columns[name], name, observed, schema.time_format)
    if seen.per_second is None or stamps.per_second is None:
        raise InvalidTable(
            f"the questions are dates such as {stamps.show(0)}, but column {name!r} of the table holds numbers; ask in numbers."
        )
    if seen.zoned != stamps.zoned:
        raise InvalidTable(
            f"the questions have {zone_words(stamps)} and column {name!r} of the table has {zone_words(seen)}; "
            "write both with a zone, or both without."
        )
    origin = np.full(len(observed.ids), np.iinfo(np.int64).max)
    np.minimum.at(origin, observed.codes, seen.ticks)
    origin = origin[_positions(groups, observed.ids.tolist())[groups.codes]]
    fine = max(seen.per_second, stamps.per_second)
    since = stamps.ticks * (fine // stamps.per_second) - origin * (fine // seen.per_second)
    return since / (fine * SECONDS[unit_name(str(schema.time_unit))])


def _positions(groups: Groups, ids: list[str | int]) -> IntArray:
    """Where each asked series stands among `ids`, compared as text; -1 where it does not."""
    position = {str(name): row for row, name in enumerate(ids)}
    return np.array([position.get(str(name), -1) for name in groups.ids.tolist()], dtype=np.int64)
