"""Heads against scikit-learn, scipy and brute force."""

import numpy as np
import pytest
import torch
from scipy.optimize import nnls
from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.preprocessing import StandardScaler
from torch.nn.functional import binary_cross_entropy_with_logits, mse_loss

from denots.data.series import SeriesSet
from denots.features import Intervals
from denots.heads import logistic, ridge
from denots.heads.combine import calibrate, weigh
from denots.heads.forest import grow_forest
from denots.heads.logistic import fit_logistic
from denots.heads.ridge import PENALTIES, fit_ridge
from denots.inference.forest import forest_features


def table(n: int, size: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(n, size)) * rng.uniform(0.1, 10, size) + rng.normal(size=size)
    return features, features[:, :3] @ rng.normal(size=(3, 2)) + 3 * rng.normal(size=(n, 2)) + 7


@pytest.mark.parametrize(("n", "size"), [(25, 60), (60, 12)])
def test_a_ridge_is_the_one_with_the_least_error_when_each_row_is_left_out_by_hand(n: int, size: int) -> None:
    features, target = table(n, size)
    spread = features.std(axis=0)
    scaled = StandardScaler().fit_transform(features) * np.minimum(1, spread / np.median(spread))
    errors, told = [], []
    for penalty in PENALTIES * size:
        left_out = []
        for row in range(n):
            others = np.arange(n) != row
            model = Ridge(alpha=penalty).fit(scaled[others], target[others])
            left_out.append(model.predict(scaled[[row]])[0])
        told.append(np.array(left_out))
        errors.append(((told[-1] - target) ** 2).mean())
    best = int(np.argmin(errors))
    found = fit_ridge(features, target)
    np.testing.assert_allclose(found.left_out, told[best], rtol=1e-3, atol=1e-3)
    wanted = Ridge(alpha=PENALTIES[best] * size).fit(scaled, target).predict(scaled)
    np.testing.assert_allclose(found.predict(features), wanted, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize(("n", "size"), [(50, 80), (90, 40)])
def test_a_large_ridge_says_what_a_small_one_says_for_the_penalty_of_some_rows(
    n: int, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    features, target = table(n, size)
    monkeypatch.setattr(ridge, "LARGE", 30)
    monkeypatch.setattr(ridge, "ENOUGH", n)
    large = fit_ridge(features, target)
    monkeypatch.setattr(ridge, "LARGE", 3000)
    small = fit_ridge(features, target)
    np.testing.assert_allclose(large.left_out, small.left_out, rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(large.predict(features), small.predict(features), rtol=1e-3, atol=1e-3)
    monkeypatch.setattr(ridge, "LARGE", 30)
    monkeypatch.setattr(ridge, "ENOUGH", 35)
    few = fit_ridge(features, target)
    error = [((found.left_out - target) ** 2).mean() for found in (few, small)]
    assert error[0] <= 1.1 * error[1]


def test_a_ridge_ignores_what_never_varies_and_tells_each_row_alone() -> None:
    features, target = table(40, 100)
    padded = np.column_stack([features, np.full(40, 5.0)])
    found = fit_ridge(padded, target)
    assert (found.weight[:, -1] == 0).all()
    whole = found.predict(padded)
    assert np.array_equal(found.predict(padded[[13]]), whole[[13]])


def test_what_hardly_varied_in_training_cannot_rule_the_answer_later() -> None:
    features, target = table(40, 20)
    features[:, 7] = 1e-4 * target[:, 0]  # it tells the target, and varies by next to nothing
    found = fit_ridge(features, target)
    later = features.copy()
    later[:, 7] += np.median(features.std(axis=0))
    moved = found.predict(later) - found.predict(features)
    assert np.abs(moved).max() < target.std()


@pytest.mark.parametrize("classes", [0, 3])
def test_a_forest_says_what_scikit_learn_says(classes: int) -> None:
    features, target = table(80, 30)
    labels = (target[:, 0] > 5).astype(int) + (target[:, 1] > 8)
    grown = grow_forest(features, labels if classes else target, classes=classes, trees=20, seed=3)
    kind = {True: ExtraTreesClassifier, False: ExtraTreesRegressor}[bool(classes)]
    options = {"criterion": "entropy"} if classes else {"min_samples_leaf": 2}
    judge = kind(20, max_features=5, random_state=3, **options).fit(
        features.astype(np.float32), labels if classes else target
    )
    fresh = table(50, 30, seed=1)[0]
    wanted = judge.predict_proba(fresh) if classes else judge.predict(fresh)
    np.testing.assert_allclose(grown.predict(fresh), wanted, rtol=1e-4, atol=1e-5)


def test_a_forest_that_runs_out_of_time_has_the_first_of_the_same_trees() -> None:
    features = np.random.default_rng(0).normal(size=(60, 6))
    labels = (features[:, 0] > 0).astype(np.int64)
    whole = grow_forest(features, labels, classes=2, trees=25, seed=3)
    late = grow_forest(features, labels, classes=2, trees=25, seed=3, deadline=0.0)
    assert 0 < len(late.roots) < len(whole.roots) == 25
    for name, array in late.arrays().items():
        np.testing.assert_array_equal(array, whole.arrays()[name][: len(array)])


def test_features_of_a_forest_are_the_same_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    series = SeriesSet.from_numpy(np.random.default_rng(0).normal(size=(7, 2, 20)))
    features = Intervals().fit(series)
    whole = forest_features(features, series)
    monkeypatch.setattr("denots.inference.forest.TOGETHER", 3)
    np.testing.assert_array_equal(forest_features(features, series), whole)
    assert whole.dtype == np.float32
    assert np.isfinite(whole).all()


def test_a_class_that_a_forest_never_saw_has_no_share() -> None:
    features, _ = table(20, 4)
    told = grow_forest(features, np.arange(20) % 2 * 2, classes=4, trees=5, seed=0).predict(features)
    assert told.shape == (20, 4)
    assert (told[:, [1, 3]] == 0).all()


def test_calibration_is_a_logistic_regression_on_the_answers() -> None:
    rng = np.random.default_rng(0)
    decision = rng.normal(size=4000)
    label = rng.random(4000) < 1 / (1 + np.exp(-(3 * decision - 2)))
    judge = LogisticRegression(C=1e6).fit(decision[:, None], label)
    target = torch.from_numpy(label).double()
    factor, shift = calibrate(
        torch.from_numpy(decision)[:, None], lambda outputs: binary_cross_entropy_with_logits(outputs[:, 0], target)
    )
    assert factor == pytest.approx(judge.coef_[0, 0], rel=0.02)
    assert shift[0] == pytest.approx(judge.intercept_[0], rel=0.02)


def test_weights_of_a_squared_loss_are_non_negative_least_squares() -> None:
    rng = np.random.default_rng(0)
    truth = rng.normal(size=5000)
    members = np.stack(
        [truth + rng.normal(size=5000), truth + 2 * rng.normal(size=5000), -truth, rng.normal(size=5000)]
    )
    found = weigh(
        [torch.from_numpy(member)[:, None] for member in members],
        lambda outputs: mse_loss(outputs[:, 0], torch.from_numpy(truth)),
    )
    np.testing.assert_allclose(found, nnls(members.T, truth)[0], atol=0.01)
    assert found[2] == 0


def test_a_handful_of_series_leaves_weights_near_each_other() -> None:
    member = torch.tensor([[1.0], [-1.0]])
    found = weigh([member, member * 0.9], lambda outputs: mse_loss(outputs, member))
    assert np.ptp(found) < 0.1
    found = weigh([member, member * 0.9], lambda outputs: mse_loss(outputs, member), np.array([1.0, 0.0]))
    np.testing.assert_allclose(found, [1.0, 0.0], atol=0.05)  # or near those that are likely


@pytest.mark.parametrize("classes", [2, 3])
def test_a_logistic_map_is_that_of_scikit_learn_with_the_penalty_that_held_back_rows_choose(classes: int) -> None:
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import log_loss

    rng = np.random.default_rng(0)
    features = rng.normal(size=(300, 5))
    target = np.argmax(features[:, :classes] + rng.gumbel(size=(300, classes)), axis=1)
    train, held = slice(200), slice(200, 300)
    weight, bias = fit_logistic(features[train], target[train], features[held], target[held], classes=classes)
    found = {}
    for penalty in logistic.PENALTIES:
        peer = LogisticRegression(C=1 / (penalty * 200), max_iter=1000).fit(features[train], target[train])
        found[log_loss(target[held], peer.predict_proba(features[held]))] = peer
    told, expected = features[held] @ weight.T + bias, found[min(found)].decision_function(features[held])
    told = told[:, 0] if classes == 2 else told - told.mean(axis=1, keepdims=True)
    expected = expected if classes == 2 else expected - expected.mean(axis=1, keepdims=True)
    np.testing.assert_allclose(told, expected, atol=2e-2)


def test_a_class_that_a_logistic_map_never_saw_is_unlikely_and_harms_no_other() -> None:
    rng = np.random.default_rng(0)
    features = rng.normal(size=(60, 3))
    target = np.where(features[:, 0] > 0, 2, 0)
    weight, bias = fit_logistic(features[:40], target[:40], features[40:], target[40:], classes=3)
    told = features[40:] @ weight.T + bias
    assert (told.argmax(axis=1) == target[40:]).mean() > 0.9
    assert (told[:, 1] < told.max(axis=1)).all()


def test_a_single_class_needs_no_map() -> None:
    features = np.random.default_rng(0).normal(size=(20, 3))
    weight, bias = fit_logistic(features, np.ones(20, np.int64), features, np.ones(20, np.int64), classes=2)
    assert not weight.any()
    assert bias[0] > 2
