"""Tasks, judged by scikit-learn, PyTorch and plain arithmetic."""

import json

import numpy as np
import pytest
import torch
from scipy.special import expit
from sklearn import metrics
from torch.nn.functional import cross_entropy

from denots.data.series import SeriesSet
from denots.errors import InvalidOption, InvalidSeries, InvalidTarget
from denots.tasks import TASKS, Classification, Forecast, Part, Regression, Task, suggest_task
from denots.tasks.forecast import last_values


def series_with(target: object, lengths: tuple[int, ...] | None = None) -> SeriesSet:
    rng = np.random.default_rng(0)
    n = 6 if target is None else len(np.asarray(target))
    lengths = lengths or (6,) * n
    times = [np.sort(rng.uniform(0, 5, length)) for length in lengths]
    values = [rng.normal(size=(length, 2)) for length in lengths]
    return SeriesSet.from_arrays(times, values, target=target)


CASES = {
    "binary": (Classification, ["yes", "no", "no", "yes", "no", "yes"]),
    "multiclass": (Classification, [3, 5, 9, 9, 5, 3]),
    "regression": (Regression, [0.5, 2.0, 1.0, -3.0, 4.0, 4.5]),
    "several": (Regression, np.arange(12.0).reshape(6, 2) ** 2),
    "forecast": (Forecast, None),
}


@pytest.fixture(params=CASES)
def posed(request: pytest.FixtureRequest) -> tuple[Task, Part]:
    kind, target = CASES[request.param]
    series = series_with(target)
    task = kind.read(series)
    part = task.pose(series)
    return task.calibrated(part), part


def outputs_for(task: Task, part: Part) -> torch.Tensor:
    shape = (len(part), task.outputs) if part.at is None else (*part.at.shape, task.outputs)
    return torch.randn(shape, generator=torch.Generator().manual_seed(0), dtype=torch.float64)


class TestEveryTask:
    def test_is_the_same_after_json(self, posed: tuple[Task, Part]) -> None:
        task, part = posed
        again = TASKS[task.name].restore(json.loads(json.dumps(task.state())))
        assert again == task
        outputs = outputs_for(task, part)
        assert torch.equal(again.answer(outputs), task.answer(outputs))
        assert torch.equal(again.loss(outputs, part.target), task.loss(outputs, part.target))

    def test_scores_agree_with_the_metric_of_training(self, posed: tuple[Task, Part]) -> None:
        task, part = posed
        outputs = outputs_for(task, part)
        scores = task.scores(outputs, part)
        assert scores.failed == 0
        assert scores.metrics[task.metric_name].model == pytest.approx(float(task.metric(outputs, part.target)))

    def test_a_series_without_an_answer_is_given_the_trivial_one(self, posed: tuple[Task, Part]) -> None:
        task, part = posed
        outputs = outputs_for(task, part)
        nothing = task.scores(torch.full_like(outputs, torch.nan), part)
        assert nothing.failed == len(part)
        assert all(score.model == pytest.approx(score.baseline, nan_ok=True) for score in nothing.metrics.values())

    def test_a_head_maps_states_to_its_outputs(self, posed: tuple[Task, Part]) -> None:
        task, _ = posed
        assert task.head(7)(torch.zeros(3, 7)).shape == (3, task.outputs)


@pytest.mark.parametrize("case", ["binary", "multiclass", "regression", "several"])
def test_a_weight_of_three_counts_as_three_series(case: str) -> None:
    kind, target = CASES[case]
    series = series_with(target)
    task = kind.read(series)
    part = task.pose(series)
    outputs, weight = outputs_for(task, part), torch.tensor([3, 1, 2, 1, 1, 3])
    rows = torch.arange(6).repeat_interleave(weight)
    weighed = task.weighed_loss(outputs, part.target, weight)
    torch.testing.assert_close(weighed, task.loss(outputs[rows], part.target[rows]))


