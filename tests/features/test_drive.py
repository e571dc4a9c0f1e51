"""What drives features, against pandas."""

import numpy as np
import pandas as pd
import pytest

from denots import kernels
from denots.competition.gaps import drop_steps
from denots.data.series import SeriesSet
from denots.data.transforms import Standardiser
from denots.inference.drive import Drive


def ragged(dtype: type = np.float64) -> SeriesSet:
    rng = np.random.default_rng(3)
    times = [np.sort(rng.uniform(0, 9, length)) for length in (1, 2, 7, 30)]
    values = [rng.normal(5, 2, size=(len(t), 3)).astype(dtype) for t in times]
    for table in values:
        table[rng.random(table.shape) < 0.4] = np.nan
        table[0, 0] = 1.0
    return SeriesSet.from_arrays(times, values)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("counted", "timed"), [(False, False), (True, False), (False, True), (True, True)])
@pytest.mark.parametrize(("start", "end"), [(np.nan, np.nan), (0.0, np.nan), (0.0, 9.0), (4.0, 5.0)])
def test_rows_are_scaled_counted_timed_and_filled_as_pandas_does_it(
    dtype: type, counted: bool, timed: bool, start: float, end: float
) -> None:
    series = ragged(dtype)
    columns = 3 * (1 + counted) + timed
    scale = Standardiser(np.linspace(1, 2, columns), np.linspace(0.5, 3, columns))
    drive = Drive(scale, counted=counted, timed=timed, start=start, end=end, span=1.0)
    signals = drive.signals(series, "linear")
    for one, begin, last in zip(series, signals.begins, signals.ends, strict=True):
        frame = pd.DataFrame(one.values, index=one.times)
        parts = [frame, *([frame.notna().cumsum()] if counted else []), *([frame.index.to_series()] if timed else [])]
        wanted = (pd.concat(parts, axis=1).astype(dtype) - scale.centre) / scale.scale
        grid = [start] * int(one.times[0] > start) + [end] * int(one.times[-1] < end)
        wanted = wanted.reindex(np.sort(np.concatenate([one.times, grid]))).astype(np.float32)
        wanted = wanted.interpolate("index").ffill().bfill().fillna(0.0)
        np.testing.assert_array_equal(signals.times[begin:last], wanted.index)
        np.testing.assert_allclose(signals.values[begin:last], wanted, rtol=2e-6, atol=2e-6)


def test_rows_do_not_depend_on_threads_or_neighbours(monkeypatch: pytest.MonkeyPatch) -> None:
    series = ragged()
    drive = Drive.fit(series, timed=True)
    together = drive.signals(series, "linear")
    for k in range(len(series)):
        alone = drive.signals(series[[k]], "linear")
        np.testing.assert_array_equal(alone.values, together.values[together.begins[k] : together.ends[k]])
    monkeypatch.setattr(kernels, "threads", lambda: 3)
    np.testing.assert_array_equal(drive.signals(series, "linear").values, together.values)


def test_the_curve_of_a_series_starts_where_it_starts_whatever_its_neighbours_do() -> None:
    late = SeriesSet.from_arrays([[2.0, 3.0], [5.0, 6.0]], [[[1.0], [2.0]], [[3.0], [4.0]]], start=[0.0, 4.0])
    drive = Drive(Standardiser(np.zeros(1), np.ones(1)), counted=False, timed=False, start=3.0, end=np.nan, span=1.0)
    assert drive.curve(late, "natural-cubic").t0.tolist() == [2.0, 3.0]
    assert drive.curve(late[[0]], "natural-cubic").t0.tolist() == [2.0]


@pytest.mark.parametrize("seed", range(20))
def test_rows_lost_at_random_do_not_hide_the_clock_of_short_series(seed: int) -> None:
    whole = SeriesSet.from_numpy(np.zeros((60, 1, 24)))
    drive = Drive.fit(drop_steps(whole, 0.5, np.random.default_rng(seed)))
    assert (drive.start, drive.end) == (0.0, 23.0)


def test_series_that_begin_or_end_at_times_of_their_own_have_no_common_clock() -> None:
    rng = np.random.default_rng(0)
    starts, lengths = rng.uniform(0, 60, 40), rng.integers(8, 40, 40)
    own = Drive.fit(
        SeriesSet.from_arrays(
            [s + np.arange(n) for s, n in zip(starts, lengths, strict=True)], [np.zeros(n) for n in lengths]
        )
    )
    assert np.isnan([own.start, own.end]).all()
    ragged = Drive.fit(SeriesSet.from_arrays([np.arange(float(n)) for n in lengths], [np.zeros(n) for n in lengths]))
    assert ragged.start == 0
    assert np.isnan(ragged.end)
