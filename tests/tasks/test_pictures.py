"""The pictures of a task show what scikit-learn computes from the same answers."""

import numpy as np
import pytest
import torch
from sklearn.metrics import confusion_matrix, roc_auc_score

from denots.data.series import SeriesSet
from denots.pages.chart import Chart, Grid
from denots.tasks.class_pictures import MOST_CLASSES, class_pictures
from denots.tasks.forecast import Forecast
from denots.tasks.number_pictures import number_pictures


def charts(pictures: object) -> list[Chart]:
    return [picture for picture in pictures if isinstance(picture, Chart)]  # type: ignore[attr-defined]


def grid(pictures: object) -> Grid:
    return next(picture for picture in pictures if isinstance(picture, Grid))  # type: ignore[attr-defined]


def drawn_shares(n: int, classes: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(classes)
    truth = rng.integers(0, classes, n)
    shares = rng.dirichlet(np.ones(classes), n) + 0.5 * np.eye(classes)[truth] * rng.random((n, 1))
    return shares / shares.sum(axis=1, keepdims=True), truth


@pytest.mark.parametrize("classes", [2, 3, 5])
def test_the_area_under_each_curve_is_that_of_its_class_against_the_others(classes: int) -> None:
    shares, truth = drawn_shares(150, classes)
    names = [f"c{k}" for k in range(classes)]
    roc = charts(class_pictures(names, shares, truth))[0]
    curves = {line.name.split(",")[0]: line for line in roc.lines if line.kind == "line"}
    assert set(curves) == ({"c1"} if classes == 2 else set(names))
    for name, line in curves.items():
        k = names.index(name)
        assert np.trapezoid(line.y, line.x) == pytest.approx(roc_auc_score(truth == k, shares[:, k]))


def test_confusion_counts_are_those_of_sklearn() -> None:
    shares, truth = drawn_shares(200, 4)
    found = grid(class_pictures([f"c{k}" for k in range(4)], shares, truth))
    assert [list(counts) for _, counts in found.rows] == confusion_matrix(truth, shares.argmax(axis=1)).tolist()


def test_of_many_classes_the_rarest_are_joined_and_no_series_is_lost() -> None:
    shares, truth = drawn_shares(400, 30)
    found = grid(class_pictures([f"c{k}" for k in range(30)], shares, truth))
    assert len(found.columns) == MOST_CLASSES
    assert found.columns[-1] == "others"
    assert sum(sum(counts) for _, counts in found.rows) == 400


def test_a_single_class_has_no_curves() -> None:
    shares, _ = drawn_shares(20, 2)
    assert charts(class_pictures(["a", "b"], shares, np.ones(20, dtype=np.int64))) == []


def test_residuals_are_answer_less_truth_and_all_are_counted() -> None:
    rng = np.random.default_rng(0)
    truth = rng.normal(size=300)
    answers = truth + 0.5
    scatter, residuals, histogram = charts(number_pictures("", answers, truth))
    assert scatter.lines[1].y - scatter.lines[1].x == pytest.approx(0.5)
    assert residuals.lines[1].y == pytest.approx(0.5)
    assert histogram.lines[0].y.sum() == 300
    assert number_pictures("", np.full(3, np.nan), np.zeros(3)) == ()


def test_the_error_by_the_time_ahead_is_the_root_mean_square_of_what_was_hidden() -> None:
    rng = np.random.default_rng(0)
    times = [np.arange(8.0) for _ in range(3)]
    series = SeriesSet.from_arrays(times, [rng.normal(size=(8, 2)) for _ in times])
    task = Forecast.read(series)
    part = task.pose(series)
    task = task.calibrated(part)
    told = task.compare(torch.zeros(*part.target.shape[:2], 2, dtype=torch.float64), part)
    chart = charts(task.pictures(told, part))[0]
    assert part.at is not None
    beyond = part.at.numpy() > 2  # rows 0 and 2 stay visible
    scaled = (told.truth[..., :2] - np.array(task.scale.centre)) / np.array(task.scale.spread)
    by_hand = np.sqrt(np.square(scaled[beyond]).mean())  # all answers are the training mean
    assert [line.name for line in chart.lines][:2] == ["model", "last value"]
    assert len(chart.lines[0].y) == 1
    assert chart.lines[0].y[0] == pytest.approx(by_hand)
