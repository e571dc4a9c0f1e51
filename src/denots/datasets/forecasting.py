"""Turn complete series into a forecasting problem: some points are seen, the others asked for."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from denots.data.series import SeriesSet
from denots.errors import InvalidSeries
from denots.shapes import FloatArray


class ForecastProblem(NamedTuple):
    """What a model sees, the times it is asked about, and the true values there."""

    visible: SeriesSet
    queries: FloatArray  # [n, K] times, increasing
    answers: FloatArray  # [n, K, C]
    is_extrapolation: npt.NDArray[np.bool_]  # [n, K] after the visible half, rather than inside it


def hide_for_forecasting(series: SeriesSet) -> ForecastProblem:
    """Hide the second half and every second point of the first: 32 points give 8 seen, 8 inside, 16 beyond.

    All series must be equally long, with at least 2 points.
    """
    length = int(series.lengths[0])
    odd = np.flatnonzero(series.lengths != length)
    if len(odd):
        raise InvalidSeries(
            f"series {series.id(odd[0])!r} has {series.lengths[odd[0]]} observations but series {series.id(0)!r} has "
            f"{length}; forecasting splits series of one length, so cut them to equal length first."
        )
    if length < 2:
        raise InvalidSeries(f"the series have {length} observation; forecasting needs at least 2, one seen, one asked.")
    n, half, index = len(series), length // 2, np.arange(length)
    seen = (index < half) & (index % 2 == 0)
    times = series.times.reshape(n, length)
    values = series.values.reshape(n, length, -1)
    visible = SeriesSet(
        times=times[:, seen].ravel(),
        values=values[:, seen].reshape(-1, values.shape[2]),
        offsets=np.arange(n + 1) * int(seen.sum()),
        start=series.start,
        ids=series.ids,
        channels=series.channels,
        static=series.static,
        static_names=series.static_names,
        time_unit=series.time_unit,
    )
    return ForecastProblem(
        visible=visible,
        queries=times[:, ~seen],
        answers=values[:, ~seen],
        is_extrapolation=np.tile(index[~seen] >= half, (n, 1)),
    )
