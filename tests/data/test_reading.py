"""Series that cannot be read are left out and reported; the others are read as if these were not there."""

import math
import re
from typing import Any

import numpy as np
import pandas as pd
import pytest

from denots.data import TableSchema
from denots.errors import InvalidSeries, InvalidTable, UnknownName

from frames import Maker, both_libraries

SCHEMA = TableSchema("id", "t", "y", ("age",), start="from")


def table() -> pd.DataFrame:
    """Seven series of three rows each."""
    names = np.repeat(list("abcdefg"), 3)
    times = np.tile([0.0, 1.0, 2.0], 7)
    return pd.DataFrame(
        {"id": names, "t": times, "x": times * 2, "z": times + 1, "y": 1.5, "age": 40.0, "from": -1.0}
    ).astype({"id": object})


BROKEN: dict[str, tuple[str, int, Any, str]] = {  # column, row of the table, cell, reason
    "text among values": ("x", 4, "n/a", r"series 'b', row 5: 'n/a' in value column 'x' is not a number"),
    "text among times": ("t", 7, "noon", r"series 'c', row 8: 'noon' in time column 't' is not a number"),
    "unsorted": ("t", 10, 5.0, r"series 'd': times must increase strictly, but 5\.0 in row 11 is followed by 2\.0"),
    "twice at one time": ("t", 11, 1.0, r"series 'd': times must increase .* Merge rows"),
    "no time": ("t", 0, math.nan, r"series 'a', row 1 has no value in column 't'"),
    "infinite value": ("z", 13, math.inf, r"series 'e': channel 'z' is inf at time 1\.0"),
    "infinite time": ("t", 14, math.inf, r"series 'e': times\[2\] = inf"),
    "no target": ("y", 16, math.nan, r"series 'f' has no target in column 'y' \(row 17\)"),
    "two ages": ("age", 19, 41.0, r"series 'g': column 'age' must be constant"),
    "infinite age": ("age", slice(18, 20), math.inf, r"series 'g': static feature 'age' is inf"),
    "late start": ("from", slice(0, 2), 0.5, r"series 'a' starts at 0\.5 .*after its first observation"),
}


def broken(*faults: str) -> pd.DataFrame:
    frame = table()
    for fault in faults:
        column, row, cell, _ = BROKEN[fault]
        frame = frame.astype({column: object}) if isinstance(cell, str) else frame
        frame.loc[row, column] = cell
    return frame


@pytest.mark.parametrize("fault", BROKEN)
def test_a_bad_series_is_left_out_with_its_reason_and_changes_nothing_for_the_others(fault: str) -> None:
    reading = SCHEMA.scan(broken(fault), target="y")
    (bad,) = reading.rejected
    assert re.search(BROKEN[fault][3], bad.reason)
    assert reading.ids.tolist() == list("abcdefg")
    assert reading.series.same_as(SCHEMA.read(table()[table()["id"] != bad.id], target="y"))
    with pytest.raises(bad.error, match=BROKEN[fault][3]):
        SCHEMA.read(broken(fault), target="y")


def test_all_bad_series_are_named_in_one_message() -> None:
    frame = broken("text among values", "text among times", "unsorted", "infinite value", "no target")
    reading = SCHEMA.scan(frame, target="y")
    assert sorted(bad.id for bad in reading.rejected) == list("bcdef")
    assert reading.series.ids.tolist() == ["a", "g"]
    with pytest.raises(InvalidTable, match=r"5 series cannot be read: \(1\) .* \(5\) ") as found:
        SCHEMA.read(frame, target="y")
    for bad in reading.rejected:
        assert f"{bad.kind}, 1 series: {bad.reason}" in str(found.value)


