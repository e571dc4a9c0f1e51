"""Attacks hit as many observations as they say, and nothing else."""

import numpy as np
import pytest

from denots.data.series import SeriesSet
from denots.experiments.attacks import attacked


@pytest.fixture
def series() -> SeriesSet:
    lengths = (7, 40, 101)
    return SeriesSet.from_arrays([np.arange(n) for n in lengths], [np.full((n, 2), 9.0) for n in lengths])


@pytest.mark.parametrize("fraction", [0.0, 0.1, 0.5, 0.95])
def test_each_channel_of_each_series_loses_its_share(series: SeriesSet, fraction: float) -> None:
    hit = attacked(series, "drop", fraction, seed=0)
    lost = np.add.reduceat(np.isnan(hit.values), series.offsets[:-1])
    assert lost.tolist() == [[int(fraction * n)] * 2 for n in series.lengths]
    np.testing.assert_array_equal(hit.times, series.times)
    assert not np.isnan(series.values).any()


def test_channels_are_hit_independently(series: SeriesSet) -> None:
    gone = np.isnan(attacked(series, "drop", 0.5, seed=0).values)
    assert (gone[:, 0] != gone[:, 1]).any()


def test_changed_values_are_standard_normal() -> None:
    series = SeriesSet.from_arrays([np.arange(20_000)], [np.full(20_000, 9.0)])
    values = attacked(series, "change", 0.5, seed=3).values[:, 0]
    changed = values[values != 9.0]
    assert len(changed) == 10_000
    assert abs(changed.mean()) < 0.04
    assert abs(changed.std() - 1) < 0.03


def test_every_position_is_as_likely(series: SeriesSet) -> None:
    hits = sum(np.isnan(attacked(series, "drop", 0.3, seed=s).values[:7, 0]).astype(int) for s in range(700))
    assert np.abs(hits / 700 - 2 / 7).max() < 0.08


def test_the_same_seed_hits_the_same(series: SeriesSet) -> None:
    first, second = (attacked(series, "change", 0.3, seed=5) for _ in range(2))
    assert first.same_as(second)
    assert not first.same_as(attacked(series, "change", 0.3, seed=6))
