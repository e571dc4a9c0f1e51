"""Searching options: what is tried, what is promised of an interrupted search, and what is refused."""

import json
import shutil
from pathlib import Path

import numpy as np
import optuna
import pandas as pd
import pytest
from sklearn.base import clone, is_regressor

from denots.errors import DenotsError, InvalidFolder, InvalidOption, MissingExtra, OutOfTime, UnknownName
from denots.estimators import DeNOTSRegressor, SeriesClassifier, SeriesForecaster, SeriesRegressor
from denots.options import Choice, Range
from denots.systems import SYSTEMS
from denots.tuning import SeriesSearch
from denots.tuning.space import read_space, space_of
from denots.tuning.study import open_study
from wave_series import waves

QUICK = {"max_epochs": 5, "batches_per_epoch": 1, "batch_size": 16, "state_size": 6, "copies": 0}
SERIES = waves(24)
NOTHING_TO_SEARCH = {
    *("forest", "summary", "summary-logistic", "auto", "fast", "running-auto"),
    *("hold", "recent-mean", "running-mean", "damped-trend"),
}


def quick(**arguments: object) -> SeriesSearch:
    return SeriesSearch(SeriesRegressor("denots", options=QUICK), **{"n_trials": 7, **arguments})


def outcome(search: SeriesSearch) -> pd.DataFrame:
    return search.trials_.drop(columns="seconds")


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> SeriesSearch:
    """A search that nobody interrupted."""
    return quick(study=tmp_path_factory.mktemp("study") / "whole").fit(SERIES)


def test_the_first_trial_has_the_options_of_the_estimator_and_the_best_has_the_lowest_loss(whole: SeriesSearch) -> None:
    first, complete = whole.trials_.iloc[0], whole.trials_[whole.trials_["state"] == "complete"]
    defaults = SYSTEMS["denots"].options
    searched = ("depth", "learning_rate", "weight_decay")
    assert {name: first[f"param_{name}"] for name in searched} == {name: defaults[name] for name in searched}
    assert [name for name in whole.trials_ if name.startswith("param_")] == [f"param_{name}" for name in searched]
    assert whole.best_index_ == complete.set_index("trial")["loss"].idxmin()
    assert complete["spread"].notna().all()


def test_the_best_estimator_is_what_fit_makes_of_the_best_options(whole: SeriesSearch) -> None:
    seed = whole.best_estimator_.random_state
    plain = SeriesRegressor("denots", options={**QUICK, **whole.best_params_}, random_state=seed).fit(SERIES)
    np.testing.assert_array_equal(whole.predict(SERIES), plain.predict(SERIES))
    assert whole.best_score_ == plain.validation_score_
    assert whole.score(SERIES) == plain.score(SERIES)


def test_trials_worse_than_the_median_are_ended_early(whole: SeriesSearch) -> None:
    trials = open_study(Path(whole.study)).trials
    pruned = [trial for trial in trials if trial.state == optuna.trial.TrialState.PRUNED]
    assert pruned
    for trial in pruned:
        step = max(trial.intermediate_values)
        others = [
            other.intermediate_values[step]
            for other in trials[: trial.number]
            if step in other.intermediate_values and other.value is not None and other not in pruned
        ]
        assert step < QUICK["max_epochs"] - 1
        assert min(trial.intermediate_values.values()) > np.median(others)


def test_a_search_that_is_continued_ends_like_one_that_was_not_interrupted(whole: SeriesSearch, tmp_path: Path) -> None:
    quick(study=tmp_path, n_trials=3).fit(SERIES)
    again = quick(study=tmp_path).fit(SERIES)
    pd.testing.assert_frame_equal(outcome(again), outcome(whole))
    np.testing.assert_array_equal(again.predict(SERIES), whole.predict(SERIES))


def test_out_of_time_a_trial_is_interrupted_and_continued_in_its_epoch(whole: SeriesSearch, tmp_path: Path) -> None:
    with pytest.raises(OutOfTime, match="goes on"):
        quick(study=tmp_path, timeout=1e-9).fit(SERIES)
    short = quick(study=tmp_path, timeout=1e-3)  # the first trial is begun and has ended one epoch
    with pytest.raises(OutOfTime):
        short.fit(SERIES)
    pd.testing.assert_frame_equal(outcome(quick(study=tmp_path, n_trials=2).fit(SERIES)), outcome(whole).head(2))


