"""A picture of one series: what was observed, and what the model says of times."""

from typing import TYPE_CHECKING

import numpy as np
from pandas.api.types import is_numeric_dtype

from denots.data.reading import Reading
from denots.data.series import SeriesSet
from denots.errors import InvalidSeries
from denots.pages.chart import Chart, Line, gallery, thinned
from denots.registry import lookup
from denots.shapes import FloatArray

if TYPE_CHECKING:
    import pandas as pd

MOST_CHARTS = 12


def one_series(reading: Reading, id: str) -> Reading:
    """The series of this name, or the reason why it cannot be drawn."""
    for bad in reading.rejected:
        if str(bad.id) == id:
            raise InvalidSeries(bad.reason)
    names = {str(name): row for row, name in enumerate(reading.series.ids.tolist())}
    series = reading.series.select([lookup(names, id, "series")])
    return Reading(series, (), series.ids)


def draw_series(series: SeriesSet, told: "pd.DataFrame | None" = None) -> str:
    """A chart for each channel that was observed, and one for what is told beside them, as a part of a page.

    Args:
        told: answers of a model that answers at times: the id, the time on the clock of the series, and what is told.
    """
    observed = [k for k in range(len(series.channels)) if not np.isnan(series.values[:, k]).all()]
    charts = [_chart(series, k, told) for k in observed[:MOST_CHARTS]]
    more = len(observed) - len(charts)
    note = f'<p class="soft">{more} more channels are not drawn.</p>' if more else ""
    return gallery([*_answers(series, told), *charts]) + note


def _chart(series: SeriesSet, k: int, told: "pd.DataFrame | None") -> Chart:
    name, seen = series.channels[k], ~np.isnan(series.values[:, k])
    times, values = thinned(series.times[seen], series.values[seen, k].astype(np.float64))
    lines = [Line("observed", times, values, "dots"), Line("straight from one to the next", times, values, "guide")]
    if told is not None and name in told.columns:
        low, high = (_numbers(told, f"{end}_{name}") if f"{end}_{name}" in told else None for end in ("low", "high"))
        lines.append(Line("forecast", _times(told), _numbers(told, name), "rings", low, high))
    return Chart(name, _clock(series), "value", tuple(lines))


def _answers(series: SeriesSet, told: "pd.DataFrame | None") -> list[Chart]:
    """What is told of times and is no forecast of a channel: a line for each class or number."""
    if told is None or set(series.channels) & set(told.columns):
        return []
    names = [name for name in told.columns[2:] if is_numeric_dtype(told[name])]
    columns = thinned(_times(told), *(_numbers(told, name) for name in names))
    lines = tuple(Line(name, columns[0], column) for name, column in zip(names, columns[1:], strict=True))
    return [Chart("What the model says", _clock(series), "answer", lines)] if lines else []


def _clock(series: SeriesSet) -> str:
    return f"time ({series.time_unit})" if series.time_unit else "time"


def _times(told: "pd.DataFrame") -> FloatArray:
    return told.iloc[:, 1].to_numpy(dtype=np.float64)


def _numbers(told: "pd.DataFrame", name: str) -> FloatArray:
    return told[name].to_numpy(dtype=np.float64)
