"""Times from dates, judged by the datetime arithmetic of the standard library."""

from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from denots.data import SeriesSet
from denots.data.frame import read_frame
from denots.errors import InvalidOption, InvalidSeries, InvalidTable, UnknownName

IDS = ["a", "a", "b", "b"]
STAMPS = [
    datetime(2024, 3, 30, 12, 0),
    datetime(2024, 3, 31, 13, 30, 15, 250_000),
    datetime(1969, 12, 31, 23, 59, 59),
    datetime(1970, 1, 2),
]
SECONDS = {"s": 1.0, "min": 60.0, "h": 3600.0, "d": 86400.0}


def read(times: Any, make: Any = pd.DataFrame, **options: Any) -> SeriesSet:
    table = {"id": IDS[: len(times)], "t": times, "x": [1.0] * len(times)}
    named = {name: options.pop(name) for name in ("begin",) if name in options}
    return read_frame(make(table | named), id="id", time="t", values=["x"], **options)


def elapsed(stamps: list[datetime], unit: float) -> list[float]:
    first = {name: stamp for name, stamp in reversed(list(zip(IDS, stamps, strict=True)))}
    return [(stamp - first[name]).total_seconds() / unit for name, stamp in zip(IDS, stamps, strict=True)]


@pytest.mark.parametrize("unit", SECONDS)
@pytest.mark.parametrize(
    "times",
    [
        pd.Series(STAMPS, dtype="datetime64[ns]"),
        pd.Series(STAMPS, dtype="datetime64[us]"),
        pd.Series(STAMPS, dtype="timestamp[us][pyarrow]"),
        pd.Series(STAMPS, dtype=object),
        pd.Series(STAMPS).dt.tz_localize("UTC"),
        pd.Series([s.isoformat() for s in STAMPS]),
        pd.Series([s.isoformat(" ") + "Z" for s in STAMPS]),
        pd.Series([s.isoformat() + "-0530" for s in STAMPS]),
        pl.Series(STAMPS, dtype=pl.Datetime("ms")),
        pl.Series(STAMPS, dtype=pl.Datetime("ns", "UTC")),
        pl.Series([s.isoformat() for s in STAMPS]),
    ],
    ids=["ns", "us", "arrow", "object", "utc", "text", "Z", "offset", "pl-ms", "pl-utc", "pl-text"],
)
def test_dates_become_time_since_the_first_observation(times: Any, unit: str) -> None:
    make = pl.DataFrame if isinstance(times, pl.Series) else pd.DataFrame
    series = read(times, make, time_unit=unit)
    np.testing.assert_allclose(series.times, elapsed(STAMPS, SECONDS[unit]), rtol=1e-15)
    assert series.start.tolist() == [0.0, 0.0]
    assert series.time_unit == unit


@settings(max_examples=60, deadline=None)
@given(st.lists(st.datetimes(datetime(1, 1, 1), datetime(9000, 1, 1)), min_size=2, max_size=4, unique=True))
def test_pandas_polars_and_text_agree_on_any_dates(stamps: list[datetime]) -> None:
    stamps = sorted(stamps)
    table = {"id": 1, "t": stamps, "x": 1.0}
    judge = [(stamp - stamps[0]) / timedelta(hours=1) for stamp in stamps]
    text = [stamp.isoformat() for stamp in stamps]
    for frame in (pd.DataFrame(table), pl.DataFrame(table), pd.DataFrame(table | {"t": text})):
        series = read_frame(frame, id="id", time="t", time_unit="h")
        np.testing.assert_allclose(series.times, judge, rtol=1e-14)


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_plain_days_are_dates(make: Any) -> None:
    days = [date(2024, 2, 28), date(2024, 3, 1), date(2023, 2, 28), date(2023, 3, 1)]
    assert read(days, make, time_unit="days").times.tolist() == [0.0, 2.0, 0.0, 1.0]


def test_nanoseconds_survive() -> None:
    ticks = np.array([0, 7, 1, 3]) + np.int64(1_700_000_000_000_000_000)
    assert read(pd.Series(ticks.view("datetime64[ns]")), time_unit="s").times.tolist() == [0.0, 7e-9, 0.0, 2e-9]


def test_elapsed_time_counts_the_hour_that_summer_time_skips() -> None:
    local = pd.Series(pd.to_datetime(["2024-03-31 01:00", "2024-03-31 04:00"])).dt.tz_localize("Europe/Berlin")
    assert read(local, time_unit="h").times.tolist() == [0.0, 2.0]
    polars = pl.Series([datetime(2024, 3, 31, 1), datetime(2024, 3, 31, 4)]).dt.replace_time_zone("Europe/Berlin")
    assert read(polars, pl.DataFrame, time_unit="h").times.tolist() == [0.0, 2.0]


