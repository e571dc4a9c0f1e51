"""Forecasts as departures: nothing later than a question's limit is read, and the simple forecasts are beaten."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from sklearn.linear_model import Ridge as SklearnRidge

from denots.data.series import SeriesSet
from denots.errors import InvalidOption
from denots.estimators import SeriesForecaster, load_estimator
from denots.systems import SYSTEMS, Problem, Shape, State
from denots.systems.departure import Lesson, Ridge
from denots.systems.forecast_features import Knowledge
from denots.systems.forecast_questions import draw_exercises, thin
from denots.tasks import Classification, Forecast
from denots.tasks.scale import Scale
from denots.tasks.simple_forecasts import Questions, Smoothing

SMALL = {"questions": 8000, "rounds": 60}


def swings(n: int = 120, seed: int = 0) -> SeriesSet:
    """Waves of one period with any phase, and a noisy level: the first is easy to forecast, the second is not."""
    rng = np.random.default_rng(seed)
    times = [np.sort(rng.uniform(0, 10, rng.integers(14, 30))) for _ in range(n)]
    values = []
    for t in times:
        wave = 3 * np.sin(t + rng.uniform(0, 2 * np.pi)) + 0.1 * rng.normal(size=len(t))
        level = 50 + 5 * rng.normal() + 3 * rng.normal(size=len(t))
        table = np.stack([wave, level], axis=1)
        table[rng.random(table.shape) < 0.2] = np.nan
        values.append(table)
    return SeriesSet.from_arrays(times, values, channels=("wave", "level"), static=rng.normal(size=(n, 1)), start=0.0)


@pytest.fixture(scope="module")
def forecaster() -> SeriesForecaster:
    return SeriesForecaster(options=SMALL, random_state=0).fit(swings())


@pytest.mark.filterwarnings("ignore::denots.errors.UnusualSeries")  # half of a series is shorter than a whole one
def test_departures_beat_every_simple_forecast_where_there_is_more_to_learn(forecaster: SeriesForecaster) -> None:
    scores = forecaster.evaluate(swings(200, seed=1))
    for channel, share in (("wave", 0.6), ("level", 1.02)):  # of a level with noise the running mean is the best answer
        name = f"RMSE {channel} beyond"
        simple = [scores.metrics[name].baseline, *(other[name] for other in scores.others.values())]
        assert scores.metrics[name].model < share * min(simple)


def test_an_answer_does_not_depend_on_other_times_or_other_series(forecaster: SeriesForecaster) -> None:
    series = swings(12, seed=2)
    whole = forecaster.predict(series, [3.0, 8.0, 11.0, 14.0])
    np.testing.assert_array_equal(forecaster.predict(series.select([5]), [11.0])[0, 0], whole[5, 2])
    assert np.isfinite(whole).all()


def test_before_its_first_observation_a_series_has_no_answer(forecaster: SeriesForecaster) -> None:
    series = swings(3, seed=2)
    answers = forecaster.predict(series, [series.times[0] - 0.01, 9.0])
    assert np.isnan(answers[0, 0]).all()
    assert np.isfinite(answers[0, 1]).all()


def test_a_saved_forecaster_answers_the_same(forecaster: SeriesForecaster, tmp_path: Path) -> None:
    forecaster.save(tmp_path / "model")
    series = swings(6, seed=3)
    again = load_estimator(tmp_path / "model")
    np.testing.assert_array_equal(again.predict(series, [5.0, 12.0]), forecaster.predict(series, [5.0, 12.0]))


def test_a_channel_that_a_series_never_shows_is_answered_from_the_others(forecaster: SeriesForecaster) -> None:
    series = swings(4, seed=4)
    series.values[:, 1] = np.nan
    assert np.isfinite(forecaster.predict(series, [5.0, 12.0])).all()


def test_nothing_later_than_the_limit_is_read() -> None:
    series, scale, memories = swings(5), Scale((0.0, 50.0), (2.0, 5.0)), np.array([0.5, 5.0])
    asked = Questions(np.arange(5), np.full(5, 8.0), np.full(5, 6.0))
    later = series.times > 6.0
    changed = SeriesSet.from_arrays(
        [one.times for one in series],
        np.split(np.where(later[:, None], 1e6, series.values), series.offsets[1:-1]),
        channels=series.channels,
        static=series.static,
        start=0.0,
    )
    rows = []
    for known in (Knowledge(series, scale, memories), Knowledge(changed, scale, memories)):
        told = known.told(0, asked, Smoothing(0.0, 1.0, 0.1, 1.0))
        rows.append(known.features(0, asked, told, told.simple["running mean"]).table)
    np.testing.assert_array_equal(*rows)
    assert np.isfinite(rows[0]).any(axis=0).sum() > 20


def test_exercises_ask_for_observed_values_that_are_not_seen() -> None:
    series = swings(30)
    whole, anywhere, between = draw_exercises(series, 0, 2000, np.random.default_rng(0))
    seen = [set(one.times.tolist()) for one in thin(series)]
    for exercise in (whole, anywhere, between):
        owner, time, limit = exercise.asked
        for k in range(0, len(time), 7):
            one = series[int(owner[k])]
            assert one.values[one.times == time[k], 0] == exercise.answers[k]
            assert limit[k] in (seen[owner[k]] if exercise.thinned else one.times)
            if exercise is between:
                assert time[k] < limit[k]
                assert time[k] not in seen[owner[k]]
            else:
                assert limit[k] < time[k]


def test_the_ridge_is_that_of_scikit_learn() -> None:
    rng = np.random.default_rng(0)
    features, unit = rng.uniform(-1, 1, (400, 3)), rng.uniform(1, 2, 400)
    target = features @ [1.0, -2.0, 0.0] + 0.1 * rng.normal(size=400)
    found = Ridge.fit(Lesson(features, target, unit), penalty=0.1)
    low, high = np.quantile(features, [0.005, 0.995], axis=0)
    table = np.clip(features, low, high)
    table = (table - table.mean(axis=0)) / table.std(axis=0)
    bias = np.average(target, weights=unit**2)
    judge = SklearnRidge(alpha=0.1 * (unit**2).sum(), fit_intercept=False)
    judge.fit(table, target - bias, sample_weight=unit**2)
    np.testing.assert_allclose(found.predict(features), judge.predict(table) + bias)


@pytest.mark.parametrize(
    "name", [name for name, system in SYSTEMS.items() if system.serves(Forecast) and not system.serves(Classification)]
)
def test_a_system_that_only_forecasts_says_so(name: str) -> None:
    series = swings(8).with_target(np.arange(8) % 2)
    with pytest.raises(InvalidOption, match="gives forecasts and cannot learn classification"):
        SYSTEMS[name].check(Classification.read(series), Shape.of(series))


def test_damaged_states_are_refused() -> None:
    series = swings(30)
    task = Forecast.read(series)
    part = task.pose(series)
    train, val = part.select(np.arange(24)), part.select(np.arange(24, 30))
    task = task.calibrated(train)
    system = SYSTEMS["forecast"].with_options(questions=400, rounds=3)
    values, arrays = system.fit(Problem(task, train, val), seed=0).state()
    values = json.loads(json.dumps(values))
    broken = [{**one, "forest": "tree\nnonsense"} for one in values["departures"]]
    with pytest.raises(ValueError, match="trees cannot be read"):
        system.restore(task, Shape.of(series), State({**values, "departures": broken}, arrays))
    with pytest.raises(ValueError, match="3 departures, but there are 2 channels"):
        system.restore(task, Shape.of(series), State({**values, "departures": values["departures"][:3]}, arrays))


def test_answers_do_not_depend_on_the_number_of_threads() -> None:
    threads, answers = torch.get_num_threads(), []
    try:
        for count in (1, 2):
            torch.set_num_threads(count)
            model = SeriesForecaster(options={"questions": 800, "rounds": 5}, random_state=0).fit(swings(40))
            answers.append(model.predict(swings(5, seed=1), [12.0]))
    finally:
        torch.set_num_threads(threads)
    np.testing.assert_array_equal(*answers)