def test_half_a_line_that_a_killed_process_left_is_taken_away(whole: SeriesSearch, tmp_path: Path) -> None:
    shutil.copytree(whole.study, tmp_path / "torn")
    journal = tmp_path / "torn" / "journal.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    begins = [k for k, line in enumerate(lines) if json.loads(line)["op_code"] == 4]  # where trials are created
    for cut in (begins[2] + 1, begins[2] + 3, begins[3] - 2):  # before, among and long after the options of the third
        journal.write_bytes(b"".join(lines[:cut]) + lines[cut][:20])
        (tmp_path / "torn" / "journal.jsonl.lock").touch()
        again = quick(study=tmp_path / "torn", n_trials=3).fit(SERIES)
        pd.testing.assert_frame_equal(outcome(again), outcome(whole).head(3))


def test_a_finished_search_trains_nothing_again(whole: SeriesSearch, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("denots.training.fit._Run.epoch", lambda *_: pytest.fail("trained again"))
    again = quick(study=whole.study).fit(SERIES)
    np.testing.assert_array_equal(again.predict(SERIES), whole.predict(SERIES))


def test_a_damaged_or_foreign_journal_is_refused(tmp_path: Path) -> None:
    for content in ("no json\n" * 3, '{"op_code": 4}\n', "[]\n", '{"op_code":0,"worker_id":"x"}\n'):
        (tmp_path / "journal.jsonl").write_text(content)
        with pytest.raises(InvalidFolder, match=r"journal.jsonl is damaged or foreign"):
            quick(study=tmp_path).fit(SERIES)


def test_a_study_belongs_to_its_data_and_options(whole: SeriesSearch) -> None:
    with pytest.raises(InvalidFolder, match="differs in data"):
        quick(study=whole.study).fit(waves(25))
    with pytest.raises(InvalidFolder, match="differs in search"):
        quick(study=whole.study, search={"depth": None}).fit(SERIES)
    with pytest.raises(InvalidFolder, match="differs in estimator seed, seed"):
        quick(study=whole.study, random_state=1).fit(SERIES)


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"search": {"dept": None}}, UnknownName, "Did you mean 'depth'"),
        ({"search": {"state_size": None}}, InvalidOption, "state_size is both set and searched"),
        ({"search": {}}, InvalidOption, "no option is searched"),
        ({"search": {"depth": 3.0}}, InvalidOption, "a Range, or in a list"),
        ({"search": {"readout": None}}, InvalidOption, "a Range, or in a list"),
        ({"search": {"readout": Range(1, 2)}}, InvalidOption, "readout is no number"),
        ({"search": {"inflate": Range(1, 2.5)}}, InvalidOption, "inflate is a whole number"),
        ({"search": {"depth": [5.0]}}, InvalidOption, "two different values"),
        ({"n_trials": 0}, InvalidOption, "trials are counted from 1; got 0"),
        ({"n_trials": 1.5}, InvalidOption, "trials are counted from 1"),
        ({"timeout": 0}, InvalidOption, "positive number"),
        ({"n_jobs": 0}, InvalidOption, "n_jobs is the largest number of processors"),
    ],
)
def test_bad_arguments_are_refused_before_anything_is_fitted(
    arguments: dict[str, object], error: type[DenotsError], words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SeriesRegressor, "fit", lambda *_, **__: pytest.fail("fitted"))
    with pytest.raises(error, match=words):
        quick(**arguments).fit(SERIES)


def test_ranges_are_not_empty() -> None:
    for low, high in ((3.0, 3.0), (5.0, 1.0), (float("nan"), 1.0), (0.0, float("inf"))):
        with pytest.raises(InvalidOption, match="is empty"):
            Range(low, high)
    with pytest.raises(InvalidOption, match="above zero"):
        Range(0.0, 1.0, log=True)


