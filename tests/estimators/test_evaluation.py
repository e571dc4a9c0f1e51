"""Estimators on series with known answers: groups and rows, from Python."""

import numpy as np
import pytest

from denots.data.series import SeriesSet
from denots.errors import InvalidOption, InvalidTarget, SkippedSeries, UnknownName, UnusualSeries
from denots.estimators import SeriesClassifier, SeriesForecaster, SeriesRegressor
from denots.estimators.subgroups import Grouping
from wave_series import waves


@pytest.fixture(scope="module")
def aged() -> SeriesSet:
    series = waves(60)
    rng = np.random.default_rng(0)
    static = np.column_stack([rng.uniform(20, 80, 60), rng.integers(0, 2, 60).astype(float)])
    static[5, 1] = np.nan
    return SeriesSet.from_arrays(
        [one.times for one in series],
        [one.values for one in series],
        target=series.target,
        static=static,
        static_names=["age", "sex"],
    )


@pytest.fixture(scope="module")
def fitted(aged: SeriesSet) -> SeriesRegressor:
    return SeriesRegressor("summary").fit(aged)


def test_static_features_and_own_labels_make_groups(fitted: SeriesRegressor, aged: SeriesSet) -> None:
    found = fitted.evaluate(aged, by="sex").groups
    assert list(found) == ["0", "1", "missing"]
    males = np.flatnonzero(aged.static[:, 1] == 1)
    assert found["1"].metrics["MAE"].model == pytest.approx(
        np.abs(fitted.predict(aged.select(males)) - aged.target[males]).mean()
    )
    half = np.array(["first"] * 30 + ["second"] * 30)
    assert {name: one.series for name, one in fitted.evaluate(aged, by=half).groups.items()} == {
        "first": 30,
        "second": 30,
    }


def test_numbers_with_many_values_make_quarters(fitted: SeriesRegressor, aged: SeriesSet) -> None:
    found = fitted.evaluate(aged, by="age", confidence=None).groups
    assert [one.series for one in found.values()] == [15] * 4
    means = [
        aged.static[rows, 0].mean()
        for rows in Grouping.of(aged.static[:, 0], "age").members(aged.static[:, 0]).values()
    ]
    assert means == sorted(means)
    assert all(np.isnan(one.metrics["R2"].low) for one in found.values())


def test_a_group_has_the_same_name_in_another_set() -> None:
    ages = np.arange(100.0)
    grouping = Grouping.of(ages, "age")
    np.testing.assert_array_equal(grouping.labels(ages[[3, 60]]), grouping.labels(ages)[[3, 60]])
    assert grouping.labels(np.array([-1e9, np.nan, 24.75, 24.76])).tolist() == [
        "up to 24.75",
        "missing",
        "up to 24.75",
        "24.75 to 49.5",
    ]


def test_groups_of_numbers_stand_in_ascending_order(fitted: SeriesRegressor, aged: SeriesSet) -> None:
    ward = np.array([9, 100, 20] * 20)
    assert list(fitted.evaluate(aged, by=ward, confidence=None).groups) == ["9", "20", "100"]


def test_series_of_an_unknown_class_are_left_out_by_name_and_the_others_judged() -> None:
    series = waves(60)
    known = np.where(series.target > np.median(series.target), "high", "low")
    model = SeriesClassifier("summary").fit(series, known)
    truth = np.array(["other", *known[1:]])
    with pytest.warns(SkippedSeries, match="1 of 60 series are left out.*class 'other'"):
        found = model.evaluate(series, truth, by=np.arange(60) % 2, confidence=None)
    alone = model.evaluate(series.select(np.arange(1, 60)), known[1:], confidence=None)
    assert found.metrics["log loss"] == pytest.approx(alone.metrics["log loss"], nan_ok=True)
    assert [group.series for group in found.groups.values()] == [29, 30]
    assert found.rows["status"][0].startswith("not judged: series 'w0': ")
    with pytest.raises(InvalidTarget, match="does not know"):
        model.evaluate(series, np.full(60, "other"))


def test_groups_that_are_none_are_refused(fitted: SeriesRegressor, aged: SeriesSet) -> None:
    with pytest.raises(UnknownName, match="age"):
        fitted.evaluate(aged, by="aeg")
    with pytest.raises(InvalidOption, match=r"shape \(3,\) cannot group 60 series"):
        fitted.evaluate(aged, by=[1, 2, 3])
    with pytest.raises(InvalidOption, match="60 different values"):
        fitted.evaluate(aged, by=[f"name {k}" for k in range(60)])


def test_rows_have_the_error_of_each_series(fitted: SeriesRegressor, aged: SeriesSet) -> None:
    rows = fitted.evaluate(aged).rows
    assert list(rows) == ["id", "truth", "answer", "error", "status"]
    np.testing.assert_allclose(rows["error"], fitted.predict(aged) - aged.target)


def test_what_is_hidden_to_be_asked_for_makes_no_series_unusual() -> None:
    rng = np.random.default_rng(0)
    times = [np.sort(rng.uniform(0, 40, rng.integers(3, 9))) for _ in range(40)]
    series = SeriesSet.from_arrays(times, [np.sin(each) for each in times])
    model = SeriesForecaster("hold", random_state=0).fit(series)
    status = model.evaluate(series, confidence=None).rows["status"]
    assert not any(words.startswith("unusual") for words in status)
    model.score(series)
    wild = SeriesSet.from_arrays([1000 * each for each in times], [np.sin(each) for each in times])
    with pytest.warns(UnusualSeries, match=r"another unit of time, seconds and milliseconds\?"):
        model.evaluate(wild, confidence=None)
