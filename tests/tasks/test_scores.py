"""Intervals of metrics, judged by scipy's bootstrap and by how often they hold the truth."""

import numpy as np
import pytest
import torch
from scipy import stats

from denots.data.series import SeriesSet
from denots.errors import InvalidOption
from denots.tasks import Classification, Forecast, Regression
from denots.tasks.scores import interval, score


def set_of(n: int, target: object = None) -> SeriesSet:
    rng = np.random.default_rng(0)
    times = [np.sort(rng.uniform(0, 5, 8)) for _ in range(n)]
    return SeriesSet.from_arrays(times, [rng.normal(size=(8, 2)) for _ in range(n)], target=target)


def test_intervals_agree_with_the_bootstrap_of_scipy() -> None:
    rng = np.random.default_rng(0)
    truth, answers = rng.normal(size=400), rng.normal(size=400)

    def judge(rows: np.ndarray) -> dict[str, float]:
        return {"correlation": float(np.corrcoef(truth[rows], answers[rows])[0, 1])}

    found = score(judge, judge, np.arange(400), 0.9)["correlation"]
    wanted = stats.bootstrap(
        (truth, answers),
        lambda a, b: np.corrcoef(a, b)[0, 1],
        paired=True,
        vectorized=False,
        n_resamples=2000,
        confidence_level=0.9,
        method="BCa",
        rng=np.random.default_rng(1),
    ).confidence_interval
    assert (found.low, found.high) == pytest.approx(wanted, abs=0.02)
    assert found.model == pytest.approx(stats.pearsonr(truth, answers)[0])


def test_nine_of_ten_intervals_hold_the_truth() -> None:
    rng = np.random.default_rng(0)
    held = []
    for _ in range(200):
        sample = rng.exponential(2.0, 60)

        def judge(rows: np.ndarray, sample: np.ndarray = sample) -> dict[str, float]:
            return {"mean": float(sample[rows].mean())}

        found = score(judge, judge, np.arange(60), 0.9)["mean"]
        held.append(found.low <= 2.0 <= found.high)
    assert stats.binomtest(sum(held), 200, 0.9).pvalue > 1e-3


def test_an_interval_holds_its_metric_even_where_resampling_moves_it() -> None:
    low, high = interval(0.01, np.linspace(0.02, 0.05, 300), 0.95)
    assert low == 0.01
    assert high == pytest.approx(0.02, abs=1e-3)


def test_a_metric_that_most_draws_leave_undefined_has_no_interval() -> None:
    again = np.array([np.nan] * 200 + [0.5] * 100)
    assert np.isnan(interval(0.5, again, 0.95)).all()
    assert np.isnan(interval(float("nan"), np.full(300, 0.5), 0.95)).all()
    assert np.isnan(interval(float("inf"), np.full(300, float("inf")), 0.95)).all()  # a size without limit


def test_intervals_are_the_same_each_time_and_widen_with_confidence() -> None:
    target = np.arange(40.0)
    series = set_of(40, target)
    task = Regression.read(series)
    part = task.pose(series)
    outputs = part.target + torch.randn(40, 1, generator=torch.Generator().manual_seed(0)) * 10
    first, again, wide = (task.scores(outputs, part, confidence=level).metrics for level in (0.9, 0.9, 0.99))
    assert first == again
    for name, one in first.items():
        assert wide[name].low <= one.low < one.model < one.high <= wide[name].high
    with pytest.raises(InvalidOption, match=r"between 0 and 1, such as 0\.95; got 95"):
        task.scores(outputs, part, confidence=95)


def test_groups_are_judged_as_if_they_were_alone() -> None:
    target = np.array(["a", "b"] * 30)
    series = set_of(60, target)
    task = Classification.read(series)
    part = task.pose(series)
    outputs = torch.randn(60, 1, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    east = np.arange(20)
    groups = task.scores(outputs, part, groups={"west": np.arange(20, 60), "east": east}).groups
    assert {name: one.series for name, one in groups.items()} == {"west": 40, "east": 20}
    assert groups["east"].metrics == task.scores(outputs[:20], part.select(east)).metrics


def test_sums_of_series_judge_forecasts_as_all_of_their_rows_do() -> None:
    from sklearn.metrics import mean_absolute_error, r2_score, root_mean_squared_error

    series = set_of(30)
    task = Forecast.read(series)
    part = task.pose(series)
    task = task.calibrated(part)
    told = task.compare(torch.randn(*part.at.shape, 2, generator=torch.Generator().manual_seed(0)), part)
    rows = np.random.default_rng(1).choice(30, 50)
    found = task.judge(told.answers, told.truth)(rows)
    truth, answers, beyond = told.truth[rows][..., :-1], told.answers[rows], told.truth[rows][..., -1] > 0.5
    centre, spread = np.array(task.scale.centre), np.array(task.scale.spread)
    for name, chosen in (("R2", beyond | ~beyond), ("R2 between", ~beyond), ("R2 beyond", beyond)):
        asked = chosen[..., None] & ~np.isnan(truth)
        pair = [((table - centre) / spread)[asked] for table in (truth, answers)]
        assert found[name] == pytest.approx(r2_score(*pair))
    asked = beyond & ~np.isnan(truth[..., 1])
    pair = truth[..., 1][asked], answers[..., 1][asked]
    assert found["RMSE x1 beyond"] == pytest.approx(root_mean_squared_error(*pair))
    assert found["MAE x1 beyond"] == pytest.approx(mean_absolute_error(*pair))


def test_rows_of_series_without_an_answer_are_empty() -> None:
    series = set_of(6, np.array(["a", "b"] * 3))
    task = Classification.read(series)
    part = task.pose(series)
    outputs = torch.zeros(6, 1, dtype=torch.float64)
    outputs[2] = torch.nan
    rows = task.scores(outputs, part).rows
    assert rows["truth"].tolist() == ["a", "b"] * 3
    assert rows["answer"].tolist() == ["a", "a", None, "a", "a", "a"]
    np.testing.assert_array_equal(rows["error"], [0.5, 0.5, np.nan, 0.5, 0.5, 0.5])
