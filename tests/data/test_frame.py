"""read_frame against arrays packed by hand and against grouping with plain dictionaries."""

import math
import random
import subprocess
import sys
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from denots.data import SeriesSet
from denots.data.frame import read_frame
from denots.errors import InvalidTable

from frames import Maker, both_libraries, wide

Ragged = list[tuple[Any, list[float], list[list[float]]]]


@st.composite
def ragged_series(draw: st.DrawFn) -> Ragged:
    n, width = draw(st.integers(1, 4)), draw(st.integers(1, 3))
    kind = st.integers(-5, 10**12) if draw(st.booleans()) else st.text("abcNA07 é", min_size=1, max_size=4)
    ids = draw(st.lists(kind, min_size=n, max_size=n, unique=True))
    number = st.floats(-1e6, 1e6)
    out: Ragged = []
    for name in ids:
        times = sorted(draw(st.sets(number, min_size=1, max_size=5)))
        rows = [[draw(number | st.just(math.nan)) for _ in range(width)] for _ in times]
        rows[0][0] = draw(number)  # a series without any value is refused
        out.append((name, times, rows))
    return out


def packed(ragged: Ragged) -> SeriesSet:
    ids, times, values = zip(*ragged, strict=True)
    return SeriesSet.from_arrays(
        times, values, ids=ids, channels=[f"c{c}" for c in range(len(values[0][0]))], target=[len(t) for t in times]
    )


def wide_table(ragged: Ragged, rng: random.Random) -> tuple[dict[str, list[Any]], Ragged]:
    """Rows of all series shuffled together without changing the order within a series."""
    turns = [k for k, (_, times, _) in enumerate(ragged) for _ in times]
    rng.shuffle(turns)
    seen = [0] * len(ragged)
    table: dict[str, list[Any]] = {"id": [], "t": [], "y": []}
    table |= {f"c{c}": [] for c in range(len(ragged[0][2][0]))}
    for k in turns:
        name, times, rows = ragged[k]
        table["id"].append(name)
        table["t"].append(times[seen[k]])
        table["y"].append(len(times))
        for c, cell in enumerate(rows[seen[k]]):
            table[f"c{c}"].append(cell)
        seen[k] += 1
    return table, [ragged[k] for k in dict.fromkeys(turns)]


def long_table(ragged: Ragged, rng: random.Random) -> tuple[dict[str, list[Any]], Ragged]:
    """One row per observed value, all rows shuffled; a stamp without values keeps one empty row."""
    cells = []
    for k, (name, times, rows) in enumerate(ragged):
        for t, row in zip(times, rows, strict=True):
            observed = [c for c, cell in enumerate(row) if not math.isnan(cell)] or [0]
            cells += [(k, name, t, f"c{c}", row[c], len(times)) for c in observed]
    rng.shuffle(cells)
    order, *columns = zip(*cells, strict=True)
    named = dict(zip(["id", "t", "variable", "value", "y"], map(list, columns), strict=True))
    return named, [ragged[k] for k in dict.fromkeys(order)]


@both_libraries
@settings(max_examples=60, deadline=None)
@given(ragged=ragged_series(), seed=st.integers(0, 1000))
def test_a_wide_table_gives_back_the_ragged_arrays(make: Maker, ragged: Ragged, seed: int) -> None:
    table, order = wide_table(ragged, random.Random(seed))
    assert read_frame(make(table), id="id", time="t", target="y").same_as(packed(order))


@both_libraries
@settings(max_examples=60, deadline=None)
@given(ragged=ragged_series(), seed=st.integers(0, 1000))
def test_a_long_table_gives_back_the_ragged_arrays(make: Maker, ragged: Ragged, seed: int) -> None:
    table, order = long_table(ragged, random.Random(seed))
    channels = [f"c{c}" for c in range(len(ragged[0][2][0]))]
    read = read_frame(make(table), id="id", time="t", target="y", channels=channels)
    assert read.same_as(packed(order))


@both_libraries
def test_grouping_agrees_with_a_dictionary(make: Maker) -> None:
    rng = np.random.default_rng(3)
    ids = rng.integers(0, 30, 800)
    table = {"id": [f"p{i}" for i in ids], "t": np.arange(800) * 0.25, "x": rng.normal(size=800)}
    groups: dict[str, list[tuple[float, float]]] = {}
    for name, t, x in zip(table["id"], table["t"], table["x"], strict=True):
        groups.setdefault(name, []).append((t, x))
    read = SeriesSet.from_frame(make(table), id="id", time="t")
    assert [s.id for s in read] == list(groups)
    for series in read:
        assert list(zip(series.times, series.values[:, 0], strict=True)) == groups[series.id]
    assert read.start.tolist() == [rows[0][0] for rows in groups.values()]


