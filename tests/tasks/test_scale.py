"""Units in which numbers are learnt, judged by scikit-learn's scaler."""

import numpy as np
import pytest
import torch
from sklearn.metrics import r2_score
from sklearn.preprocessing import StandardScaler

from denots.data.series import SeriesSet
from denots.errors import InvalidOption
from denots.tasks import Classification, Forecast, Regression
from denots.tasks.scale import Scale
from denots.tasks.task import Task

TARGET = np.random.default_rng(0).normal([12.5, -3.0], [2.0, 0.1], (50, 2))
UNITS = ("standardised", "centred", "raw")


def waves(target: np.ndarray | None) -> SeriesSet:
    rng = np.random.default_rng(1)
    return SeriesSet.from_arrays([np.arange(8.0)] * 50, [rng.normal(40, 5, 8) for _ in range(50)], target=target)


def calibrated(kind: type[Task], series: SeriesSet, units: str) -> Task:
    task = kind.read(series).in_units(units)  # type: ignore[arg-type]
    return task.calibrated(task.pose(series))


@pytest.mark.parametrize("units", UNITS)
def test_a_target_is_learnt_as_the_scaler_of_scikit_learn_has_it_and_told_in_its_own_unit(units: str) -> None:
    task = calibrated(Regression, waves(TARGET), units)
    assert isinstance(task, Regression)
    scaler = StandardScaler(with_mean=units != "raw", with_std=units == "standardised").fit(TARGET)
    learnt = torch.from_numpy(scaler.transform(TARGET))
    assert np.allclose(task.table(torch.from_numpy(TARGET)), learnt, rtol=1e-12)
    assert torch.allclose(task.answer(learnt), torch.from_numpy(TARGET), rtol=1e-12)
    assert float(task.loss(learnt + 0.5, torch.from_numpy(TARGET))) == pytest.approx(0.25)


@pytest.mark.parametrize("units", UNITS)
def test_a_series_without_an_answer_counts_as_the_mean_whatever_is_learnt(units: str) -> None:
    target = torch.from_numpy(TARGET)
    task = calibrated(Regression, waves(TARGET), units)
    guess = TARGET + np.random.default_rng(2).normal(0, 0.05, TARGET.shape)
    told = np.where(np.arange(50)[:, None] < 5, TARGET.mean(axis=0), guess)
    assert isinstance(task, Regression)
    outputs = task.scale.shrink(torch.from_numpy(guess), torch.float64)
    outputs[:5] = torch.nan
    assert float(task.metric(outputs, target)) == pytest.approx(r2_score(TARGET, told))


@pytest.mark.parametrize("units", UNITS)
def test_channels_of_a_forecast_are_judged_alike_whatever_is_learnt(units: str) -> None:
    series = waves(None)
    task, standard = (calibrated(Forecast, series, each) for each in (units, "standardised"))
    assert isinstance(task, Forecast)
    part = task.pose(series)
    answers = torch.full_like(part.target[..., :-1], 41.0, dtype=torch.float64)
    outputs = [each.scale.shrink(answers, torch.float64) for each in (task, standard) if isinstance(each, Forecast)]
    ours, theirs = task.scores(outputs[0], part), standard.scores(outputs[1], part)
    assert ours.metrics.keys() == theirs.metrics.keys()
    assert all(np.isclose(ours.metrics[name].model, theirs.metrics[name].model) for name in theirs.metrics)
    assert np.allclose(ours.rows["error"], theirs.rows["error"])


@pytest.mark.parametrize("units", UNITS)
def test_units_are_saved_and_a_state_without_them_is_standardised(units: str) -> None:
    scale = Scale.of(torch.from_numpy(TARGET), units)  # type: ignore[arg-type]
    assert Scale.restore(scale.state()) == scale
    before = {name: scale.state()[name] for name in ("centre", "spread")}
    assert Scale.restore(before).units == "standardised"


def test_units_that_are_unknown_or_mean_nothing_are_refused() -> None:
    with pytest.raises(InvalidOption, match="standardised, centred, raw; got 'log'"):
        Regression.read(waves(TARGET)).in_units("log")  # type: ignore[arg-type]
    classes = Classification.read(waves(np.arange(50) % 3))
    assert classes.in_units("standardised") is classes
    with pytest.raises(InvalidOption, match="classification has no numbers that could be learnt raw"):
        classes.in_units("raw")
