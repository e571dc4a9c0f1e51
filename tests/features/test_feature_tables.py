"""Summary, intervals and normal scores against numpy and scipy."""

import numpy as np
import pytest
from scipy.stats import norm, rankdata

from denots.data.series import SeriesSet
from denots.data.summary import summarise
from denots.features import Intervals, NormalScores, Summary
from denots.inference.intervals import IntervalQuantiles


def waves(n: int = 6) -> SeriesSet:
    rng = np.random.default_rng(0)
    return SeriesSet.from_numpy(rng.normal(size=(n, 2, 33)).cumsum(axis=2), static=rng.normal(size=(n, 1)))


def test_a_summary_names_each_of_its_columns() -> None:
    series = waves()
    features = Summary().fit(series)
    table, names = features.transform(series), features.get_feature_names_out().tolist()
    assert table.shape == (6, len(names))
    first = series[0]
    late = first.times >= 0.75 * 32
    assert table[0, names.index("x1: late mean")] == pytest.approx(first.values[late, 1].mean())
    assert table[0, names.index("x0: highest")] == first.values[:, 0].max()
    assert np.array_equal(table, summarise(series), equal_nan=True)


def test_longest_gap_and_time_since_last_seen_count_observed_values_only() -> None:
    series = SeriesSet.from_arrays([[0.0, 1.0, 4.0, 10.0]], [[[1.0, 1.0], [2.0, np.nan], [3.0, 2.0], [np.nan, 5.0]]])
    names = Summary().fit(series).get_feature_names_out().tolist()
    row = dict(zip(names, summarise(series)[0], strict=True))
    assert (row["x0: longest gap"], row["x0: since last"]) == (3.0, 6.0)
    assert (row["x1: longest gap"], row["x1: since last"]) == (6.0, 0.0)
    assert row["x0: late count"] == 0
    assert np.isnan(row["x0: late mean"])


def test_intervals_hold_the_quantiles_of_the_whole_and_of_its_halves() -> None:
    series = waves()
    features = Intervals().fit(series)
    table = features.transform(series)
    looks = IntervalQuantiles(features.drive_, features.looks_)._look(series)
    assert looks.shape == (6, 2, features.looks_)
    m = features.looks_
    count = 1 + (m - 1) // 4
    wanted = np.quantile(looks, np.linspace(0, 1, count), axis=2).transpose(1, 2, 0)
    wanted[:, :, 1::2] -= looks.mean(axis=2, keepdims=True)
    np.testing.assert_allclose(table[:, : 2 * count], wanted.reshape(6, -1), rtol=1e-4, atol=1e-5)
    half = looks[:, :, : m // 2]
    count_half = 1 + (m // 2 - 1) // 4
    wanted = np.quantile(half, np.linspace(0, 1, count_half), axis=2).transpose(1, 2, 0)
    wanted[:, :, 1::2] -= half.mean(axis=2, keepdims=True)
    np.testing.assert_allclose(
        table[:, 2 * count : 2 * (count + count_half)], wanted.reshape(6, -1), rtol=1e-4, atol=1e-5
    )
    assert table.shape[1] == len(features.get_feature_names_out())
    assert np.array_equal(features.transform(series.select([2])), table[[2]])
    assert np.array_equal(Intervals().restore(features.state()).transform(series), table)


def test_many_channels_are_looked_at_less_often(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that the table of a wide set fits into memory."""
    series = waves()
    every = Intervals().fit(series).looks_
    monkeypatch.setattr("denots.features.intervals.MOST_IN_ALL", 6 * 2 * 20)
    fewer = Intervals().fit(series)
    assert (every, fewer.looks_) == (33, 20)
    assert fewer.transform(series).shape == (6, len(fewer.get_feature_names_out()))


def test_normal_scores_are_normal_quantiles_of_ranks() -> None:
    column = np.random.default_rng(0).lognormal(size=150)
    found = NormalScores().fit_transform(column[:, None])[:, 0]
    wanted = norm.ppf((rankdata(column) - 0.5) / 150)
    np.testing.assert_allclose(found, wanted, atol=0.02)
    assert np.abs(NormalScores().fit(column[:, None]).transform(np.array([[1e30], [-1e30]]))).max() < 3


def test_a_hole_is_the_middle_and_is_marked() -> None:
    table = np.array([[1.0, 1.0], [2.0, np.nan], [3.0, 2.0], [4.0, 5.0]])
    found = NormalScores().fit_transform(table)
    assert found.shape == (4, 3)
    assert found[1, 1] == 0
    assert found[:, 2].tolist() == [0, 1, 0, 0]
    tied = NormalScores().fit_transform(np.array([[0.0]] * 9 + [[1.0]]))
    assert tied[0, 0] == pytest.approx(norm.ppf(0.45), abs=0.15)  # the middle of the ranks that it shares


def test_scores_are_those_of_interpolated_ranks_and_scipys_quantiles() -> None:
    rng = np.random.default_rng(2)
    table = rng.normal(size=(500, 5)) * [1, 1e-3, 1e6, 1, 0]
    table[:, 3] = rng.integers(0, 4, 500)  # ties
    table[rng.random(table.shape) < 0.2] = np.nan
    scores = NormalScores().fit(table[:300])
    outer = 0.5 / len(scores.edges_)
    levels = np.linspace(outer, 1 - outer, len(scores.edges_))
    asked = np.concatenate([table, scores.edges_, [[np.inf] * 5, [-np.inf] * 5, [1e300] * 5]])
    found = scores.transform(asked)
    for k, (column, edges) in enumerate(zip(asked.T, scores.edges_.T, strict=True)):
        below, above = np.interp(column, edges, levels), -np.interp(-column, -edges[::-1], -levels[::-1])
        wanted = np.where(np.isfinite(column), norm.ppf((below + above) / 2), 0.0)
        np.testing.assert_allclose(found[:, k], wanted, rtol=2e-7, atol=1e-9)
    np.testing.assert_array_equal(found[:, 5:], ~np.isfinite(asked[:, scores.holes_]))
    again = NormalScores().restore(scores.state())
    np.testing.assert_array_equal(np.concatenate([again.transform(row[None]) for row in asked]), found)


@pytest.mark.parametrize("columns", [1, 3])
def test_ranking_a_table_leaves_it_as_it_is(columns: int) -> None:
    table = np.asfortranarray(np.random.default_rng(0).normal(size=(20, columns)))
    kept = table.copy()
    NormalScores().fit_transform(table)
    np.testing.assert_array_equal(table, kept)
