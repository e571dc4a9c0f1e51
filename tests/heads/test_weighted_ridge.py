"""A ridge whose rows have weights, or are left out by groups, against scikit-learn."""

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.model_selection import LeaveOneGroupOut

from denots.heads import ridge
from denots.heads.ridge import PENALTIES, fit_ridge, lean_of_means

BOTH = pytest.mark.parametrize(("n", "size"), [(25, 60), (60, 12)])


def table(n: int, size: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Features of one spread, which a ridge does not change, two targets, and weights."""
    rng = np.random.default_rng(0)
    features = rng.normal(size=(n, size))
    target = features[:, :3] @ rng.normal(size=(3, 2)) + rng.normal(size=(n, 2)) + 7
    return features, target, rng.integers(1, 5, n).astype(np.float64)


def scaled_as_fitted(features: np.ndarray, weight: np.ndarray) -> np.ndarray:
    centre = np.average(features, axis=0, weights=weight)
    spread = np.sqrt(np.average((features - centre) ** 2, axis=0, weights=weight))
    return (features - centre) / np.maximum(spread, np.median(spread))


def left_out_by_hand(
    scaled: np.ndarray, target: np.ndarray, weight: np.ndarray, groups: np.ndarray
) -> tuple[float, np.ndarray]:
    """The penalty with the least weighted error, and what models without each group say of it."""
    best, least = None, np.inf
    for penalty in PENALTIES * scaled.shape[1]:
        told = np.empty_like(target)
        for others, own in LeaveOneGroupOut().split(scaled, groups=groups):
            model = Ridge(alpha=penalty).fit(
                scaled[others], target[others], sample_weight=weight[others] / weight.mean()
            )
            told[own] = model.predict(scaled[own])
        error = np.average(((told - target) ** 2).mean(axis=1), weights=weight)
        if error < least:
            best, least = (penalty, told), error
    assert best is not None
    return best


@BOTH
def test_weights_and_groups_give_what_leaving_out_by_hand_gives(n: int, size: int) -> None:
    features, target, weight = table(n, size)
    groups = np.arange(n) // 3
    for own_weight, own_groups in ((weight, np.arange(n)), (np.ones(n), groups), (weight, groups)):
        scaled = scaled_as_fitted(features, own_weight)
        penalty, told = left_out_by_hand(scaled, target, own_weight, own_groups)
        found = fit_ridge(features, target, weight=own_weight, groups=own_groups)
        np.testing.assert_allclose(found.left_out, told, rtol=1e-3, atol=1e-3)
        model = Ridge(alpha=penalty).fit(scaled, target, sample_weight=own_weight / own_weight.mean())
        np.testing.assert_allclose(found.predict(features), model.predict(scaled), rtol=1e-3, atol=1e-3)


@BOTH
def test_whole_weights_are_rows_that_stand_several_times(n: int, size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    features, target, weight = table(n, size)
    repeated = np.repeat(np.arange(n), weight.astype(int))
    monkeypatch.setattr(ridge, "PENALTIES", np.array([0.1]))
    weighted = fit_ridge(features, target, weight=weight)
    monkeypatch.setattr(ridge, "PENALTIES", np.array([0.1 * weight.mean()]))  # a penalty counts against the mean weight
    several = fit_ridge(features[repeated], target[repeated], groups=repeated)
    np.testing.assert_allclose(weighted.weight, several.weight, rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(weighted.bias, several.bias, rtol=1e-3, atol=1e-4)
    first = np.searchsorted(repeated, np.arange(n))
    np.testing.assert_allclose(weighted.left_out, several.left_out[first], rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize(("n", "size"), [(50, 80), (90, 40)])
def test_a_large_ridge_weighs_and_groups_as_a_small_one(n: int, size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    features, target, weight = table(n, size)
    groups = np.random.default_rng(1).integers(0, 20, n)
    small = fit_ridge(features, target, weight=weight, groups=groups)
    monkeypatch.setattr(ridge, "LARGE", 30)
    monkeypatch.setattr(ridge, "ENOUGH", n)
    large = fit_ridge(features, target, weight=weight, groups=groups)
    np.testing.assert_allclose(large.left_out, small.left_out, rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(large.predict(features), small.predict(features), rtol=1e-3, atol=1e-3)


def test_equal_weights_and_groups_of_one_change_nothing() -> None:
    features, target, _ = table(40, 20)
    plain, same = (
        fit_ridge(features, target),
        fit_ridge(features, target, weight=np.full(40, 3.0), groups=np.arange(40)),
    )
    np.testing.assert_allclose(same.left_out, plain.left_out, rtol=1e-5)
    np.testing.assert_allclose(same.weight, plain.weight, rtol=1e-4, atol=1e-6)


def test_a_mean_leans_away_from_what_is_left_out() -> None:
    _, target, weight = table(30, 4)
    groups = np.arange(30) // 3
    for own_weight, own_groups in ((None, None), (weight, None), (None, groups), (weight, groups)):
        mean = np.average(target, axis=0, weights=own_weight)
        for k, lean in enumerate(lean_of_means(target, own_weight, own_groups)):
            others = np.arange(30) != k if own_groups is None else own_groups != own_groups[k]
            of_others = np.average(target[others], axis=0, weights=None if own_weight is None else own_weight[others])
            np.testing.assert_allclose(mean + lean, of_others, atol=1e-12)
