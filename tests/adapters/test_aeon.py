"""The suite of aeon for estimators, and the same answers as without it."""

from typing import Any

import numpy as np
import pytest
from aeon.testing.estimator_checking import check_estimator

import denots
from denots.adapters.aeon import SeriesClassifier, SeriesRegressor
from denots.errors import InvalidSeries

DECLARED: dict[str, str] = {}  # checks that are left out, and why


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", [SeriesClassifier, SeriesRegressor])
def test_the_suite_of_aeon_passes(kind: Any, plain_signature: Any, record_property: Any) -> None:
    found = check_estimator(plain_signature(kind), checks_to_exclude=list(DECLARED))
    failed = {name: result for name, result in found.items() if result != "PASSED"}
    counts = f"{len(found)} checks run, {len(found) - len(failed)} passed, {len(DECLARED)} declared"
    record_property("told", f"aeon, {kind.__name__}: {counts}")
    assert failed == {}
    assert len(found) >= 30


@pytest.mark.parametrize("kind", [SeriesClassifier, SeriesRegressor])
def test_what_aeon_may_give_is_switched_on(kind: Any) -> None:
    for capability in ("multivariate", "unequal_length", "missing_values"):
        assert kind.get_class_tag(f"capability:{capability}")


def ragged(n: int = 24) -> tuple[list[np.ndarray], np.ndarray]:
    """Two channels, lengths of their own, holes; the class is a shift."""
    rng = np.random.default_rng(0)
    y = np.arange(n) % 3
    X = [rng.normal(size=(2, rng.integers(8, 20))) + label for label in y]
    for table in X:
        table[0, 3:5] = np.nan
    return X, y


def test_ragged_series_with_holes_get_the_answers_of_the_estimator_itself() -> None:
    X, y = ragged()
    model = SeriesClassifier("timed-oscillators", {"oscillators": 64}, random_state=0).fit(X, y)
    plain = denots.SeriesClassifier("timed-oscillators", options={"oscillators": 64}, random_state=0)
    plain.fit([(np.arange(table.shape[1]), table.T) for table in X], y)
    np.testing.assert_array_equal(
        model.predict_proba(X), plain.predict_proba([(np.arange(table.shape[1]), table.T) for table in X])
    )
    assert (model.predict(X) == plain.predict([(np.arange(table.shape[1]), table.T) for table in X])).all()
    numbers = SeriesRegressor("summary").fit(X, y + 0.5)
    assert numbers.score(X, y + 0.5) > 0.8


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # aeon looks at ranges first
def test_a_series_without_any_value_is_named() -> None:
    X, y = ragged()
    X[7][:] = np.nan
    with pytest.raises(InvalidSeries, match="series 7 has no observed value"):
        SeriesClassifier("summary").fit(X, y)
