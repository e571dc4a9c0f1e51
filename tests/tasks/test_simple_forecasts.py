"""Simple forecasts against brute force."""

import numpy as np
import pytest

from denots.data.hide import hide_for_forecasting, reveal
from denots.data.history import History
from denots.data.series import SeriesSet
from denots.tasks import Forecast
from denots.tasks.simple_forecasts import Questions, Smoothing, learn_smoothing, simple_forecasts

SMOOTHING = Smoothing(mean=2.0, memory=1.5, prior=0.3, damping=0.8)


def gappy(n: int = 12) -> SeriesSet:
    rng = np.random.default_rng(0)
    times = [np.sort(rng.uniform(0, 6, rng.integers(1, 20))) for _ in range(n)]
    values = [rng.normal(5, 1, (len(t), 2)) for t in times]
    for table in values:
        table[rng.random(table.shape) < 0.4] = np.nan
        table[0, 1] = 1.0
    return SeriesSet.from_arrays(times, values)


def questions(n: int) -> Questions:
    rng = np.random.default_rng(1)
    return Questions(np.repeat(np.arange(n), 9), rng.uniform(0, 9, 9 * n), rng.uniform(0, 7, 9 * n))


def test_every_simple_forecast_is_its_definition() -> None:
    series = gappy()
    asked = questions(len(series))
    found = simple_forecasts(History.of(series, 0), asked, SMOOTHING)
    for k, (owner, time, limit) in enumerate(zip(*asked, strict=True)):
        one = series[int(owner)]
        seen = ~np.isnan(one.values[:, 0]) & (one.times <= limit)
        past = seen & (one.times <= time)
        t, x = one.times[past], one.values[past, 0]
        if not len(t):
            assert {name: given[k] for name, given in found.items()} == dict.fromkeys(found, 2.0)
            continue
        weight = np.exp(-(time - t) / 1.5)
        slope = np.polyfit(t[-8:], x[-8:], 1)[0] if len(t) > 1 else 0.0
        expected = {
            "last value": x[-1],
            "mean of the last eight": x[-8:].mean(),
            "running mean": (weight @ x + 0.3 * 2.0) / (weight.sum() + 0.3),
            "damped trend": x[-1] + slope * 0.8 * (1 - np.exp(-(time - t[-1]) / 0.8)),
            "interpolation": np.interp(time, one.times[seen], one.values[seen, 0]),
        }
        for name, value in expected.items():
            assert found[name][k] == pytest.approx(value, rel=1e-6), name


def test_the_learnt_memory_is_the_best_of_those_tried() -> None:
    series = gappy(40)
    history, asked = History.of(series, 1), questions(40)
    answers = np.random.default_rng(2).normal(4, 1, len(asked.time))
    memories = np.array([0.2, 1.0, 5.0])
    learnt = learn_smoothing(history, asked, answers, memories, 4.0)
    seen = history.known(asked.owner, history.latest(asked.owner, np.minimum(asked.time, asked.limit)))

    def error(smoothing: Smoothing, name: str) -> float:
        return float(np.mean((simple_forecasts(history, asked, smoothing)[name] - answers)[seen] ** 2))

    for memory in memories:
        for prior in (0.0, 0.3, 3.0):
            other = Smoothing(4.0, memory, prior, 0.0)
            assert error(learnt, "running mean") <= error(other, "running mean") + 1e-12
        trend = Smoothing(4.0, memory, 0.0, memory)
        assert error(learnt, "damped trend") <= error(trend, "damped trend") + 1e-12


def test_what_was_hidden_is_revealed() -> None:
    series = gappy().select([row for row, one in enumerate(gappy()) if len(one.times) > 2])
    hidden = hide_for_forecasting(series)
    found = reveal(hidden.visible, hidden.at, hidden.answers)
    for before, after in zip(series, found, strict=True):
        observed = ~np.isnan(before.values).all(axis=1)
        after_observed = ~np.isnan(after.values).all(axis=1)
        np.testing.assert_array_equal(after.times[after_observed], before.times[observed])
        np.testing.assert_array_equal(after.values[after_observed], before.values[observed])


def test_scores_have_every_simple_forecast_beside_the_model() -> None:
    series = gappy(20)
    task = Forecast.read(series)
    part = task.pose(series)
    task = task.calibrated(part)
    simple = task.simple(part)
    given = task.scale.shrink(part.target[..., :-1] * 0 + 5.0, part.target.dtype).nan_to_num()
    scores = task.scores(given, part)
    assert set(scores.others) == {"mean of the last eight", "running mean", "damped trend", "interpolation"}
    truth, beyond = part.target[..., 1].numpy(), part.target[..., -1].numpy() > 0.5
    rows = beyond & ~np.isnan(truth)
    for name, found in scores.others.items():
        expected = np.sqrt(np.mean((simple[name][..., 1] - truth)[rows] ** 2))
        assert found["RMSE x1 beyond"] == pytest.approx(expected)
    assert Forecast.restore(task.state()) == task
