"""Channels that cannot teach anything are mentioned before a model learns."""

import numpy as np
import pytest

from denots import SeriesRegressor
from denots.data import SeriesSet
from denots.data.remarks import check_magnitudes, remarks
from denots.errors import InvalidSeries


def test_empty_and_constant_channels_are_mentioned() -> None:
    values = np.array([[1.0, np.nan, 5.0], [2.0, np.nan, 5.0], [3.0, np.nan, np.nan]])
    static = [[1.0, np.nan], [1.0, np.nan]]
    series = SeriesSet.from_arrays(
        [[0.0, 1.0], [0.0]],
        [values[:2], values[2:]],
        channels=["hr", "ph", "site"],
        static=static,
        static_names=["a", "b"],
    )
    assert remarks(series) == [
        "1 of 3 channels have no observed value and cannot help: 'ph'.",
        "1 of 3 channels have one value throughout and cannot help: 'site'.",
        "1 of 2 static features have no observed value and cannot help: 'b'.",
        "1 of 2 static features have one value throughout and cannot help: 'a'.",
    ]


def test_an_ordinary_set_is_not_remarked_on() -> None:
    assert remarks(SeriesSet.from_numpy(np.random.default_rng(0).normal(size=(3, 2, 5)))) == []


def test_many_constant_channels_are_counted_not_listed() -> None:
    (line,) = remarks(SeriesSet.from_numpy(np.ones((2, 3000, 2))))
    assert line.startswith("3000 of 3000 channels have one value throughout")
    assert len(line) < 400


def test_a_value_whose_square_is_infinite_is_refused_by_name() -> None:
    series = SeriesSet.from_arrays(
        [[0.0, 1.0], [0.0, 2.0]], [[1.0, 2.0], [3.0, -1e300]], ids=["a", "b"], channels=["hr"]
    )
    check_magnitudes(series[:1])
    with pytest.raises(
        InvalidSeries, match=r"series 'b': channel 'hr' is -1e\+300 at time 2, beyond .*; repair or empty the cell"
    ):
        SeriesRegressor("summary").fit(series, [1.0, 2.0])
