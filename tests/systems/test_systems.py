"""Every system keeps one contract: any task, the same answers in any company, the same after being stored."""

import json
from dataclasses import replace

import lightgbm
import numpy as np
import pytest
import torch

from denots.data.hide import hide_for_forecasting
from denots.data.series import SeriesSet
from denots.data.summary import summarise
from denots.errors import InvalidOption, UnknownName
from denots.inference.boosted_trees import BoostedTrees
from denots.systems import SYSTEMS, Problem, Shape, State
from denots.tasks import TASKS, Classification, Regression

FAST = {
    "max_epochs": 1,
    "batches_per_epoch": 2,
    "rounds": 8,
    "state_size": 16,
    "oscillators": 64,
    "filters": 64,
    "fields": 6,
    "trees": 4,
    "budget": 12.0,
    "questions": 2000,
}
ONCE = (
    "forest",
    "summary",
    "summary-logistic",
    "oscillators",
    "timed-oscillators",
    "convolutions",
    "discriminant",
    "fields",
    "fast",
    "auto",
)  # they answer once a series


def waves(n: int = 48) -> SeriesSet:
    rng = np.random.default_rng(0)
    kind = rng.integers(0, 3, n)
    times = [np.sort(rng.uniform(0, 9, rng.integers(6, 14))) for _ in range(n)]
    values = [
        np.stack([np.sin(t * (1 + k)), rng.normal(size=len(t))], axis=1) for t, k in zip(times, kind, strict=True)
    ]
    for table in values:
        table[rng.random(table.shape) < 0.2] = np.nan
    return SeriesSet.from_arrays(times, values, target=kind, static=rng.normal(size=(n, 1)))


def problem(task: str = "classification", target: object = None) -> Problem:
    series = waves()
    series = series if target is None else series.with_target(target)
    if TASKS[task].causal:
        series = replace(series, row_target=np.where(np.isnan(series.values[:, 0]), np.nan, np.sin(series.times) > 0))
    posed = TASKS[task].read(series)
    part = posed.pose(series)
    train, val = part.select(np.arange(32)), part.select(np.arange(32, len(part)))
    return Problem(posed.calibrated(train), train, val)


def fast(name: str) -> dict:
    return {option: value for option, value in FAST.items() if option in SYSTEMS[name].options}


@pytest.mark.parametrize("name", ONCE)
def test_a_system_that_answers_once_a_series_refuses_forecasts(name: str) -> None:
    asked = problem("forecast")
    with pytest.raises(InvalidOption, match="answers once a series"):
        SYSTEMS[name].check(asked.task, Shape.of(asked.train.series))


@pytest.mark.parametrize(
    ("name", "task"), [(name, task) for name, system in SYSTEMS.items() for task in TASKS if system.serves(TASKS[task])]
)
def test_every_system_learns_every_task_that_it_serves_and_is_the_same_after_being_stored(name: str, task: str) -> None:
    speed = waves().target + 0.1 * np.random.default_rng(1).normal(size=48)
    asked = problem(task, speed if task == "regression" else None)
    system = SYSTEMS[name].with_options(**fast(name))
    fitted = system.fit(asked, seed=0)
    assert np.isfinite([fitted.score, fitted.loss]).all()
    assert fitted.parameters > 0
    series, at = asked.val.series, asked.val.at
    whole = fitted.outputs(series, at)
    assert whole.ok.all()
    alone = fitted.outputs(series.select([3]), None if at is None else at[3:4])
    torch.testing.assert_close(alone.outputs[0], whole.outputs[3], rtol=1e-4, atol=1e-5)
    if name in ("denots", "trees", *ONCE) or not SYSTEMS[name].serves(Classification):
        assert torch.equal(alone.outputs[0], whole.outputs[3])
    values, arrays = fitted.state()
    again = SYSTEMS[name].with_options(**fast(name))
    loaded = again.restore(asked.task, Shape.of(series), State(json.loads(json.dumps(values)), dict(arrays)))
    assert torch.equal(loaded.outputs(series, at).outputs, whole.outputs)


