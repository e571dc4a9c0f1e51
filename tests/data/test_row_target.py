"""Labels of rows: read beside the values, and kept with their rows whatever is done to a set."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from denots.data import SeriesSet
from denots.data.hide import hide_for_forecasting
from denots.data.join import joined
from denots.errors import InvalidTable, InvalidTarget, UnknownName

from strategies import QUICK, series_sets

NAN = float("nan")


def stays() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "patient": ["a", "b", "a", "b", "a"],
            "hour": [2.0, 0.0, 1.0, 3.0, 5.0],
            "pulse": [70.0, 80.0, 71.0, NAN, 72.0],
            "alarm": [1.0, 0.0, NAN, 1.0, 0.0],
        }
    )


def read(table: pd.DataFrame, **options: object) -> SeriesSet:
    return SeriesSet.from_frame(table, id="patient", time="hour", row_target="alarm", sort=True, **options)


def test_a_column_of_labels_follows_its_rows_and_is_no_channel() -> None:
    series = read(stays())
    assert series.channels == ("pulse",)
    ordered = stays().sort_values(["patient", "hour"])
    np.testing.assert_array_equal(series.row_target, ordered["alarm"])
    np.testing.assert_array_equal(series[1].row_target, [0.0, 1.0])


def test_true_and_false_are_ones_and_zeros() -> None:
    table = stays().assign(alarm=[True, False, True, True, False])
    np.testing.assert_array_equal(read(table).row_target, [1, 1, 0, 0, 1])


def test_a_long_table_tells_the_label_of_a_time_once_or_in_each_of_its_rows() -> None:
    wide = stays().assign(breath=[1.0, 2.0, 3.0, 4.0, 5.0])
    long = wide.melt(["patient", "hour", "alarm"], ["pulse", "breath"], "variable", "value")
    named = {"variable": "variable", "value": "value", "channels": ("breath", "pulse")}
    again = read(long, **named)
    np.testing.assert_array_equal(again.row_target, read(wide).row_target)
    once = long.assign(alarm=long["alarm"].where(long["variable"] == "pulse"))
    np.testing.assert_array_equal(read(once, **named).row_target, again.row_target)


def test_two_labels_at_one_time_are_refused_by_name() -> None:
    table = pd.concat([stays(), stays().iloc[[0]].assign(alarm=0.0)])
    with pytest.raises(InvalidTarget, match=r"series 'a' has several values in the row target 'alarm' at time 2"):
        read(table, duplicates="mean")


@pytest.mark.parametrize(
    ("column", "error", "words"),
    [
        (["yes", "no", "yes", "no", "no"], InvalidTable, "row target column 'alarm' is not numeric"),
        ([1.0, np.inf, 0.0, 0.0, 0.0], InvalidTarget, r"series 'b': the row target at time 0.0 is inf"),
    ],
)
def test_labels_that_are_no_numbers_are_refused(column: list, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        read(stays().assign(alarm=column))


def test_a_missing_column_is_named_in_training_and_not_needed_later() -> None:
    with pytest.raises(UnknownName, match="unknown row target column 'alarm'"):
        read(stays().drop(columns="alarm"))
    schema = read(stays()).schema
    assert schema.read(stays().drop(columns="alarm")).row_target is None
    np.testing.assert_array_equal(schema.read(stays()).row_target, read(stays()).row_target)


def test_a_column_has_one_role() -> None:
    with pytest.raises(InvalidTable, match="'alarm' is named as target and as row target"):
        read(stays(), target="alarm")


def test_arrays_have_one_label_for_each_row() -> None:
    times, values = [[0.0, 1.0], [2.0]], [[1.0, 2.0], [3.0]]
    series = SeriesSet.from_arrays(times, values, row_target=[[0, NAN], [1]])
    np.testing.assert_array_equal(series.row_target, [0, NAN, 1])
    with pytest.raises(InvalidTarget, match=r"series 1 have shape \(2,\); give one for each of its 1 rows"):
        SeriesSet.from_arrays(times, values, row_target=[[0, 1], [1, 0]])
    with pytest.raises(InvalidTarget, match="1 arrays of row targets for 2 series"):
        SeriesSet.from_arrays(times, values, row_target=[[0, 1]])


@QUICK
@given(st.data())
def test_labels_stay_with_their_rows(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    plain = data.draw(series_sets())
    marks = np.arange(len(plain.times), dtype=np.float64)
    series = replace(plain, row_target=marks)
    chosen = np.array(data.draw(st.permutations(range(len(series)))))
    taken = series.select(chosen)
    wanted = np.concatenate([marks[series.offsets[k] : series.offsets[k + 1]] for k in chosen])
    np.testing.assert_array_equal(taken.row_target, wanted)
    place: Path = tmp_path_factory.mktemp("set") / "kept"
    series.save(place)
    assert SeriesSet.open(place).same_as(series)
    assert not plain.same_as(series)
    whole = joined([series.select([k]) for k in range(len(series))])
    np.testing.assert_array_equal(whole.row_target, marks)
    np.testing.assert_array_equal(
        series.to_frame(id="@i", time="@t", start="@s", target="@y", row_target="@r")["@r"], marks
    )


def test_what_is_hidden_for_a_forecast_has_no_labels() -> None:
    series = SeriesSet.from_arrays([[0.0, 1.0, 2.0]], [[1.0, 2.0, 3.0]], row_target=[[0, 1, 0]])
    assert hide_for_forecasting(series).visible.row_target is None
