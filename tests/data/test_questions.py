"""Questions and targets in tables of their own, judged by pandas."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from denots.data import TableSchema
from denots.data.questions import read_questions, same_questions
from denots.data.targets_table import add_targets
from denots.errors import InvalidTable, InvalidTarget, UnknownName

SEEN = pd.DataFrame(
    {
        "who": ["b", "b", "a"],
        "when": pd.to_datetime(["2024-01-01T06:00", "2024-01-01T07:00", "2024-02-01T00:00"]),
        "x": [1.0, 2.0, 3.0],
        "admitted": pd.to_datetime(["2024-01-01T00:00"] * 2 + ["2024-01-31T00:00"]),
    }
)
SCHEMA = TableSchema("who", "when", time_unit="h", channels=("x",))
IDS = np.array(["b", "a"])


def test_dates_count_from_the_first_row_or_the_start_of_their_series() -> None:
    asked = pd.DataFrame(
        {"who": ["a", "b", "a"], "when": pd.to_datetime(["2024-02-02T00:00", "2024-01-01T09:00", "2024-02-03T00:00"])}
    )
    for schema, origin in ((SCHEMA, "when"), (replace(SCHEMA, start="admitted"), "admitted")):
        found = read_questions(asked, schema, SEEN, IDS)
        begin = SEEN.groupby("who")[origin].min()
        hours = (asked["when"] - asked["who"].map(begin)) / pd.Timedelta("1h")
        assert found.series.tolist() == [1, 0]
        for rows, times in zip(found.rows, found.times, strict=True):
            np.testing.assert_array_equal(times, hours.to_numpy()[rows])


def test_questions_that_fit_no_series_are_refused() -> None:
    with pytest.raises(InvalidTable, match=r"asks about series 'z', which is not in the table of observations"):
        read_questions(pd.DataFrame({"who": ["z"], "when": [1.0]}), SCHEMA, SEEN, IDS)
    with pytest.raises(InvalidTable, match=r"the questions are dates such as 2024.* holds numbers; ask in numbers"):
        read_questions(SEEN[["who", "when"]], SCHEMA, SEEN.assign(when=[0.0, 1.0, 0.0]), IDS)


def test_the_same_times_are_asked_of_every_series() -> None:
    found = same_questions(np.array([1.0, 2.5]), SCHEMA, IDS)
    assert found.asked.to_numpy().tolist() == [["b", 1.0], ["b", 2.5], ["a", 1.0], ["a", 2.5]]
    assert [rows.tolist() for rows in found.rows] == [[0, 1], [2, 3]]


def test_targets_are_joined_by_id_whatever_their_order() -> None:
    targets = pd.DataFrame({"who": ["z", "a", "b"], "days": [9.5, 2.5, 1.5]})
    frame, schema = add_targets(SEEN, targets, SCHEMA)
    assert schema.target == "days"
    merged = SEEN.merge(targets, on="who", how="left")
    pd.testing.assert_series_equal(frame["days"], merged["days"])


@pytest.mark.parametrize(
    ("columns", "error", "words"),
    [
        ({"who": ["a", "a"], "y": [1, 2]}, InvalidTarget, "several rows for series 'a'"),
        ({"who": ["a"], "y": [1], "z": [2]}, InvalidTable, r"y, z; name those to learn \(target=\.\.\., --target\)"),
        ({"person": ["a"], "y": [1]}, UnknownName, "id column in the table of targets: 'who'"),
        ({"who": ["a"], "x": [1]}, InvalidTable, "column 'x' is in both tables"),
        (
            {"who": ["A", "B"], "y": [1, 2]},
            InvalidTarget,
            "its ids are such as 'A', 'B', those of .*; write them alike",
        ),
    ],
)
def test_targets_that_do_not_fit_are_refused(columns: dict, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        add_targets(SEEN, pd.DataFrame(columns), SCHEMA)
