"""What the model would say of a series if an observation were missing, or another one."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from denots.data.series import SeriesSet
from denots.errors import InvalidOption
from denots.estimators.estimator import SeriesEstimator
from denots.explain.subject import one_series
from denots.registry import listed, lookup
from denots.shapes import FloatArray, IntArray

if TYPE_CHECKING:
    import pandas as pd

Place: TypeAlias = str | tuple[str, float]
AS_IT_IS, CHANGED = "as it is", "changed"


def what_if(
    model: SeriesEstimator,
    X: Any,
    id: Any = None,
    *,
    drop: Iterable[Place] = (),
    change: Mapping[Place, float] | None = None,
) -> "pd.DataFrame":
    """The answer for a series as it is and with some of its observations changed, in two rows.

    Args:
        drop: what was not observed after all: ("pulse", 3.5) is the observation of a channel at a time on the clock of the
            series, "pulse" all of them, and a static feature goes by its name, too.
        change: other values for such places.
    """
    series = one_series(model, X, id)
    values, static = series.values.copy(), None if series.static is None else series.static.copy()
    changes: list[tuple[Place, float]] = [(place, np.nan) for place in drop]
    for place, value in (change or {}).items():
        if not np.isfinite(value):
            raise InvalidOption(f"{place!r} cannot become {value}; give a finite number, or drop it.")
        changes.append((place, float(value)))
    if not changes:
        raise InvalidOption("nothing changes: name what to drop or to change, such as drop=[('pulse', 3.5)].")
    for place, value in changes:
        if static is not None and place in series.static_names:
            static[0, series.static_names.index(str(place))] = value
        else:
            channel, rows = _observations(series, place)
            values[rows, channel] = value
    table = model.predict_table(_both(series, values, static))
    return table.rename(columns={table.columns[0]: "series"})


def _observations(series: SeriesSet, place: Place) -> tuple[int, IntArray]:
    """The channel and the rows that a place stands for."""
    name, time = (place, None) if isinstance(place, str) else place
    names = {channel: c for c, channel in enumerate(series.channels)}
    channel = lookup(names | dict.fromkeys(series.static_names, -1), name, "channel or static feature")
    rows = np.flatnonzero(~np.isnan(series.values[:, channel])) if channel >= 0 else np.zeros(0, dtype=np.int64)
    if time is None and len(rows):
        return channel, rows
    hit = rows[np.isclose(series.times[rows], np.nan if time is None else time, rtol=1e-9, atol=0)]
    if not len(hit):
        known = listed(f"{t:g}" for t in series.times[rows]) or "never"
        raise InvalidOption(f"series {series.id(0)!r} has no observation {place!r}; {name!r} was observed at: {known}.")
    return channel, hit


def _both(series: SeriesSet, values: FloatArray, static: FloatArray | None) -> SeriesSet:
    """A set of the series as it is and as it would be; rows in which nothing is left are gone."""
    left = ~np.isnan(values).all(axis=1)
    if not left.any():
        raise InvalidOption(f"nothing would be left of series {series.id(0)!r}; drop fewer observations.")
    kept = left | np.isnan(series.values).all(axis=1)
    return replace(
        series,
        times=np.concatenate([series.times, series.times[kept]]),
        values=np.concatenate([series.values, values[kept]]),
        offsets=np.array([0, len(series.times), len(series.times) + kept.sum()]),
        start=np.repeat(series.start, 2),
        ids=np.array([AS_IT_IS, CHANGED]),
        static=None if static is None or series.static is None else np.concatenate([series.static, static]),
        target=None,
    )
