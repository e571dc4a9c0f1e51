"""Metrics of probabilities, judged by scikit-learn and scipy."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit
from scipy.stats import binom
from sklearn import metrics
from sklearn.linear_model import LogisticRegression

from denots.tasks.class_metrics import BINS, calibration_error, judge_classes, reliability


def drawn(n: int = 500, seed: int = 0, classes: int = 2) -> tuple[np.ndarray, np.ndarray]:
    """Probabilities, some of them equal, and classes that are related to them."""
    rng = np.random.default_rng(seed)
    shares = rng.multinomial(100, rng.dirichlet(np.ones(classes), n)) / 100
    truth = np.array([rng.choice(classes, p=row**2 / (row**2).sum()) for row in shares])
    return shares, truth


def test_two_classes_have_the_metrics_of_scikit_learn() -> None:
    shares, truth = drawn()
    found = judge_classes(shares, truth)(np.arange(len(truth)))
    second = shares[:, 1]
    assert found["accuracy"] == pytest.approx(metrics.accuracy_score(truth, shares.argmax(axis=1)))
    assert found["balanced accuracy"] == pytest.approx(metrics.balanced_accuracy_score(truth, shares.argmax(axis=1)))
    assert found["AUROC"] == pytest.approx(metrics.roc_auc_score(truth, second))
    assert found["average precision"] == pytest.approx(metrics.average_precision_score(truth, second))
    assert found["Brier"] == pytest.approx(metrics.brier_score_loss(truth, second))
    assert found["log loss"] == pytest.approx(metrics.log_loss(truth, shares))


def test_several_classes_have_the_metrics_of_scikit_learn() -> None:
    shares, truth = drawn(classes=4)
    found = judge_classes(shares, truth)(np.arange(len(truth)))
    assert found["balanced accuracy"] == pytest.approx(metrics.balanced_accuracy_score(truth, shares.argmax(axis=1)))
    assert found["Brier"] == pytest.approx(metrics.brier_score_loss(truth, shares, scale_by_half=False))
    assert found["log loss"] == pytest.approx(metrics.log_loss(truth, shares))
    assert "AUROC" not in found


def test_chosen_series_are_judged_as_if_there_were_no_others() -> None:
    shares, truth = drawn()
    rows = np.random.default_rng(1).choice(len(truth), 300)
    found = judge_classes(shares, truth)(rows)
    assert found == pytest.approx(judge_classes(shares[rows], truth[rows])(np.arange(300)))


def test_sensitivity_is_the_largest_among_thresholds_that_leave_nine_of_ten_negatives_alone() -> None:
    shares, truth = drawn()
    second = shares[:, 1]
    best, mirror = 0.0, 0.0
    for threshold in [*np.unique(second), np.inf]:
        flagged = second >= threshold
        sensitivity, specificity = flagged[truth == 1].mean(), (~flagged)[truth == 0].mean()
        best = max(best, sensitivity if specificity >= 0.9 else 0.0)
        mirror = max(mirror, specificity if sensitivity >= 0.9 else 0.0)
    found = judge_classes(shares, truth)(np.arange(len(truth)))
    assert found["sensitivity at specificity 0.9"] == pytest.approx(best)
    assert found["specificity at sensitivity 0.9"] == pytest.approx(mirror)


def test_calibration_slope_and_intercept_are_those_of_logistic_regressions() -> None:
    rng = np.random.default_rng(0)
    logits = rng.normal(size=800) * 2
    truth = (rng.random(800) < expit(0.5 * logits - 0.7)).astype(int)
    shares = np.column_stack([1 - expit(logits), expit(logits)])
    found = judge_classes(shares, truth)(np.arange(800))
    line = LogisticRegression(C=np.inf, tol=1e-10, max_iter=1000).fit(logits[:, None], truth)
    assert found["calibration slope"] == pytest.approx(line.coef_[0, 0], rel=1e-5)
    shift = minimize(lambda a: metrics.log_loss(truth, expit(logits + a[0])), [0.0], tol=1e-10).x[0]
    assert found["calibration intercept"] == pytest.approx(shift, abs=1e-4)


def test_the_calibration_error_is_the_mean_gap_of_bins_with_equally_many_series() -> None:
    rng = np.random.default_rng(0)
    predicted = rng.random(1000)
    truth = rng.random(1000) < predicted**2
    bins = np.array_split(np.argsort(predicted), BINS)
    gaps = [abs(predicted[own].mean() - truth[own].mean()) * len(own) / 1000 for own in bins]
    assert calibration_error(predicted, truth) == pytest.approx(sum(gaps), abs=2e-3)


def test_right_probabilities_have_slope_one_and_hardly_an_error() -> None:
    rng = np.random.default_rng(0)
    second = rng.beta(1, 4, 50_000)
    truth = (rng.random(50_000) < second).astype(int)
    found = judge_classes(np.column_stack([1 - second, second]), truth)(np.arange(50_000))
    assert found["calibration error"] < 0.01
    assert found["calibration slope"] == pytest.approx(1, abs=0.03)
    assert found["calibration intercept"] == pytest.approx(0, abs=0.03)
    inside = [one.low <= one.predicted <= one.high for one in reliability(np.column_stack([1 - second, second]), truth)]
    assert sum(inside) >= binom.ppf(0.001, BINS, 0.95)


def test_what_one_class_or_equal_answers_leave_undefined_is_nan() -> None:
    equal, truth = np.full((40, 2), 0.5), np.arange(40) % 2
    assert np.isnan(judge_classes(equal, truth)(np.arange(40))["calibration slope"])
    alone = judge_classes(drawn(40)[0], np.zeros(40, dtype=int))(np.arange(40))
    for name in ("AUROC", "average precision", "sensitivity at specificity 0.9", "calibration slope"):
        assert np.isnan(alone[name])
    sure = np.column_stack([1 - truth, truth]).astype(float)
    assert np.isnan(judge_classes(sure, truth)(np.arange(40))["calibration slope"])


def test_certain_and_wrong_is_costly_but_finite() -> None:
    found = judge_classes(np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]]), np.array([1, 1, 0]))(np.arange(3))
    assert found["log loss"] == pytest.approx(-np.log(1e-15) / 3)


def test_the_bins_of_reliability_hold_every_series_once() -> None:
    shares, truth = drawn(997)
    bins = reliability(shares, truth)
    assert sum(one.series for one in bins) == 997
    assert [one.predicted for one in bins] == sorted(one.predicted for one in bins)
    assert sum(one.observed * one.series for one in bins) == pytest.approx(truth.sum())
    assert sum(one.predicted * one.series for one in bins) == pytest.approx(shares[:, 1].sum())
