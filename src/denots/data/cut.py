"""Series cut short: what was known of them at some moment."""

from dataclasses import replace

import numpy as np

from denots.data.running import Moments, rows_until
from denots.data.series import SeriesSet
from denots.shapes import BoolArray


def cut(series: SeriesSet, moments: Moments) -> tuple[SeriesSet | None, BoolArray]:
    """A series for each moment at which something had been observed, with the rows up to it; and which moments these are.

    One that lies after the last of these rows adds a row in which nothing is observed, because time has passed.
    """
    owner = np.repeat(np.arange(len(series)), np.diff(moments.offsets))
    until = rows_until(series, moments)
    observed = np.concatenate([[0], np.cumsum(~np.isnan(series.values).all(axis=1))])
    first = series.offsets[owner]
    known = observed[first + until] > observed[first]
    if not known.any():
        return None, known
    owner, until, first, now = owner[known], until[known], first[known], moments.times[known]
    waits = series.times[first + until - 1] < now
    lengths = until + waits
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    place = np.arange(offsets[-1]) - np.repeat(offsets[:-1], lengths)
    rows = np.repeat(first, lengths) + np.minimum(place, np.repeat(until - 1, lengths))
    times, values = series.times[rows], series.values[rows]
    last = offsets[1:][waits] - 1
    times[last], values[last] = now[waits], np.nan
    found = replace(
        series,
        times=times,
        values=values,
        offsets=offsets,
        start=series.start[owner],
        ids=np.arange(len(owner)),
        static=None if series.static is None else series.static[owner],
        target=None,
        row_target=None,
    )
    return found, known
