"""Do more evaluations of the field give a better model: by depth, and by tolerance?"""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from denots.experiments import published
from denots.experiments.exhibit import Cell, Curve, Exhibit, Panel, Picture, Table
from denots.experiments.experiment import Experiment, Request
from denots.experiments.runs import DEPTHS, TOLERANCES, Plan, name_of, option, quick_note, score, score_cell
from denots.runs.record import RunRecord

SHOWN = ("tanh", "relu", "none", "sync", "denots")
JUDGED_ON = ("pendulum", "sepsis", "sine-2")
SWEEPS = ("tolerance", "depth")
RUNS = 18  # of one sweep in the paper
QUICK_DEPTHS, QUICK_TOLERANCES = (1, 5, 20), (1e-3, 1e-4, 1e-5)
SMOKE_DEPTHS, SMOKE_TOLERANCES = (1, 5), (1e-3, 1e-4)


class Evaluations(Experiment):
    name = "evaluations"
    title = "Evaluations of the field against the metric"
    shows = "figures of NFE, tables of Pearson and Spearman correlation, table of best values"
    reduced = f"One seed, depths 1, 5 and 20, tolerances 1e-3 to 1e-5. {quick_note(*JUDGED_ON)}"

    def plan(self, request: Request) -> Plan:
        plan, seeds = Plan(request), request.seeded(quick=1, paper=3)
        for dataset in JUDGED_ON:
            for system in SHOWN:
                for depth in request.of(SMOKE_DEPTHS, QUICK_DEPTHS, DEPTHS):
                    plan.add(dataset, system, seeds, depth=float(depth), tolerance=1e-3)
                for tolerance in request.of(SMOKE_TOLERANCES, QUICK_TOLERANCES, TOLERANCES)[1:]:
                    plan.add(dataset, system, seeds, depth=1.0, tolerance=tolerance)
        return plan

    def exhibits(self, records: Sequence[RunRecord]) -> list[Exhibit]:
        sets = [d for d in JUDGED_ON if any(r.spec.dataset.name == d for r in records)]
        sweeps = {
            (dataset, system, sweep): swept(records, dataset, system, sweep)
            for dataset in sets
            for system in SHOWN
            for sweep in SWEEPS
        }
        note = "Points are single runs; curves are smoothed by radial basis functions. Evaluations are counted per series, rejected steps included."
        pictures: list[Exhibit] = [
            Picture(
                f"Metric against evaluations on {dataset}",
                f"evaluations-{dataset}",
                tuple(
                    Panel(
                        f"{dataset}, by {sweep}",
                        "evaluations per series",
                        "test metric",
                        _curves(sweeps, dataset, sweep),
                        log_x=True,
                    )
                    for sweep in SWEEPS
                ),
                note,
            )
            for dataset in sets
        ]
        return [*pictures, *(_correlations(sweeps, sets, k) for k in (0, 1)), _best(sweeps, sets)]


def swept(records: Sequence[RunRecord], dataset: str, system: str, sweep: str) -> list[RunRecord]:
    """The runs at tolerance 1e-3 by depth, or those at depth 1 by tolerance; both hold the common corner."""
    other, value = ("tolerance", 1e-3) if sweep == "depth" else ("depth", 1.0)
    return [
        r
        for r in records
        if r.spec.dataset.name == dataset and name_of(r) == system and option(r, other) == value
        and r.evaluations is not None and math.isfinite(score(r))
    ]  # fmt: skip


def correlate(runs: Sequence[RunRecord]) -> tuple[float, float]:
    """Pearson and Spearman correlation of the logarithm of evaluations with the metric; NaN below three runs."""
    from scipy.stats import pearsonr, spearmanr

    logs, scores = _points(runs)
    if len(runs) < 3 or np.ptp(logs) == 0 or np.ptp(scores) == 0:
        return math.nan, math.nan
    return float(pearsonr(logs, scores).statistic), float(spearmanr(logs, scores).statistic)


