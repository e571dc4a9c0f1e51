"""Estimators: manners of scikit-learn and honest errors."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics import accuracy_score, r2_score

from denots.data import SeriesSet
from denots.errors import (
    InvalidOption,
    InvalidSeries,
    InvalidTarget,
    SolverFailure,
    SolverWarning,
    UnknownName,
    UnusualSeries,
)
from denots.estimators import DeNOTSClassifier, DeNOTSForecaster, DeNOTSRegressor, SeriesRegressor
from wave_series import FAST, LEARNS, waves

from oracles import gappy_series


def test_a_regressor_learns_and_answers_in_the_unit_of_the_target(regressor: DeNOTSRegressor) -> None:
    test = waves(40, seed=1)
    predicted = regressor.predict(test)
    assert r2_score(test.target, predicted) > 0.8
    assert regressor.score(test) == pytest.approx(r2_score(test.target, predicted))
    shifted = DeNOTSRegressor(**LEARNS).fit(waves(60), 1e6 + 1e3 * waves(60).target)
    np.testing.assert_allclose((shifted.predict(test) - 1e6) / 1e3, predicted, atol=0.05)


def test_several_outputs_are_learnt_together() -> None:
    series = waves()
    target = np.stack([series.target, -series.target, series.target**2], axis=1)
    assert DeNOTSRegressor(**FAST).fit(series, target).predict(series).shape == (30, 3)


@pytest.mark.parametrize("labels", [["slow", "fast"], [False, True], [3, 7]])
def test_a_binary_classifier_learns_classes_of_any_type(labels) -> None:
    series = waves(60)
    y = np.array(labels)[(series.target > 2.5).astype(int)]
    model = DeNOTSClassifier(class_weight="balanced", **LEARNS).fit(series, y)
    assert model.classes_.tolist() == sorted(labels)
    chances = model.predict_proba(series)
    np.testing.assert_allclose(chances.sum(axis=1), 1.0)
    assert (model.predict(series) == model.classes_[chances.argmax(axis=1)]).all()
    assert model.score(series, y) == accuracy_score(y, model.predict(series)) > 0.8


def test_a_multiclass_classifier_learns() -> None:
    series = waves(80)
    y = np.digitize(series.target, [2.0, 3.0])
    model = DeNOTSClassifier(**LEARNS).fit(series, y)
    assert model.predict_proba(series).shape == (80, 3)
    assert model.score(series, y) > 0.6


def test_a_forecaster_predicts_between_and_beyond() -> None:
    series = waves(60)
    model = DeNOTSForecaster(**{**LEARNS, "max_epochs": 15}).fit(series)
    assert model.score(series) > 0.3
    answers = model.predict(series, [3.0, 3.5])
    assert answers.shape == (60, 2, 2)
    each = model.predict(series.select([0, 1]), [[3.0], [3.0, 3.5]])
    assert [table.shape for table in each] == [(1, 2), (2, 2)]
    np.testing.assert_allclose(each[1], answers[1], atol=1e-5)
    early = model.predict(series, [-1.0, 3.0])
    assert np.isnan(early[:, 0]).all()
    np.testing.assert_allclose(early[:, 1], answers[:, 0], atol=0.05)
    assert set(model.predict_table(series, [-1.0])["status"].str[:35]) == {"asked before its first observation "}


def test_all_forms_of_input_mean_the_same() -> None:
    rng = np.random.default_rng(0)
    cube, y = rng.normal(size=(12, 2, 5)), rng.normal(size=12)
    forms = (
        cube,
        [(np.arange(5.0), table.T) for table in cube],
        SeriesSet.from_numpy(cube),
        list(SeriesSet.from_numpy(cube)),
    )
    answers = [DeNOTSRegressor(**FAST).fit(form, y).predict(form) for form in forms]
    for answer in answers[1:]:
        np.testing.assert_array_equal(answer, answers[0])
    flat = DeNOTSRegressor(**FAST).fit(cube[:, 0], y)
    np.testing.assert_array_equal(flat.predict(cube[:, 0]), flat.predict(cube[:, :1]))


def test_the_seed_decides_everything() -> None:
    series = waves()
    first, again = (DeNOTSRegressor(**FAST).fit(series).predict(series) for _ in range(2))
    other = DeNOTSRegressor(**{**FAST, "random_state": 1}).fit(series).predict(series)
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


def test_estimators_can_be_cloned_and_say_when_they_are_not_fitted() -> None:
    for kind in (DeNOTSClassifier, DeNOTSRegressor, DeNOTSForecaster):
        model = kind(**FAST)
        assert clone(model).get_params() == model.get_params()
        with pytest.raises(NotFittedError):
            model.predict(waves(), [1.0]) if kind is DeNOTSForecaster else model.predict(waves())


def test_depth_auto_keeps_the_depth_with_the_best_validation_metric() -> None:
    model = DeNOTSRegressor(**{**FAST, "depth": "auto"}).fit(waves())
    assert list(model.scores_) == ["depth-1", "depth-3", "depth-10", "depth-30"]
    best = max(model.scores_, key=model.scores_.get)
    assert f"depth-{model.system_.options['depth']:g}" == best
    assert model.fitted_.model.backbone.config.depth == model.system_.options["depth"]
    assert model.validation_score_ == model.scores_[best]


@pytest.mark.parametrize("threads", [1, 2])
def test_a_series_is_predicted_alike_alone_and_among_others_to_the_last_bit(
    regressor: DeNOTSRegressor, threads: int
) -> None:
    series = waves(40, seed=4)
    together = regressor.predict(series)
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        for size in (1, 2, 7, 16):
            parts = [regressor.predict(series.select(rows)) for rows in np.split(np.arange(40), range(size, 40, size))]
            np.testing.assert_array_equal(np.concatenate(parts), together)
    finally:
        torch.set_num_threads(before)


def test_channels_are_recognised_by_name(regressor: DeNOTSRegressor) -> None:
    series = waves(5, seed=2)
    turned = replace(series, values=series.values[:, ::-1].copy(), channels=("wave", "level"))
    np.testing.assert_array_equal(regressor.predict(turned), regressor.predict(series))
    with pytest.raises(InvalidSeries, match="lacks wave and has unknown wafe"):
        regressor.predict(replace(series, channels=("level", "wafe")))


def test_single_observations_and_blind_channels_are_legal() -> None:
    series = gappy_series(lengths=(1,) * 5 + (4,) * 5)
    model = DeNOTSRegressor(**FAST).fit(series, np.arange(10.0))
    answers = model.predict(series)
    assert np.isfinite(answers).all()
    assert len(set(answers[:5])) == 5  # a single observation still says something
    blind = replace(series, values=np.where([True, False, False], np.nan_to_num(series.values), np.nan))
    with pytest.warns(UnusualSeries, match="'x1' was never observed in training"):
        assert np.isfinite(DeNOTSRegressor(**FAST).fit(blind, np.arange(10.0)).predict(series)).all()


def test_a_series_that_cannot_be_solved_is_named_and_the_others_answered() -> None:
    series = waves(12)
    model = DeNOTSClassifier(**{**FAST, "depth": 20.0}).fit(series, series.target > 2.5)
    backbone = model.fitted_.model.backbone
    config = backbone.config
    counts = []
    for limit in range(5, 200):
        backbone.config = replace(config, max_steps=limit)
        ok = backbone(backbone.prepare(series)).ok
        counts.append(int(ok.sum()))
        if 0 < counts[-1] < 12:
            break
    lost = int(np.flatnonzero(~ok.numpy())[0])
    with pytest.warns(SolverWarning, match=f"'w{lost}'"):
        chances = model.predict_proba(series)
    assert (np.isnan(chances).any(axis=1) == ~ok.numpy()).all()
    with pytest.raises(SolverFailure, match=f"'w{lost}'"):
        model.predict(series, strict=True)
    with pytest.warns(SolverWarning):
        told = model.predict(series)
    assert [label is None for label in told] == (~ok).tolist()
    with pytest.warns(SolverWarning):
        score = model.score(series, series.target > 2.5)
    common = model.classes_[np.argmax(model.task_.shares)]
    guessed = np.array([common if label is None else label for label in told])
    assert score == accuracy_score(series.target > 2.5, guessed)
    with pytest.warns(SolverWarning):
        table = model.predict_table(series)
    assert table["id"].tolist() == series.ids.tolist()
    assert (table["status"] != "ok").tolist() == (~ok).tolist()
    assert table["status"][lost].startswith("not solved: could not be integrated")


@pytest.mark.parametrize(
    ("target", "kind", "message"),
    [
        (np.ones(30), DeNOTSRegressor, "1.0 for all series .n_samples=30"),
        (np.zeros(30, dtype=int), DeNOTSClassifier, "at least two classes"),
        (np.arange(30) == 4, DeNOTSClassifier, "class True has one series"),
        (np.array(["a", "b"] * 15), DeNOTSRegressor, "must be numbers"),
        (np.linspace(0, 1, 30), DeNOTSClassifier, "use a regressor"),
        (np.zeros((30, 2), dtype=int), DeNOTSClassifier, "one class for each"),
        (np.arange(29.0), DeNOTSRegressor, "29 targets for 30 series"),
        (np.r_[np.nan, np.arange(29.0)], DeNOTSRegressor, "'w0' is nan"),
    ],
)
def test_targets_that_cannot_be_learnt_are_refused(target, kind, message: str) -> None:
    with pytest.raises(InvalidTarget, match=message):
        kind(**FAST).fit(waves(), target)


def test_a_missing_target_is_asked_for() -> None:
    with pytest.raises(InvalidTarget, match="give y"):
        DeNOTSRegressor(**FAST).fit(waves().with_target(None))


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"depth": "deep"}, InvalidOption, "'auto'"),
        ({"depth": -1.0}, InvalidOption, "depth"),
        ({"depth": None}, InvalidOption, "depth must be a positive number; got None"),
        ({"field": "anty"}, UnknownName, "'anti'"),
        ({"path": "cubic"}, UnknownName, "natural-cubic"),
        ({"validation_fraction": 1.5}, InvalidOption, "validation_fraction"),
        ({"max_epochs": 0}, InvalidOption, "max_epochs"),
        ({"learning_rate": 0.0}, InvalidOption, "learning_rate"),
    ],
)
def test_bad_options_are_refused(options, error, message: str) -> None:
    with pytest.raises(error, match=message):
        DeNOTSRegressor(**{**FAST, **options}).fit(waves())


@pytest.mark.parametrize(
    "X", [[], "text", 3, np.ones((2, 3), dtype=complex), np.zeros((2, 2, 2, 2)), [np.zeros((2, 2, 2))]]
)
def test_inputs_that_are_no_series_are_refused(X) -> None:
    with pytest.raises(InvalidSeries):
        DeNOTSRegressor(**FAST).fit(X, [1.0, 2.0])


@pytest.mark.parametrize("mistake", [{"depth": -3.0}, {"field": "gru"}, {"path": "cubic"}, {"max_epochs": 0}])
def test_a_mistaken_option_leaves_nothing_behind(tmp_path: Path, mistake) -> None:
    with pytest.raises((InvalidOption, UnknownName)):
        DeNOTSRegressor(**{**FAST, "checkpoint_dir": tmp_path / "run", **mistake}).fit(waves())
    assert not (tmp_path / "run").exists()


def test_training_that_gave_up_on_series_says_so() -> None:
    options = {"max_steps": 12, "state_size": 6, "max_epochs": 2, "batches_per_epoch": 2}
    with pytest.warns(SolverWarning, match=r"could not integrate a series \d+ times"):
        SeriesRegressor("denots", options=options, random_state=0).fit(waves())


def test_balancing_weighs_every_class_alike() -> None:
    series = waves(60)
    y = series.target > 3.7
    model = DeNOTSClassifier(class_weight="balanced", **FAST).fit(series, y)
    weight = model.task_.weights
    assert weight[1] / weight[0] == pytest.approx((~y).sum() / y.sum(), rel=0.3)
    assert DeNOTSClassifier(**FAST).fit(series, y).task_.weights == (1.0, 1.0)
    with pytest.raises(InvalidOption, match="balanced"):
        DeNOTSClassifier(class_weight="heavy", **FAST).fit(series, y)
