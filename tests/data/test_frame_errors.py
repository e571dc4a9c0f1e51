"""Every table that cannot be read is refused with what was found, where, and what to do."""

import math
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from denots.data.frame import read_frame
from denots.errors import InvalidSeries, InvalidTable, InvalidTarget, UnknownName

from frames import Maker, both_libraries, wide


def test_a_wide_table_that_lacks_a_channel_names_it_and_what_it_may_be_called_there() -> None:
    frame = pd.DataFrame(wide() | {"death": 1.0, "SpO2": 97.0})
    with pytest.raises(InvalidTable, match=r"it lacks 'spo2'\. Should it be 'SpO2' for 'spo2'\? Rename") as found:
        read_frame(frame, id="patient", time="hour", channels=("hr", "spo2"))
    assert "death" not in str(found.value)


def test_channels_are_picked_or_fixed_not_both() -> None:
    with pytest.raises(InvalidTable, match="give one of both"):
        read_frame(pd.DataFrame(wide()), id="patient", time="hour", values=["hr"], channels=("hr", "bp"))
    with pytest.raises(InvalidTable, match=r"no channel is picked; name at least one \(values=\.\.\., --channels\)"):
        read_frame(pd.DataFrame(wide()), id="patient", time="hour", values=[])


def test_thousands_of_channels_are_shortened_in_messages() -> None:
    frame = pd.DataFrame(wide() | {f"c{k}": 0.0 for k in range(3000)})
    with pytest.raises(UnknownName, match=r"Known: .* \.\.\. \(3004 in all\)") as found:
        read_frame(frame, id="patient", time="when")
    assert len(str(found.value)) < 400
    with pytest.raises(InvalidTable, match=r"it lacks 'c3000', .* \(1000 in all\)") as lacking:
        read_frame(frame, id="patient", time="hour", channels=[f"c{k}" for k in range(4000)])
    assert len(str(lacking.value)) < 1000


def test_a_long_table_may_lack_a_variable_but_not_bring_a_new_one() -> None:
    frame = pd.DataFrame({"id": "a", "t": [0, 1], "variable": ["hr", "hr"], "value": [1.0, 2.0]})
    read = read_frame(frame, id="id", time="t", channels=("bp", "hr"))
    np.testing.assert_array_equal(read.values, [[np.nan, 1.0], [np.nan, 2.0]])
    with pytest.raises(UnknownName, match=r"column 'variable'.*'hr'.*Did you mean 'hr2'"):
        read_frame(frame, id="id", time="t", channels=("hr2",))


@both_libraries
def test_two_values_at_one_time_name_series_variable_time_and_both(make: Maker) -> None:
    frame = make({"id": ["a", "b", "b"], "t": [0.0, 2.5, 2.5], "variable": ["hr"] * 3, "value": [1.0, 60.0, 61.0]})
    with pytest.raises(InvalidTable, match=r"series 'b': variable 'hr' .* 2\.5, 60\.0 in row 2 and 61\.0 in row 3"):
        read_frame(frame, id="id", time="t")


def test_half_a_long_form_is_refused() -> None:
    frame = pd.DataFrame({"id": "a", "t": [0, 1], "item": ["hr", "hr"], "v": [1.0, 2.0]})
    with pytest.raises(InvalidTable, match=r"variable=\.\.\., --variable.*value=\.\.\., --value.*name both"):
        read_frame(frame, id="id", time="t", variable="item")
    with pytest.raises(InvalidTable, match=r"variable=\.\.\., --variable.*value=\.\.\., --value.*name both"):
        read_frame(frame, id="id", time="t", value="v", values=["hr"])


def test_a_nameless_or_dated_variable_is_refused_with_its_row() -> None:
    frame = pd.DataFrame({"id": "a", "t": [0, 1], "variable": ["hr", None], "value": [1.0, 2.0]})
    with pytest.raises(InvalidTable, match=r"row 2 names no variable in column 'variable'"):
        read_frame(frame, id="id", time="t")
    dated = frame.assign(variable=pd.Timestamp("2024-01-01"))
    with pytest.raises(InvalidTable, match=r"variable column 'variable' holds dates .*2024"):
        read_frame(dated, id="id", time="t")


