"""What `fit` takes beside series and target: weights, groups, validation data; scikit-learn judges."""

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import sklearn
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_validate

from denots import SeriesClassifier, SeriesRegressor, SeriesSet
from denots.data.split import deal_folds
from denots.errors import InvalidOption, InvalidSeries, NothingLearnt
from denots.estimators.validation import validation_split
from denots.systems import SYSTEMS
from denots.systems.held_out import folds
from denots.systems.trained import Trained
from denots.tasks import Classification, Regression

LIGHT = {"max_epochs": 15, "batches_per_epoch": 4, "state_size": 4, "learning_rate": 0.05}
pytestmark = pytest.mark.filterwarnings("ignore::denots.errors.UnusualSeries")


def waves(n: int = 60, classes: int = 2) -> SeriesSet:
    rng = np.random.default_rng(0)
    y = np.arange(n) % classes
    return SeriesSet.from_numpy(rng.normal(size=(n, 2, 15)) + y[:, None, None], channels=["pulse", "lactate"], target=y)


@pytest.mark.parametrize("classes", [2, 3])
def test_the_highest_decision_is_the_prediction(classes: int) -> None:
    series = waves(classes=classes)
    model = SeriesClassifier("summary", random_state=0).fit(series)
    told, shares = model.decision_function(series), model.predict_proba(series)
    if classes == 2:
        np.testing.assert_allclose(told, np.log(shares[:, 1] / shares[:, 0]), rtol=1e-6)
        np.testing.assert_array_equal(model.predict(series), (told > 0).astype(int))
    else:
        odds = np.exp(told - told.max(axis=1, keepdims=True))
        np.testing.assert_allclose(odds / odds.sum(axis=1, keepdims=True), shares, rtol=1e-6)
        np.testing.assert_array_equal(model.predict(series), told.argmax(axis=1))


def test_features_are_named_where_they_are_channels() -> None:
    series = waves()
    assert not hasattr(SeriesClassifier("summary"), "feature_names_in_")
    model = SeriesClassifier("summary").fit(series)
    assert model.feature_names_in_.tolist() == ["pulse", "lactate"]
    assert model.n_features_in_ == 2
    rows = SeriesClassifier("summary").fit(np.random.default_rng(0).normal(size=(20, 7)), np.arange(20) % 2)
    assert not hasattr(rows, "feature_names_in_")


@pytest.mark.parametrize("system", ["summary", "trees", "denots"])
def test_weights_lead_the_answer_to_what_counts(system: str) -> None:
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(80, 1, 10))] * 2)  # every series twice, with two answers
    y = np.repeat([0.0, 10.0], 80)
    given = {"options": LIGHT if system == "denots" else None, "random_state": 0}
    for share in (0.1, 0.5, 0.9):
        weight = np.where(y > 0, share, 1 - share)
        told = SeriesRegressor(system, **given).fit(X, y, sample_weight=weight).predict(X)
        assert told.mean() == pytest.approx(10 * share, abs=1.0)
    shares = SeriesClassifier(system, **given).fit(X, y, sample_weight=np.where(y > 0, 9.0, 1.0)).predict_proba(X)
    assert shares[:, 1].mean() == pytest.approx(0.9, abs=0.07)


@pytest.mark.parametrize(
    "system",
    [
        "gru",
        *(
            name
            for name, system in SYSTEMS.items()
            if system.weighs and system.serves(Classification) and not isinstance(system, Trained)
        ),
    ],
)
def test_every_system_that_says_it_weighs_does(system: str) -> None:
    X = np.concatenate([np.random.default_rng(0).normal(size=(40, 1, 10))] * 2)
    y = np.repeat([0, 1], 40)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NothingLearnt)  # nothing can be, and a blend says so
        options = LIGHT if system == "gru" else None
        model = SeriesClassifier(system, options=options, random_state=0).fit(X, y, sample_weight=np.where(y, 9.0, 1.0))
    assert model.predict_proba(X)[:, 1].mean() == pytest.approx(0.9, abs=0.15)


