"""No look-ahead: whatever comes after a moment changes no bit of the answer at it, for every system that says so."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import Tensor

from denots.data import SeriesSet
from denots.errors import InvalidOption
from denots.estimators import RowPredictor
from denots.systems import SYSTEMS, Fitted, Problem, System
from denots.systems.auto import Auto
from denots.tasks import TASKS

FAST = {"max_epochs": 1, "batches_per_epoch": 3, "rounds": 12, "state_size": 12, "cuts": 3}
CAUSAL = [name for name, system in SYSTEMS.items() if system.causal]
TESTED = range(30, 42)


def walks(n: int = 42, seed: int = 0) -> SeriesSet:
    """Walks with holes, some of which see nothing in their first rows; the label is whether the first one is up."""
    rng = np.random.default_rng(seed)
    times = [np.sort(rng.uniform(0, 9, rng.integers(2, 16))) for _ in range(n)]
    values = [rng.normal(size=(len(t), 3)).cumsum(axis=0) for t in times]
    labels = [np.where(rng.random(len(x)) < 0.2, np.nan, x[:, 0] > 0) for x in values]
    for table in values:
        table[:-1][rng.random((len(table) - 1, 3)) < 0.4] = np.nan
    return SeriesSet.from_arrays(times, values, row_target=labels, static=rng.normal(size=(n, 1)), start=-0.5)


def quick(system: System) -> System:
    if isinstance(system, Auto):
        return replace(system, members={name: quick(member) for name, member in system.members.items()})
    return system.with_options(**{name: value for name, value in FAST.items() if name in system.options})


@pytest.fixture(scope="module", params=CAUSAL)
def fitted(request: pytest.FixtureRequest) -> Fitted:
    series, system = walks(), SYSTEMS[request.param]
    task = TASKS["row-classification"].read(series)
    part = task.pose(series)
    train, val = part.select(np.arange(22)), part.select(np.arange(22, 30))
    return quick(system).fit(Problem(task.calibrated(train), train, val), seed=0)


def moments(series: SeriesSet, until: np.ndarray, seed: int = 3) -> Tensor:
    """For each series, six of its rows and six other moments, none after its own limit."""
    rng = np.random.default_rng(seed)
    asked = np.empty((len(series), 12))
    for k, one in enumerate(series):
        own = one.times[one.times <= until[k]]
        asked[k] = np.concatenate([rng.choice(own, 6), rng.uniform(own[0], until[k], 6)])
    return torch.from_numpy(asked)


def limits(series: SeriesSet) -> np.ndarray:
    """A moment of each series with at least one row before it; some are rows."""
    rng = np.random.default_rng(2)
    drawn = [rng.choice(one.times) + rng.choice([0.0, 0.3]) for one in series]
    return np.array(drawn)


def changed(series: SeriesSet, after: np.ndarray, how: str) -> SeriesSet:
    """The same series up to the given moments."""
    rng, times, values = np.random.default_rng(4), [], []
    for k, one in enumerate(series):
        past = one.times <= after[k]
        late, seen = one.times[~past], one.values[~past]
        if how == "changed":
            seen = np.where(rng.random(seen.shape) < 0.3, np.nan, 50 * rng.normal(size=seen.shape))
        if how == "removed":
            late, seen = late[:0], seen[:0]
        if how == "added":
            late = after[k] + np.sort(rng.uniform(1e-6, 30, 40))
            seen = 10 * rng.normal(size=(40, 3))
        times.append(np.concatenate([one.times[past], late]))
        values.append(np.concatenate([one.values[past], seen]))
    static = np.asarray(series.static)
    return SeriesSet.from_arrays(times, values, static=static, start=series.start, ids=series.ids)


def seen_by_then(series: SeriesSet, after: np.ndarray) -> np.ndarray:
    """Series of which something was observed up to the given moments: the others are no series without the rest."""
    return np.array([not np.isnan(one.values[one.times <= after[k]]).all() for k, one in enumerate(series)])


@pytest.mark.parametrize("how", ["changed", "removed", "added"])
def test_nothing_that_comes_after_a_moment_changes_a_bit_of_the_answer_at_it(fitted: Fitted, how: str) -> None:
    series = walks().select(np.array(TESTED)).without_row_target()
    after = limits(series)
    able = seen_by_then(series, after)
    series, after = series.select(able), after[able]
    asked = moments(series, after)
    other = changed(series, after, how)
    assert not other.same_as(series)
    told, again = fitted.outputs(series, asked), fitted.outputs(other, asked)
    assert told.ok.all()
    assert torch.equal(again.outputs, told.outputs)


def test_what_comes_before_does_change_it(fitted: Fitted) -> None:
    series = walks().select(np.array(TESTED)).without_row_target()
    asked = torch.from_numpy(series.ends)[:, None]
    moved = replace(series, values=series.values + 1.0)
    assert not torch.equal(fitted.outputs(moved, asked).outputs, fitted.outputs(series, asked).outputs)


def test_no_question_and_no_company_changes_an_answer(fitted: Fitted) -> None:
    series = walks().select(np.array(TESTED)).without_row_target()
    asked = moments(series, series.ends + 1)
    whole = fitted.outputs(series, asked).outputs
    assert torch.equal(fitted.outputs(series, asked[:, [7, 2]]).outputs, whole[:, [7, 2]])
    assert torch.equal(fitted.outputs(series.select([5]), asked[5:6]).outputs[0], whole[5])


@pytest.mark.parametrize("name", [name for name, system in SYSTEMS.items() if not system.causal])
def test_a_system_that_may_look_ahead_is_refused_with_the_reason(name: str) -> None:
    with pytest.raises(InvalidOption, match=rf"system '{name}' may look ahead.*running-trees"):
        RowPredictor(name).fit(walks())


def test_labels_are_never_seen_by_a_system() -> None:
    series = walks()
    assert TASKS["row-classification"].read(series).pose(series).series.row_target is None
    model = RowPredictor("running-trees", options={"rounds": 5}, random_state=0).fit(series)
    wrong = replace(series, row_target=1 - np.asarray(series.row_target))
    for one, other in zip(model.predict(series), model.predict(wrong), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("name", [name for name in CAUSAL if SYSTEMS[name].holds_out])
def test_a_weight_for_each_row_moves_answers_as_it_says(name: str) -> None:
    """Nothing can be told from noise, so answers are the weighted share of the labels."""
    rng, n = np.random.default_rng(0), 80
    labels = [rng.integers(0, 2, 6).astype(float) for _ in range(n)]
    series = SeriesSet.from_arrays([np.arange(6.0)] * n, [rng.normal(size=6) for _ in range(n)], row_target=labels)
    weight = np.where(np.concatenate(labels) > 0, 9.0, 1.0)
    options = {
        "max_epochs": 3,
        "batches_per_epoch": 12,
        "learning_rate": 0.05,
        "state_size": 4,
        "cuts": 6,
        "depth": 1.0,
    }
    known = {key: value for key, value in options.items() if key in SYSTEMS[name].options}
    model = RowPredictor(name, options=known, random_state=0).fit(series, sample_weight=weight)
    assert np.concatenate(model.predict_proba(series))[:, 1].mean() == pytest.approx(0.9, abs=0.07)
    whole = RowPredictor(name, options=known, random_state=0).fit(series, validation=(series, weight))
    assert np.concatenate(whole.predict_proba(series))[:, 1].mean() < 0.75