@both_libraries
def test_unsorted_times_name_the_series_and_both_stamps(make: Maker) -> None:
    table = wide() | {"hour": [0.0, 7.0, 1.5, 5.0, 4.0]}
    with pytest.raises(InvalidSeries, match=r"series 'a'.* 7\.0 in row 2 .* 5\.0 in row 4\. Sort"):
        read_frame(make(table), id="patient", time="hour")


@both_libraries
def test_duplicate_times_name_the_series_and_ask_to_merge(make: Maker) -> None:
    table = wide() | {"hour": [0.0, 5.0, 1.5, 5.0, 4.0]}
    with pytest.raises(InvalidSeries, match=r"series 'a'.* 5\.0 in row 2 .* 5\.0 in row 4\. Merge"):
        read_frame(make(table), id="patient", time="hour")


@both_libraries
@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"patient": ["b", "a", None, "a", "b"]}, r"row 3 has no id in column 'patient'"),
        ({"patient": ["b", "a", "", "a", "b"]}, r"row 3 has no id in column 'patient'"),
        ({"patient": [1, 2, None, 2, 1]}, r"row 3 has no id in column 'patient'"),
        ({"patient": [1.5, 2.0, 1.5, 2.0, 1.5]}, r"id column 'patient' holds float64 \(1\.5 in row 1\)"),
        ({"patient": [True] * 5}, r"id column 'patient' holds true or false"),
        ({"hour": [0.0, 5.0, None, 7.0, 4.0]}, r"series 'b', row 3 has no value in column 'hour'"),
        ({"hour": [True] * 5}, r"column 'hour' holds true or false"),
        ({"hour": [0, 5, 1, 7, 2**60]}, r"column 'hour' holds integers up to 1152921504606846976"),
        (
            {"ward": ["icu", "er", "er", "er", "er"]},
            r"'ward' holds text \('icu' in row 1\).*values=\.\.\., --channels.*drop",
        ),
        (
            {"lab": ["1", "2.5", "NA", "n/a", "3"]},
            r"series 'a', row 4: 'n/a' in value column 'lab' is not a number; repair the cell, empty it .*--na",
        ),
        ({"lab": ["low", "2.5", "high", "n/a", "3"]}, r"'lab' holds text \('low' in row 1\)"),
        ({"lab": ["1", "2.5", None, "2", "3"]}, r"'lab' holds numbers written as text \('1' in row 1\)"),
        ({"Unnamed: 0": [0, 1, 2, 3, 4]}, r"'Unnamed: 0' looks like row numbers.*values=\.\.\., --channels"),
    ],
)
def test_a_bad_column_is_named_with_row_and_value(make: Maker, change: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidTable, match=words):
        read_frame(make(wide() | change), id="patient", time="hour")


def test_complex_numbers_are_no_channel() -> None:
    with pytest.raises(InvalidTable, match=r"'z' holds complex128 cells \(\(?1\+2j\)? in row 1\)"):
        read_frame(pd.DataFrame(wide() | {"z": 1 + 2j}), id="patient", time="hour")


def test_text_in_a_named_channel_names_column_row_and_value() -> None:
    for cells in (["1", "2", "n/a", "4", "5"], [1.0, 2.0, "n/a", 4.0, 5.0]):
        with pytest.raises(InvalidTable, match=r"series 'b', row 3: 'n/a' in value column 'lab' is not a number"):
            read_frame(pd.DataFrame(wide() | {"lab": cells}), id="patient", time="hour", values=["hr", "lab"])


@both_libraries
def test_infinite_values_are_refused(make: Maker) -> None:
    with pytest.raises(InvalidSeries, match=r"series 'b': channel 'hr' is inf at time 4\.0"):
        read_frame(make(wide() | {"hr": [1.0, 1.0, 1.0, 1.0, math.inf]}), id="patient", time="hour")


