"""Means, ranks, tallies and critical differences against brute force, scipy and published tables."""

import math
import re
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import friedmanchisquare

from denots.competition.critical_difference import cliques, critical_difference, diagram, friedman_p
from denots.competition.match import Match, MatchRecord
from denots.competition.page import score_rows
from denots.competition.standings import Standings, Tally, all_standings, title_of


def record(
    dataset: str, system: str, score: float | None, draw: int = 0, gap: float | None = 0.5, metric: str = "accuracy"
) -> MatchRecord:
    metrics = {} if score is None else {metric: score}
    error = "ValueError: no" if score is None else None
    return MatchRecord(
        Match(dataset, system, gap, draw), metric, metrics, {"fit": 1.0, "predict": 0.5}, 2.0, 100, error
    )


def standings(scores: dict[str, dict[str, list[float | None]]]) -> Standings:
    return Standings(
        tuple(
            record(dataset, system, score, draw)
            for dataset, row in scores.items()
            for system, values in row.items()
            for draw, score in enumerate(values)
        )
    )


def test_means_and_ranks_are_over_sets() -> None:
    found = standings(
        {
            "one": {"a": [0.9, 0.8], "b": [0.7, 0.7], "c": [0.85, 0.85]},
            "two": {"a": [0.5, 0.5], "b": [0.6, 0.6], "c": [0.1, 0.3]},
        }
    )
    assert found.means == pytest.approx({"a": 0.675, "b": 0.65, "c": 0.525})
    assert found.ranks == {"a": 1.75, "b": 2.0, "c": 2.25}
    assert found.systems == ["a", "b", "c"]
    cell = found.cell("one", "a")
    assert cell is not None
    assert cell == pytest.approx((0.85, np.std([0.9, 0.8], ddof=1) / math.sqrt(2), 2))
    assert found.seconds("a") == (1.5, 2.0)


def test_a_tie_lies_within_the_error_of_the_paired_difference() -> None:
    found = standings(
        {
            "surely": {"a": [0.9, 0.8], "b": [0.89, 0.79]},  # always better by as much
            "hardly": {"a": [0.9, 0.7], "b": [0.8, 0.75]},
            "worse": {"a": [0.1, 0.1], "b": [0.3, 0.2]},
        }
    )
    assert found.tally("a", "b") == Tally(1, 1, 1)
    assert found.tally("b", "a") == Tally(1, 1, 1)
    assert str(found.tally("a", "b")) == "1 / 1 / 1"


def test_with_one_round_the_error_is_that_of_a_share() -> None:
    error = math.sqrt((0.8 * 0.2 + 0.75 * 0.25) / 100)
    assert standings({"s": {"a": [0.8], "b": [0.8 - error * 0.8]}}).compare("s", "a", "b") == 0
    assert standings({"s": {"a": [0.8], "b": [0.8 - error * 1.2]}}).compare("s", "a", "b") == 1


def test_who_failed_or_is_missing_has_no_rank_and_loses() -> None:
    found = standings(
        {"one": {"a": [0.5], "b": [None], "c": [0.4]}, "two": {"a": [0.5], "b": [0.9]}},
    )
    assert found.complete == ["a"]
    assert found.systems[0] == "a"
    assert found.compare("one", "b", "a") == -1
    assert found.compare("two", "c", "a") is None
    assert math.isnan(found.cell("one", "b").mean)  # type: ignore[union-attr]


def test_gaps_stand_apart_and_other_metrics_have_no_mean() -> None:
    records = [record("x", "a", 0.5), record("x", "a", 0.6, gap=0.0), record("p", "a", 0.9, gap=None, metric="R2")]
    records.append(record("q", "a", 0.8, gap=None, metric="AUROC"))
    found = all_standings(records)
    assert [each.gap for each in found] == [0.0, 0.5, None]
    assert found[2].means == {}
    assert found[2].ranks == {"a": 1.0}


def test_beside_auroc_stand_average_precision_and_log_loss_of_those_who_have_them() -> None:
    told = {"AUROC": 0.8, "average precision": 0.5, "log loss": 0.3}
    full = replace(record("q", "a", 0.8, gap=None, metric="AUROC"), metrics=told)
    rows = dict(score_rows(Standings((full, record("q", "b", 0.7, gap=None, metric="AUROC")))))
    assert rows["q (average precision)"] == ["0.500", ""]
    assert rows["q (log loss)"] == ["0.300", ""]
    few = replace(full, match=replace(full.match, learn=400))
    assert [title_of(each) for each in all_standings([full, few])] == [
        "Sets with gaps of their own, 400 series to learn from",
        "Sets with gaps of their own",
    ]


@pytest.mark.parametrize(
    ("systems", "quantile"),
    [(2, 1.960), (3, 2.343), (4, 2.569), (5, 2.728), (6, 2.850), (7, 2.949), (8, 3.031), (9, 3.102), (10, 3.164)],
)
def test_the_critical_difference_has_the_published_quantiles(systems: int, quantile: float) -> None:
    expected = quantile * math.sqrt(systems * (systems + 1) / (6 * 14))
    assert critical_difference(systems, 14) == pytest.approx(expected, rel=5e-4)


def test_friedman_agrees_with_scipy() -> None:
    table = np.random.default_rng(0).normal(size=(4, 12))
    names = "abcd"
    ranks = (np.argsort(np.argsort(-table, axis=0), axis=0) + 1).mean(axis=1)
    found = friedman_p(dict(zip(names, ranks, strict=True)), 12)
    assert found == pytest.approx(friedmanchisquare(*table).pvalue)


def test_bars_join_those_that_differ_by_less() -> None:
    ranks = {"a": 1.2, "b": 2.0, "c": 2.9, "d": 4.5, "e": 4.6}
    assert cliques(ranks, 1.0) == [("a", "b"), ("b", "c"), ("d", "e")]
    assert cliques(ranks, 0.05) == []
    assert cliques(ranks, 9.0) == [("a", "b", "c", "d", "e")]


def test_the_diagram_names_everyone_with_the_rank() -> None:
    drawn = diagram({"a<b": 1.25, "c": 1.75}, 4)
    assert "a&lt;b 1.25" in drawn
    assert "1.75 c" in drawn
    assert f"critical difference {critical_difference(2, 4):.2f}" in drawn
    assert re.search(r'stroke-width="4"', drawn)
