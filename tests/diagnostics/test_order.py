"""Whether time carries information, on data of which it is known."""

import numpy as np
import pytest

from denots.data.series import SeriesSet
from denots.diagnostics.order import AS_IS, RANKS, SHUFFLED, OrderReport, examine_order, shuffle_rows, times_as_ranks
from denots.errors import InvalidOption
from denots.tasks import TASKS

OPTIONS = {"rounds": 30, "leaves": 4}


def series_of(kind: str, n: int = 90) -> SeriesSet:
    """Two classes that differ in level, in the order of their values, in the distances of their times, or in nothing."""
    rng = np.random.default_rng(0)
    times, values, target = [], [], np.arange(n) % 2
    for label in target:
        gaps = rng.uniform(0.5, 1.5, 12) * (2.5 if kind == "times" and label else 1)
        x = rng.normal(size=12)
        if kind == "order":
            x = np.sort(x)[:: 1 if label else -1]
        times.append(np.cumsum(gaps))
        values.append(x + (2 * label if kind == "level" else 0))
    return SeriesSet.from_arrays(times, values, target=target)


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        pytest.param("level", "No clear sign", marks=pytest.mark.slow),
        ("order", "The order of the rows matters; no clear sign"),
        pytest.param("times", "The times matter:", marks=pytest.mark.slow),
        ("nothing", "Nothing beats the trivial answer"),
    ],
)
def test_what_was_put_in_is_found(kind: str, words: str) -> None:
    report = examine_order(series_of(kind), TASKS["classification"], options=OPTIONS, folds=4)
    assert report.verdict.startswith(words), report
    assert report.metric == "AUROC"
    assert {len(scores) for scores in report.scores.values()} == {4}


def test_shuffling_keeps_the_rows_of_each_series_and_its_times() -> None:
    series = series_of("order", 5)
    shuffled = shuffle_rows(series, np.random.default_rng(1))
    for before, after in zip(series, shuffled, strict=True):
        assert sorted(after.values[:, 0]) == sorted(before.values[:, 0])
        np.testing.assert_array_equal(after.times, before.times)
    assert not np.array_equal(series.values, shuffled.values)
    ranks = times_as_ranks(series)
    np.testing.assert_array_equal(ranks.times, np.tile(np.arange(12.0), 5))
    np.testing.assert_array_equal(ranks.values, series.values)


def test_the_error_of_a_loss_knows_that_training_parts_overlap() -> None:
    scores = {
        AS_IS: np.array([0.9, 0.8, 0.85]),
        SHUFFLED: np.array([0.8, 0.8, 0.75]),
        RANKS: np.array([0.9, 0.8, 0.85]),
    }
    report = OrderReport("accuracy", scores, np.array([0.5, 0.5, 0.5]), overlap=0.5)
    mean, error = report.loss(SHUFFLED)
    assert mean == pytest.approx(np.mean([0.1, 0, 0.1]))
    assert error == pytest.approx(np.sqrt(np.var([0.1, 0, 0.1], ddof=1) * (1 / 3 + 1 / 2)))
    assert not report.matters(SHUFFLED)
    assert not report.matters(RANKS)


def test_folds_have_to_fit_the_data() -> None:
    with pytest.raises(InvalidOption, match="60 folds of a class with 45 series"):
        examine_order(series_of("level"), TASKS["classification"], folds=60)
    with pytest.raises(InvalidOption, match="forecast has no target"):
        examine_order(series_of("level"), TASKS["forecast"])