def test_faults_of_one_kind_are_counted_and_the_first_of_them_shown() -> None:
    frame = table().astype({"x": object})
    frame.loc[[0, 1, 3, 6, 7, 9], "x"] = "n/a"
    frame.loc[[19, 20], "t"] = [5.0, 4.0]
    with pytest.raises(InvalidSeries) as found:
        SCHEMA.read(frame, target="y")
    message = str(found.value)
    assert message.startswith("5 series cannot be read: (1) unsorted times, 1 series: series 'g'")
    assert "(2) text among the numbers of 'x', 6 rows in 4 series: series 'a', row 1: 'n/a' in value column" in message
    assert message.endswith("Also: 'd'.")
    frame.loc[[3, 6, 7, 9], "x"] = 1.0
    frame.loc[[19, 20], "t"] = [1.0, 2.0]
    with pytest.raises(InvalidTable, match=r"series 'a', row 1: 'n/a' .* \(2 such rows in this series\.\)"):
        SCHEMA.read(frame, target="y")


def test_a_series_without_any_value_is_left_out() -> None:
    frame = table()
    frame.loc[3:5, ["x", "z"]] = math.nan
    (bad,) = SCHEMA.scan(frame, target="y").rejected
    assert bad.reason.startswith(
        "series 'b' has no observed value in any channel; leave it out (of a table: skip_empty"
    )


@both_libraries
def test_series_of_a_long_table_are_left_out_alike(make: Maker) -> None:
    cells = {
        "id": ["a", "a", "b", "b", "c", "c", "d"],
        "t": [0, 0, 1, 1, 2, 3, 4],
        "variable": ["hr", "bp", "hr", "hr", None, "bp", "ph"],
        "value": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0],
    }
    schema = TableSchema("id", "t", channels=("hr", "bp"), variable="variable", value="value", picked=True)
    reading = schema.scan(make(cells))
    reasons = {bad.id: bad.reason for bad in reading.rejected}
    assert "two values at time 1" in reasons["b"]
    assert "no row for any of the channels" in reasons["d"]
    assert reading.series.ids.tolist() == ["a", "c"]


def test_a_date_that_cannot_be_read_names_its_own_row() -> None:
    days = [f"2024-01-0{k}" for k in range(1, 7)]
    days[4] = "31.12.2024"
    frame = pd.DataFrame({"id": list("aabbcc"), "t": days, "x": 1.0})
    schema = TableSchema("id", "t", time_unit="d")
    reading = schema.scan(frame)
    assert [bad.id for bad in reading.rejected] == ["c"]
    assert "series 'c', row 5: '31.12.2024'" in reading.rejected[0].reason


def test_when_no_series_can_be_read_the_error_says_so() -> None:
    with pytest.raises(InvalidSeries, match="7 series cannot be read"):
        SCHEMA.scan(table().assign(x=math.nan, z=math.nan))


def test_what_no_series_is_to_blame_for_is_an_error_as_before() -> None:
    with pytest.raises(UnknownName, match="unknown static column 'age'"):
        SCHEMA.scan(table().drop(columns="age"))
    with pytest.raises(InvalidTable, match="has no id"):
        SCHEMA.scan(table().assign(id=[None, *"aabbbcccdddeeefffggg"]))


def test_rejecting_a_thousand_series_takes_one_attempt_a_check(monkeypatch: pytest.MonkeyPatch) -> None:
    from denots.data import frame as module

    calls = []
    original = module._read
    monkeypatch.setattr(module, "_read", lambda *given: (calls.append(1), original(*given))[1])
    n = 2000
    frame = pd.DataFrame({"id": np.repeat(np.arange(n), 2), "t": np.tile([0.0, 1.0], n), "x": 1.0})
    frame.loc[frame["id"] < 1000, "x"] = math.nan
    assert len(TableSchema("id", "t").scan(frame).rejected) == 1000
    assert len(calls) == 2


def test_an_id_stays_text_when_only_numbers_are_left_beside_a_bad_series() -> None:
    table = pd.DataFrame({"id": ["007", "a"], "time": [0.0, np.nan], "x": [1.0, 2.0]})
    reading = TableSchema("id", "time", channels=("x",)).scan(table)
    assert reading.ids.tolist() == ["007", "a"]
    assert reading.series.ids.tolist() == ["007"]
    assert [bad.id for bad in reading.rejected] == ["a"]
