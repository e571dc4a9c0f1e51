"""Differences of means, their intervals and the runs that would decide them, judged by scipy."""

import math

import numpy as np
import pytest
from scipy.stats import ttest_1samp, ttest_ind, ttest_ind_from_stats

from denots.experiments.difference import CONFIDENCE, MOST_RUNS, difference, runs_to_decide
from denots.experiments.exhibit import Cell

MANY = Cell((0.812, 0.790, 0.835, 0.801))
FEW = Cell((0.837, 0.812, 0.862))


def test_the_interval_is_welchs() -> None:
    found = difference(MANY, FEW)
    theirs = ttest_ind(MANY.values, FEW.values, equal_var=False).confidence_interval(CONFIDENCE)
    assert (found.low, found.high) == pytest.approx((theirs.low, theirs.high))
    assert found.value == pytest.approx(np.mean(MANY.values) - np.mean(FEW.values))
    assert not found.decided


def test_a_limit_has_no_spread() -> None:
    found = difference(MANY, Cell((0.7,), known_error=0.0))
    theirs = ttest_1samp(MANY.values, 0.7).confidence_interval(CONFIDENCE)
    assert (found.low, found.high) == pytest.approx((theirs.low - 0.7, theirs.high - 0.7))
    assert found.decided


def test_a_single_run_decides_nothing_and_equal_runs_decide() -> None:
    alone = difference(Cell((0.9,)), FEW)
    assert (alone.low, alone.high) == (-math.inf, math.inf)
    assert runs_to_decide(Cell((0.9,)), FEW) is None
    equal = difference(Cell((1.0, 1.0)), Cell((0.99,), known_error=0.0))
    assert equal.low == equal.high == pytest.approx(0.01)
    assert equal.decided


def test_so_many_runs_decide_and_one_less_does_not() -> None:
    runs = runs_to_decide(MANY, FEW)
    assert runs is not None

    def p_value(n: int) -> float:
        stats = ((cell.mean, cell.spread, n) for cell in (MANY, FEW))
        return float(ttest_ind_from_stats(*next(stats), *next(stats), equal_var=False).pvalue)

    assert p_value(runs) < 1 - CONFIDENCE <= p_value(runs - 1)


def test_what_not_even_a_thousand_runs_decide_has_no_number() -> None:
    near = Cell(tuple(value + 1e-5 for value in MANY.values))
    assert MOST_RUNS == 1000
    assert runs_to_decide(near, MANY) is None
