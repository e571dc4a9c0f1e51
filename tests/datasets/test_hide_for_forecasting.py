"""Forecast problems against index lists written out by hand."""

import numpy as np
import pytest

from denots.data import SeriesSet
from denots.datasets import hide_for_forecasting, load
from denots.errors import InvalidSeries


def numbered(n: int, length: int) -> SeriesSet:
    values = np.arange(n * length * 2, dtype=np.float32).reshape(n, 2, length)
    return SeriesSet.from_numpy(values, np.cumsum(np.ones((n, length)), axis=1), start=-1.0, static=np.arange(float(n)))


@pytest.mark.parametrize(
    ("length", "seen", "inside", "beyond"),
    [
        (2, [0], [], [1]),
        (5, [0], [1], [2, 3, 4]),
        (8, [0, 2], [1, 3], [4, 5, 6, 7]),
        (32, list(range(0, 16, 2)), list(range(1, 16, 2)), list(range(16, 32))),
        (100, list(range(0, 50, 2)), list(range(1, 50, 2)), list(range(50, 100))),
    ],
)
def test_every_point_is_either_seen_or_asked(
    length: int, seen: list[int], inside: list[int], beyond: list[int]
) -> None:
    series = numbered(3, length)
    problem = hide_for_forecasting(series)
    for i, one in enumerate(series):
        assert problem.visible[i].times.tolist() == one.times[seen].tolist()
        assert problem.visible[i].values.tolist() == one.values[seen].tolist()
        assert problem.queries[i].tolist() == one.times[inside + beyond].tolist()
        assert problem.answers[i].tolist() == one.values[inside + beyond].tolist()
        assert problem.is_extrapolation[i].tolist() == [False] * len(inside) + [True] * len(beyond)


def test_the_visible_part_keeps_clock_ids_and_static_features() -> None:
    series = numbered(3, 8)
    visible = hide_for_forecasting(series).visible
    assert visible.start.tolist() == [-1.0] * 3
    assert visible.ids.tolist() == series.ids.tolist()
    assert visible.static.tolist() == series.static.tolist()


def test_series_of_unequal_length_are_named() -> None:
    series = SeriesSet.from_arrays([[0, 1], [0, 1, 2]], [[1, 2], [1, 2, 3]], ids=["ann", "bob"])
    with pytest.raises(InvalidSeries, match="'bob' has 3 observations but series 'ann' has 2"):
        hide_for_forecasting(series)


def test_one_observation_is_too_few() -> None:
    with pytest.raises(InvalidSeries, match="at least 2"):
        hide_for_forecasting(SeriesSet.from_arrays([[0.0]], [[1.0]]))


@pytest.mark.parametrize(
    ("name", "counts"),
    [("pendulum-angles", (8, 8, 16)), ("pendulum-angles-regular", (8, 8, 16)), ("sine-2", (25, 25, 50))],
)
def test_the_forecasting_sets_have_the_published_counts(
    name: str, counts: tuple[int, int, int], tmp_path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DENOTS_HOME", str(tmp_path))
    problem = hide_for_forecasting(load(name, size=(4, 1, 1)).splits.train)
    beyond = problem.is_extrapolation.sum(axis=1)
    inside = (~problem.is_extrapolation).sum(axis=1)
    assert (problem.visible.lengths == counts[0]).all()
    assert (inside == counts[1]).all()
    assert (beyond == counts[2]).all()
