"""Oscillators against scipy, and the promises of a transformer."""

from itertools import pairwise

import numpy as np
import pytest
import torch
from scipy.integrate import solve_ivp
from scipy.interpolate import CubicHermiteSpline
from sklearn.base import clone

from denots import kernels
from denots.data.series import SeriesSet
from denots.data.transforms import Standardiser
from denots.errors import InvalidOption
from denots.features import Oscillators
from denots.features.oscillators import draw_bank
from denots.inference.drive import Drive, Signals
from denots.paths import PATHS


def gappy(n: int = 12, channels: int = 3, seed: int = 0) -> SeriesSet:
    rng = np.random.default_rng(seed)
    times = [np.sort(rng.uniform(0, 5, rng.integers(4, 30))) for _ in range(n)]
    values = [np.sin(t[:, None] * np.arange(1, channels + 1)) + rng.normal(size=(len(t), channels)) for t in times]
    for table in values:
        table[1:][rng.random(table[1:].shape) < 0.3] = np.nan
    return SeriesSet.from_arrays(times, values)


def signals_of(series: SeriesSet, path: str) -> tuple[Signals, object]:
    """The signals of a drive that scales nothing, and the same curves as a path."""
    still = Standardiser(np.zeros(3), np.ones(3))
    drive = Drive(still, counted=False, timed=False, start=np.nan, end=np.nan, span=1.0)
    return drive.signals(series, path), PATHS[path].fit(series, torch.float32).packed()


@pytest.mark.parametrize("path", ["linear", "natural-cubic"])
def test_every_output_is_what_scipy_integrates(path: str) -> None:
    series = gappy(2)
    signals, curve = signals_of(series, path)
    bank = draw_bank(np.random.default_rng(1), 40, 3, span=4.0, steps=40)
    level = np.zeros((1, 40), np.float32)
    window = np.array([[0.25], [0.75]], np.float32)
    found = kernels.pool_oscillators(
        pieces=2000, **signals._asdict(), **bank._replace(threshold=level, window=window)._asdict()
    )
    for row in range(2):
        first, last = signals.times[signals.begins[row]], signals.times[signals.ends[row] - 1]
        grid = np.linspace(first, last, 4001)
        for o in (0, 39):
            y = reference(bank, o, curve, row, grid)
            assert found.highest[row, o] == pytest.approx(y.max(), abs=1e-2 * np.abs(y).max())
            assert found.lowest[row, o] == pytest.approx(y.min(), abs=1e-2 * np.abs(y).max())
            assert found.mean[row, o] == pytest.approx(
                np.trapezoid(y, grid) / (last - first), abs=2e-3 * np.abs(y).max()
            )
            end = y[-1] if o < bank.forward else y[0]
            assert found.last[row, o] == pytest.approx(end, abs=2e-3 * np.abs(y).max())
            when = y.argmax() / 4000 if o < bank.forward else 1 - y.argmax() / 4000
            assert found.when_highest[row, o] == pytest.approx(when, abs=0.01)
            inner = y[1000:3001]
            assert found.shares[row, 0, o] == pytest.approx((inner > 0).mean(), abs=5e-3)
            assert found.excess[row, 0, o] == pytest.approx(np.maximum(inner, 0).mean(), abs=5e-3 * np.abs(y).max())


def reference(bank, o: int, curve, row: int, grid: np.ndarray) -> np.ndarray:
    """The output of one oscillator on the grid, by an adaptive solver that knows no closed form."""
    forward = o < bank.forward
    first, last = grid[0], grid[-1]
    pace = 1 / (last - first) if bank.relative[o] else 1.0
    rate, frequency = bank.rate[o] * pace, bank.frequency[o] * pace
    terms = bank.used[o]
    channels = bank.channel[:terms, o]
    knots, values, slopes = (
        part[curve.begin[row] : curve.end[row]].double().numpy() for part in (curve.times, curve.values, curve.slopes)
    )

    cuts = np.unique(knots)
    grids = [grid[(grid >= low) & (grid <= high)] for low, high in pairwise(cuts)]
    sign = 1 if forward else -1
    state, y = None, np.empty(len(grid))
    for low, high, inner in list(zip(cuts[:-1], cuts[1:], grids, strict=True))[::sign]:
        k = int(np.searchsorted(knots, low, side="right")) - 1
        piece = CubicHermiteSpline(knots[k : k + 2], values[k : k + 2, channels], slopes[k : k + 2, channels])
        begin, end = (low, high) if forward else (high, low)
        if state is None:
            rest = -pace * complex(piece(begin) @ bank.value_weight[:terms, o]) / complex(-rate, frequency)
            state = [rest.real, rest.imag]

        def slope(t: float, z: np.ndarray, piece: CubicHermiteSpline = piece) -> list[float]:
            drive = pace * piece(t) @ bank.value_weight[:terms, o]
            drive += sign * piece(t, 1) @ bank.slope_weight[:terms, o]
            return [sign * (-rate * z[0] - frequency * z[1] + drive), sign * (frequency * z[0] - rate * z[1])]

        times = np.concatenate([inner[::sign], [end]])
        solved = solve_ivp(slope, (begin, end), state, rtol=1e-6, atol=1e-8, dense_output=True).sol(times)
        state = solved[:, -1]
        y[np.searchsorted(grid, inner[::sign])] = (bank.cosine[o] * solved[0] - bank.sine[o] * solved[1])[:-1]
    return y


