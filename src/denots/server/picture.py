"""A picture of one series: what was observed, and what was told of times without observations."""

from typing import TYPE_CHECKING

import numpy as np

from denots.data.reading import Reading
from denots.data.series import SeriesSet
from denots.errors import InvalidSeries
from denots.pages.chart import Chart, Line, gallery, thinned
from denots.registry import lookup

if TYPE_CHECKING:
    import pandas as pd

MOST_CHARTS = 12


def draw_series(series: SeriesSet, told: "pd.DataFrame | None" = None) -> str:
    """A chart for each channel that was observed, as a part of a page.

    Args:
        told: forecasts for the series, with the columns of the answers and times on its own clock.
    """
    observed = [k for k in range(len(series.channels)) if not np.isnan(series.values[:, k]).all()]
    charts = [_chart(series, k, told) for k in observed[:MOST_CHARTS]]
    more = len(observed) - len(charts)
    note = f'<p class="soft">{more} more channels are not drawn.</p>' if more else ""
    return gallery(charts) + note


def _chart(series: SeriesSet, k: int, told: "pd.DataFrame | None") -> Chart:
    name, seen = series.channels[k], ~np.isnan(series.values[:, k])
    times, values = thinned(series.times[seen], series.values[seen, k].astype(np.float64))
    lines = [Line("observed", times, values, "dots"), Line("straight from one to the next", times, values, "guide")]
    if told is not None:
        when, low, high = told.iloc[:, 1], told.get(f"low_{name}"), told.get(f"high_{name}")
        lines.append(
            Line(
                "forecast",
                when.to_numpy(dtype=np.float64),
                told[name].to_numpy(dtype=np.float64),
                "rings",
                None if low is None else low.to_numpy(dtype=np.float64),
                None if high is None else high.to_numpy(dtype=np.float64),
            )
        )
    unit = f"time ({series.time_unit})" if series.time_unit else "time"
    return Chart(name, unit, "value", tuple(lines))


def one_series(reading: Reading, id: str) -> Reading:
    """The series of this name, or the reason why it cannot be drawn."""
    for bad in reading.rejected:
        if str(bad.id) == id:
            raise InvalidSeries(bad.reason)
    names = {str(name): row for row, name in enumerate(reading.series.ids.tolist())}
    series = reading.series.select([lookup(names, id, "series")])
    return Reading(series, (), series.ids)