@both_libraries
def test_values_name_the_channels_in_the_given_order(make: Maker) -> None:
    table = wide() | {"ward": ["x"] * 5}
    read = read_frame(make(table), id="patient", time="hour", values=["bp", "hr"])
    assert read.channels == ("bp", "hr")
    np.testing.assert_array_equal(read[1].values, [[120.0, 61.0], [np.nan, 62.5]])


def test_one_name_as_text_is_one_column() -> None:
    read = read_frame(pd.DataFrame(wide() | {"age": 3.0}), id="patient", time="hour", values="hr", static="age")
    assert read.channels == ("hr",)
    assert read.static_names == ("age",)


@pytest.mark.parametrize(
    "cells",
    [
        pd.array([1, None, 3, 4, 5], dtype="Int64"),
        pd.array([1.0, None, 3.0, 4.0, 5.0], dtype="double[pyarrow]"),
        np.array([1, None, 3, 4, 5], dtype=object),
        np.array([Decimal(1), None, Decimal(3), Decimal(4), Decimal(5)], dtype=object),
        pd.Categorical([1, None, 3, 4, 5]),
        np.array([1, np.nan, 3, 4, 5], dtype=np.float32),
    ],
    ids=["nullable", "arrow", "objects", "decimal", "category", "float32"],
)
def test_every_way_to_store_numbers_reads_the_same(cells: Any) -> None:
    frame = pd.DataFrame({"id": 1, "t": range(5), "x": cells})
    read = read_frame(frame, id="id", time="t")
    np.testing.assert_array_equal(read.values[:, 0], [1.0, np.nan, 3.0, 4.0, 5.0])


def test_an_arrow_backed_table_reads_like_a_plain_one() -> None:
    days = [date(2024, 1, day) for day in (1, 1, 2, 2, 3)]
    table = wide() | {"hour": days, "y": [True, False, True, False, True], "age": [1, None, 1, None, 1]}
    roles: dict[str, Any] = {"id": "patient", "time": "hour", "target": "y", "static": "age", "time_unit": "d"}
    plain = pd.DataFrame(table)
    arrow = pa.table(table).to_pandas(types_mapper=pd.ArrowDtype)
    coded = arrow.assign(patient=arrow["patient"].astype(pd.ArrowDtype(pa.dictionary(pa.int32(), pa.string()))))
    assert read_frame(arrow, **roles).same_as(read_frame(plain, **roles))
    assert read_frame(coded, **roles).same_as(read_frame(plain, **roles))


def test_any_table_with_the_arrow_stream_interface_is_read(tmp_path: Path) -> None:
    plain = pd.DataFrame(
        wide() | {"day": [date(2024, 1, day) for day in (1, 1, 2, 2, 3)], "y": ["u", "v", "u", "v", "u"]}
    )
    roles: dict[str, Any] = {"id": "patient", "time": "day", "target": "y", "time_unit": "h"}
    plain.to_parquet(tmp_path / "visits.parquet")
    arrow = pa.Table.from_pandas(plain, preserve_index=False)
    expected = read_frame(plain, **roles)
    assert read_frame(arrow, **roles).same_as(expected)
    assert read_frame(arrow.to_reader(max_chunksize=2), **roles).same_as(expected)
    query = duckdb.sql(f"select * from '{tmp_path / 'visits.parquet'}'")
    assert read_frame(query, **roles).same_as(expected)
    assert expected.schema is not None
    assert expected.schema.read(query, target="y").same_as(expected)


def test_values_stay_float32_only_where_every_channel_is() -> None:
    frame = pd.DataFrame({"id": 1, "t": range(3), "x": np.ones(3, np.float32), "y": np.ones(3, np.float32)})
    assert read_frame(frame, id="id", time="t").values.dtype == np.float32
    assert read_frame(frame.assign(y=1), id="id", time="t").values.dtype == np.float64


@both_libraries
def test_a_column_without_values_is_a_channel_that_was_never_observed(make: Maker) -> None:
    read = read_frame(make(wide() | {"lab": [None] * 5}), id="patient", time="hour")
    assert read.channels == ("hr", "bp", "lab")
    assert np.isnan(read.values[:, 2]).all()


@both_libraries
def test_boolean_channels_become_zero_and_one(make: Maker) -> None:
    read = read_frame(make(wide() | {"alarm": [True, False, None, True, True]}), id="patient", time="hour")
    np.testing.assert_array_equal(read.values[:, 2], [1.0, np.nan, 1.0, 0.0, 1.0])


def test_integer_column_names_are_read_as_text() -> None:
    read = read_frame(pd.DataFrame([[7, 0.0, 1.5], [7, 1.0, 2.5]]), id="0", time="1")
    assert read.channels == ("2",)
    assert read.values[:, 0].tolist() == [1.5, 2.5]