def test_a_blend_leaves_out_what_cannot_weigh_and_says_so() -> None:
    members = {name: SYSTEMS[name] for name in ("summary", "trees", "summary-logistic")}
    blend = replace(SYSTEMS["auto"], members=members)
    model = SeriesClassifier(blend, options={"budget": 20.0}, random_state=0)
    model.fit(waves(), sample_weight=np.linspace(1, 2, 60))
    assert {"system": "summary-logistic", "note": "left out: it cannot weigh series"} in model.leaderboard_
    assert {"summary", "trees"} <= {row["system"] for row in model.leaderboard_ if "score" in row}
    assert all(system.weighs for system in SYSTEMS["auto"].members.values())


def test_a_series_of_no_weight_might_as_well_be_left_out() -> None:
    series, kept = waves(), np.arange(60) >= 10
    weight = np.where(kept, np.linspace(1, 3, 60), 0.0)
    with_zeros = SeriesClassifier("summary").fit(series, sample_weight=weight)
    without = SeriesClassifier("summary").fit(series[kept], sample_weight=weight[kept])
    np.testing.assert_array_equal(with_zeros.predict_proba(series), without.predict_proba(series))


def test_weights_of_classes_and_of_series_multiply() -> None:
    series = waves()
    weight = np.linspace(1, 2, 60)
    both = SeriesClassifier("summary", class_weight={1: 3.0}).fit(series, sample_weight=weight)
    product = SeriesClassifier("summary").fit(series, sample_weight=np.where(series.target == 1, 3 * weight, weight))
    np.testing.assert_array_equal(both.predict_proba(series), product.predict_proba(series))


@pytest.mark.parametrize(
    ("weight", "reason"),
    [
        (np.ones((60, 2)), r"shape \(60, 2\); give one for each of the 60"),
        (np.r_[-1.0, np.ones(59)], "-1 at position 0"),
        (np.r_[np.ones(59), np.nan], "nan at position 59"),
        (np.zeros(60), "zero for every series"),
        (["a"] * 60, "one number for each series"),
    ],
)
def test_odd_weights_are_refused(weight: Any, reason: str) -> None:
    with pytest.raises(InvalidOption, match=reason):
        SeriesClassifier("summary").fit(waves(), sample_weight=weight)


def test_a_system_that_cannot_weigh_says_so_and_names_those_that_can() -> None:
    with pytest.raises(InvalidOption, match=r"'summary-logistic' cannot weigh series.*denots"):
        SeriesClassifier("summary-logistic").fit(waves(), sample_weight=np.linspace(1, 2, 60))
    SeriesClassifier("summary-logistic").fit(waves(), sample_weight=np.full(60, 2.0))  # all count alike


