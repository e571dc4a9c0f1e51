"""Remarks on a training set, and the targets that no model can learn in single precision."""

import numpy as np
import pytest

from denots.data import SeriesSet
from denots.data.remarks import remarks
from denots.data.validate import check_target_scale
from denots.errors import InvalidTarget


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


@pytest.mark.parametrize(
    ("target", "words"),
    [([0.0, 1e200], "reaches 1e\\+200"), ([1.0, 1.0 + 1e-14], "lost in rounding"), ([0.0, 1e-200], "too small")],
)
def test_targets_that_cannot_be_standardised_are_refused(target: list[float], words: str) -> None:
    with pytest.raises(InvalidTarget, match=words):
        check_target_scale(np.array(target)[:, None])


@pytest.mark.parametrize("target", [[0.0, 1.0], [1e9, 1e9 + 1], [-1e20, 1e20], [1e-20, 2e-20], [0.0, 0.0]])
def test_ordinary_targets_pass(target: list[float]) -> None:
    check_target_scale(np.array(target)[:, None])