@pytest.mark.parametrize(
    ("spelling", "unit"), [("hours", "h"), ("Hour", "h"), (" days ", "d"), ("sec", "s"), ("minutes", "min"), ("D", "d")]
)
def test_units_have_common_spellings(spelling: str, unit: str) -> None:
    assert read(STAMPS, time_unit=spelling).time_unit == unit
    assert read([0, 1, 0, 1], time_unit=spelling).time_unit == unit


def test_numbers_are_kept_whatever_their_unit_but_it_must_be_one() -> None:
    series = read([3.5, 4.5, -2.0, 8.0], time_unit="hours")
    assert series.times.tolist() == [3.5, 4.5, -2.0, 8.0]
    assert series.start.tolist() == [3.5, -2.0]
    assert series.time_unit == "h"
    with pytest.raises(UnknownName, match=r"unknown time unit 'weeks'"):
        read([3.5, 4.5, -2.0, 8.0], time_unit="weeks")


def test_dates_need_a_unit() -> None:
    with pytest.raises(
        InvalidTable,
        match=r"column 't' holds dates such as 2024-03-30 12:00:00.*\(time_unit=\.\.\., --time-unit\): s, min, h, d",
    ):
        read(STAMPS)


def test_an_unknown_unit_offers_the_nearest() -> None:
    with pytest.raises(UnknownName, match=r"unknown time unit 'huors'\. Did you mean 'hours'"):
        read(STAMPS, time_unit="huors")


def test_a_start_column_sets_the_clock_of_dates_to_zero() -> None:
    begin = [datetime(2024, 3, 30), datetime(2024, 3, 30), datetime(1969, 12, 31), datetime(1969, 12, 31)]
    series = read(STAMPS, begin=begin, start="begin", time_unit="h")
    judge = [(stamp - b) / timedelta(hours=1) for stamp, b in zip(STAMPS, begin, strict=True)]
    np.testing.assert_allclose(series.times, judge, rtol=1e-15)
    assert series.start.tolist() == [0.0, 0.0]


def test_start_and_time_may_differ_in_resolution() -> None:
    fine = pd.Series(STAMPS, dtype="datetime64[ns]") + pd.Timedelta(1, "ns")
    days = pd.Series([s.date() for s in STAMPS])
    days[1], days[3] = days[0], days[2]
    series = read(fine, begin=days, start="begin", time_unit="s")
    assert series.times[0] == 12 * 3600 + 1e-9
    assert series.times[2] == 86399 + 1e-9


def test_a_start_too_remote_for_nanoseconds_is_refused() -> None:
    fine = pd.Series(STAMPS, dtype="datetime64[ns]") + pd.Timedelta(1, "ns")
    with pytest.raises(InvalidTable, match=r"column 'begin' reaches dates that nanoseconds cannot express"):
        read(fine, begin=[datetime(1500, 1, 1)] * 4, start="begin", time_unit="s")


def test_a_start_column_of_numbers_leaves_times_alone() -> None:
    series = read([3.5, 4.5, 1.0, 8.0], begin=[0, 0, -4, -4], start="begin")
    assert series.times.tolist() == [3.5, 4.5, 1.0, 8.0]
    assert series.start.tolist() == [0.0, -4.0]


