"""The suite of sktime for estimators, and times as its index has them."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sktime.utils.estimator_checks import check_estimator

import denots
from denots.adapters.sktime import SeriesClassifier, SeriesRegressor
from denots.errors import InvalidSeries

DECLARED: dict[str, str] = {}  # checks that are left out, and why
QUICK = {"system": "timed-oscillators", "options": {"oscillators": 64}, "random_state": 0}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", [SeriesClassifier, SeriesRegressor])
def test_the_suite_of_sktime_passes(kind: Any, plain_signature: Any, record_property: Any) -> None:
    found = check_estimator(plain_signature(kind), verbose=False, tests_to_exclude=list(DECLARED))
    failed = {name: str(result) for name, result in found.items() if str(result) != "PASSED"}
    counts = f"{len(found)} checks run, {len(found) - len(failed)} passed, {len(DECLARED)} declared"
    record_property("told", f"sktime, {kind.__name__}: {counts}")
    assert failed == {}
    assert len(found) >= 100


@pytest.mark.parametrize("kind", [SeriesClassifier, SeriesRegressor])
def test_what_sktime_may_give_is_switched_on(kind: Any) -> None:
    for capability in ("multivariate", "unequal_length", "missing_values"):
        assert kind.get_class_tag(f"capability:{capability}")


def irregular(n: int = 24) -> tuple[pd.DataFrame, np.ndarray]:
    """A panel of two channels whose hours have gaps, lengths of their own, and holes."""
    rng = np.random.default_rng(0)
    y = np.arange(n) % 3
    rows = []
    for k, label in enumerate(y):
        hours = np.sort(rng.choice(48, size=rng.integers(8, 20), replace=False))
        values = rng.normal(0, 0.1, (len(hours), 2)) + np.sin(hours * (1 + label) / 6)[:, None]
        values[2, 0] = np.nan
        rows.append(pd.DataFrame({"id": f"p{k}", "hour": hours, "pulse": values[:, 0], "lactate": values[:, 1]}))
    return pd.concat(rows, ignore_index=True), y


def panel(table: pd.DataFrame, times: Any) -> pd.DataFrame:
    return table.assign(time=times).set_index(["id", "time"])[["pulse", "lactate"]]


def dates(table: pd.DataFrame) -> pd.Series:
    return pd.Timestamp("2026-03-01") + pd.to_timedelta(table["hour"], unit="h")


@pytest.mark.parametrize("zone", [None, "Europe/Vienna"])
def test_dates_of_the_index_are_counted_as_the_estimator_itself_counts_them(zone: str | None) -> None:
    table, y = irregular()
    when = dates(table).dt.tz_localize(zone)
    ours = denots.SeriesSet.from_frame(
        table.assign(when=when)[["id", "when", "pulse", "lactate"]], id="id", time="when", time_unit="h"
    )
    plain = denots.SeriesClassifier(**QUICK).fit(ours, y)
    model = SeriesClassifier(**QUICK, time_unit="h").fit(panel(table, when), y)
    np.testing.assert_array_equal(model.predict_proba(panel(table, when)), plain.predict_proba(ours))


def test_numbers_and_periods_of_the_index_are_times_too() -> None:
    table, y = irregular()
    first = table["hour"] - table.groupby("id")["hour"].transform("first")
    told = [
        SeriesClassifier(**QUICK, time_unit="h").fit(X, y).predict_proba(X)
        for X in (panel(table, first), panel(table, dates(table)), panel(table, dates(table).dt.to_period("h")))
    ]
    np.testing.assert_array_equal(told[0], told[1])
    np.testing.assert_array_equal(told[0], told[2])
    even = panel(table, table.groupby("id").cumcount())
    assert np.abs(SeriesClassifier(**QUICK).fit(even, y).predict_proba(even) - told[0]).max() > 0.01


def test_numbers_are_predicted_from_a_panel() -> None:
    table, y = irregular()
    X = panel(table, table["hour"])
    ours = denots.SeriesSet.from_frame(table, id="id", time="hour")
    plain = denots.SeriesRegressor(**QUICK).fit(ours, y + 0.5)
    np.testing.assert_array_equal(SeriesRegressor(**QUICK).fit(X, y + 0.5).predict(X), plain.predict(ours))


def test_a_series_without_any_value_is_named() -> None:
    table, y = irregular()
    table.loc[table["id"] == "p7", ["pulse", "lactate"]] = np.nan
    with pytest.raises(InvalidSeries, match="'p7'"):
        SeriesClassifier("summary").fit(panel(table, table["hour"]), y)
