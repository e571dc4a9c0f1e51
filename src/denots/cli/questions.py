"""When a forecast is asked for: times on the command line, or a table of ids and times."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from denots.cli.table_options import TableOptions
from denots.errors import InvalidOption, InvalidTable
from denots.registry import lookup
from denots.shapes import FloatArray, IntArray

if TYPE_CHECKING:
    import pandas as pd

    from denots.data.series import SeriesSet


@dataclass(frozen=True)
class Questions:
    """Which series are asked, at which times each, and to which rows of the table the answers belong."""

    asked: "pd.DataFrame"  # id and time as the user wrote them
    series: IntArray
    times: list[FloatArray]
    rows: list[IntArray]


def read_times(text: str) -> FloatArray:
    """Numbers in a list such as `1.5,2,3`."""
    try:
        times = np.array([float(part) for part in text.split(",") if part.strip()])
    except ValueError as error:
        raise InvalidOption(f"--at takes numbers separated by commas, such as 1.5,2,3; got {text!r}.") from error
    if not len(times):
        raise InvalidOption("--at names no time; give numbers separated by commas, such as 1.5,2,3.")
    return times


def read_questions(file: Path, options: TableOptions, frame: "pd.DataFrame", series: "SeriesSet") -> Questions:
    """The questions of a table with the id and time columns of the fitted one.

    Dates are counted from where the clock of their series begins; numbers are on that clock already.
    """
    import pandas as pd

    from denots.data.column import Columns, read_groups
    from denots.data.stamps import read_stamps
    from denots.data.table_file import read_table

    table = Columns(read_table(file, id=options.id))
    for role, name in (("id", options.id), ("time", options.time)):
        table.require(name, role)
    groups = read_groups(table[options.id], options.id)
    position = {str(name): row for row, name in enumerate(series.ids.tolist())}
    owner = np.array([position.get(str(name), -1) for name in groups.ids.tolist()])
    if (owner < 0).any():
        stranger = groups.ids[owner < 0][0].item()
        raise InvalidTable(f"{file} asks about series {stranger!r}, which is not in the table of observations.")
    stamps = read_stamps(table[options.time], options.time, groups)
    times: FloatArray = stamps.ticks.astype(np.float64)
    if stamps.per_second is not None:
        times = _since_start(stamps, owner[groups.codes], options, frame)
    rows = [groups.rows[a:b] for a, b in zip(groups.offsets[:-1], groups.offsets[1:], strict=True)]
    asked = pd.DataFrame({name: table[name].reset_index(drop=True) for name in (options.id, options.time)})
    return Questions(asked, owner, [times[own] for own in rows], rows)


def _since_start(stamps: Any, owner: IntArray, options: TableOptions, frame: "pd.DataFrame") -> FloatArray:
    """Time since the start of the series that each question belongs to, in the unit of the model."""
    from denots.data.column import Columns, read_groups
    from denots.data.stamps import SECONDS, UNITS, read_stamps

    columns = Columns(options.rows(frame))
    groups = read_groups(columns[options.id], options.id)
    name = options.time if options.start is None else options.start
    seen = read_stamps(columns[name], name, groups)
    if seen.per_second is None:
        raise InvalidTable(
            f"the questions are dates such as {stamps.show(0)}, but column {name!r} of the table holds numbers; ask in numbers."
        )
    if seen.zone != stamps.zone:
        raise InvalidTable(
            f"the questions have time zone {stamps.zone or 'none'} and column {name!r} of the table has {seen.zone or 'none'}; "
            "write both in one zone, best UTC."
        )
    origin = np.full(len(groups.ids), np.iinfo(np.int64).max)
    np.minimum.at(origin, groups.codes, seen.ticks)
    fine = max(seen.per_second, stamps.per_second)
    since = stamps.ticks * (fine // stamps.per_second) - origin[owner] * (fine // seen.per_second)
    return since / (fine * SECONDS[lookup(UNITS, str(options.time_unit), "time unit")])
