"""Accept series in the forms that people have them in."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from denots.data.series import Series, SeriesSet
from denots.errors import InvalidSeries


def as_series_set(X: Any) -> SeriesSet:
    """A SeriesSet from one; from an array (n, channels, time) or (n, time); from a list of Series,
    of pairs (times, values [L, C]) or of arrays (channels, time), which may differ in length.

    Arrays without times are taken to be sampled at 0, 1, 2, ...
    """
    if isinstance(X, SeriesSet):
        return X
    if hasattr(X, "__array__") and not hasattr(X, "columns") and not isinstance(X, np.ndarray):
        X = np.asarray(X)
    if isinstance(X, np.ndarray) and X.dtype != object:
        return SeriesSet.from_numpy(X[:, None, :] if X.ndim == 2 else X)
    if isinstance(X, Sequence | np.ndarray):
        if not len(X):
            raise InvalidSeries("the set is empty; give at least one series.")
        times, values = zip(*(_pair(item, position) for position, item in enumerate(X)), strict=True)
        return SeriesSet.from_arrays(times, values)
    raise InvalidSeries(
        f"cannot read series from {type(X).__name__}; give a SeriesSet (for a table: SeriesSet.from_frame), "
        "an array (n, channels, time), or a list of (times, values) pairs or of arrays (channels, time)."
    )


def _pair(item: Any, position: int) -> tuple[Any, Any]:
    if isinstance(item, Series):
        return item.times, item.values
    if isinstance(item, tuple) and len(item) == 2:
        return item
    table = np.asarray(item)
    if table.ndim not in (1, 2):
        raise InvalidSeries(
            f"item {position} of the list has shape {table.shape}; expected a pair (times, values) or an array (channels, time)."
        )
    table = np.atleast_2d(table)
    return np.arange(table.shape[1], dtype=np.float64), table.T


def match_columns(series: SeriesSet, channels: tuple[str, ...], static_names: tuple[str, ...]) -> SeriesSet:
    """The same series with channels and static features in the order a fitted model expects.

    Columns are recognised by name; a missing or unexpected one is an error.
    """
    for kind, found, expected in (
        ("channels", series.channels, channels),
        ("static features", series.static_names, static_names),
    ):
        missing, extra = sorted(set(expected) - set(found)), sorted(set(found) - set(expected))
        if missing or extra:
            parts = ([f"lacks {', '.join(missing)}"] if missing else []) + (
                [f"has unknown {', '.join(extra)}"] if extra else []
            )
            raise InvalidSeries(
                f"the model was fitted with {kind} {', '.join(expected) or 'none'}; this set {' and '.join(parts)}. "
                "Give the same columns as in training (NaN where nothing was observed)."
            )
    if series.channels == channels and series.static_names == static_names:
        return series
    columns = [series.channels.index(name) for name in channels]
    static_columns = [series.static_names.index(name) for name in static_names]
    return replace(
        series,
        values=series.values[:, columns],
        channels=channels,
        static=None if series.static is None else series.static[:, static_columns],
        static_names=static_names,
    )
