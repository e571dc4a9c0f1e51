"""Paths against scipy, numpy and their own definitions."""

import numpy as np
import pytest
import torch
from scipy.interpolate import CubicHermiteSpline, CubicSpline

from denots.data import SeriesSet
from denots.errors import InvalidOption
from denots.paths import PATHS, CausalHermite, Linear, NaturalCubic, Rectilinear

from oracles import gappy_series, natural_spline

pytestmark = pytest.mark.usefixtures("double")


def sample(path, row: int, times: np.ndarray, derivative: bool = False) -> np.ndarray:
    read = path.derivative if derivative else path.value
    return read(torch.from_numpy(times), torch.full((len(times),), row)).numpy()


@pytest.mark.parametrize("missing", [0.0, 0.4, 0.9])
def test_natural_cubic_equals_scipy_channel_by_channel(missing: float) -> None:
    series = gappy_series(missing=missing)
    path = NaturalCubic.fit(series)
    for row, one in enumerate(series):
        times = np.linspace(-1.0, 6.0, 301)
        found = sample(path, row, times)
        for channel in range(3):
            expected = natural_spline(one.times, one.values[:, channel])(times)
            np.testing.assert_allclose(found[:, channel], expected, atol=1e-11)


def test_natural_cubic_slope_equals_scipy_inside_the_observed_range() -> None:
    series = gappy_series(missing=0.3, seed=3)
    path = NaturalCubic.fit(series)
    for row, one in enumerate(series):
        for channel in range(3):
            seen = ~np.isnan(one.values[:, channel])
            if seen.sum() < 2:
                continue
            spline = CubicSpline(one.times[seen], one.values[seen, channel], bc_type="natural")
            times = np.linspace(one.times[seen][0], one.times[seen][-1], 100)[1:-1]
            np.testing.assert_allclose(sample(path, row, times, True)[:, channel], spline(times, 1), atol=1e-9)


def test_causal_hermite_equals_scipy_with_backward_differences() -> None:
    series = gappy_series(missing=0.0)
    path = CausalHermite.fit(series)
    for row, one in enumerate(series):
        if len(one.times) < 2:
            continue
        steps = np.diff(one.values, axis=0) / np.diff(one.times)[:, None]
        oracle = CubicHermiteSpline(one.times, one.values, np.concatenate([steps[:1], steps]))
        times = np.linspace(one.times[0], one.times[-1], 200)
        np.testing.assert_allclose(sample(path, row, times), oracle(times), atol=1e-11)


@pytest.mark.parametrize("kind", [CausalHermite, Rectilinear])
def test_a_causal_path_does_not_change_when_later_values_do(kind) -> None:
    series = gappy_series(lengths=(20,), missing=0.0)
    changed = series.values.copy()
    changed[11:] += 5.0
    other = SeriesSet.from_arrays([series.times], [changed], start=0.0)
    times = np.linspace(0, series.times[10] - 1e-9, 100)
    np.testing.assert_array_equal(sample(kind.fit(series), 0, times), sample(kind.fit(other), 0, times))


def test_linear_equals_numpy_interp() -> None:
    series = gappy_series()
    path = Linear.fit(series)
    for row, one in enumerate(series):
        times = np.linspace(-1.0, 6.0, 301)
        found = sample(path, row, times)
        for channel in range(3):
            seen = ~np.isnan(one.values[:, channel])
            expected = np.interp(times, one.times[seen], one.values[seen, channel]) if seen.any() else 0 * times
            np.testing.assert_allclose(found[:, channel], expected, atol=1e-12)


def test_rectilinear_holds_each_value_until_the_next_is_observed() -> None:
    series = gappy_series()
    path = Rectilinear.fit(series)
    for row, one in enumerate(series):
        times = np.linspace(-1.0, 6.0, 301)
        found = sample(path, row, times)
        for channel in range(3):
            seen = ~np.isnan(one.values[:, channel])
            if not seen.any():
                continue
            latest = np.searchsorted(one.times[seen], times, side="right") - 1
            np.testing.assert_array_equal(found[:, channel], one.values[seen, channel][np.maximum(latest, 0)])


@pytest.mark.parametrize("name", PATHS)
def test_the_slope_is_the_limit_of_differences(name: str) -> None:
    series = gappy_series(missing=0.2, seed=5)
    path = PATHS[name].fit(series)
    rng = np.random.default_rng(0)
    for row, one in enumerate(series):
        times = rng.uniform(0.0, 6.0, 50)
        far = np.abs(times[:, None] - one.times).min(axis=1) > 1e-5
        times = times[far]
        step = 1e-6
        numeric = (sample(path, row, times + step) - sample(path, row, times - step)) / (2 * step)
        np.testing.assert_allclose(sample(path, row, times, True), numeric, atol=1e-6 * (1 + np.abs(numeric).max()))


@pytest.mark.parametrize("name", PATHS)
def test_a_series_alone_has_the_path_it_has_in_a_set_to_the_last_bit(name: str) -> None:
    series = gappy_series()
    together = PATHS[name].fit(series)
    for row in range(len(series)):
        alone, chosen = PATHS[name].fit(series.select([row])), together.select([row]).packed()
        for field in ("times", "values", "slopes", "t0", "t1", "present"):
            assert torch.equal(getattr(alone, field), getattr(chosen, field)), field


@pytest.mark.parametrize("name", PATHS)
def test_scaling_time_stretches_the_signal(name: str) -> None:
    path = PATHS[name].fit(gappy_series())
    slow = path.scale_time(7.0)
    times = torch.linspace(0, 5, 5)
    torch.testing.assert_close(slow.value(7.0 * times), path.value(times))
    torch.testing.assert_close(slow.derivative(7.0 * times), path.derivative(times) / 7.0)


def test_time_can_only_be_scaled_by_a_positive_number() -> None:
    with pytest.raises(InvalidOption, match="positive"):
        NaturalCubic.fit(gappy_series()).scale_time(0.0)


def test_one_observation_is_a_constant_and_none_is_zero_and_absent() -> None:
    values = np.array([[np.nan, 2.0, np.nan], [5.0, np.nan, np.nan]])
    path = NaturalCubic.fit(SeriesSet.from_arrays([[0.0, 1.0]], [values]))
    np.testing.assert_array_equal(sample(path, 0, np.linspace(-1, 2, 9)), np.tile([5.0, 2.0, 0.0], (9, 1)))
    assert path.present.tolist() == [[True, True, False]]


def test_dates_in_seconds_keep_their_resolution() -> None:
    grid, late = np.arange(30) / 8, 1.7e9
    values = np.random.default_rng(0).normal(size=(30, 2))
    early_path = NaturalCubic.fit(SeriesSet.from_arrays([grid], [values]), torch.float32)
    late_path = NaturalCubic.fit(SeriesSet.from_arrays([grid + late], [values]), torch.float32)
    times = np.arange(200) / 64
    np.testing.assert_array_equal(sample(late_path, 0, times + late), sample(early_path, 0, times))


def test_the_number_of_threads_changes_nothing() -> None:
    series = gappy_series(lengths=tuple(range(1, 60)))
    threads = torch.get_num_threads()
    try:
        torch.set_num_threads(1)
        one = NaturalCubic.fit(series)
        torch.set_num_threads(3)
        three = NaturalCubic.fit(series)
    finally:
        torch.set_num_threads(threads)
    assert torch.equal(one.slopes, three.slopes)
    assert torch.equal(one.values, three.values)