@pytest.mark.parametrize("name", [name for name, system in SYSTEMS.items() if system.serves(Classification)])
def test_what_never_varied_or_was_never_seen_in_training_moves_no_answer(name: str) -> None:
    """A sensor that another hospital has, a static feature that one site all shares: no weight of these was ever learnt."""
    rng, series = np.random.default_rng(3), waves()
    rows, n = len(series.times), len(series)

    def beside(still: np.ndarray, unseen: np.ndarray, static: np.ndarray) -> SeriesSet:
        return replace(
            series,
            values=np.concatenate([series.values, still[:, None], unseen[:, None]], axis=1),
            channels=("wave", "noise", "still", "unseen"),
            static=np.concatenate([series.static, static[:, None]], axis=1),
            static_names=("known", "site"),
        )

    known = beside(np.full(rows, 2.5), np.full(rows, np.nan), np.full(n, 1.0))
    foreign = beside(rng.normal(40, 5, rows), rng.normal(35, 8, rows), np.full(n, 30.0))
    posed = TASKS["classification"].read(known)
    part = posed.pose(known)
    asked = Problem(posed.calibrated(part), part.select(np.arange(32)), part.select(np.arange(32, n)))
    fitted = SYSTEMS[name].with_options(**fast(name)).fit(asked, seed=0)
    torch.testing.assert_close(fitted.outputs(foreign).outputs, fitted.outputs(known).outputs, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    "name",
    [name for name, system in SYSTEMS.items() if "state_size" in system.options and system.serves(Classification)],
)
def test_weights_of_another_shape_are_refused_before_anything_is_allocated(name: str) -> None:
    asked = problem()
    fitted = SYSTEMS[name].with_options(**fast(name)).fit(asked, seed=0)
    huge = SYSTEMS[name].with_options(state_size=2**20)  # a square of this would be four terabytes
    with pytest.raises(ValueError, match="weights do not fit the model"):
        huge.restore(asked.task, Shape.of(asked.train.series), fitted.state())
    with pytest.raises(ValueError, match=r"weights do not fit the model|no weights fit"):
        SYSTEMS[name].with_options(**fast(name)).restore(asked.task, Shape(10**9, 0), fitted.state())


def test_a_series_whose_features_overflow_has_no_answer_and_the_others_have_theirs() -> None:
    fitted = SYSTEMS["fields"].with_options(**fast("fields")).fit(problem(), seed=0)
    three = waves().select([0, 1, 2])
    values = three.values.copy()
    values[three.offsets[1] : three.offsets[2]] = 1e37 * np.sign(np.sin(np.arange(three.lengths[1])))[:, None]
    found = fitted.outputs(replace(three, values=values))
    assert found.ok.tolist() == [True, False, True]
    assert torch.equal(found.outputs[[0, 2]], fitted.outputs(three).outputs[[0, 2]])


def test_unknown_options_offer_the_nearest_names() -> None:
    with pytest.raises(UnknownName, match=r"unknown option of 'denots': 'dept'. Did you mean 'depth'"):
        SYSTEMS["denots"].with_options(dept=3.0)
    with pytest.raises(UnknownName, match="option of 'trees': 'depth'"):
        SYSTEMS["trees"].with_options(depth=3.0)
    with pytest.raises(UnknownName, match=r"unknown system 'tree'. Did you mean 'trees'"):
        SYSTEMS.find("tree")


def booster(forest: BoostedTrees) -> lightgbm.Booster:
    return lightgbm.Booster(model_str=forest.text)


