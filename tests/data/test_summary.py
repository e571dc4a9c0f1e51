"""Summary features, against numpy one series at a time."""

import numpy as np
import pytest

from denots import kernels
from denots.data.series import SeriesSet
from denots.data.summary import LATE, WHOLE, summarise

from oracles import gappy_series


def expected(t: np.ndarray, x: np.ndarray) -> list[float]:
    seen = ~np.isnan(x)
    t, x = t[seen], x[seen]
    if not len(x):
        return [0.0] + [np.nan] * (len(WHOLE) - 1)
    trend = np.polyfit(t, x, 1)[0] if len(x) > 1 else np.nan
    rough = np.abs(np.diff(x)).mean() if len(x) > 1 else np.nan
    gap = np.diff(t).max() if len(x) > 1 else 0.0
    return [len(x), x.mean(), x.std(), x.min(), x.max(), x[0], x[-1], t[-1], trend, rough, gap]


def test_every_statistic_equals_numpys_of_the_series_alone() -> None:
    series = gappy_series(lengths=(9, 1, 14, 3, 5), channels=3, missing=0.4, seed=3)
    series.values[series.offsets[2] : series.offsets[3], 1] = np.nan
    table = summarise(series)
    for i, one in enumerate(series):
        times = one.times - series.start[i]
        late = times >= 0.75 * (one.times[-1] - series.start[i])
        rows = []
        for x in one.values.T:
            whole = expected(times, x)
            since = times[-1] - whole[WHOLE.index("last time")]
            rows += [*whole, since, *expected(times[late], x[late])]
        spans = [len(times), one.times[-1] - series.start[i]]
        static = [] if series.static is None else list(one.static)
        np.testing.assert_allclose(table[i], [*spans, *static, *rows], rtol=1e-9, atol=1e-12)


def test_static_features_come_after_length_and_span() -> None:
    series = gappy_series(lengths=(4, 6), channels=1)
    with_static = type(series).from_arrays(
        [one.times for one in series], [one.values for one in series], static=[[7.0, 8.0], [9.0, np.nan]]
    )
    np.testing.assert_array_equal(summarise(with_static)[:, 2:4], [[7.0, 8.0], [9.0, np.nan]])


def by_numpy(series: SeriesSet) -> np.ndarray:
    """All series at once, channel by channel, by sums of segments."""
    times = series.times - np.repeat(series.start, series.lengths)
    of_series = np.repeat(np.arange(len(series)), series.lengths)
    parts = [series.lengths[:, None].astype(np.float64), series.spans[:, None]]
    if series.static is not None:
        parts.append(series.static.astype(np.float64))
    late = times >= LATE * np.repeat(series.spans, series.lengths)
    for column in series.values.T.astype(np.float64):
        seen = ~np.isnan(column)
        whole, end = (
            _statistics(len(series), of_series[rows], times[rows], column[rows]) for rows in (seen, seen & late)
        )
        parts += [whole, (series.spans - whole[:, WHOLE.index("last time")])[:, None], end]
    return np.concatenate(parts, axis=1)


def _statistics(n: int, owner: np.ndarray, t: np.ndarray, x: np.ndarray) -> np.ndarray:
    count = np.bincount(owner, minlength=n)
    present = count > 0
    first = np.concatenate([[0], np.cumsum(count)])[:-1][present]
    table = np.full((n, len(WHOLE)), np.nan)
    table[:, 0] = count

    def total(values: np.ndarray) -> np.ndarray:
        return np.add.reduceat(values, first) if len(first) else np.zeros(0)

    size = count[present]
    mean, middle = total(x) / size, total(t) / size
    dx, dt = x - np.repeat(mean, size), t - np.repeat(middle, size)
    moment = total(dt * dt)
    steps = np.abs(np.diff(x, prepend=0.0))
    gaps = np.diff(t, prepend=0.0)
    steps[first] = gaps[first] = 0.0
    last = first + size - 1
    with np.errstate(invalid="ignore", divide="ignore"):
        columns = (
            mean,
            np.sqrt(total(dx * dx) / size),
            np.minimum.reduceat(x, first) if len(first) else mean,
            np.maximum.reduceat(x, first) if len(first) else mean,
            x[first],
            x[last],
            t[last],
            np.where(moment > 0, total(dx * dt) / moment, np.nan),
            np.where(size > 1, total(steps) / (size - 1), np.nan),
            np.maximum.reduceat(gaps, first) if len(first) else mean,
        )
    table[present, 1:] = np.stack(columns, axis=1)
    return table


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sums_have_the_bits_of_numpy_whatever_the_length(dtype: type) -> None:
    lengths = (1, 2, 7, 8, 9, 10, 16, 17, 40, 129, 130, 300, 1500)
    series = gappy_series(lengths=lengths, channels=3, missing=0.2, seed=5)
    series.values[series.offsets[5] : series.offsets[6], 1] = np.nan
    drawn = SeriesSet.from_arrays(
        [one.times for one in series], [one.values.astype(dtype) for one in series], start=0.0
    )
    np.testing.assert_array_equal(summarise(drawn), by_numpy(drawn))


def test_a_row_does_not_depend_on_threads_or_neighbours(monkeypatch: pytest.MonkeyPatch) -> None:
    series = gappy_series(lengths=(9, 1, 14, 3, 5), channels=2, seed=4)
    together = summarise(series)
    for k in range(len(series)):
        np.testing.assert_array_equal(summarise(series[[k]]), together[[k]])
    monkeypatch.setattr(kernels, "threads", lambda: 3)
    np.testing.assert_array_equal(summarise(series), together)
