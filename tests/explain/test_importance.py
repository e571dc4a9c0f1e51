"""Importance against scikit-learn where series are rows, and on series of which it is known what counts."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.inspection import permutation_importance
from sklearn.metrics import r2_score

from denots import SeriesRegressor, SeriesSet
from denots.errors import InvalidOption
from denots.explain import importance
from denots.explain.importance import exchange_channel


class Rows(BaseEstimator):
    """A model of series behind a table of one row a series."""

    def __init__(self, model: SeriesRegressor) -> None:
        self.model = model

    def fit(self, X: np.ndarray, y: np.ndarray) -> "Rows":
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        return self.model.predict(rows(X))


def rows(X: np.ndarray) -> SeriesSet:
    return SeriesSet.from_arrays([[0.0]] * len(X), list(X[:, None, :]))


def test_series_of_one_row_have_the_importance_of_scikit_learn() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3))
    y = 2 * X[:, 0] + X[:, 1] + 0.1 * rng.normal(size=120)
    model = SeriesRegressor("summary", random_state=0).fit(rows(X), y)
    ours = importance(model, rows(X), y, repeats=40)
    theirs = permutation_importance(Rows(model), X, y, scoring="r2", n_repeats=40, random_state=1)
    assert ours.metric == "R2"
    assert ours.score == pytest.approx(r2_score(y, model.predict(rows(X))), abs=1e-9)
    assert [need.name for need in ours.needs] == ["x0", "x1", "x2"]
    for need, mean, spread in zip(ours.needs, theirs.importances_mean, theirs.importances_std, strict=True):
        assert need.drop == pytest.approx(mean, abs=4 * spread * np.sqrt(2 / 40) + 1e-9)
        assert need.spread == pytest.approx(spread, rel=0.5)


def test_only_what_decides_is_needed(series: SeriesSet, regressor: SeriesRegressor) -> None:
    found = importance(regressor, series, repeats=3).to_frame().set_index("name")["drop"]
    assert found.index[0] == "told"
    assert found["told"] > 0.5
    assert found["age"] > 0.02
    assert abs(found["noise"]) < 0.1
    assert importance(regressor, series, repeats=3).needs == importance(regressor, series, repeats=3).needs


def test_a_channel_comes_with_its_own_times_counted_from_the_start() -> None:
    nan = np.nan
    series = SeriesSet.from_arrays(
        [[1.0, 2.0], [10.0, 11.5], [0.0, 1.0]],
        [[[1.0, nan], [2.0, 3.0]], [[4.0, 5.0], [6.0, nan]], [[nan, nan], [nan, 9.0]]],
        start=[0.0, 10.0, 0.0],
    )
    changed, readable = exchange_channel(series, 0, np.array([1, 0, 2]))
    assert readable.tolist() == [True, True, True]
    first, second, third = changed
    assert first.times.tolist() == [0.0, 1.5, 2.0]
    np.testing.assert_array_equal(first.values, [[4.0, nan], [6.0, nan], [nan, 3.0]])
    assert second.times.tolist() == [10.0, 11.0, 12.0]
    np.testing.assert_array_equal(second.values, [[nan, 5.0], [1.0, nan], [2.0, nan]])
    assert third.times.tolist() == [0.0, 1.0]  # its empty row stays
    changed, readable = exchange_channel(series, 1, np.array([0, 1, 2]))
    assert changed.same_as(series)
    assert exchange_channel(series, 1, np.array([2, 0, 1]))[1].all()
    lone = SeriesSet.from_arrays([[0.0], [0.0]], [[[1.0, nan]], [[nan, 2.0]]])
    changed, readable = exchange_channel(lone, 0, np.array([1, 0]))
    assert readable.tolist() == [False, True]
    np.testing.assert_array_equal(changed.values, [[1.0, 2.0]])


def test_one_series_has_nothing_to_exchange(series: SeriesSet, regressor: SeriesRegressor) -> None:
    with pytest.raises(InvalidOption, match="got 1 series and repeats=5"):
        importance(regressor, series[:1])