class TestClassification:
    def test_probabilities_and_loss_are_those_of_the_softmax(self) -> None:
        series = series_with(["a", "b", "c", "a", "b", "c"])
        task = Classification.read(series)
        part = task.pose(series)
        logits = outputs_for(task, part)
        np.testing.assert_allclose(task.answer(logits), logits.softmax(dim=1))
        torch.testing.assert_close(task.loss(logits, part.target), cross_entropy(logits, part.target))
        scores = task.calibrated(part).scores(logits, part).metrics
        assert scores["log loss"].model == pytest.approx(metrics.log_loss(part.target, logits.softmax(dim=1)))
        assert scores["log loss"].baseline == pytest.approx(np.log(3))

    def test_two_classes_have_one_logit_that_equals_two_of_a_softmax(self) -> None:
        series = series_with([0, 1, 1, 0, 1, 1])
        task = Classification.read(series)
        part = task.pose(series)
        logit = outputs_for(task, part)
        pair = torch.cat([torch.zeros_like(logit), logit], dim=1)
        torch.testing.assert_close(task.answer(logit), pair.softmax(dim=1))
        torch.testing.assert_close(task.loss(logit, part.target), cross_entropy(pair, part.target))

    def test_balanced_weights_are_those_of_scikit_learn(self) -> None:
        from sklearn.utils.class_weight import compute_class_weight

        labels = np.array(["rare", "common", "common", "common", "common", "rare"])
        task = Classification.read(series_with(labels))
        part = task.pose(series_with(labels))
        wanted = compute_class_weight("balanced", classes=np.unique(labels), y=labels)
        np.testing.assert_allclose(task.weighted(part, "balanced").weights, wanted, rtol=1e-6)

    def test_confident_answers_are_ranked_and_not_tied(self) -> None:
        rng = np.random.default_rng(0)
        target = rng.integers(0, 2, 200)
        logits = (rng.normal(size=200) + target + 40).astype(np.float32)  # every probability rounds to one
        task = Classification.read(series_with([0, 1]))
        found = task.metric(torch.from_numpy(logits)[:, None], torch.from_numpy(target))
        np.testing.assert_allclose(found, metrics.roc_auc_score(target, logits), rtol=1e-6)

    def test_equal_answers_count_half(self) -> None:
        task = Classification.read(series_with([0, 1]))
        assert float(task.metric(torch.zeros(4, 1), torch.tensor([0, 1, 1, 0]))) == 0.5

    def test_classes_keep_their_type(self) -> None:
        for labels in (["a", "bb"], [True, False], [7, 1], [0.0, 1.0], np.array([1, 2], dtype=np.int8)):
            task = Classification.read(series_with(labels))
            again = Classification.restore(json.loads(json.dumps(task.state())))
            assert again.classes.dtype == np.unique(labels).dtype
            assert again.best(np.array([[0.9, 0.1]]))[0] == np.unique(labels)[0]

    def test_no_answer_is_none_among_classes(self) -> None:
        task = Classification.read(series_with(["a", "b"]))
        best = task.best(np.array([[0.9, 0.1], [np.nan, np.nan], [0.2, 0.8]]))
        assert best.tolist() == ["a", None, "b"]

    def test_unknown_classes_are_named(self) -> None:
        with pytest.raises(InvalidTarget, match="class 'c', which the model does not know; its classes are 'a', 'b'"):
            Classification.read(series_with(["a", "b"])).pose(series_with(["a", "c"]))

    def test_one_class_or_one_series_of_a_class_cannot_be_learnt(self) -> None:
        for labels, message in (
            (["a", "a"], "every series has one class, 'a'"),
            (["a", "a", "b"], "'b' has one series"),
        ):
            task = Classification.read(series_with(labels))
            with pytest.raises(InvalidTarget, match=message):
                task.check(task.pose(series_with(labels)))

    def test_a_damaged_state_is_refused(self) -> None:
        state = Classification.read(series_with(["a", "b"])).state()
        with pytest.raises(ValueError, match="differ in number"):
            Classification.restore({**state, "labels": ["a", "b", "c"]})


class TestRegression:
    def test_scores_are_those_of_scikit_learn(self) -> None:
        target = np.array([0.5, 2.0, 1.0, -3.0, 4.0, 4.5])
        task = Regression.read(series_with(target))
        part = task.pose(series_with(target))
        task = task.calibrated(part)
        outputs = outputs_for(task, part)
        answers = outputs[:, 0].numpy() * target.std() + target.mean()
        found = task.scores(outputs, part).metrics
        assert found["RMSE"].model == pytest.approx(metrics.root_mean_squared_error(target, answers))
        assert found["MAE"].model == pytest.approx(metrics.mean_absolute_error(target, answers))
        assert found["R2"][:2] == pytest.approx((metrics.r2_score(target, answers), 0.0), abs=1e-12)

    def test_numbers_that_cannot_be_standardised_are_refused(self) -> None:
        target = [1e200, 2e200, -1e200]
        task = Regression.read(series_with(target))
        with pytest.raises(InvalidTarget, match=r"reaches 2e\+200, beyond what can be standardised"):
            task.check(task.pose(series_with(target)))

    def test_constants_and_text_are_refused(self) -> None:
        task = Regression.read(series_with([2.0, 2.0]))
        with pytest.raises(InvalidTarget, match="nothing to learn from a constant"):
            task.check(task.pose(series_with([2.0, 2.0])))
        with pytest.raises(InvalidTarget, match="Use a classifier"):
            Regression.read(series_with(["a", "b"]))

    def test_there_is_nothing_to_balance(self) -> None:
        task = Regression.read(series_with([1.0, 2.0]))
        with pytest.raises(InvalidOption, match="no classes to weigh"):
            task.weighted(task.pose(series_with([1.0, 2.0])), "balanced")


