"""Broken tables through every door: a right result, or one typed error that names the place."""

import csv
import io
import math
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from denots.data import SeriesSet, TableSchema
from denots.data.duplicates import DUPLICATES
from denots.data.missing import MISSING_WORDS
from denots.data.table_file import read_table
from denots.errors import DenotsError, SkippedSeries

from strategies import PLACE, QUICK, broken_tables

ROWS = broken_tables()
CLEANING = st.fixed_dictionaries(
    {
        "sort": st.booleans(),
        "duplicates": st.sampled_from(DUPLICATES),
        "skip_empty": st.booleans(),
        "na": st.sampled_from([(), ("n/a",), ("n/a", "-", "é")]),
        "time_unit": st.sampled_from([None, "h"]),
        "static": st.sampled_from([(), (), ("y",)]),
    }
)


def outcome(schema: TableSchema, frame: Any) -> SeriesSet | None:
    """The series, or None for an error that says where the fault is; anything else fails the test."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", SkippedSeries)
        try:
            return schema.learn(frame)
        except DenotsError as error:
            told = str(error)
    assert PLACE.search(told), told
    return None


def observed(rows: list[tuple[str, str, str, str]], na: tuple[str, ...]) -> dict[str, list[float]]:
    """The numbers of channel x in each series, as Python reads them, sorted."""
    found: dict[str, list[float]] = {}
    for name, _, cell, _ in rows:
        own = found.setdefault(name, [])
        if cell not in (*MISSING_WORDS, *na):
            own.append(1.0 if cell == "true" else float(cell))
    return {name: sorted(own) for name, own in found.items()}


@QUICK
@given(rows=ROWS, cleaning=CLEANING)
def test_a_table_in_memory_is_read_right_or_refused_with_its_place(rows: list[Any], cleaning: dict[str, Any]) -> None:
    frame = pd.DataFrame(rows, columns=["id", "t", "x", "y"], dtype=object)
    for name in ("t", "x"):
        numbers = pd.to_numeric(frame[name], errors="coerce")
        frame[name] = numbers if numbers.notna().all() else frame[name].where(numbers.isna(), numbers)
    outcome(TableSchema("id", "t", **cleaning), frame)


@QUICK
@given(rows=ROWS, cleaning=CLEANING)
def test_a_csv_is_read_right_or_refused_with_its_place(
    tmp_path_factory: pytest.TempPathFactory, rows: list[Any], cleaning: dict[str, Any]
) -> None:
    path = tmp_path_factory.mktemp("broken") / "table.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([("id", "t", "x", "y"), *rows])
    schema = TableSchema("id", "t", **cleaning)
    series = outcome(schema, read_table(path, id="id"))
    if series is None or series.channels[0] != "x":
        return
    wanted = {name: own for name, own in observed(rows, schema.na).items() if name in series.ids.astype(str).tolist()}
    assert len(series) == len(wanted)
    for one in series:
        found = one.values[:, 0][~np.isnan(one.values[:, 0])]
        own = wanted[str(one.id)]
        assert (np.diff(one.times) > 0).all()
        assert all(math.isfinite(value) for value in found)
        if schema.duplicates == "error":
            assert sorted(found.tolist()) == own
        elif schema.duplicates != "mean":
            assert set(found.tolist()) <= set(own)
        elif len(found):
            assert own[0] - 1e-9 <= found.min() <= found.max() <= own[-1] + 1e-9


@QUICK
@given(content=st.one_of(st.binary(max_size=60), st.text('id,tx\n";\t1.a0é', max_size=60).map(str.encode)))
def test_any_bytes_are_a_table_or_a_typed_error(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    folder: Path = tmp_path_factory.mktemp("bytes")
    for name in ("table.csv", "table.tsv.xz", "table.zip", "table.parquet", "table.feather", "table.xlsx"):
        (folder / name).write_bytes(content)
        told = name
        try:
            read_table(folder / name, id="id")
        except DenotsError as error:
            told = str(error)
        assert name in told


def test_what_is_refused_in_a_csv_is_refused_from_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"id,t\n1,2,3\n")))
    with pytest.raises(DenotsError, match=r"standard input cannot be read as \.csv: .*Expected 2 columns, got 3"):
        read_table("-", id="id")
