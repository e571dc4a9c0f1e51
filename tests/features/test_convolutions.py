"""Convolutions against NumPy, grids against numpy.interp, and the promises of a transformer."""

import numpy as np
import pytest
import torch
from sklearn.base import clone

from denots import kernels
from denots.competition.gaps import drop_steps
from denots.data.series import SeriesSet
from denots.errors import InvalidOption
from denots.features import Convolutions
from denots.features.convolutions import draw_filters, set_thresholds
from denots.inference.even_grid import EvenGrid


def gappy(n: int = 12, channels: int = 3, seed: int = 0) -> SeriesSet:
    rng = np.random.default_rng(seed)
    times = [np.sort(rng.uniform(0, 5, rng.integers(4, 40))) for _ in range(n)]
    values = [np.sin(t[:, None] * np.arange(1, channels + 1)) + rng.normal(size=(len(t), channels)) for t in times]
    for table in values:
        table[1:][rng.random(table[1:].shape) < 0.3] = np.nan
    return SeriesSet.from_arrays(times, values)


@pytest.mark.parametrize("points", [10, 17, 64, 131])
def test_shares_are_those_of_convolutions_by_numpy(points: int) -> None:
    rng = np.random.default_rng(points)
    grid = rng.normal(size=(5, 4, points)).astype(np.float32)
    bank = set_thresholds(draw_filters(rng, 90, grid), grid, 3, rng)
    found = np.empty((5, 3, 90), np.float32)
    kernels.convolution_shares(grid=grid, **bank._asdict(), shares=found)
    for f in range(90):
        kernel = np.full((9,), -1.0)
        kernel[bank.places[:, f]] = 2.0
        spread = np.zeros(8 * bank.dilation[f] + 1)
        spread[:: bank.dilation[f]] = kernel
        for row in range(5):
            signal = sum(
                float(bank.weight[k, f]) * grid[row, bank.channel[k, f]].astype(np.float64) for k in range(bank.used[f])
            )
            signal = np.diff(signal) if bank.difference[f] else signal
            ends = 4 * bank.dilation[f]
            signal = np.pad(signal, ends) if bank.padded[f] else signal
            output = np.correlate(signal, spread, mode="valid")
            near = np.abs(output[:, None] - bank.threshold[:, f]) < 1e-4  # rounding may decide those either way
            above = output[:, None] > bank.threshold[:, f]
            assert (found[row, :, f] >= (above & ~near).mean(axis=0) - 1e-6).all()
            assert (found[row, :, f] <= (above | near).mean(axis=0) + 1e-6).all()


def test_thresholds_divide_what_filters_say() -> None:
    found = Convolutions(200).fit_transform(gappy(60))
    assert found.shape == (60, 1000)
    assert 0 <= found.min() <= found.max() <= 1
    assert 0.4 < found.mean() < 0.6


def test_a_grid_is_what_numpy_interpolates() -> None:
    series = gappy(6)
    grid = EvenGrid.fit(series, 10, 1024)
    found = grid.read(series)
    for row, one in enumerate(series):
        begin = one.times[0] if np.isnan(grid.drive.start) else grid.drive.start
        end = one.times[-1] if np.isnan(grid.drive.end) else grid.drive.end
        at = np.linspace(begin, end, grid.points)
        for c in range(3):
            seen = ~np.isnan(one.values[:, c])
            scaled = (one.values[seen, c] - grid.drive.scale.centre[c]) / grid.drive.scale.scale[c]
            np.testing.assert_allclose(found[row, c], np.interp(at, one.times[seen], scaled), atol=1e-4)


@pytest.mark.parametrize("share", [0.0, 0.3, 0.5, 0.7])
def test_a_grid_is_that_of_the_rows_before_some_were_lost(share: float) -> None:
    whole = SeriesSet.from_numpy(np.random.default_rng(0).normal(size=(50, 2, 97)))
    lost = drop_steps(whole, share, np.random.default_rng(1))
    assert EvenGrid.fit(lost, 10, 1024).points == pytest.approx(97, abs=1)


def test_a_burst_of_rows_does_not_make_the_whole_grid_fine() -> None:
    times = [np.concatenate([np.arange(20) * 1e-6, 1.0 + np.arange(20.0)]) for _ in range(8)]
    series = SeriesSet.from_arrays(times, [np.sin(t) for t in times])
    assert EvenGrid.fit(series, 10, 10**6).points <= 4 * 40 + 1


def test_a_row_is_the_same_alone_in_any_company_and_with_any_number_of_threads() -> None:
    series = gappy(40)
    features = Convolutions(100).fit(series)
    whole = features.transform(series)
    assert np.array_equal(features.transform(series.select([7])), whole[[7]])
    threads = torch.get_num_threads()
    try:
        torch.set_num_threads(3)
        assert np.array_equal(features.transform(series), whole)
    finally:
        torch.set_num_threads(threads)


@pytest.mark.parametrize("target", kernels.targets())
def test_every_cpu_target_gives_the_same_bits(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    series = gappy(10)
    features = Convolutions(96).fit(series)
    plain = features.transform(series)
    monkeypatch.setenv("DENOTS_TARGET", target)
    assert np.array_equal(features.transform(series), plain)


def test_the_seed_decides_the_filters_and_what_was_learnt_goes_through_arrays_and_back() -> None:
    series = gappy()
    first = Convolutions(32, random_state=3).fit(series)
    assert np.array_equal(clone(first).fit(series).transform(series), first.transform(series))
    assert not np.array_equal(Convolutions(32, random_state=4).fit_transform(series), first.transform(series))
    again = Convolutions(32).restore(first.state())
    assert np.array_equal(again.transform(series), first.transform(series))
    assert len(first.get_feature_names_out()) == first.transform(series).shape[1]
    with pytest.raises(ValueError, match="expected 5 thresholds of 33"):
        Convolutions(33).restore(first.state())


def test_one_observation_and_a_long_silence_are_no_trouble() -> None:
    series = SeriesSet.from_arrays([[0.0], [0.0, 1e6], np.arange(50.0)], [[1.0], [0.0, 1.0], np.sin(np.arange(50.0))])
    assert np.isfinite(Convolutions(32).fit_transform(series)).all()
    alone = SeriesSet.from_arrays([[0.0], [3.0]], [[1.0], [2.0]])
    assert np.isfinite(Convolutions(32).fit_transform(alone)).all()


def test_arrays_that_do_not_fit_together_and_odd_numbers_are_refused() -> None:
    series = gappy()
    state = Convolutions(32).fit(series).state()
    for name, bad, match in (
        ("dilation", np.full(32, 10**6, np.int32), "fit into the grid"),
        ("places", np.full((3, 32), 9, np.int32), "below 9"),
        ("channel", np.full_like(state["channel"], 99), "no such channel"),
        ("padded", np.full(32, 2, np.int32), "0 or 1"),
    ):
        with pytest.raises(ValueError, match=match):
            Convolutions(32).restore({**state, name: bad}).transform(series)
    with pytest.raises(ValueError, match="not 9999"):
        Convolutions(32).restore({**state, "points": np.array(9999)})
    with pytest.raises(InvalidOption, match="filters must be at least 1"):
        Convolutions(0).fit(series)
