"""A set, some series at a time."""

from collections.abc import Iterator
from copy import copy
from typing import Any

from denots.data.series import SeriesSet


def in_blocks(series: SeriesSet, size: int) -> Iterator[SeriesSet]:
    """So many series after the other; arrays are shared, and what is valid as a whole is not checked again in part."""
    for first in range(0, len(series), size):
        last = min(first + size, len(series))
        rows = slice(series.offsets[first], series.offsets[last])
        shares: dict[str, Any] = {
            "times": series.times[rows],
            "values": series.values[rows],
            "offsets": series.offsets[first : last + 1] - series.offsets[first],
            "start": series.start[first:last],
            "ids": series.ids[first:last],
            "static": None if series.static is None else series.static[first:last],
            "target": None if series.target is None else series.target[first:last],
            "row_target": None if series.row_target is None else series.row_target[rows],
        }
        part = copy(series)
        for name, array in shares.items():
            object.__setattr__(part, name, array)
        yield part