@pytest.mark.parametrize("classes", [0, 2])
@pytest.mark.parametrize("seed", range(5))
def test_no_split_parts_a_group(classes: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    groups = rng.integers(0, 12, 60)
    series = waves() if classes else waves().with_target(rng.normal(size=60))
    task = (Classification if classes else Regression).read(series)
    part = replace(task.pose(series), groups=groups)
    parts = [validation_split(task, part, 0.15, seed), *folds(task, part, 5, seed)]
    for learnt, held in parts:
        assert not set(groups[learnt]) & set(groups[held])
        assert sorted([*learnt, *held]) == list(range(60))
        assert part.select(held).groups is not None
    assert sorted(np.concatenate([held for _, held in parts[1:]])) == list(range(60))


def test_there_are_no_more_folds_than_groups() -> None:
    held = deal_folds(9, 5, seed=0, groups=np.repeat([0, 1, 2], 3))
    assert sorted(map(tuple, held)) == [(0, 1, 2), (3, 4, 5), (6, 7, 8)]


def test_what_repeats_within_groups_is_not_taken_for_knowledge() -> None:
    """Ten copies of each of eight noises have the class of their noise: only a fold that parts copies looks good."""
    rng = np.random.default_rng(0)
    noise = rng.normal(size=(8, 3, 12))
    X, y, groups = np.repeat(noise, 10, axis=0), np.repeat(np.arange(8) % 2, 10), np.repeat(np.arange(8), 10)
    X = X + 0.01 * rng.normal(size=X.shape)
    blind = SeriesClassifier("oscillators", options={"oscillators": 64}, random_state=0).fit(X, y)
    aware = SeriesClassifier("oscillators", options={"oscillators": 64}, random_state=0).fit(X, y, groups=groups)
    assert blind.validation_score_ > 0.99
    assert aware.validation_score_ < 0.9


def test_groups_that_cannot_be_split_are_refused() -> None:
    series = waves()
    with pytest.raises(InvalidOption, match="every series belongs to the group a"):
        SeriesClassifier("trees").fit(series, groups=["a"] * 60)
    with pytest.raises(
        InvalidSeries, match="2 groups cannot be split so that training and validation have every class"
    ):
        SeriesClassifier("trees").fit(series, groups=series.target)


def test_validation_data_are_chosen_by_and_not_learnt_from() -> None:
    series = waves(90)
    own = SeriesClassifier("trees", random_state=0).fit(series[:60], validation=series[60:])
    pair = SeriesClassifier("trees", random_state=0).fit(
        series[:60].with_target(None), series.target[:60], validation=(series[60:], series.target[60:])
    )
    assert own.validation_size_ == 30
    assert own.validation_score_ == pytest.approx(_auroc(own, series[60:]))
    np.testing.assert_array_equal(own.predict_proba(series), pair.predict_proba(series))
    with pytest.raises(InvalidSeries, match="lacks lactate"):
        SeriesClassifier("trees").fit(series[:60], validation=(series.to_array()[0][60:, :1], series.target[60:]))
    with pytest.raises(InvalidOption, match=r"'summary' .* takes no validation data"):
        SeriesClassifier("summary").fit(series[:60], validation=series[60:])


def _auroc(model: SeriesClassifier, series: SeriesSet) -> float:
    from sklearn.metrics import roc_auc_score

    return float(roc_auc_score(series.target, model.decision_function(series)))


def test_metadata_reach_fit_through_the_tools_of_scikit_learn() -> None:
    X, y = waves().to_array()[0], waves().target
    groups, weight = np.arange(60) // 4, np.linspace(1, 2, 60)
    with sklearn.config_context(enable_metadata_routing=True):
        model = SeriesClassifier("summary").set_fit_request(sample_weight=True, groups=True)
        model.set_score_request(sample_weight=True)
        search = GridSearchCV(model, {"class_weight": [None, "balanced"]}, cv=GroupKFold(3))
        search.fit(X, y, sample_weight=weight, groups=groups)
        assert search.best_score_ > 0.8
        found = cross_validate(model, X, y, cv=GroupKFold(3), params={"sample_weight": weight, "groups": groups})
        assert found["test_score"].mean() > 0.8
        with pytest.raises(InvalidOption, match="one for each"):
            model.fit(X, y, groups=groups[:5])


def test_a_ridge_over_features_is_that_of_scikit_learn_with_the_same_weights() -> None:
    series, weight = waves(), np.random.default_rng(1).uniform(0.5, 3, 60)
    target = np.random.default_rng(2).normal(size=60) + series.target
    model = SeriesRegressor("summary").fit(series, target, sample_weight=weight)
    features = model.fitted_.features.transform(series)
    centre = np.average(features, axis=0, weights=weight)
    spread = np.sqrt(np.average((features - centre) ** 2, axis=0, weights=weight))
    varies = spread > 1e-6
    scaled = (features - centre)[:, varies] / np.maximum(spread, np.median(spread[varies]))[varies]
    told = model.predict(series)
    gaps = [
        np.abs(
            Ridge(alpha=penalty * features.shape[1])
            .fit(scaled, target, sample_weight=weight / weight.mean())
            .predict(scaled)
            - told
        ).max()
        for penalty in 10.0 ** np.linspace(-6, 3, 19)
    ]
    assert min(gaps) < 1e-3