def test_words_of_the_command_line_say_where_to_look() -> None:
    denots, trees = SYSTEMS["denots"], SYSTEMS["trees"]
    assert read_space(denots, ["depth=2:20", "weight_decay=1:2:log", "state_size=8, 16", "slopes=true,false"]) == {
        "depth": Range(2.0, 20.0, log=True),  # as it says itself
        "weight_decay": Range(1.0, 2.0, log=True),
        "state_size": Choice((8, 16)),
        "slopes": Choice((True, False)),
    }
    assert read_space(trees, ["leaves"]) == {"leaves": None}
    assert read_space(trees, ["rounds=10:20"]) == {"rounds": Range(10.0, 20.0)}
    for words in ("depth=1:2:cube", "depth=a:b", "depth=1:", "state_size=1.5,2", "depth=9:1", "nothing=1:2"):
        with pytest.raises(DenotsError):
            read_space(denots, [words])


@pytest.mark.parametrize("name", sorted(SYSTEMS))
def test_every_range_that_is_declared_holds_the_default_and_values_that_the_system_takes(name: str) -> None:
    system = SYSTEMS[name]
    try:
        space = space_of(system, None, (), system.options)
    except InvalidOption:
        assert name in NOTHING_TO_SEARCH
        return
    again = space_of(system, space, (), system.options)  # which tries both ends of each
    assert again == space
    for option, among in space.items():
        default = system.options[option]
        assert default in among.values if isinstance(among, Choice) else among.low <= default <= among.high


def test_a_trial_that_cannot_be_fitted_is_told_and_the_others_count() -> None:
    found = SeriesSearch(
        SeriesRegressor("roformer", options={"max_epochs": 1, "batches_per_epoch": 1}),
        {"state_size": [16, 20]},
        n_trials=4,
    ).fit(SERIES)
    failed = found.trials_[found.trials_["param_state_size"] == 20]
    assert len(failed)
    assert (failed["state"] == "failed").all()
    assert failed["reason"].str.contains("state_size must be a multiple of 16").all()
    assert found.best_params_ == {"state_size": 16}
    with pytest.raises(InvalidOption, match=r"all 2 trials failed; the first one: state_size must be"):
        SeriesSearch(SeriesRegressor("roformer", options={"max_epochs": 1}), {"state_size": [20, 24]}, n_trials=2).fit(
            SERIES
        )


def test_other_systems_tasks_and_spelled_estimators_are_searched_alike() -> None:
    rows = SERIES.with_target((SERIES.target > 2.5).astype(int))
    trees = SeriesSearch(SeriesClassifier("trees", options={"rounds": 20}), n_trials=3).fit(rows)
    assert set(trees.best_params_) == {"learning_rate", "leaves"}
    assert trees.predict_proba(rows).shape == (24, 2)
    assert trees.classes_.tolist() == [0, 1]
    spelled = {"max_epochs": 1, "batches_per_epoch": 1}
    found = SeriesSearch(DeNOTSRegressor(**spelled), n_trials=2).fit(SERIES)
    assert set(found.best_params_) == {"depth", "state_size", "learning_rate"}
    assert found.best_estimator_.depth == found.best_params_["depth"]
    forecaster = SeriesForecaster("denots", options=QUICK | {"max_epochs": 1})
    assert SeriesSearch(forecaster, {"depth": [1.0, 2.0]}, n_trials=2).fit(SERIES).best_params_["depth"] in (1.0, 2.0)


def test_a_search_has_the_manners_of_scikit_learn(whole: SeriesSearch) -> None:
    assert is_regressor(whole)
    copied = clone(whole)
    assert not hasattr(copied, "best_estimator_")
    assert copied.get_params()["estimator__options"] == QUICK
    assert not hasattr(whole, "predict_proba")
    with pytest.raises(InvalidOption, match="depth 'auto' tries several"):
        SeriesSearch(SeriesRegressor("denots", options={"depth": "auto"})).fit(SERIES)


def test_the_journal_is_plain_json(whole: SeriesSearch) -> None:
    lines = (Path(whole.study) / "journal.jsonl").read_text().splitlines()
    assert all(isinstance(json.loads(line), dict) for line in lines)
    kept = [folder.name for folder in (Path(whole.study) / "trials").iterdir()]
    assert kept == [f"{whole.best_index_:04d}"]  # checkpoints of the best alone


def test_without_optuna_it_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "optuna", None)
    with pytest.raises(MissingExtra, match=r"pip install 'denots\[tune\]'"):
        quick().fit(SERIES)
