"""Forecast problems against index lists written out by hand."""

import numpy as np
import pytest

from denots.data import SeriesSet
from denots.data.hide import hide_for_forecasting
from denots.datasets import load
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
        assert problem.at[i].tolist() == one.times[inside + beyond].tolist()
        assert problem.answers[i].tolist() == one.values[inside + beyond].tolist()
        assert problem.beyond[i].tolist() == [False] * len(inside) + [True] * len(beyond)


def test_the_visible_part_keeps_clock_ids_and_static_features() -> None:
    series = numbered(3, 8)
    visible = hide_for_forecasting(series).visible
    assert visible.start.tolist() == [-1.0] * 3
    assert visible.ids.tolist() == series.ids.tolist()
    assert visible.static.tolist() == series.static.tolist()


def test_shorter_series_are_filled_up_with_unanswered_questions_at_their_end() -> None:
    series = SeriesSet.from_arrays([[0, 1], [0, 1, 2, 3], [5]], [[1, 2], [1, 2, 3, 4], [7]])
    problem = hide_for_forecasting(series)
    assert problem.visible.lengths.tolist() == [1, 1, 1]
    assert problem.at.tolist() == [[1, 1, 1], [1, 2, 3], [5, 5, 5]]
    np.testing.assert_array_equal(problem.answers[..., 0], [[2, np.nan, np.nan], [2, 3, 4], [np.nan] * 3])
    assert problem.beyond.tolist() == [[True, False, False], [False, True, True], [False] * 3]


def test_series_that_would_show_nothing_are_left_out_with_a_warning() -> None:
    series = SeriesSet.from_arrays([[0, 1], [0, 1]], [[np.nan, 2], [1, 2]])
    with pytest.warns(UserWarning, match="1 series"):
        problem = hide_for_forecasting(series)
    assert problem.visible.ids.tolist() == [1]
    with pytest.raises(InvalidSeries, match="longer series"):
        hide_for_forecasting(series.select([0]))


@pytest.mark.parametrize(
    ("name", "counts"),
    [("pendulum-angles", (8, 8, 16)), ("pendulum-angles-regular", (8, 8, 16)), ("sine-2", (25, 25, 50))],
)
def test_the_forecasting_sets_have_the_published_counts(name: str, counts: tuple[int, int, int]) -> None:
    problem = hide_for_forecasting(load(name, size=(4, 1, 1)).splits.train)
    beyond = problem.beyond.sum(axis=1)
    inside = (~problem.beyond).sum(axis=1)
    assert (problem.visible.lengths == counts[0]).all()
    assert (inside == counts[1]).all()
    assert (beyond == counts[2]).all()
