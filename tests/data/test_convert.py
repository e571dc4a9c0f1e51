"""Series as tables and arrays of other libraries, and back."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import assume, given

from denots.data import SeriesSet
from denots.errors import InvalidSeries, InvalidTable

from strategies import QUICK, series_sets

NAN = float("nan")


def visits() -> SeriesSet:
    return SeriesSet.from_arrays(
        [[0.0, 1.5, 2.0], [5.0, 6.0]],
        [[[71.0, 36.6], [74.0, NAN], [NAN, NAN]], [[NAN, 38.9], [104.0, 39.2]]],
        ids=["ann", "bob"],
        channels=["pulse", "temperature"],
        static=[[44.0], [NAN]],
        static_names=["age"],
        target=["home", "ward"],
        start=[0.0, 4.0],
        time_unit="h",
    )


def read_back(table: Any, like: SeriesSet) -> SeriesSet:
    flat = like.target is not None and like.target.ndim == 1
    return SeriesSet.from_frame(
        table,
        id="@id",
        time="@time",
        values=like.channels,
        static=like.static_names,
        target="@target" if flat else None,
        start="@start" if "@start" in table.columns else None,
        time_unit=like.time_unit or None,
    )


NAMES = {"id": "@id", "time": "@time", "start": "@start", "target": "@target"}


@QUICK
@given(series_sets())
def test_a_set_survives_the_way_through_pandas_and_polars(series: SeriesSet) -> None:
    assume(not any(name.startswith("@") for name in series.channels))
    assume(not set(series.channels) & set(series.static_names))
    if series.target is not None and series.target.ndim == 2:
        series = series.with_target(None)  # a table is read with one target
    assert read_back(series.to_frame(**NAMES), series).same_as(series)
    assert read_back(series.to_polars(**NAMES), series).same_as(series)


def test_a_table_has_one_row_an_observation_and_every_part_of_the_set() -> None:
    expected = pd.DataFrame(
        {
            "id": ["ann", "ann", "ann", "bob", "bob"],
            "time": [0.0, 1.5, 2.0, 5.0, 6.0],
            "start": [0.0, 0.0, 0.0, 4.0, 4.0],
            "pulse": [71.0, 74.0, NAN, NAN, 104.0],
            "temperature": [36.6, NAN, NAN, 38.9, 39.2],
            "age": [44.0, 44.0, 44.0, NAN, NAN],
            "target": ["home", "home", "home", "ward", "ward"],
        }
    )
    frame = visits().to_frame()
    pd.testing.assert_frame_equal(frame, expected, check_dtype=False)
    assert "start" not in SeriesSet.from_numpy(np.zeros((2, 1, 3))).to_frame()


def test_holes_are_null_in_polars_and_arrow() -> None:
    assert visits().to_polars()["pulse"].null_count() == 2
    table = visits().to_arrow()
    assert isinstance(table, pa.Table)
    assert table["temperature"].null_count == 2
    assert pl.from_arrow(table).equals(visits().to_polars())  # type: ignore[union-attr]


def test_several_targets_are_numbered() -> None:
    series = SeriesSet.from_numpy(np.zeros((2, 1, 1)), target=[[1.0, 2.0], [3.0, 4.0]])
    assert series.to_frame()[["target_0", "target_1"]].to_numpy().tolist() == [[1.0, 2.0], [3.0, 4.0]]


def test_a_channel_with_the_name_of_another_column_is_refused_until_that_is_renamed() -> None:
    series = SeriesSet.from_arrays([[0.0, 1.0]], [[5.0, 6.0]], channels=["time"])
    with pytest.raises(InvalidTable, match=r"two columns .* named 'time'.*to_frame\(time='when'\)"):
        series.to_frame()
    assert list(series.to_frame(time="when")) == ["id", "when", "time"]


@QUICK
@given(series_sets())
def test_a_set_survives_the_way_through_a_padded_array(series: SeriesSet) -> None:
    values, times = series.to_array()
    assert values.shape == (len(series), len(series.channels), series.lengths.max())
    assert times.shape == (len(series), series.lengths.max())
    back = SeriesSet.from_numpy(
        values,
        times,
        ids=series.ids,
        channels=series.channels,
        start=series.start,
        static=series.static,
        static_names=series.static_names,
        target=series.target,
        time_unit=series.time_unit,
    )
    assert back.same_as(series)


def test_only_padding_may_lack_a_time() -> None:
    with pytest.raises(
        InvalidSeries, match=r"series 1 has the value 7\.0 in channel 0 at position 2, where its time is NaN"
    ):
        SeriesSet.from_numpy([[[1.0, 2.0, 3.0]], [[5.0, 6.0, 7.0]]], [[0.0, 1.0, 2.0], [0.0, 1.0, NAN]])
    with pytest.raises(InvalidSeries, match=r"times\[1\]"):
        SeriesSet.from_numpy([[[1.0, 2.0, 3.0]]], [[0.0, NAN, 2.0]])
    with pytest.raises(InvalidSeries, match=r"times\[0\]"):
        SeriesSet.from_numpy([[[1.0, 2.0]]], [[NAN, NAN]])
