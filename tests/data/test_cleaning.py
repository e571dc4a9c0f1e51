"""Tables that are unsorted, doubled, half empty or oddly spelled, cleaned while they are read; pandas is the judge."""

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from denots.data import SeriesSet, TableSchema
from denots.data.frame import read_frame
from denots.errors import EmptySeries, InvalidSeries, InvalidTable, SkippedSeries, UnknownName

from frames import Maker, both_libraries, wide
from strategies import QUICK

CELL = st.one_of(st.none(), st.floats(-100, 100))
ROWS = st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 3), CELL, CELL), min_size=1, max_size=12)


def merged(frame: pd.DataFrame, how: str, keys: list[str]) -> pd.DataFrame:
    """What pandas makes of several rows with the same keys; ids in order of first appearance."""
    first = {name: k for k, name in enumerate(dict.fromkeys(frame["id"]))}
    grouped = frame.groupby(keys, as_index=False).agg(how)
    return grouped.sort_values(["id", "t"], key=lambda column: column.map(first) if column.name == "id" else column)


@pytest.mark.parametrize("how", ["mean", "first", "last"])
@QUICK
@given(rows=ROWS)
def test_sorting_and_merging_a_wide_table_is_what_grouping_in_pandas_gives(how: str, rows: list[Any]) -> None:
    frame = pd.DataFrame(rows, columns=["id", "t", "x", "y"]).astype({"x": float, "y": float})
    frame.loc[frame.groupby("id").head(1).index, "x"] = 1.0  # no series is without a value
    read = read_frame(frame, id="id", time="t", sort=True, duplicates=how)
    judge = merged(frame, how, ["id", "t"])
    assert np.repeat(read.ids, read.lengths).tolist() == judge["id"].tolist()
    np.testing.assert_array_equal(read.times, judge["t"])
    np.testing.assert_allclose(read.values, judge[["x", "y"]], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("how", ["mean", "first", "last"])
@QUICK
@given(rows=ROWS)
def test_a_long_table_is_merged_by_the_same_rule_as_a_wide_one(how: str, rows: list[Any]) -> None:
    frame = pd.DataFrame(rows, columns=["id", "t", "x", "y"]).astype({"x": float, "y": float})
    frame.loc[frame.groupby("id").head(1).index, "x"] = 1.0
    options: dict[str, Any] = {"id": "id", "time": "t", "sort": True, "duplicates": how}
    read = read_frame(frame.melt(["id", "t"]), **options)
    assert read.same_as(read_frame(frame, **options))


@both_libraries
def test_sorting_is_off_until_asked_for_and_then_known_to_the_schema(make: Maker) -> None:
    table = wide() | {"hour": [4.0, 7.0, 1.5, 5.0, 0.0]}
    with pytest.raises(
        InvalidSeries, match=r"2 series cannot be read: \(1\) unsorted times, 3 rows in 2 series: .*--sort"
    ):
        read_frame(make(table), id="patient", time="hour")
    read = read_frame(make(table), id="patient", time="hour", sort=True)
    assert [list(series.times) for series in read] == [[0.0, 1.5, 4.0], [5.0, 7.0]]
    assert read.schema is not None
    assert read.schema.read(make(table)).same_as(read)


def test_rows_at_one_time_are_refused_by_default_and_merged_only_if_in_order() -> None:
    frame = pd.DataFrame({"id": "a", "t": [0, 1, 1], "x": [1.0, 2.0, 4.0]})
    with pytest.raises(InvalidSeries, match=r"1 in row 2 is followed by 1 in row 3\. Merge .*--duplicates mean"):
        read_frame(frame, id="id", time="t")
    assert read_frame(frame, id="id", time="t", duplicates="mean").values.tolist() == [[1.0], [3.0]]
    with pytest.raises(InvalidSeries, match="Sort the table"):
        read_frame(frame[::-1], id="id", time="t", duplicates="mean")
    with pytest.raises(UnknownName, match=r"unknown way to treat duplicates 'means'\. Did you mean 'mean'"):
        read_frame(frame, id="id", time="t", duplicates="means")


@both_libraries
def test_series_without_a_value_are_left_out_with_a_count_only_if_asked(make: Maker) -> None:
    table = {"id": ["a", "a", "b", "c"], "t": [0, 1, 0, 0], "x": [1.0, 2.0, None, None], "y": [1, 1, 0, 0]}
    with pytest.raises(EmptySeries, match=r"2 series cannot be read: .*'b' has no observed value.*--skip-empty"):
        read_frame(make(table), id="id", time="t", target="y")
    with pytest.warns(
        SkippedSeries, match=r"2 of 3 series are left out because nothing was observed in them: 'b', 'c'\."
    ):
        read = read_frame(make(table), id="id", time="t", target="y", skip_empty=True)
    assert read.ids.tolist() == ["a"]
    assert read.schema is not None
    scanned = read.schema.scan(make(table), target="y")
    assert [bad.id for bad in scanned.rejected] == ["b", "c"]
    bad = table | {"t": [1, 0, 0, 0]}
    with pytest.raises(InvalidSeries, match="series 'a': times must increase"):
        read_frame(make(bad), id="id", time="t", target="y", skip_empty=True)


def test_a_series_of_a_long_table_without_a_picked_channel_is_empty_too() -> None:
    frame = pd.DataFrame({"id": ["a", "b"], "t": 0, "variable": ["hr", "bp"], "value": 1.0})
    with pytest.warns(SkippedSeries, match="1 of 2"):
        read = read_frame(frame, id="id", time="t", values="hr", variable="variable", value="value", skip_empty=True)
    assert read.ids.tolist() == ["a"]


def test_where_all_series_are_empty_none_is_left_and_that_is_an_error() -> None:
    frame = pd.DataFrame({"id": ["a", "b"], "t": 0, "x": np.nan})
    with pytest.raises(EmptySeries, match="2 series cannot be read"):
        read_frame(frame, id="id", time="t", skip_empty=True)


@both_libraries
@pytest.mark.parametrize(
    ("cells", "na"),
    [
        (["1.5", "n/a", "2", "NA", "-"], ("n/a", "-")),
        ([1.5, -999.0, 2.0, -999.0, -999.0], "-999"),
        (["1.5", "-999.0", "2", "unknown", " unknown "], ("-999", "unknown")),
    ],
)
def test_further_spellings_are_missing(make: Maker, cells: list[Any], na: Any) -> None:
    read = read_frame(make(wide() | {"lab": cells}), id="patient", time="hour", na=na)
    lab = np.concatenate([series.values[:, 2] for series in read])
    np.testing.assert_array_equal(lab, [1.5, 2.0, np.nan, np.nan, np.nan])


def test_a_spelling_that_is_not_told_stays_an_error_with_its_row() -> None:
    with pytest.raises(InvalidTable, match=r"row 4: '\?' in value column 'lab' is not a number"):
        read_frame(pd.DataFrame(wide() | {"lab": ["1", "n/a", "2", "?", "3"]}), id="patient", time="hour", na=("n/a",))


def test_ids_and_times_are_never_missing_by_a_spelling() -> None:
    frame = pd.DataFrame({"id": ["none", "none", "-1"], "t": [-1, 0, -1], "x": [-1, 2, 3]})
    read = read_frame(frame, id="id", time="t", na=("none", "-1"))
    assert read.ids.tolist() == ["none", "-1"]
    assert read.times.tolist() == [-1.0, 0.0, -1.0]
    np.testing.assert_array_equal(read.values[:, 0], [np.nan, 2.0, 3.0])


def test_a_missing_target_leaves_the_others_whole_numbers() -> None:
    frame = pd.DataFrame({"id": list("abc"), "t": 0, "x": 1.0, "y": [0, -9, 1]})
    reading = TableSchema("id", "t", "y", na=("-9",)).scan(frame, target="y")
    assert [bad.id for bad in reading.rejected] == ["b"]
    assert reading.series.target is not None
    assert reading.series.target.dtype.kind == "i"
    assert reading.series.target.tolist() == [0, 1]


def test_cleaning_changes_nothing_on_a_clean_table() -> None:
    frame = pd.DataFrame(wide())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        clean = SeriesSet.from_frame(
            frame, id="patient", time="hour", sort=True, duplicates="mean", skip_empty=True, na=("n/a", "-999")
        )
    assert clean.same_as(SeriesSet.from_frame(frame, id="patient", time="hour"))
