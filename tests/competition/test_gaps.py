"""Gaps take away as many steps as asked, at random, and change nothing else."""

import numpy as np
import pytest

from denots.competition.gaps import drop_steps
from denots.data.series import SeriesSet


def ragged(lengths: list[int]) -> SeriesSet:
    rng = np.random.default_rng(0)
    times = [np.cumsum(rng.uniform(0.1, 2, n)) for n in lengths]
    return SeriesSet.from_arrays(times, [rng.normal(size=(n, 2)) for n in lengths], target=np.arange(len(lengths)))


@pytest.mark.parametrize("share", [0.0, 0.3, 0.5, 0.8, 0.99])
def test_each_series_keeps_the_share_that_is_left_and_at_least_two_steps(share: float) -> None:
    full = ragged([40, 7, 2, 1, 100])
    gappy = drop_steps(full, share, np.random.default_rng(1))
    expected = [max(n - int(share * n), min(n, 2)) for n in (40, 7, 2, 1, 100)]
    assert gappy.lengths.tolist() == expected
    for whole, left in zip(full, gappy, strict=True):
        position = np.searchsorted(whole.times, left.times)
        np.testing.assert_array_equal(whole.times[position], left.times)
        np.testing.assert_array_equal(whole.values[position], left.values)
    np.testing.assert_array_equal(gappy.start, [one.times[0] for one in gappy])
    np.testing.assert_array_equal(gappy.target, full.target)


def test_every_step_is_dropped_equally_often() -> None:
    full = SeriesSet.from_numpy(np.zeros((4000, 1, 10)))
    gappy = drop_steps(full, 0.5, np.random.default_rng(2))
    assert np.bincount(gappy.times.astype(int)) / 4000 == pytest.approx(0.5, abs=0.04)


def test_a_larger_share_drops_the_same_steps_and_further_ones() -> None:
    full = ragged([50, 20])
    few, many = (drop_steps(full, share, np.random.default_rng(3)) for share in (0.3, 0.8))
    for left, fewer in zip(few, many, strict=True):
        assert set(fewer.times) < set(left.times)


def test_rows_without_a_value_are_no_steps() -> None:
    values = np.ones((12, 1))
    values[3:9] = np.nan
    gappy = drop_steps(SeriesSet.from_arrays([np.arange(12)], [values]), 0.9, np.random.default_rng(4))
    assert np.isnan(gappy.values).sum() == 6
    assert (~np.isnan(gappy.values)).sum() == 2