class TestTrees:
    def test_are_those_that_lightgbm_grows_on_the_same_features(self) -> None:
        target = np.random.default_rng(1).normal(size=48)
        asked = problem("regression", target)
        fitted = SYSTEMS["trees"].with_options(rounds=8, patience=8).fit(asked, seed=3)
        scale = asked.task.scale
        centre, spread = target[:32].mean(), target[:32].std()
        np.testing.assert_allclose([scale.centre[0], scale.spread[0]], [centre, spread])
        forest = lightgbm.LGBMRegressor(
            n_estimators=8, min_child_samples=1, random_state=3, deterministic=True, force_row_wise=True, verbosity=-1
        ).fit(summarise(asked.train.series), (target[:32] - centre) / spread)
        val = asked.val.series
        best = booster(fitted.forests[0]).num_trees()
        wanted = forest.predict(summarise(val), num_iteration=best)
        np.testing.assert_allclose(fitted.outputs(val).outputs[:, 0], wanted, rtol=1e-6, atol=1e-9)

    def test_do_not_depend_on_the_number_of_threads(self) -> None:
        threads, answers = torch.get_num_threads(), []
        try:
            for count in (1, 2):
                torch.set_num_threads(count)
                fitted = SYSTEMS["trees"].with_options(rounds=8).fit(problem(), seed=0)
                answers.append(fitted.outputs(waves()).outputs)
        finally:
            torch.set_num_threads(threads)
        assert torch.equal(*answers)

    @pytest.mark.parametrize("task", ["classification", "regression"])
    def test_that_run_out_of_time_are_the_first_that_would_have_grown(self, task: str) -> None:
        asked = problem(task, waves().lengths % 7 if task == "classification" else waves().lengths * 1.0)
        whole = SYSTEMS["trees"].with_options(rounds=8, patience=8).fit(asked, seed=3)
        late = SYSTEMS["trees"].with_options(rounds=8, patience=8).fit(asked, seed=3, deadline=0.0)
        assert booster(late.forests[0]).current_iteration() == 1 < booster(whole.forests[0]).current_iteration()
        features = summarise(asked.train.series)
        first = booster(whole.forests[0]).predict(features, raw_score=True, num_iteration=1)
        np.testing.assert_array_equal(late.forests[0].sums(features), first.reshape(len(features), -1))

    def test_a_class_that_training_never_saw_gets_hardly_any_probability(self) -> None:
        series = waves().with_target(np.where(np.arange(48) < 32, np.arange(48) % 2, 2))
        task = Classification.read(series)
        part = task.pose(series)
        asked = Problem(task, part.select(np.arange(32)), part.select(np.arange(32, 48)))
        fitted = SYSTEMS["trees"].with_options(rounds=4).fit(asked, seed=0)
        shares = task.answer(fitted.outputs(series).outputs)
        assert (shares[:, 2] < 1e-6).all()

    def test_a_forecast_beats_the_mean(self) -> None:
        asked = problem("forecast")
        fitted = SYSTEMS["trees"].fit(asked, seed=0)
        assert hide_for_forecasting(waves()).at.shape[1] == asked.val.at.shape[1]
        assert fitted.score > 0

    def test_broken_text_is_refused(self) -> None:
        asked = problem()
        shape = Shape.of(asked.train.series)
        for values in ({"forests": ["tree\nnonsense"]}, {"forests": []}, {"forests": 3}):
            with pytest.raises(ValueError, match=r"trees|forests"):
                SYSTEMS["trees"].restore(asked.task, shape, State(values, {}))

    @pytest.mark.parametrize(
        ("option", "value"), [("rounds", 0), ("rounds", 1.5), ("leaves", 1), ("learning_rate", 0), ("patience", None)]
    )
    def test_bad_options_are_named(self, option: str, value: object) -> None:
        with pytest.raises(InvalidOption, match=option):
            SYSTEMS["trees"].with_options(**{option: value})


def test_a_regression_of_several_outputs_grows_a_forest_for_each() -> None:
    asked = problem("regression", np.random.default_rng(1).normal(size=(48, 3)))
    assert isinstance(asked.task, Regression)
    fitted = SYSTEMS["trees"].with_options(rounds=4).fit(asked, seed=0)
    assert fitted.outputs(asked.val.series).outputs.shape == (16, 3)
