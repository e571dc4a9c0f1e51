"""Correlation of cost and metric, judged by scipy on the same points."""

import math

import numpy as np
import pytest
from scipy.stats import pearsonr, spearmanr

from denots.experiments import EXPERIMENTS
from denots.experiments.evaluations import correlate, smooth, swept
from denots.experiments.exhibit import Cell, Picture, Table
from denots.runs.record import RunRecord

from run_records import record, spec

CALLS = [60.0, 80.0, 150.0, 64.0, 90.0, 120.0]
SCORES = [0.60, 0.65, 0.75, 0.58, 0.61, 0.80]


@pytest.fixture
def records() -> list[RunRecord]:
    settings = [(depth, seed) for seed in (0, 1) for depth in (1.0, 5.0, 20.0)]
    found = [
        record(spec("pendulum", "denots", seed, depth=depth), test, evaluations=calls)
        for (depth, seed), test, calls in zip(settings, SCORES, CALLS, strict=True)
    ]
    found.append(record(spec("pendulum", "denots", 0, depth=1.0, tolerance=1e-5), 0.61, evaluations=200.0))
    return found


def test_sweeps_hold_the_common_corner(records: list[RunRecord]) -> None:
    assert len(swept(records, "pendulum", "denots", "depth")) == 6
    assert len(swept(records, "pendulum", "denots", "tolerance")) == 3
    assert swept(records, "pendulum", "sync", "depth") == []


def test_correlations_are_scipys_on_log_evaluations(records: list[RunRecord]) -> None:
    found = correlate(swept(records, "pendulum", "denots", "depth"))
    logs = np.log(CALLS)
    assert found == pytest.approx((pearsonr(logs, SCORES).statistic, spearmanr(logs, SCORES).statistic))


def test_two_runs_have_no_correlation(records: list[RunRecord]) -> None:
    assert all(map(math.isnan, correlate(records[:2])))


def test_a_smooth_curve_stays_near_a_straight_line() -> None:
    runs = [record(spec("pendulum", "denots", depth=float(k)), 0.1 * k, evaluations=math.exp(k)) for k in range(1, 8)]
    x, y = smooth(runs)
    np.testing.assert_allclose(y, 0.1 * np.log(x), atol=0.05)


def test_tables_and_figures_show_the_runs(records: list[RunRecord]) -> None:
    exhibits = EXPERIMENTS["evaluations"].exhibits(records)
    pearson = next(e for e in exhibits if isinstance(e, Table) and e.title.startswith("Pearson"))
    cell = dict(pearson.rows)["denots"][pearson.columns.index("pendulum, depth")]
    assert isinstance(cell, Cell)
    assert cell.mean == pytest.approx(pearsonr(np.log(CALLS), SCORES).statistic)
    best = next(e for e in exhibits if isinstance(e, Table) and e.title.startswith("Best"))
    cell = dict(best.rows)["denots"][best.columns.index("pendulum, depth")]
    assert isinstance(cell, Cell)
    assert cell.values == (0.75, 0.80)
    picture = next(e for e in exhibits if isinstance(e, Picture))
    assert sum(len(curve.runs) for panel in picture.panels for curve in panel.curves) == 9