def test_a_row_is_the_same_alone_in_any_company_and_with_any_number_of_threads() -> None:
    series = gappy(40)
    features = Oscillators(100).fit(series)
    whole = features.transform(series)
    assert whole.shape == (40, 500)
    assert np.array_equal(features.transform(series.select([7])), whole[[7]])
    threads = torch.get_num_threads()
    try:
        torch.set_num_threads(3)
        assert np.array_equal(features.transform(series), whole)
    finally:
        torch.set_num_threads(threads)


@pytest.mark.parametrize("target", kernels.targets())
def test_every_cpu_target_says_the_same(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    series = gappy(10)
    features = Oscillators(48).fit(series)
    plain = features.transform(series)
    monkeypatch.setenv("DENOTS_TARGET", target)
    np.testing.assert_allclose(features.transform(series), plain, atol=2e-3)


def test_shares_are_shares_and_thresholds_divide_the_time_of_training_series() -> None:
    found = Oscillators(200).fit_transform(gappy(60))
    assert 0 <= found.min() <= found.max() <= 1 + 1e-5
    assert 0.4 < found.mean() < 0.6  # random quantiles leave half of the time above them


def test_the_seed_decides_the_bank_and_nothing_else_does() -> None:
    series = gappy()
    first = Oscillators(32, random_state=3).fit(series)
    assert np.array_equal(clone(first).fit(series).transform(series), first.transform(series))
    assert not np.array_equal(Oscillators(32, random_state=4).fit_transform(series), first.transform(series))


def test_what_was_learnt_goes_through_arrays_and_back() -> None:
    series = gappy()
    fitted = Oscillators(32, timed=True).fit(series)
    again = Oscillators(32, timed=True).restore(fitted.state())
    assert np.array_equal(again.transform(series), fitted.transform(series))
    assert len(fitted.get_feature_names_out()) == fitted.transform(series).shape[1]
    with pytest.raises(ValueError, match="expected 5 thresholds of 33"):
        Oscillators(33).restore(fitted.state())


def test_one_observation_and_a_long_silence_are_no_trouble() -> None:
    series = SeriesSet.from_arrays([[0.0], [0.0, 1e6], np.arange(50.0)], [[1.0], [0.0, 1.0], np.sin(np.arange(50.0))])
    assert np.isfinite(Oscillators(64).fit_transform(series)).all()


def test_too_many_thresholds_are_refused() -> None:
    with pytest.raises(InvalidOption, match="1 to 8; got 9"):
        Oscillators(16, 9).fit(gappy())


class TestDrive:
    def test_series_that_share_a_clock_are_held_from_its_start_to_its_end(self) -> None:
        series = SeriesSet.from_arrays([[1.0, 9.0], [0.0, 10.0], [2.0, 8.0]], [[1.0, 2.0], [3.0, 5.0], [4.0, 6.0]])
        path = Drive.fit(series).curve(series, "linear")
        assert path.times[path.begin].tolist() == [0.0, 0.0, 0.0]
        assert path.times[path.end - 1].tolist() == [10.0, 10.0, 10.0]
        scaled = (np.array([1.0, 3.0, 4.0]) - 3.5) / np.std([1.0, 2, 3, 5, 4, 6])
        np.testing.assert_allclose(path.values_at(np.zeros((3, 1)))[:, 0, 0], scaled, rtol=1e-5)

    def test_series_of_many_lengths_keep_their_own_ends(self) -> None:
        series = SeriesSet.from_arrays([[0.0, 2.0], [0.0, 10.0], [0.0, 5.0]], [[1.0, 2.0], [3.0, 5.0], [4.0, 6.0]])
        path = Drive.fit(series).curve(series, "linear")
        assert path.times[path.end - 1].tolist() == [2.0, 10.0, 5.0]

    def test_holes_add_the_count_of_observations(self) -> None:
        whole = SeriesSet.from_arrays([[0.0, 1.0, 2.0]] * 2, [[1.0, 2.0, 4.0], [2.0, 3.0, 9.0]])
        holes = SeriesSet.from_arrays(
            [[0.0, 1.0, 2.0]] * 2, [[[1.0, 1.0], [2.0, np.nan], [4.0, 2.0]], [[2.0, 2.0], [3.0, 1.0], [9.0, 2.0]]]
        )
        assert Drive.fit(whole).curve(whole, "linear").values.shape[1] == 1
        assert Drive.fit(holes).curve(holes, "linear").values.shape[1] == 4
