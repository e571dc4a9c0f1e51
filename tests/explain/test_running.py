"""The running answer is the answer for the series cut short."""

import warnings
from dataclasses import replace

import numpy as np
import pytest

from denots import SeriesClassifier, SeriesRegressor, SeriesSet
from denots.explain import explain, running_answer
from denots.explain.running import MOST


def test_each_answer_is_that_of_the_series_cut_there(series: SeriesSet, regressor: SeriesRegressor) -> None:
    one = series[4:5]
    found = running_answer(regressor, series, "s4")
    np.testing.assert_array_equal(found.times, one.times)
    for k in range(len(one.times)):
        cut = replace(one, times=one.times[: k + 1], values=one.values[: k + 1], offsets=np.array([0, k + 1]))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert found.answers[k] == regressor.predict(cut)[0]


def test_it_ends_with_what_is_explained(series: SeriesSet, classifier: SeriesClassifier) -> None:
    for of in (None, "low"):
        found = running_answer(classifier, series, "s4", of=of)
        assert found.answers[-1] == pytest.approx(explain(classifier, series, "s4", of=of, pairs=1).answer, abs=1e-9)


def test_long_series_are_asked_at_some_times_up_to_the_last(regressor: SeriesRegressor) -> None:
    values = np.zeros((3 * MOST, 2))
    values[0] = np.nan
    long = SeriesSet.from_arrays(
        [np.arange(3.0 * MOST)], [values], channels=["told", "noise"], static=[[0.0]], static_names=["age"]
    )
    found = running_answer(regressor, long)
    assert len(found.times) == MOST
    assert found.times[[0, -1]].tolist() == [1.0, 3 * MOST - 1]