class TestForecast:
    def test_between_and_beyond_weigh_the_same(self) -> None:
        task = Forecast.read(series_with(None))
        target = torch.tensor([[[1.0, torch.nan, 0.0], [2.0, 2.0, 1.0], [3.0, 0.0, 1.0]]])
        outputs = torch.zeros(1, 3, 2)
        between, beyond = np.mean([1.0]), np.mean([4.0, 4.0, 9.0, 0.0])
        assert float(task.loss(outputs, target)) == pytest.approx((between + beyond) / 2)

    def test_the_last_value_is_found_by_brute_force(self) -> None:
        series = series_with(None)
        series.values[np.random.default_rng(1).random(series.values.shape) < 0.4] = np.nan
        at = np.linspace(-1, 6, 15)[None].repeat(len(series), axis=0)
        found = last_values(series, at)
        for row, one in enumerate(series):
            for k, t in enumerate(at[row]):
                for c in range(2):
                    seen = [v for s, v in zip(one.times, one.values[:, c], strict=True) if s <= t and not np.isnan(v)]
                    np.testing.assert_equal(found[row, k, c], seen[-1] if seen else np.nan)

    def test_series_of_one_row_leave_nothing_to_ask(self) -> None:
        series = series_with(None, lengths=(1, 1))
        task = Forecast.read(series)
        with pytest.raises(InvalidSeries, match="nothing is left to ask for"):
            task.check(task.pose(series))


@pytest.mark.parametrize(
    ("target", "task", "reason"),
    [
        (None, "forecast", "there is no target"),
        (["a", "b", "a"], "classification", "text, 2 classes"),
        ([True, False], "classification", "true or false"),
        ([0.0, 1.0, 1.0], "classification", "two different numbers"),
        ([1.5, 2.5, 1.5], "classification", "two different numbers"),
        ([1, 2, 3], "classification", "whole numbers, only 3"),
        (list(range(30)), "regression", "whole numbers, 30"),
        ([0.5, 1.5, 2.5], "regression", "decimal numbers"),
        ([[0, 1], [1, 2], [2, 5]], "regression", "hold numbers"),
    ],
)
def test_a_target_suggests_its_task(target: object, task: str, reason: str) -> None:
    found, why = suggest_task(None if target is None else np.asarray(target))
    assert found.name == task
    assert reason in why


def test_several_targets_that_look_like_classes_are_not_taken_for_numbers() -> None:
    with pytest.raises(InvalidTarget, match="only two different values, as classes do; fit a model for each"):
        suggest_task(np.array([[0, 1.5], [1, 2.5], [0, 3.5]]))


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ([0.1, 0.2, 0.3], "Unknown label type: continuous"),
        ([[1, 2], [2, 1]], "one class for each series"),
    ],
)
def test_what_is_no_class_is_refused(target: object, message: str) -> None:
    with pytest.raises(InvalidTarget, match=message):
        Classification.read(series_with(target))


def test_probabilities_have_the_same_bits_alone_and_among_others_and_are_those_of_scipy() -> None:
    logits = torch.from_numpy(np.random.default_rng(0).normal(0, 5, (1001, 1)))
    task = Classification.read(series_with(CASES["binary"][1]))
    whole = task.answer(logits)
    assert torch.equal(torch.cat([task.answer(logits[k : k + 1]) for k in range(len(logits))]), whole)
    expected = np.stack([expit(-logits[:, 0].numpy()), expit(logits[:, 0].numpy())], axis=1)
    np.testing.assert_allclose(whole.numpy(), expected, rtol=1e-15, atol=0)
    assert task.answer(torch.tensor([[torch.inf], [-torch.inf]])).tolist() == [[0, 1], [1, 0]]
