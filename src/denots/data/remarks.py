"""What is worth a word before a model learns from a set, and what nothing can be learnt beside."""

import numpy as np

from denots.data.series import SeriesSet
from denots.errors import InvalidSeries
from denots.registry import listed
from denots.shapes import BoolArray

LARGEST = 1e150  # squares of larger numbers leave float64


def remarks(series: SeriesSet) -> list[str]:
    """Channels and static features that cannot teach anything: never observed, or always the same."""
    found = []
    for what, names, table in (
        ("channels", series.channels, series.values),
        ("static features", series.static_names, series.static),
    ):
        if table is None:
            continue
        seen = ~np.isnan(table)
        empty: BoolArray = np.logical_not(seen.any(axis=0))
        low, high = (np.where(seen, table, limit).T for limit in (np.inf, -np.inf))
        constant: BoolArray = ~empty & (low.min(axis=1) == high.max(axis=1))
        for which, words in ((empty, "no observed value"), (constant, "one value throughout")):
            if which.any():
                chosen = [repr(name) for name, odd in zip(names, which, strict=True) if odd]
                found.append(f"{len(chosen)} of {len(names)} {what} have {words} and cannot help: {listed(chosen)}.")
    return found


def check_magnitudes(series: SeriesSet) -> None:
    """Refuse values whose squares are infinite: their channel would have no spread, and all its other values no say."""
    if float(np.finfo(series.values.dtype).max) < LARGEST:
        return
    rows, columns = np.nonzero(np.abs(series.values) > LARGEST)
    if len(rows):
        row, column = rows[0], columns[0]
        raise InvalidSeries(
            f"series {series.id(int(series.owner()[row]))!r}: channel {series.channels[column]!r} is {series.values[row, column]:g} at time "
            f"{series.times[row]:g}, beyond what can be standardised; repair or empty the cell, or divide the channel by a power of ten."
        )
