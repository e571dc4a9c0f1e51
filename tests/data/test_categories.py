"""Columns of text as categories, judged by pandas' get_dummies and scikit-learn's encoder."""

import numpy as np
import pandas as pd
import pytest
from sklearn.preprocessing import OneHotEncoder

from denots.data import SeriesSet
from denots.data.frame import read_frame
from denots.errors import InvalidTable

from frames import Maker, both_libraries, wide

EVENTS = ["admit", "lab", "lab", None, "leave"]
WARDS = ["icu", "er", "icu", "er", "icu"]


@both_libraries
def test_text_in_named_channels_and_static_columns_becomes_zeros_and_ones(make: Maker) -> None:
    table = wide() | {"event": EVENTS, "ward": WARDS, "age": [70, 50, 70, 50, 70]}
    read = read_frame(make(table), id="patient", time="hour", values=["event", "hr"], static=["ward", "age"])
    assert read.channels == ("event=admit", "event=lab", "event=leave", "hr")
    assert read.static_names == ("ward=er", "ward=icu", "age")
    frame = pd.DataFrame(table).sort_values("patient", kind="stable", ascending=False)
    judge = pd.get_dummies(frame["event"], prefix="event", prefix_sep="=", dtype=float)
    judge[frame["event"].isna()] = np.nan
    np.testing.assert_array_equal(read.values[:, :3], judge[list(read.channels[:3])])
    np.testing.assert_array_equal(read.static, [[0.0, 1.0, 70.0], [1.0, 0.0, 50.0]])


@both_libraries
def test_a_further_table_has_the_categories_of_the_first_and_new_ones_are_zero(make: Maker) -> None:
    first = read_frame(make(wide() | {"ward": WARDS}), id="patient", time="hour", values=["ward", "hr"])
    new = ["hall", "er", None, "er", "er"]
    assert first.schema is not None
    read = first.schema.read(make(wide() | {"ward": new}))
    judge = OneHotEncoder(handle_unknown="ignore", sparse_output=False, dtype=float)
    judge.fit(np.array(WARDS)[:, None])
    order = [0, 2, 4, 1, 3]
    expected = judge.transform(np.array(new, dtype=object)[order][:, None])
    expected[1] = np.nan
    np.testing.assert_array_equal(read.values[:, :2], expected)
    assert read.channels == first.channels


def test_a_missing_static_category_is_missing_in_all_its_columns() -> None:
    table = wide() | {"ward": [None, "er", None, "er", None]}
    read = read_frame(pd.DataFrame(table), id="patient", time="hour", values="hr", static="ward")
    np.testing.assert_array_equal(read.static, [[np.nan], [1.0]])


def test_text_that_nobody_named_is_no_channel() -> None:
    with pytest.raises(InvalidTable, match=r"'ward' holds text .*among which text is read as categories"):
        read_frame(pd.DataFrame(wide() | {"ward": WARDS}), id="patient", time="hour")


def test_free_text_is_refused() -> None:
    frame = pd.DataFrame({"id": "a", "t": range(300), "note": [f"word {k}" for k in range(300)]})
    with pytest.raises(InvalidTable, match=r"'note' holds 300 different texts, such as 'word 0' in row 1; at most 100"):
        read_frame(frame, id="id", time="t", values="note")


def test_a_static_category_must_not_change_within_a_series() -> None:
    table = wide() | {"ward": ["icu", "er", "er", "er", "icu"]}
    with pytest.raises(InvalidTable, match=r"series 'b': column 'ward' .* 'icu' in row 1 and 'er' in row 3"):
        read_frame(pd.DataFrame(table), id="patient", time="hour", values="hr", static="ward")


def test_rows_at_one_time_merge_their_categories() -> None:
    frame = pd.DataFrame({"id": "a", "t": [0, 0, 1], "event": ["x", "y", "x"]})
    read = SeriesSet.from_frame(frame, id="id", time="t", values="event", duplicates="mean")
    assert read.values.tolist() == [[0.5, 0.5], [1.0, 0.0]]
