"""Several targets at once, judged one by one by scikit-learn and by models of one target."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import mean_absolute_error, r2_score, root_mean_squared_error

import denots
from denots.data.series import SeriesSet
from denots.errors import InvalidTarget
from denots.estimators import SeriesClassifier, SeriesRegressor
from denots.explain import explain
from wave_series import FAST, waves


def doubled(n: int = 60, seed: int = 0) -> tuple[SeriesSet, pd.DataFrame]:
    """Waves, and two numbers of each: its level, and another one in another unit."""
    series = waves(n, seed)
    level = np.asarray(series.target)
    return series.with_target(None), pd.DataFrame({"level": level, "grams": 1000 - 200 * level**2})


@pytest.fixture(scope="module")
def fitted() -> SeriesRegressor:
    return SeriesRegressor("summary", random_state=0).fit(*doubled())


def test_each_target_is_learnt_about_as_well_as_alone(fitted: SeriesRegressor) -> None:
    series, targets = doubled()
    new, truth = doubled(20, seed=1)
    answers = fitted.predict(new)
    assert answers.shape == (20, 2)
    for k, name in enumerate(targets):
        alone = SeriesRegressor("summary", random_state=0).fit(series, targets[name])
        assert r2_score(truth[name], answers[:, k]) > alone.score(new, truth[name]) - 0.05 > 0.8
    assert fitted.score(new, truth) == pytest.approx(r2_score(truth, answers))


def test_metrics_are_those_of_each_target_and_their_mean(fitted: SeriesRegressor) -> None:
    new, truth = doubled(20, seed=1)
    found = fitted.evaluate(new, truth, confidence=None).metrics
    answers = fitted.predict(new)
    judges = {"R2": r2_score, "MAE": mean_absolute_error, "RMSE": root_mean_squared_error}
    for metric, judge in judges.items():
        each = [judge(truth[name], answers[:, k]) for k, name in enumerate(truth)]
        assert [found[f"{metric} {name}"].model for name in truth] == pytest.approx(each)
        assert found[metric].model == pytest.approx(np.mean(each))


def test_intervals_hold_each_target_as_often_as_asked() -> None:
    rng = np.random.default_rng(0)
    series = waves(700)
    level = np.asarray(series.target)
    targets = np.stack([level + rng.normal(size=700), 100 * level + 300 * rng.standard_t(3, 700)], axis=1)
    model = SeriesRegressor("summary", random_state=0).fit(series[:400], targets[:400])
    region = model.predict_interval(series[400:], 0.8)
    assert region.shape == (300, 2, 2)
    held = ((region[..., 0] <= targets[400:]) & (targets[400:] <= region[..., 1])).mean(axis=0)
    np.testing.assert_allclose(held, 0.8, atol=0.06)
    found = model.evaluate(series[400:], targets[400:], confidence=None, coverage=0.8).metrics
    assert [found["coverage 0"].model, found["coverage 1"].model] == pytest.approx(held)
    assert found["coverage"].model == pytest.approx(held.mean())
    assert found["size 1"].model == pytest.approx(np.diff(region[:, 1]).mean())


def test_names_are_kept_with_the_model(fitted: SeriesRegressor, tmp_path: Path) -> None:
    new, _ = doubled(5, seed=1)
    fitted.save(tmp_path / "model")
    again = denots.load(tmp_path / "model")
    table = again.predict_table(new, coverage=0.8)
    ends = [f"{end}_prediction_{name}" for name in ("level", "grams") for end in ("low", "high")]
    assert list(table) == ["id", "prediction_level", "prediction_grams", *ends, "status"]
    np.testing.assert_array_equal(table[["prediction_level", "prediction_grams"]], fitted.predict(new))


def test_columns_in_another_order_are_recognised_by_name(fitted: SeriesRegressor) -> None:
    new, truth = doubled(20, seed=1)
    assert fitted.score(new, truth[["grams", "level"]]) == fitted.score(new, truth)
    with pytest.raises(InvalidTarget, match="targets are level, kilograms, but the model answers with level, grams"):
        fitted.score(new, truth.rename(columns={"grams": "kilograms"}))
    with pytest.raises(InvalidTarget, match="1 targets a series, but the model answers with 2"):
        fitted.score(new, truth["level"])


def test_one_of_several_answers_is_explained_by_its_name(fitted: SeriesRegressor) -> None:
    new, _ = doubled(5, seed=1)
    why = explain(fitted, new, "w2", of="grams", parts=2)
    assert why.quantity == "prediction_grams"
    assert why.answer == pytest.approx(fitted.predict(new)[2, 1])
    assert sum(cell.effect for cell in why.cells) == pytest.approx(why.answer - why.trivial)


@pytest.mark.parametrize("system", ["trees", "denots"])
def test_other_systems_answer_with_one_number_for_each_target(system: str) -> None:
    options = {name: value for name, value in FAST.items() if name != "random_state"} if system == "denots" else {}
    series, targets = doubled()
    model = SeriesRegressor(system, options=options, random_state=0).fit(series, targets)
    assert model.predict(series).shape == (60, 2)
    assert model.task_.names == ("level", "grams")


def test_what_cannot_be_learnt_together_is_named() -> None:
    series, targets = doubled()
    with pytest.raises(InvalidTarget, match=r"the regression target 'grams' is 3.0 for all series"):
        SeriesRegressor("summary").fit(series, targets.assign(grams=3.0))
    with pytest.raises(InvalidTarget, match=r"expected one class for each series"):
        SeriesClassifier("summary").fit(series, targets > 2)
    with pytest.raises(InvalidTarget, match=r"a, a cannot name 2 targets"):
        replace(series, target=targets.to_numpy(), target_names=("a", "a"))
