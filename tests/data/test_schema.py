"""A schema is made once: further tables are read as the first one was, from memory or from JSON."""

import inspect
import json
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from denots.data import SeriesSet, TableSchema
from denots.data.frame import read_frame
from denots.data.store import content_hash
from denots.errors import InvalidFolder, InvalidSeries, UnknownName

from frames import Maker, both_libraries, wide

LONG = pd.DataFrame(
    {
        "who": ["b", "b", "a", "a"],
        "when": [0.0, 0.0, 1.0, 2.0],
        "variable": ["hr", "bp", "hr", "note"],
        "value": [80.0, 120.0, 61.0, 5.0],
        "age": [70, 70, 50, 50],
    }
)


def learnt(series: SeriesSet) -> TableSchema:
    assert series.schema is not None
    return series.schema


@both_libraries
def test_a_further_table_is_read_like_the_first_one_whatever_the_order_of_its_columns(make: Maker) -> None:
    table = wide() | {"age": [70, 50, 70, 50, 70], "sick": ["y", "n", "y", "n", "y"]}
    first = SeriesSet.from_frame(make(table), id="patient", time="hour", target="sick", static="age", time_unit="hours")
    schema = learnt(first)
    assert (schema.channels, schema.time_unit, schema.target) == (("hr", "bp"), "h", "sick")
    turned = make(dict(reversed(table.items())) | {"note": ["new"] * 5})
    assert schema.read(turned, target="sick").same_as(first)
    assert schema.read(turned).same_as(first.with_target(None))


def test_a_long_table_is_recognised_once_and_then_known() -> None:
    first = read_frame(LONG, id="who", time="when", static="age")
    schema = learnt(first)
    assert (schema.variable, schema.value, schema.channels) == ("variable", "value", ("bp", "hr", "note"))
    part = LONG[LONG["variable"] == "hr"].assign(remark="x")
    np.testing.assert_array_equal(schema.read(part).values, [[np.nan, 80.0, np.nan], [np.nan, 61.0, np.nan]])
    with pytest.raises(UnknownName, match="'pulse'"):
        schema.read(LONG.assign(variable="pulse"))


def test_picked_variables_of_a_long_table_leave_the_others_out_also_later() -> None:
    first = read_frame(LONG, id="who", time="when", static="age", values="hr", variable="variable", value="value")
    assert first.channels == ("hr",)
    assert first.times.tolist() == [0.0, 1.0]
    assert learnt(first).read(LONG.replace("note", "unheard of")).same_as(first)
    with pytest.raises(InvalidSeries, match=r"series 'a' has no row for any of the channels bp"):
        read_frame(LONG, id="who", time="when", static="age", values="bp", variable="variable", value="value")
    with pytest.raises(UnknownName, match=r"unknown channel 'hrr'\. Did you mean 'hr'"):
        read_frame(LONG, id="who", time="when", values="hrr", variable="variable", value="value")


def test_channels_that_are_called_variable_and_value_stay_channels_of_a_wide_table() -> None:
    frame = pd.DataFrame({"id": "a", "t": [0, 1], "variable": [1, 2], "value": [3, 4]})
    first = read_frame(frame, id="id", time="t", values=["variable", "value"])
    assert learnt(first).read(frame).same_as(first)


def test_a_schema_is_no_part_of_the_data_but_stays_with_every_selection() -> None:
    series = read_frame(pd.DataFrame(wide()), id="patient", time="hour")
    bare = replace(series, schema=None)
    assert series.same_as(bare)
    assert content_hash(series) == content_hash(bare)
    assert series.select([1]).schema is series.with_target([1, 2]).schema is series.schema
    assert SeriesSet.from_numpy(np.zeros((1, 1, 3))).schema is None


def test_stored_sets_do_not_change_with_the_schema(tmp_path) -> None:
    series = read_frame(pd.DataFrame(wide()), id="patient", time="hour")
    series.save(tmp_path / "a")
    replace(series, schema=None).save(tmp_path / "b")
    assert (tmp_path / "a" / "manifest.json").read_bytes() == (tmp_path / "b" / "manifest.json").read_bytes()
    assert SeriesSet.open(tmp_path / "a").same_as(series)


def test_json_gives_the_schema_back() -> None:
    for schema in (
        learnt(read_frame(LONG, id="who", time="when", static="age", time_unit="min")),
        TableSchema("i", "t", "y", ("a", "b"), ("c",), None, None, "d", "s", True),
        TableSchema("i", "t", channels=("c",), sort=True, duplicates="last", skip_empty=True, na=("-", "?")),
        TableSchema("i", "t", channels=("c",), time_format="%d.%m.%Y", categories={"c": ("er", "icu")}),
    ):
        assert TableSchema.from_json(json.loads(json.dumps(schema.as_json())), "table.json") == schema


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"id": 7}, "'id' is 7, expected a column name"),
        ({"time": None}, "'time' is None"),
        ({"static": "age"}, "'static' is 'age'"),
        ({"static": [1]}, "'static' is"),
        ({"channels": []}, "'channels' is"),
        ({"channels": None}, "'channels' is None"),
        ({"channels": ["a", "a"]}, "'channels' is"),
        ({"time_unit": "weeks"}, "'time_unit' is 'weeks', expected s, min, h, d or null"),
        ({"time_unit": []}, "'time_unit' is"),
        ({"picked": 1}, "'picked' is 1"),
        ({"sort": "yes"}, "'sort' is 'yes'"),
        ({"duplicates": "median"}, "'duplicates' is 'median', expected error, mean, last, first"),
        ({"na": "n/a"}, "'na' is 'n/a'"),
        ({"categories": {"c": "er"}}, "'categories' is"),
        ({"variable": "v"}, "both 'variable' and 'value'"),
        ({"target": "t"}, "named as time and as target"),
        ({"colour": "red"}, "'colour' is unknown"),
    ],
)
def test_odd_json_is_refused_with_its_place(change: dict[str, Any], words: str) -> None:
    good = TableSchema("i", "t", channels=("c",)).as_json()
    with pytest.raises(InvalidFolder, match=f"m/table.json describes no table.*{words}"):
        TableSchema.from_json(good | change, "m/table.json")


def test_a_schema_of_an_earlier_version_cleans_nothing_and_knows_no_categories() -> None:
    content = TableSchema("i", "t", channels=("c",)).as_json()
    for name in ("sort", "duplicates", "skip_empty", "na", "time_format", "categories"):
        del content[name]
    assert TableSchema.from_json(content, "table.json") == TableSchema("i", "t", channels=("c",), categories={})


@pytest.mark.parametrize("content", [None, 3, [], "x", {}])
def test_json_that_is_no_schema_at_all_is_refused(content: object) -> None:
    with pytest.raises(InvalidFolder, match=r"m/table\.json describes no table"):
        TableSchema.from_json(content, "m/table.json")


def test_from_frame_shows_the_arguments_of_read_frame() -> None:
    shown, read = (inspect.signature(function).parameters for function in (SeriesSet.from_frame, read_frame))
    assert list(shown) == list(read)
    assert [part.default for part in shown.values()] == [part.default for part in read.values()]