def correlation_error(value: float, runs: int) -> float:
    """The usual standard error of a correlation, (1 - r^2) / sqrt(n - 3); infinite where there are too few runs."""
    return (1 - value**2) / math.sqrt(runs - 3) if runs > 3 else math.inf


def smooth(runs: Sequence[RunRecord], points: int = 60) -> tuple[list[float], list[float]]:
    """Evaluations and metric along a curve through the runs: Gaussian radial basis functions with some smoothing."""
    from scipy.interpolate import RBFInterpolator

    logs, scores = _points(runs)
    if len(np.unique(logs)) < 3:
        return [], []
    reach = np.ptp(logs)
    curve = RBFInterpolator(logs[:, None] / reach, scores, smoothing=0.1, kernel="gaussian", epsilon=2.0, degree=0)
    x = np.linspace(logs.min(), logs.max(), points)
    return np.exp(x).tolist(), curve(x[:, None] / reach).tolist()


def _points(runs: Sequence[RunRecord]) -> tuple[np.ndarray, np.ndarray]:
    logs = np.log([r.evaluations["mean"] for r in runs if r.evaluations is not None])
    return logs, np.array([score(r) for r in runs])


def _curves(sweeps: dict[tuple[str, str, str], list[RunRecord]], dataset: str, sweep: str) -> tuple[Curve, ...]:
    found = []
    for system in SHOWN:
        runs = [r for r in sweeps[dataset, system, sweep] if score(r) > -1]  # a diverged run would flatten the rest
        dots = tuple(
            (
                math.exp(log),
                value,
                f"{system}, depth {option(r, 'depth'):g}, tolerance {option(r, 'tolerance'):g}, seed {r.spec.seed}: {value:.3f} with {math.exp(log):.0f} evaluations",
            )
            for r, log, value in zip(runs, *_points(runs), strict=True)
        )
        found.append(Curve(system, *smooth(runs), runs=dots))
    return tuple(found)


def _correlations(sweeps: dict[tuple[str, str, str], list[RunRecord]], sets: Sequence[str], kind: int) -> Table:
    def cell(dataset: str, system: str, sweep: str) -> Cell:
        value = correlate(sweeps[dataset, system, sweep])[kind]
        theirs = published.CORRELATIONS[dataset][system][kind][SWEEPS.index(sweep)]
        spread = max(0.05, correlation_error(theirs, RUNS))
        runs = sweeps[dataset, system, sweep]
        known = (value,) if math.isfinite(value) else ()
        cell = score_cell(runs, (theirs, spread), assumed=True, values=known)
        return replace(cell, known_error=correlation_error(value, len(runs)))

    columns = tuple(f"{dataset}, {sweep}" for dataset in sets for sweep in SWEEPS)
    rows = tuple((s, tuple(cell(d, s, sweep) for d in sets for sweep in SWEEPS)) for s in SHOWN)
    name = ("Pearson", "Spearman")[kind]
    note = f"Over single runs. The spread of a published value is the standard error of a correlation of {RUNS} runs, at least 0.05 for its one digit."
    return Table(f"{name} correlation of log evaluations and metric", columns, rows, note, digits=2)


def _best(sweeps: dict[tuple[str, str, str], list[RunRecord]], sets: Sequence[str]) -> Table:
    def cell(dataset: str, system: str, sweep: str) -> Cell:
        groups: dict[float, list[RunRecord]] = {}
        for run in sweeps[dataset, system, sweep]:
            groups.setdefault(option(run, sweep), []).append(run)
        best = max(groups.values(), key=lambda runs: sum(map(score, runs)) / len(runs), default=[])
        return score_cell(best, published.BEST[dataset][system][SWEEPS.index(sweep)])

    columns = tuple(f"{dataset}, {sweep}" for dataset in sets for sweep in SWEEPS)
    rows = tuple((s, tuple(cell(d, s, sweep) for d in sets for sweep in SWEEPS)) for s in SHOWN)
    return Table("Best value of each sweep", columns, rows, "Chosen on the test split, as in the paper.")
