"""Series as tables and arrays of other libraries."""

from typing import TYPE_CHECKING, Any

import numpy.typing as npt

from denots.data.series import SeriesSet
from denots.errors import InvalidTable

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa


def to_pandas(series: SeriesSet, **names: str) -> "pd.DataFrame":
    """One row an observation; NaN where nothing was observed."""
    import pandas as pd

    return pd.DataFrame(table_columns(series, **names))


def to_polars(series: SeriesSet, **names: str) -> "pl.DataFrame":
    """One row an observation; null where nothing was observed."""
    import polars as pl

    return pl.DataFrame(table_columns(series, **names), nan_to_null=True)


def to_arrow(series: SeriesSet, **names: str) -> "pa.Table":
    """One row an observation; null where nothing was observed."""
    import pyarrow as pa

    columns = table_columns(series, **names)
    return pa.table({name: pa.array(column, from_pandas=True) for name, column in columns.items()})


def table_columns(
    series: SeriesSet,
    *,
    id: str = "id",
    time: str = "time",
    start: str = "start",
    target: str = "target",
    row_target: str = "row_target",
) -> dict[str, npt.NDArray[Any]]:
    """Columns of a wide table in the order id, time, start, channels, static features, target, row target.

    A column for the start is there only if a series began before its first observation. Several targets
    without names have a number behind `target`.
    """
    owner = series.owner()
    columns: list[tuple[str, npt.NDArray[Any]]] = [(id, series.ids[owner]), (time, series.times)]
    if (series.start != series.times[series.offsets[:-1]]).any():
        columns.append((start, series.start[owner]))
    columns += [(name, series.values[:, c]) for c, name in enumerate(series.channels)]
    if series.static is not None:
        columns += [(name, series.static[owner, s]) for s, name in enumerate(series.static_names)]
    if series.target is not None and series.target.ndim == 1:
        columns.append((target, series.target[owner]))
    elif series.target is not None:
        several = series.target_names or tuple(f"{target}_{k}" for k in range(series.target.shape[1]))
        columns += [(name, column[owner]) for name, column in zip(several, series.target.T, strict=True)]
    if series.row_target is not None:
        columns.append((row_target, series.row_target))
    names = [name for name, _ in columns]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise InvalidTable(
            f"two columns of the table would be named {twice!r}; name the column of ids, times, starts or targets "
            "otherwise, for example to_frame(time='when'), or give a channel or static feature another name."
        )
    return dict(columns)
