"""Summary features, against numpy one series at a time."""

import numpy as np

from denots.data.summary import WHOLE, summarise

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
