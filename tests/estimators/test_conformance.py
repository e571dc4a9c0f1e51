"""The suite of scikit-learn for estimators, and its tools around ours."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.exceptions import DataConversionWarning
from sklearn.model_selection import GridSearchCV, cross_val_score, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import check_estimator

from denots import SeriesClassifier, SeriesRegressor, SeriesSet
from denots.errors import InvalidOption, InvalidSeries, InvalidTarget

# Checks that must fail, because the promise of the library is another one.
EXPECTED = {
    "check_dtype_object": "the error is a ValueError that names the series, not a TypeError",
    "check_classifier_data_not_an_array": "a table without the names of its columns is refused, not guessed",
    "check_regressor_data_not_an_array": "a table without the names of its columns is refused, not guessed",
    "check_sample_weights_pandas_series": "a table without the names of its columns is refused, not guessed",
    "check_sample_weight_equivalence_on_dense_data": "weights act on the loss; features are drawn from each series once",
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", [SeriesClassifier, SeriesRegressor])
def test_the_suite_of_scikit_learn_passes_but_for_what_is_declared(kind: Any, record_property: Any) -> None:
    model = kind("timed-oscillators", options={"oscillators": 256})
    found = check_estimator(model, expected_failed_checks=EXPECTED, on_fail=None)
    failed = {result["check_name"]: str(result["exception"]) for result in found if result["status"] == "failed"}
    assert failed == {}
    passed = sum(result["status"] == "passed" for result in found)
    assert passed >= 45
    declared = {result["check_name"] for result in found if result["status"] == "xfail"}
    counts = (
        f"{len(found)} checks, {passed} passed, {len(declared)} declared, {len(found) - passed - len(declared)} skipped"
    )
    record_property("told", f"scikit-learn, {kind.__name__}: {counts}")
    other = "regressor" if kind is SeriesClassifier else "classifier"
    assert declared == {name for name in EXPECTED if other not in name}


def table(n: int = 60) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    y = np.arange(n) % 3
    return rng.normal(size=(n, 20)) + y[:, None], y


@pytest.mark.filterwarnings("ignore::denots.errors.UnusualSeries")
def test_tools_of_scikit_learn_work_around_it() -> None:
    X, y = table()
    model = SeriesClassifier("oscillators", options={"oscillators": 64}, random_state=0)
    assert cross_val_score(model, X, y, cv=3).mean() > 0.8
    search = GridSearchCV(model, {"options": [{"oscillators": 32}, {"oscillators": 64}]}, cv=2).fit(X, y)
    assert search.best_score_ > 0.8
    calibrated = CalibratedClassifierCV(model, cv=2).fit(X, y)
    assert calibrated.predict_proba(X).sum(axis=1) == pytest.approx(1)
    scaled = make_pipeline(FunctionTransformer(lambda X: 10 * X), clone(model)).fit(X, y)
    assert scaled.score(X, y) > 0.8
    np.testing.assert_allclose(search.predict_log_proba(X), np.log(search.predict_proba(X)))


@pytest.mark.filterwarnings("ignore::denots.errors.UnusualSeries")
def test_tools_of_scikit_learn_take_parts_of_a_set_with_all_that_belongs_to_them() -> None:
    X, y = table()
    noise = np.random.default_rng(1).normal(size=X.shape)
    series = replace(
        SeriesSet.from_numpy(noise[:, None]), static=1.0 * (y[:, None] == np.arange(3)), static_names=tuple("abc")
    )
    model = SeriesClassifier("summary", random_state=0)
    assert cross_val_score(model, series, y, cv=3).mean() > 0.8  # only static features tell
    train, test, _, truth = train_test_split(series, y, random_state=0)
    assert isinstance(train, SeriesSet)
    calibrated = CalibratedClassifierCV(model, cv=2).fit(train, y[train.ids])
    assert (calibrated.predict(test) == truth).mean() > 0.8
    with pytest.raises(InvalidSeries, match=r"item 0 of the list is a Series with static features.*; give a SeriesSet"):
        model.fit(list(series), y)
    with pytest.raises(InvalidSeries, match=r"a slice of a set such as X\[:1\] is"):
        clone(model).fit(series, y).predict(series[0])


def test_rows_of_an_array_have_one_length_and_series_any() -> None:
    X, y = table()
    model = SeriesClassifier("summary", random_state=0).fit(X, y)
    assert model.n_features_in_ == 20
    with pytest.raises(InvalidSeries, match=r"X has 10 features, but SeriesClassifier is expecting 20 features"):
        model.predict(X[:, :10])
    assert len(model.predict(X[:, None, :])) == 60
    assert len(model.predict([row[:15] for row in X])) == 60


def test_a_column_of_answers_is_flattened_and_words_of_one_kind_are_classes() -> None:
    X, y = table()
    with pytest.warns(DataConversionWarning, match="column-vector"):
        SeriesRegressor("summary").fit(X, y[:, None].astype(float))
    words = np.array(["a", "b", "c"], dtype=object)[y]
    assert SeriesClassifier("summary").fit(X, words).classes_.tolist() == ["a", "b", "c"]
    with pytest.raises(InvalidTarget, match="Unknown label type: the target holds int and str"):
        SeriesClassifier("summary").fit(X, np.array([1, "b"] * 30, dtype=object))


def test_weights_of_classes_move_the_answer() -> None:
    rng = np.random.default_rng(0)
    y = np.arange(80) % 2
    series = SeriesSet.from_numpy((rng.normal(size=(80, 1, 12)) + 0.3 * y[:, None, None]), target=y)
    share = [
        SeriesClassifier("summary", class_weight=weight, random_state=0).fit(series).predict_proba(series)[:, 1].mean()
        for weight in ({0: 20.0}, None, {1: 20.0}, {0: 1.0, 1: 20.0})
    ]
    assert share[0] < 0.3 < share[1] < 0.7 < share[2] == share[3]
    for wrong, reason in (({7: 1.0}, "the class 7"), ({0: -1.0}, "a weight of -1.0"), ("even", "got 'even'")):
        with pytest.raises(InvalidOption, match=reason):
            SeriesClassifier("summary", class_weight=wrong).fit(series)
