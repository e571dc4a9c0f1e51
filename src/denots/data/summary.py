"""A series as one row of numbers, for models that read tables."""

import numpy as np

from denots import kernels
from denots.data.series import SeriesSet
from denots.shapes import FloatArray

WHOLE = (
    "count",
    "mean",
    "spread",
    "lowest",
    "highest",
    "first",
    "last",
    "last time",
    "trend",
    "roughness",
    "longest gap",
)
LATE = 0.75  # of a series; what is after it counts once more
STATISTICS = (*WHOLE, "since last", *(f"late {name}" for name in WHOLE))


def summarise(series: SeriesSet) -> FloatArray:
    """Length, span and static features, then `STATISTICS` of each channel; NaN where one is not defined.

    `trend` is the slope of the least-squares line, `roughness` the mean absolute difference of
    consecutive observed values, `since last` the time from the last observed value to the end of the series.
    Times count from the start of the series, and `late` ones are those in its last quarter.
    """
    first = 2 + len(series.static_names)
    table = np.empty((len(series), first + len(STATISTICS) * len(series.channels)))
    table[:, 0], table[:, 1] = series.lengths, series.spans
    if series.static is not None:
        table[:, 2:first] = series.static
    kernels.summarise(
        series.offsets, series.times, series.start, series.values, late=LATE, table=table, first_column=first
    )
    return table
