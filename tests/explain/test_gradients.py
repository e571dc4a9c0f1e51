"""Integrated gradients add up, and agree with finite differences of the predictions."""

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from denots import SeriesClassifier, SeriesRegressor, SeriesSet
from denots.errors import InvalidOption
from denots.explain import integrated_gradients

SMALL = {"state_size": 4, "depth": 3.0, "max_epochs": 5, "batches_per_epoch": 4, "learning_rate": 0.02}
KINDS: dict[str, dict[str, Any]] = {
    "natural-cubic": {},
    "linear": {"path": "linear", "slopes": False},
    "rectilinear": {"path": "rectilinear", "slopes": False},
    "first": {"initial": "first", "readout": "last"},
    "zero": {"holes": "zero", "inflate": 3, "presence": False},
}


def fitted(series: SeriesSet, **options: Any) -> SeriesRegressor:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return SeriesRegressor("denots", options={**SMALL, **options}, random_state=0).fit(series)


@pytest.mark.parametrize("kind", KINDS)
def test_effects_sum_to_the_answer_less_that_of_the_means(series: SeriesSet, kind: str) -> None:
    model = fitted(series, **KINDS[kind])
    why = integrated_gradients(model, series, "s4")
    assert why.missing < 0.01
    assert why.answer == model.predict(series[4:5])[0]
    observed = np.isfinite(series[4].values)
    np.testing.assert_array_equal(np.isfinite(why.effects), observed)
    table = why.to_frame()
    assert len(table) == observed.sum() + 1
    assert table["effect"].sum() == pytest.approx(why.answer - why.baseline, rel=0.01)


def test_effects_sum_to_what_the_model_predicts_for_every_series(series: SeriesSet) -> None:
    model = fitted(series, readout="pooled")  # the largest of states makes kinks, for which few nodes are not enough
    centre = model.fitted_.model.backbone.intake.centre[:2].numpy()  # type: ignore[attr-defined]
    level = np.where(np.isnan(series.values), np.nan, centre).astype(series.values.dtype)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # unusual: age unknown
        means = replace(series, values=level, static=np.full_like(np.asarray(series.static), np.nan))
        change = model.predict(series) - model.predict(means)
    found = [integrated_gradients(model, series, f"s{k}") for k in range(0, 60, 5)]
    told = [np.nansum(why.effects) + sum(why.static.values()) for why in found]
    np.testing.assert_allclose(told, change[::5], rtol=0.01)
    assert min(why.nodes for why in found) == 16
    assert max(why.nodes for why in found) > 16


def test_what_is_missing_is_told(series: SeriesSet) -> None:
    model = fitted(series, readout="pooled")
    with pytest.warns(UserWarning, match=r"effects for series 's4' sum to .*% more or less than the change"):
        why = integrated_gradients(model, series, "s4", nodes=1)
    assert why.nodes == 1
    assert why.missing > 0.01
    with pytest.raises(InvalidOption, match="nodes=0"):
        integrated_gradients(model, series, "s4", nodes=0)


def test_classes_are_explained_in_log_odds(series: SeriesSet) -> None:
    target = np.where(np.asarray(series.target) > 0, "high", "low")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = SeriesClassifier("denots", options=SMALL, random_state=0).fit(series, target)
    why = integrated_gradients(model, series, "s4", of="high")
    probability = model.predict_proba(series[4:5])[0, 0]
    assert why.answer == pytest.approx(np.log(probability / (1 - probability)), abs=1e-6)
    assert why.missing < 0.01


def test_each_effect_is_the_integral_of_a_finite_difference(series: SeriesSet) -> None:
    model = fitted(series, predict_tolerance=1e-9, readout="last")
    net = model.fitted_.model.double()  # type: ignore[attr-defined]
    one = replace(series[6:7], values=series[6].values.astype(np.float64))
    why = integrated_gradients(model, one, nodes=16)
    centre = net.backbone.intake.centre[:2].numpy()
    level = np.where(np.isnan(one.values), np.nan, centre)
    places, weights = np.polynomial.legendre.leggauss(16)
    static = net.backbone.intake.static_centre.numpy()
    row, channel = np.argwhere(np.isfinite(one.values))[3]
    step, total = 1e-4, 0.0

    def answer(values: np.ndarray, age: np.ndarray) -> float:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return float(model.predict(replace(one, values=values, static=age))[0])

    for place, weight in zip((places + 1) / 2, weights / 2, strict=True):
        middle = level + place * (one.values - level)
        age = static + place * (np.asarray(one.static) - static)
        bump = np.zeros_like(middle)
        bump[row, channel] = step
        total += weight * (answer(middle + bump, age) - answer(middle - bump, age)) / (2 * step)
    expected = total * (one.values - level)[row, channel]
    assert why.effects[row, channel] == pytest.approx(expected, rel=1e-3)
    assert why.missing < 1e-4


def test_other_systems_are_sent_to_explain(series: SeriesSet, regressor: SeriesRegressor) -> None:
    with pytest.raises(InvalidOption, match=r"system 'summary' does not have; .*without --each"):
        integrated_gradients(regressor, series, "s1")
