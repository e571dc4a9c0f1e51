"""What-if answers are the predictions for the changed series."""

from dataclasses import replace

import numpy as np
import pytest

from denots import SeriesClassifier, SeriesRegressor, SeriesSet
from denots.errors import InvalidOption, UnknownName
from denots.explain import what_if


def test_the_answers_are_those_of_the_changed_series(series: SeriesSet, regressor: SeriesRegressor) -> None:
    one = series[3:4]
    time = float(one.times[0])
    values = one.values.copy()
    values[0, 0] = 0.25
    values[0, 1] = np.nan
    expected = regressor.predict(replace(one, values=values, static=np.array([[0.5]])))[0]
    found = what_if(
        regressor, series, "s3", drop=[("noise", time)], change={("told", time): 0.25, "age": 0.5}
    ).set_index("series")["prediction"]
    assert found["as it is"] == regressor.predict(one)[0]
    assert found["changed"] == expected


def test_a_channel_goes_by_its_name_and_rows_without_values_are_gone(
    series: SeriesSet, classifier: SeriesClassifier
) -> None:
    one = series[3:4]
    table = what_if(classifier, one, drop=["told"])
    values = one.values.copy()
    values[:, 0] = np.nan
    left = ~np.isnan(values[:, 1])
    shorter = replace(one, times=one.times[left], values=values[left], offsets=np.array([0, left.sum()]))
    assert table["p_high"][1] == classifier.predict_proba(shorter)[0, 0]
    assert table["p_high"][0] == classifier.predict_proba(one)[0, 0]


def test_places_that_are_not_there_are_named(series: SeriesSet, regressor: SeriesRegressor) -> None:
    with pytest.raises(InvalidOption, match=r"series 's3' has no observation \('told', 99\); 'told' was observed at: "):
        what_if(regressor, series, "s3", drop=[("told", 99)])
    with pytest.raises(UnknownName, match=r"unknown channel or static feature 'tolt'\. Did you mean 'told'"):
        what_if(regressor, series, "s3", drop=["tolt"])
    with pytest.raises(InvalidOption, match="nothing would be left of series 's3'"):
        what_if(regressor, series, "s3", drop=["told", "noise"])
    with pytest.raises(InvalidOption, match="nothing changes"):
        what_if(regressor, series, "s3")
    with pytest.raises(InvalidOption, match="'age' cannot become nan"):
        what_if(regressor, series, "s3", change={"age": np.nan})