@both_libraries
@pytest.mark.parametrize(
    ("cells", "words"),
    [
        ([1, 2, 1, 3, 1], r"series 'a': column 'y' .* 2 in row 2 and 3 in row 4"),
        (["u", "v", "u", "w", "u"], r"series 'a': column 'y' .* 'v' in row 2 and 'w' in row 4"),
        ([1.0, None, 1.0, None, 1.0], r"series 'a' has no target in column 'y' \(row 2\)"),
        (["u", "v", "u", None, "u"], r"series 'a' has no target in column 'y' \(row 4\)"),
        ([math.inf, 1.0, math.inf, 1.0, math.inf], r"series 'b': target 'y' is inf"),
        ([pd.Timestamp("2024-01-01")] * 5, r"target column 'y' holds dates \(2024-01-01"),
    ],
)
def test_a_bad_target_names_the_series(make: Maker, cells: list[Any], words: str) -> None:
    with pytest.raises(InvalidTarget, match=words):
        read_frame(make(wide() | {"y": cells}), id="patient", time="hour", target="y")


def test_a_target_of_mixed_types_is_refused() -> None:
    with pytest.raises(InvalidTarget, match=r"target column 'y' holds object cells \('u' in row 1\)"):
        read_frame(pd.DataFrame(wide() | {"y": ["u", 1, "u", 1, "u"]}), id="patient", time="hour", target="y")


@both_libraries
@pytest.mark.parametrize(
    ("cells", "words"),
    [
        ([1, 2, 1, 3, 1], r"series 'a': column 'age' .* 2 in row 2 and 3 in row 4"),
        ([1.0, 2.0, 1.0, None, 1.0], r"series 'a': column 'age' .* 2\.0 in row 2 and nan in row 4"),
        (
            ["1", "2", "1", "2", "1"],
            r"static column 'age' is not numeric: it holds numbers written as text \('1' in row 1\)",
        ),
    ],
)
def test_a_bad_static_column_is_named(make: Maker, cells: list[Any], words: str) -> None:
    with pytest.raises(InvalidTable, match=words):
        read_frame(make(wide() | {"age": cells}), id="patient", time="hour", static=["age"])


@both_libraries
@pytest.mark.parametrize("role", ["id", "time", "target", "static", "values", "start", "variable", "value"])
def test_a_missing_column_offers_the_nearest_name(make: Maker, role: str) -> None:
    word = "channel" if role == "values" else role
    with pytest.raises(UnknownName, match=rf"unknown {word} column 'hours'\. Did you mean 'hour'"):
        read_frame(make(wide()), **({"id": "patient", "time": "hour"} | {role: "hours"}))


def test_an_id_in_the_index_asks_for_reset_index() -> None:
    with pytest.raises(InvalidTable, match=r"id column 'patient' is the index.*reset_index"):
        read_frame(pd.DataFrame(wide()).set_index("patient"), id="patient", time="hour")


def test_a_column_has_one_role() -> None:
    with pytest.raises(InvalidTable, match=r"column 'hr' is named as target and as channel"):
        read_frame(pd.DataFrame(wide()), id="patient", time="hour", target="hr", values=["hr", "bp"])


def test_repeated_column_names_are_refused() -> None:
    frame = pd.DataFrame([[1, 0, 2, 3]], columns=["id", "t", "x", "x"])
    with pytest.raises(InvalidTable, match=r"column names repeat: 'x'"):
        read_frame(frame, id="id", time="t")


@both_libraries
def test_an_empty_table_is_refused(make: Maker) -> None:
    with pytest.raises(InvalidTable, match="no rows"):
        read_frame(make({"id": [], "t": [], "x": []}), id="id", time="t")


def test_a_table_without_channels_is_refused() -> None:
    with pytest.raises(InvalidTable, match=r"no column is left for the channels.*'id', 't'"):
        read_frame(pd.DataFrame({"id": [1], "t": [0]}), id="id", time="t")


def test_what_is_no_table_is_refused() -> None:
    with pytest.raises(InvalidTable, match=r"pandas or polars DataFrame, or a table with the Arrow .*, found dict"):
        read_frame(wide(), id="patient", time="hour")  # type: ignore[arg-type]
    with pytest.raises(InvalidTable, match="collect"):
        read_frame(pl.LazyFrame(wide()), id="patient", time="hour")  # type: ignore[arg-type]