def test_the_index_of_a_table_does_not_matter() -> None:
    frame = pd.DataFrame(
        wide()
        | {"y": ["u", "v", "u", "v", "u"], "age": [1, 2, 1, 2, 1], "begin": ["2024-01-01"] * 5}
        | {"hour": [f"2024-01-0{day}" for day in (1, 1, 2, 2, 3)]}
    )
    roles: dict[str, Any] = {"id": "patient", "time": "hour", "target": "y", "static": "age", "start": "begin"}
    plain = read_frame(frame, **roles, time_unit="d")
    assert read_frame(frame.set_axis([9, 9, 0, 1, 0]), **roles, time_unit="d").same_as(plain)
    with pytest.raises(InvalidTable, match=r"series 'b', row 3: 'n/a' in value column 'hr'"):
        read_frame(frame.set_axis([9, 9, 0, 1, 0]).assign(hr=["1", "2", "n/a", "4", "5"]), **roles, time_unit="d")


@both_libraries
@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        ([3, 1], "i"),
        ([0.5, 1.5], "f"),
        (["sick", "well"], "U"),
        ([True, False], "b"),
    ],
)
def test_a_target_keeps_its_kind(make: Maker, cells: list[Any], kind: str) -> None:
    table = wide() | {"y": [cells[0], cells[1], cells[0], cells[1], cells[0]]}
    read = read_frame(make(table), id="patient", time="hour", target="y")
    assert read.channels == ("hr", "bp")
    assert read.target is not None
    assert read.target.dtype.kind == kind
    assert read.target.tolist() == cells


@pytest.mark.parametrize(
    "column",
    [
        pd.Series(pd.Categorical(["sick", "well", "sick", "well", "sick"])),
        pl.Series(["sick", "well", "sick", "well", "sick"], dtype=pl.Categorical),
        pl.Series(["sick", "well", "sick", "well", "sick"], dtype=pl.Enum(["well", "sick"])),
    ],
    ids=["pandas", "polars", "enum"],
)
def test_a_categorical_target_becomes_text(column: Any) -> None:
    make = pl.DataFrame if isinstance(column, pl.Series) else pd.DataFrame
    read = read_frame(make(wide() | {"y": column}), id="patient", time="hour", target="y")
    assert read.target is not None
    assert (read.target.dtype.kind, read.target.tolist()) == ("U", ["sick", "well"])


@both_libraries
def test_static_columns_hold_one_value_per_series_or_nothing(make: Maker) -> None:
    table = wide() | {"age": [70, None, 70, None, 70], "male": [True, False, True, False, True]}
    read = read_frame(make(table), id="patient", time="hour", static=["male", "age"])
    assert read.static_names == ("male", "age")
    np.testing.assert_array_equal(read.static, [[1.0, 70.0], [0.0, np.nan]])
    assert read.channels == ("hr", "bp")


def test_variables_are_sorted_by_name() -> None:
    frame = pd.DataFrame({"id": "a", "t": [0, 0, 1], "item": ["spo2", "hr", "bp"], "v": [1.0, 2.0, 3.0]})
    read = read_frame(frame, id="id", time="t", variable="item", value="v")
    assert read.channels == ("bp", "hr", "spo2")
    np.testing.assert_array_equal(read.values, [[np.nan, 2.0, 1.0], [3.0, np.nan, np.nan]])


def test_values_read_a_table_as_wide_even_if_its_columns_are_named_like_a_long_one() -> None:
    frame = pd.DataFrame({"id": "a", "t": [0, 1], "variable": [1, 2], "value": [3, 4]})
    assert read_frame(frame, id="id", time="t", values=["variable", "value"]).values.shape == (2, 2)
    assert read_frame(frame.assign(x=5), id="id", time="t", values=["x"]).channels == ("x",)
    assert read_frame(frame, id="id", time="t").channels == ("1", "2")


@both_libraries
def test_fixed_channels_reorder_a_wide_table_and_leave_other_columns_out(make: Maker) -> None:
    read = read_frame(make(wide() | {"note": ["x"] * 5}), id="patient", time="hour", channels=("bp", "hr"))
    assert read.channels == ("bp", "hr")


@pytest.mark.parametrize(
    "ids", [[7, 7, 8], ["007", "007", "7"], ["NA", "NA", "nan"], [2**63 + 1, 2**63 + 1, 2**63 + 2]]
)
def test_ids_are_kept_to_the_letter(ids: list[Any]) -> None:
    table = {"id": ids, "t": [0.0, 1.0, 0.0], "x": [1.0, 2.0, 3.0]}
    for frame in (pd.DataFrame(table), pl.DataFrame(table)):
        read = read_frame(frame, id="id", time="t")
        assert [read.id(k) for k in range(2)] == [ids[0], ids[2]]


def test_reading_modules_import_no_table_library() -> None:
    code = "import sys, denots.data.frame, denots.data.table_file; print({'pandas', 'polars', 'pyarrow'} & set(sys.modules))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "set()"
