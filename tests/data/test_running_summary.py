"""Running summaries are those of the series cut at each moment, as pandas and numpy find them."""

import numpy as np
import pandas as pd
import pytest

from denots.data import SeriesSet
from denots.data.cut import cut
from denots.data.running import MOST_RECENT, OF_CHANNEL, OF_MOMENT, RECENT, Moments, rows_until, running_summary

WINDOWS = (1.0, 3.0)


def gappy(n: int = 7, channels: int = 2, seed: int = 0) -> SeriesSet:
    rng = np.random.default_rng(seed)
    times = [np.sort(rng.uniform(0, 6, rng.integers(1, 24))) for _ in range(n)]
    values = [rng.normal(3.0, 2.0, (len(t), channels)) for t in times]
    for table in values:
        table[1:][rng.random((len(table) - 1, channels)) < 0.4] = np.nan
    return SeriesSet.from_arrays(times, values, static=rng.normal(size=(n, 1)), start=-1.0)


def asked(series: SeriesSet, seed: int = 1) -> Moments:
    """Rows, and moments between and beyond them."""
    rng = np.random.default_rng(seed)
    each = [np.concatenate([one.times, rng.uniform(one.times[0], one.times[-1] + 2, 3)]) for one in series]
    return Moments(np.concatenate(each), np.concatenate([[0], np.cumsum([len(own) for own in each])]))


def by_hand(one: object, start: float, now: float) -> list[float]:
    past = one.times <= now
    t, table = one.times[past], one.values[past]
    row = [now - start, len(t), now - t[-1], *one.static]
    for column in table.T:
        x = pd.Series(column, index=t).dropna()
        step = x.iloc[-1] - x.iloc[-2] if len(x) > 1 else np.nan
        trend = np.polyfit(x.index, x, 1)[0] if len(x) > 1 else np.nan
        last = (x.iloc[-1], now - x.index[-1]) if len(x) else (np.nan, np.nan)
        row += [*last, step, len(x), x.mean(), x.std(ddof=0), x.min(), x.max(), trend]
        for window in WINDOWS:
            late = x[x.index > now - window]
            few = pd.Series(column, index=t)[t > now - window].iloc[-MOST_RECENT:]
            row += [len(late), late.mean(), few.min(), few.max()]
    return row


def test_every_column_is_that_of_the_history_alone() -> None:
    series = gappy()
    moments = asked(series)
    found = running_summary(series, moments, WINDOWS)
    wanted = [
        by_hand(one, series.start[k], now)
        for k, one in enumerate(series)
        for now in moments.times[moments.offsets[k] : moments.offsets[k + 1]]
    ]
    per_channel = len(OF_CHANNEL) + len(WINDOWS) * len(RECENT)
    assert found.shape[1] == len(OF_MOMENT) + 1 + 2 * per_channel
    np.testing.assert_allclose(found, np.array(wanted), rtol=2e-5, atol=2e-5)


@pytest.mark.parametrize("cells", [1, 60, 10**9])
def test_company_and_the_size_of_blocks_change_no_bit(cells: int, monkeypatch: pytest.MonkeyPatch) -> None:
    series = gappy()
    moments = asked(series)
    whole = running_summary(series, moments, WINDOWS)
    monkeypatch.setattr("denots.data.running.CELLS", cells)
    np.testing.assert_array_equal(running_summary(series, moments, WINDOWS), whole)
    alone = running_summary(series.select([4]), moments.select(np.array([4])), WINDOWS)
    np.testing.assert_array_equal(alone, whole[moments.offsets[4] : moments.offsets[5]])


def test_a_cut_series_has_the_rows_up_to_the_moment_and_one_more_where_time_has_passed() -> None:
    series = gappy()
    moments = asked(series)
    found, seen = cut(series, moments)
    owner = np.repeat(np.arange(len(series)), np.diff(moments.offsets))
    assert seen.all()
    for k, now in enumerate(moments.times):
        one, own = series[int(owner[k])], found[k]
        past = one.times <= now
        waits = one.times[past][-1] < now
        np.testing.assert_array_equal(own.times, [*one.times[past], *([now] if waits else [])])
        np.testing.assert_array_equal(own.values[: past.sum()], one.values[past])
        assert np.isnan(own.values[past.sum() :]).all()
    np.testing.assert_array_equal(found.start, series.start[owner])
    np.testing.assert_array_equal(
        rows_until(series, moments) + (found.lengths - rows_until(series, moments)), found.lengths
    )


def test_nothing_is_cut_where_nothing_was_observed_yet() -> None:
    nan = float("nan")
    series = SeriesSet.from_arrays([[0.0, 1.0], [0.0, 1.0]], [[nan, 2.0], [3.0, 4.0]])
    found, seen = cut(series, Moments(series.times, series.offsets))
    assert seen.tolist() == [False, True, True, True]
    assert found.lengths.tolist() == [2, 1, 2]
    assert cut(series.select([0]), Moments(np.array([0.5]), np.array([0, 1])))[0] is None