@pytest.mark.parametrize(
    ("times", "begin", "error", "words"),
    [
        (
            [1.0, 2.0, 1.0, 2.0],
            [0, 1, 0, 0],
            InvalidTable,
            r"series 'a': start column 'begin' .* 0 in row 1 and 1 in row 2",
        ),
        ([1.0, 2.0, 1.0, 2.0], [0, 0, 3, 3], InvalidSeries, r"series 'b' starts at 3 .*first observation at 1\.0"),
        (STAMPS, [STAMPS[0]] * 4, InvalidSeries, r"series 'b' starts at 2024-03-30 12:00:00 .* 1969-12-31 23:59:59"),
        ([1.0, 2.0, 1.0, 2.0], [0, 0, None, 1], InvalidTable, r"series 'b', row 3 has no value in column 'begin'"),
        (STAMPS, [0, 0, 0, 0], InvalidTable, r"'t' holds dates .*'begin' holds int64 .*both dates"),
        (
            STAMPS,
            [s.replace(tzinfo=UTC) for s in STAMPS],
            InvalidTable,
            r"'t' has no time zone .*'begin' has a time zone",
        ),
    ],
)
def test_a_bad_start_is_named(times: Any, begin: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        read(times, begin=begin, start="begin", time_unit="h")


@pytest.mark.parametrize(
    ("times", "words"),
    [
        (["2024-01-01", "2024-02-30", "2024-01-01", "2024-01-02"], r"series 'a', row 2: '2024-02-30' in column 't'"),
        (["2024-01-01", "2024-01-02", "soon", "2024-01-02"], r"series 'b', row 3: 'soon' in column 't' is text"),
        (["2024-01-01", "2024-01-02", "2024", "2024-01-02"], r"series 'b', row 3: '2024' in column 't' is text"),
        (["0", "1", "0", "1"], r"series 'a', row 1: '0' in column 't' is text.*numeric column"),
        (["2024-01-01T00:00Z", "2024-01-01T01:00"], r"series 'a', row 2: '2024-01-01T01:00' .* no UTC offset, unlike"),
        (
            ["2024-01-01T00:00", "2024-01-01T01:00+02"],
            r"series 'a', row 2: '2024-01-01T01:00\+02' .* a UTC offset, unlike",
        ),
        ([datetime(2024, 1, 1), pd.NaT], r"series 'a', row 2 has no value in column 't'"),
        (["2024-01-01", None], r"series 'a', row 2 has no value in column 't'"),
        (pd.Series([timedelta(0), timedelta(1)]), r"column 't' holds durations \(0 days 00:00:00 in row 1\).*divide"),
        (pd.Series([0, "2024-01-01"]), r"series 'a', row 2: '2024-01-01' in time column 't' is not a number"),
    ],
)
def test_a_bad_stamp_names_series_row_and_value(times: Any, words: str) -> None:
    with pytest.raises(InvalidTable, match=words):
        read(times, time_unit="h")


def test_offsets_and_zones_are_read_to_one_clock() -> None:
    stamps = [datetime(2024, 1, 1, tzinfo=UTC), datetime(2024, 1, 2, tzinfo=ZoneInfo("Asia/Tokyo"))]
    hours = (stamps[1] - stamps[0]) / timedelta(hours=1)
    assert read(pd.Series(stamps, dtype=object), time_unit="h").times.tolist() == [0.0, hours]
    assert read([stamp.isoformat() for stamp in stamps], time_unit="h").times.tolist() == [0.0, hours]
    begin = ["2023-12-31T19:00-05:00"] * 2
    assert read([stamp.isoformat() for stamp in stamps], begin=begin, start="begin", time_unit="h").times[1] == hours


@pytest.mark.parametrize(
    ("form", "texts"),
    [
        ("%d.%m.%Y %H:%M", ["31.01.2024 12:00", "01.02.2024 00:30"]),
        ("%Y%m%d%H%M", [202401311200, 202402010030]),
        ("%d/%m/%y %I:%M %p %z", ["31/01/24 12:00 PM +0100", "01/02/24 01:30 AM +0200"]),
        ("%Y-%d-%mT%H:%M", ["2024-31-01T12:00", "2024-01-02T00:30"]),
    ],
)
def test_a_format_reads_what_strptime_reads(form: str, texts: list[Any]) -> None:
    first, second = (datetime.strptime(str(text), form) for text in texts)
    assert read(texts, time_unit="h", time_format=form).times.tolist() == [0.0, (second - first) / timedelta(hours=1)]


def test_a_stamp_in_another_format_names_its_row_and_a_bad_format_itself() -> None:
    texts = ["31.01.2024", "01.02.2024", "2024-03-01", "02.03.2024"]
    with pytest.raises(InvalidTable, match=r"series 'b', row 3: '2024-03-01' .* no date of the format '%d\.%m\.%Y'"):
        read(texts, time_unit="d", time_format="%d.%m.%Y")
    with pytest.raises(InvalidOption, match=r"'%Q' is no format of dates .* such as %d\.%m\.%Y %H:%M"):
        read(texts, time_unit="d", time_format="%Q")


def test_spellings_of_one_zone_are_one_zone() -> None:
    assert read(["2024-01-01T00:00Z", "2024-01-01T01:00+00:00"], time_unit="h").times.tolist() == [0.0, 1.0]
    begin = pd.Series([datetime(2024, 1, 1, tzinfo=timezone(timedelta(hours=2)))] * 2)
    series = read(["2024-01-01T00:30+02:00", "2024-01-01T01:00+0200"], begin=begin, start="begin", time_unit="min")
    assert series.times.tolist() == [30.0, 60.0]


def test_unsorted_dates_are_shown_as_dates() -> None:
    with pytest.raises(
        InvalidSeries, match=r"series 'a'.* 2024-03-31 13:30:15\.250000 in row 1 .* 2024-03-30 12:00:00 in row 2"
    ):
        read([STAMPS[1], STAMPS[0], STAMPS[2], STAMPS[3]], time_unit="h")


def test_a_long_table_is_sorted_by_its_dates() -> None:
    frame = pd.DataFrame(
        {"id": ["a"] * 3, "t": [STAMPS[1], STAMPS[0], STAMPS[1]], "variable": ["x", "x", "y"], "value": [1.0, 2.0, 3.0]}
    )
    series = read_frame(frame, id="id", time="t", time_unit="d")
    np.testing.assert_array_equal(series.values, [[2.0, np.nan], [1.0, 3.0]])
    assert series.times[1] == (STAMPS[1] - STAMPS[0]) / timedelta(days=1)
