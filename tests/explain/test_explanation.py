"""Explanations add up, agree with the definition, and find what was put in."""

import warnings
from copy import copy
from dataclasses import replace
from itertools import permutations
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from denots import SeriesClassifier, SeriesForecaster, SeriesRegressor, SeriesSet
from denots.errors import InvalidOption, InvalidSeries, UnknownName
from denots.explain import explain
from denots.systems.system import Fitted, State
from denots.tasks.scale import Scale
from denots.training.model import Output

SMALL = {"state_size": 4, "depth": 2.0, "max_epochs": 2, "batches_per_epoch": 2}
SYSTEMS: dict[str, dict[str, Any]] = {
    "summary": {},
    "trees": {"rounds": 20},
    "forest": {},
    "denots": SMALL,
    "gru": {"state_size": 4, "max_epochs": 1, "batches_per_epoch": 2},
    "fast": {},
}


@pytest.mark.parametrize("system", SYSTEMS)
def test_effects_sum_to_the_answer_less_the_trivial_one(series: SeriesSet, system: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = SeriesRegressor(system, options=SYSTEMS[system], random_state=0).fit(series)
    why = explain(model, series, "s3", pairs=2)
    assert why.answer == model.predict(series[3:4])[0]
    assert why.trivial == pytest.approx(np.mean(np.asarray(series.target)))
    assert sum(cell.effect for cell in why.cells) == pytest.approx(why.answer - why.trivial, abs=1e-9)
    assert sum(why.by_name().values()) == pytest.approx(why.answer - why.trivial, abs=1e-9)


def test_classes_are_explained_in_log_odds(series: SeriesSet, classifier: SeriesClassifier) -> None:
    one = series[5:6]
    probability = classifier.predict_proba(one)[0]
    share = np.mean(np.asarray(series.target) > 0)
    high, low = (explain(classifier, one, of=label, pairs=2) for label in ("high", "low"))
    assert high.answer == pytest.approx(np.log(probability[0] / probability[1]), abs=1e-9)
    assert high.trivial == pytest.approx(np.log(share / (1 - share)), abs=1e-9)
    assert high.cells[0].effect == pytest.approx(-low.cells[0].effect, abs=1e-9)
    assert sum(cell.effect for cell in high.cells) == pytest.approx(high.answer - high.trivial, abs=1e-9)
    assert explain(classifier, one, pairs=2).quantity == f"log-odds of {classifier.predict(one)[0]}"


def test_more_than_two_classes_have_log_odds_against_the_rest(series: SeriesSet) -> None:
    target = np.digitize(np.asarray(series.target), [-1, 1])
    model = SeriesClassifier("summary", random_state=0).fit(series, target)
    why = explain(model, series[:1], of=2, pairs=2)
    probability = model.predict_proba(series[:1])[0, 2]
    assert why.answer == pytest.approx(np.log(probability / (1 - probability)), abs=1e-9)
    assert why.trivial == pytest.approx(np.log(np.mean(target == 2) / np.mean(target != 2)), abs=1e-9)
    assert sum(cell.effect for cell in why.cells) == pytest.approx(why.answer - why.trivial, abs=1e-9)


def test_few_cells_have_the_values_of_the_definition(series: SeriesSet, regressor: SeriesRegressor) -> None:
    one = series[2:3]
    why = explain(regressor, one, parts=2, pairs=10)
    times, values, age = one.times, one.values, np.asarray(one.static)
    late = times >= (times[0] + times[-1]) / 2
    masks = [late == half for half in (False, True)]
    hidden = {(c, half): masks[half] for c in (0, 1) for half in (False, True)}

    def answer(shown: frozenset[Any]) -> float:
        table = np.full_like(values, np.nan)
        for c, half in shown - {"age"}:
            table[hidden[c, half], c] = values[hidden[c, half], c]
        kept = ~np.isnan(table).all(axis=1)
        if not kept.any():
            return why.trivial
        given = SeriesSet.from_arrays(
            [times[kept]],
            [table[kept]],
            static=age if "age" in shown else np.full((1, 1), np.nan),
            static_names=["age"],
            channels=["told", "noise"],
            start=0.0,
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return float(regressor.predict(given)[0])

    players = [(0, False), (0, True), (1, False), (1, True), "age"]
    expected, orders = dict.fromkeys(players, 0.0), list(permutations(players))
    known: dict[frozenset[Any], float] = {}
    for order in orders:
        shown: frozenset[Any] = frozenset()
        for player in order:
            for coalition in (shown, shown | {player}):
                if coalition not in known:
                    known[coalition] = answer(coalition)
            expected[player] += (known[shown | {player}] - known[shown]) / len(orders)
            shown |= {player}
    np.testing.assert_allclose([cell.effect for cell in why.cells], list(expected.values()), atol=1e-9)


def test_what_decides_is_found(series: SeriesSet, regressor: SeriesRegressor) -> None:
    level = np.array([own.values[0, 0] for own in series])
    why = explain(regressor, series, f"s{int(level.argmax())}")
    assert next(iter(why.by_name())) == "told"
    assert why.by_name()["told"] > 3 * abs(why.by_name()["noise"])
    assert [cell.name for cell in why.largest(2)] == ["told", "told"]


class Total(Fitted):
    """The sum of the first channel."""

    def outputs(self, series: SeriesSet, at: Tensor | None = None) -> Output:
        sums = np.add.reduceat(np.nan_to_num(series.values[:, 0]), series.offsets[:-1])
        return Output(torch.from_numpy(sums)[:, None], torch.ones(len(series), dtype=torch.bool))

    def state(self) -> State:
        raise NotImplementedError


def test_of_a_sum_each_cell_gets_its_part_and_other_channels_get_nothing(
    series: SeriesSet, regressor: SeriesRegressor
) -> None:
    model = copy(regressor)
    model.task_ = replace(regressor.task_, scale=Scale.unit(1), mean=(0.0,))
    model.fitted_ = Total(task=model.task_)
    why = explain(model, series[:1], parts=5, pairs=2)
    for cell in why.cells:
        within = (series[0].times >= (cell.begin or 0)) & (series[0].times < (cell.end or 0) + 1e-9)
        expected = np.nansum(series[0].values[within, 0]) if cell.name == "told" else 0.0
        assert cell.effect == pytest.approx(expected, abs=1e-9)
        assert cell.error == pytest.approx(0.0, abs=1e-9)


def test_cells_count_their_observations_and_cover_the_series(series: SeriesSet, regressor: SeriesRegressor) -> None:
    one = series[7:8]
    why = explain(regressor, one, parts=[2.0, 5.0, 99.0], pairs=1)
    assert why.edges.tolist() == [one.times[0], 2.0, 5.0, one.times[-1]]
    table = why.to_frame()
    observed = table[table["begin"].notna()]
    assert observed["observations"].sum() == (~np.isnan(one.values)).sum()
    for cell in why.cells[:-1]:
        column = one.values[:, one.channels.index(cell.name)]
        assert cell.begin is not None
        assert cell.end is not None
        inside = (one.times >= cell.begin) & ((one.times < cell.end) | (cell.end == one.times[-1]))
        assert cell.observations == (~np.isnan(column[inside])).sum()
    assert why.cells[-1][:3] == ("age", None, None)


def test_rows_that_were_empty_from_the_start_belong_to_no_cell(regressor: SeriesRegressor) -> None:
    values = np.array([[1.0, 0.0], [np.nan, np.nan], [0.5, np.nan]])
    one = SeriesSet.from_arrays(
        [[0.0, 4.0, 5.0]],
        [values],
        channels=["told", "noise"],
        static=[[np.nan]],
        static_names=["age"],
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = regressor.predict(one)[0]
    why = explain(regressor, one, parts=2)
    assert why.answer == expected
    assert sum(cell.effect for cell in why.cells) == pytest.approx(why.answer - why.trivial, abs=1e-9)
    assert [cell.name for cell in why.cells] == ["told", "told", "noise"]


def test_what_cannot_be_explained_is_refused(
    series: SeriesSet, regressor: SeriesRegressor, classifier: SeriesClassifier
) -> None:
    with pytest.raises(InvalidOption, match=r"there are 60 series; name one by its id: s0, s1"):
        explain(regressor, series)
    with pytest.raises(UnknownName, match="unknown series 's99'"):
        explain(regressor, series, "s99")
    with pytest.raises(InvalidOption, match="no class 'middle'; its classes are high, low"):
        explain(classifier, series, "s1", of="middle")
    with pytest.raises(InvalidOption, match="answers with no"):
        explain(regressor, series, "s1", of=3)
    with pytest.raises(InvalidOption, match="parts=0"):
        explain(regressor, series, "s1", parts=0)
    with pytest.raises(InvalidOption, match="numbers that increase"):
        explain(regressor, series, "s1", parts=[3.0, 2.0])
    with pytest.raises(InvalidOption, match="pairs=0"):
        explain(regressor, series, "s1", pairs=0)
    with pytest.raises(InvalidOption, match="a forecast has an answer for each time"):
        explain(SeriesForecaster("hold").fit(series), series, "s1")
    with pytest.raises(InvalidSeries, match="lacks noise"):
        explain(regressor, SeriesSet.from_arrays([[0.0]], [[1.0]], channels=["told"]))
