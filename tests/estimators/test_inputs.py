"""Every way to hand series over means one thing; what could mean two is refused."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from denots.data import SeriesSet
from denots.data.inputs import as_series_set, scan_series
from denots.errors import InvalidSeries

RNG = np.random.default_rng(0)
CUBE = RNG.normal(size=(4, 2, 5))
MEANT = SeriesSet.from_numpy(CUBE)


def tables(cube=CUBE) -> list[pd.DataFrame]:
    return [pd.DataFrame(one.T, columns=["hr", "bp"]) for one in cube]


def test_an_array_has_channels_before_time() -> None:
    assert as_series_set(CUBE).same_as(MEANT)
    assert as_series_set(CUBE[:, 0]).same_as(SeriesSet.from_numpy(CUBE[:, :1]))


@pytest.mark.parametrize("items", [list(CUBE), [one.T for one in CUBE], list(CUBE[:1]), [np.zeros((1, 5))] * 2])
def test_a_list_of_arrays_of_one_shape_is_refused_with_both_readings(items) -> None:
    a, b = items[0].shape
    words = rf"{a} channels at {b} times, or {b} channels at {a} times\. Say which: give pairs"
    with pytest.raises(InvalidSeries, match=words):
        as_series_set(items)


@pytest.mark.parametrize("turn", [False, True])
def test_the_axis_that_varies_is_time(turn: bool) -> None:
    ragged = [CUBE[0], CUBE[1][:, :3], CUBE[2][:, :4]]
    meant = SeriesSet.from_arrays([np.arange(5), np.arange(3), np.arange(4)], [one.T for one in ragged])
    assert as_series_set([one.T if turn else one for one in ragged]).same_as(meant)


def test_where_both_axes_vary_nothing_is_guessed() -> None:
    with pytest.raises(InvalidSeries, match="two ways"):
        as_series_set([np.zeros((2, 5)), np.zeros((3, 4))])


def test_a_fitted_model_knows_which_axis_is_that_of_its_channels() -> None:
    for items in (list(CUBE), [one.T for one in CUBE]):
        assert as_series_set(items, width=2).same_as(MEANT)
    with pytest.raises(InvalidSeries, match="two ways"):
        as_series_set([np.zeros((2, 2))], width=2)
    with pytest.raises(InvalidSeries, match="two ways"):
        as_series_set(list(CUBE), width=3)


def test_a_pair_may_be_a_list_or_a_tuple() -> None:
    times = np.array([0.0, 0.5, 2.0])
    for values in (np.array([1.0, 2.0, 3.0]), RNG.normal(size=(3, 2))):
        meant = SeriesSet.from_arrays([times, times], [values, values])
        assert as_series_set([(times, values), [times, values]]).same_as(meant)
        assert as_series_set([[times.tolist(), values.tolist()]] * 2).same_as(meant)


def test_one_dimensional_items_are_one_channel() -> None:
    assert as_series_set([[1.0, 2.0], [3.0, 4.0]]).values[:, 0].tolist() == [1.0, 2.0, 3.0, 4.0]
    assert as_series_set([[1.0, 2.0, 5.0], [3.0, 4.0]]).lengths.tolist() == [3, 2]


def test_a_list_of_tables_keeps_the_names_of_columns_and_the_index_as_times() -> None:
    read = as_series_set(tables())
    assert read.channels == ("hr", "bp")
    np.testing.assert_array_equal(read.values, MEANT.values)
    turned = tables()
    turned[2] = turned[2][["bp", "hr"]]
    assert as_series_set(turned).same_as(read)
    stamped = [one.set_index(pd.Index([0.5, 1.0, 3.0, 4.0, 9.0])) for one in tables()]
    assert as_series_set(stamped).times[:5].tolist() == [0.5, 1.0, 3.0, 4.0, 9.0]


def test_a_table_with_dates_as_index_needs_a_unit() -> None:
    for index in (pd.date_range("2024", periods=5), pd.date_range("2024", periods=5, tz="UTC")):
        with pytest.raises(InvalidSeries, match=r"dates or durations as its index.*2024.*Timedelta\('1h'\)"):
            as_series_set([one.set_axis(index) for one in tables()])
    fixed = [one.set_axis(pd.date_range("2024", periods=5)) for one in tables()]
    hours = [one.set_index((one.index - one.index[0]) / pd.Timedelta("1h")) for one in fixed]
    assert as_series_set(hours).times[:3].tolist() == [0.0, 24.0, 48.0]


def test_tables_that_no_one_can_read_are_refused() -> None:
    with pytest.raises(InvalidSeries, match="without an index"):
        as_series_set([pl.DataFrame({"x": [1.0, 2.0]})])
    with pytest.raises(InvalidSeries, match=r"column 'hr' of item 0 .* not numbers"):
        as_series_set([tables()[0].assign(hr="high")])
    with pytest.raises(InvalidSeries, match=r"SeriesSet\.from_frame\(table, id=\.\.\., time=\.\.\.\)"):
        as_series_set(tables()[0])


def test_a_table_is_read_by_the_schema_of_the_first_one() -> None:
    frame = pd.DataFrame({"who": list("aab"), "when": [0.0, 1.0, 0.0], "x": [1.0, 2.0, 3.0]})
    first = SeriesSet.from_frame(frame, id="who", time="when")
    assert as_series_set(frame[["x", "when", "who"]], first.schema).same_as(first)


@pytest.mark.parametrize("given", ["cube", "pairs", "tables"])
def test_masked_values_are_holes_through_every_door(given: str) -> None:
    mask = RNG.random(CUBE.shape) < 0.3
    mask[:, :, 0] = False
    holes = SeriesSet.from_numpy(np.where(mask, np.nan, CUBE))
    masked = np.ma.array(CUBE, mask=mask)
    forms = {
        "cube": masked,
        "pairs": [(np.arange(5), one.T) for one in masked],
        "tables": [np.ma.array(one[:1, : 5 - k], mask=mask[k, :1, : 5 - k]) for k, one in enumerate(CUBE)],
    }
    read = as_series_set(forms[given])
    if given == "tables":
        for k, one in enumerate(read):
            np.testing.assert_array_equal(one.values[:, 0], np.where(mask[k, 0], np.nan, CUBE[k, 0])[: 5 - k])
    else:
        assert read.same_as(holes)
        assert SeriesSet.from_numpy(masked).same_as(holes)


def test_dates_without_a_unit_are_refused_through_every_door() -> None:
    days = np.arange("2024-01-01", "2024-01-06", dtype="datetime64[D]")
    for read in (
        lambda: as_series_set([(days, CUBE[0].T)]),
        lambda: as_series_set([(list(days), CUBE[0].T)]),
        lambda: SeriesSet.from_arrays([days], [CUBE[0].T]),
        lambda: SeriesSet.from_arrays([days - days[0]], [CUBE[0].T]),
        lambda: SeriesSet.from_numpy(CUBE, times=days),
        lambda: SeriesSet.from_arrays([np.arange(5)], [CUBE[0].T], start=days[:1]),
    ):
        with pytest.raises(InvalidSeries, match=r"dates|durations"):
            read()
    read = SeriesSet.from_numpy(CUBE, times=days.astype("datetime64[ns]"), time_unit="hours")
    assert (read.times[:3].tolist(), read.start[0], read.time_unit) == ([0.0, 24.0, 48.0], 0.0, "h")


def test_bad_items_are_left_out_and_reported_under_their_position() -> None:
    times = np.arange(5.0)
    items = [
        (times, CUBE[0].T),
        (times[::-1], CUBE[1].T),
        (times, CUBE[2].T * np.inf),
        (times, CUBE[2].T[:3]),
        (times, CUBE[2].T[:, :1]),
        "no series",
        (times, np.full((5, 2), np.nan)),
        (times, CUBE[3].T),
    ]
    reading = scan_series(items)
    assert reading.ids.tolist() == list(range(8))
    assert [bad.id for bad in reading.rejected] == [1, 2, 3, 4, 5, 6]
    assert reading.series.ids.tolist() == [0, 7]
    np.testing.assert_array_equal(reading.series.values, np.concatenate([CUBE[0].T, CUBE[3].T]))
    with pytest.raises(InvalidSeries, match=r"6 series cannot be read: (\(\d\) .*){4}"):
        as_series_set(items)


def test_a_bad_series_of_an_array_is_left_out() -> None:
    cube = CUBE.copy()
    cube[1, 0, 2] = np.inf
    reading = scan_series(cube)
    assert [bad.id for bad in reading.rejected] == [1]
    assert reading.series.same_as(SeriesSet.from_numpy(CUBE).select([0, 2, 3]))
