"""The task that a target asks for, and the answer that needs no model."""

import numpy as np
import pytest

from denots.cli.task import choose_task, make_estimator, trivial_answer
from denots.errors import InvalidOption
from denots.estimators import DeNOTSClassifier, DeNOTSForecaster, DeNOTSRegressor


@pytest.mark.parametrize(
    ("target", "task", "reason"),
    [
        (np.array(["a", "b", "a"]), "classification", "'y' holds text, 2 classes"),
        (np.array([True, False]), "classification", "'y' is true or false"),
        (np.arange(20), "classification", "'y' holds whole numbers, only 20 different ones"),
        (np.arange(21), "regression", "'y' holds whole numbers, 21 different ones"),
        (np.array([0.0, 1.0]), "regression", "'y' holds decimal numbers"),
        (None, "forecast", "there is no target"),
    ],
)
def test_the_target_suggests_the_task(target, task: str, reason: str) -> None:
    assert choose_task("auto", target, "y") == (task, reason)


def test_a_named_task_is_taken() -> None:
    assert choose_task("regression", np.arange(3), "y") == ("regression", "as asked")
    assert choose_task("forecast", np.arange(3), "y") == ("forecast", "as asked")


def test_each_task_has_its_estimator() -> None:
    kinds = {"classification": DeNOTSClassifier, "regression": DeNOTSRegressor, "forecast": DeNOTSForecaster}
    for task, kind in kinds.items():
        assert type(make_estimator(task, balanced=False, depth=3.0)) is kind
    assert make_estimator("classification", balanced=True).class_weight == "balanced"
    with pytest.raises(InvalidOption, match="forecast has none"):
        make_estimator("forecast", balanced=True)


def test_the_trivial_answer_is_the_class_shares_or_the_mean() -> None:
    assert trivial_answer("classification", np.array(["b", "a", "b", "b"])) == [0.25, 0.75]
    assert trivial_answer("regression", np.array([1, 2, 6])) == [3.0]
    assert trivial_answer("forecast", None) == []
