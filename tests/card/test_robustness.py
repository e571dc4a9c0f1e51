"""Series are spoilt as said, and nothing else about them changes."""

import numpy as np
import pytest

from denots.card.robustness import add_noise, drop_values, jitter_times
from denots.data.series import SeriesSet


@pytest.fixture
def series() -> SeriesSet:
    rng = np.random.default_rng(0)
    times = [np.sort(rng.uniform(5, 9, rng.integers(1, 40))) for _ in range(200)]
    values = [rng.normal([0, 100], [1, 20], (len(t), 2)) for t in times]
    for table in values:
        table[1:][rng.random((len(table) - 1, 2)) < 0.3] = np.nan
    return SeriesSet.from_arrays(times, values, start=4.0)


def test_values_are_lost_with_the_chance_that_was_asked_for(series: SeriesSet) -> None:
    found = drop_values(series, 0.4, np.random.default_rng(1))
    before, after = ~np.isnan(series.values), ~np.isnan(found.values)
    n = before.sum()
    assert not (after & ~before).any()
    assert 1 - after.sum() / n == pytest.approx(0.4, abs=4 * np.sqrt(0.24 / n))
    assert (found.times == series.times).all()


def test_no_series_loses_everything(series: SeriesSet) -> None:
    found = drop_values(series, 1.0, np.random.default_rng(1))
    kept = np.add.reduceat((~np.isnan(found.values)).sum(axis=1), found.offsets[:-1])
    assert (kept == 1).all()


def test_noise_has_the_spread_of_its_channel(series: SeriesSet) -> None:
    found = add_noise(series, 0.5, np.random.default_rng(1))
    assert (np.isnan(found.values) == np.isnan(series.values)).all()
    change = np.nanstd(found.values - series.values, axis=0)
    assert change == pytest.approx(0.5 * np.nanstd(series.values, axis=0), rel=0.05)


def test_rows_keep_their_values_when_their_times_are_shifted(series: SeriesSet) -> None:
    found = jitter_times(series, 2.0, np.random.default_rng(1))
    for before, after in zip(series, found, strict=True):
        assert (np.diff(after.times) > 0).all()
        assert after.times[0] >= 4.0
        assert sorted(map(str, before.values.tolist())) == sorted(map(str, after.values.tolist()))
    shift = jitter_times(series, 0.01, np.random.default_rng(1)).times - series.times
    long = series.select(series.lengths > 20)
    assert 0 < np.abs(shift).mean() < 0.05 * (long.ends - long.times[long.offsets[:-1]]).mean()


def test_times_that_rounding_would_make_one_stay_as_they_are() -> None:
    huge = SeriesSet.from_arrays([[1e16, 1e16 + 2, 1e16 + 4]] * 50, [[1.0, 2.0, 3.0]] * 50)
    found = jitter_times(huge, 0.1, np.random.default_rng(0))
    assert (found.times == huge.times).all()
