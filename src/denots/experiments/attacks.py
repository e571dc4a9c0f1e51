"""How much do models suffer when observations of the test split are dropped or replaced by noise?"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from denots.data.series import SeriesSet
from denots.experiments import published
from denots.experiments.exhibit import Cell, Curve, Exhibit, Panel, Picture, Table
from denots.experiments.experiment import Experiment, Request
from denots.experiments.runs import DEPTHS, Plan, name_of, option, quick_note, score_cell
from denots.runs.record import RunRecord
from denots.runs.run import Trial
from denots.training.model import Model, run_model

FRACTIONS = {"drop": (0.1, 0.25, 0.5, 0.7, 0.85, 0.95), "change": (0.003, 0.01, 0.03, 0.1, 0.3)}
LABELS = {"drop": "share of dropped observations", "change": "share of changed observations"}
SHOWN = {"drop": 0.85, "change": 0.01}
REPEATS = 5
ODES = ("none", "sync", "denots")
DEPTH = 5.0
SERIES = 1_000


def attacked(series: SeriesSet, kind: str, fraction: float, seed: int) -> SeriesSet:
    """In every series and channel alike, floor(fraction * length) observations are lost, or become N(0, 1) noise."""
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=tuple(f"{kind}/{fraction}".encode())))
    values = series.values.copy()
    for channel in values.T:
        hit = _chosen(rng, series, fraction)
        channel[hit] = np.nan if kind == "drop" else rng.standard_normal(hit.sum())
    return replace(series, values=values)


def _chosen(rng: np.random.Generator, series: SeriesSet, fraction: float) -> np.ndarray:
    """The rows whose random rank within their series is below the number to hit."""
    order = np.lexsort((rng.random(len(series.times)), series.owner()))
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order)) - np.repeat(series.offsets[:-1], series.lengths)
    return rank < np.repeat(np.floor(fraction * series.lengths), series.lengths)


def under_attack(model: Model, problem: Trial) -> dict[str, dict[str, list[float]]]:
    """The test metric for every kind and fraction of attack, five times, over the first thousand series."""
    count = min(SERIES, len(problem.test.series))
    series, target = problem.test.series.select(np.arange(count)), problem.test.target[:count]
    found: dict[str, dict[str, list[float]]] = {}
    for kind, fractions in FRACTIONS.items():
        for fraction in (0.0, *fractions):
            for seed in range(REPEATS if fraction else 1):
                hit = attacked(series, kind, fraction, seed)
                output = run_model(model, model.backbone.prepare(hit))
                value = float(model.task.metric(output.outputs, target))
                found.setdefault(kind, {}).setdefault(f"{fraction:g}", []).append(value)
    return found


class Attacks(Experiment):
    name = "attacks"
    title = "Dropped and changed observations"
    shows = "table of attacks, figures of drop and change attacks, also against D"
    reduced = f"One trained model instead of five, depths 1, 5 and 20. {quick_note('pendulum')}"
    measures = {"attacks": under_attack}  # noqa: RUF012

    def plan(self, request: Request) -> Plan:
        plan, seeds = Plan(request), request.seeded(quick=1, paper=5)
        for system in published.ATTACKS:
            plan.add("pendulum", system, seeds, **({"depth": DEPTH} if system in ODES else {}))
        for depth in request.of((1, 5), (1, 5, 20), DEPTHS):
            plan.add("pendulum", "denots", seeds, depth=float(depth))
        return plan

    def exhibits(self, records: Sequence[RunRecord]) -> list[Exhibit]:
        known = [r for r in records if "attacks" in r.extra]
        systems = {s: [r for r in known if name_of(r) == s and _standard(r)] for s in published.ATTACKS}
        depths = {
            f"denots depth {d}": [r for r in known if name_of(r) == "denots" and option(r, "depth") == d]
            for d in DEPTHS
        }
        rows = tuple(
            (
                system,
                (
                    score_cell(runs),
                    *(
                        score_cell(runs, (published.ATTACKS[system][i], 0.05), True, _means(runs, kind, SHOWN[kind]))
                        for i, kind in enumerate(SHOWN)
                    ),
                ),
            )
            for system, runs in systems.items()
        )
        columns = ("no attack", *(f"{kind} {fraction:g}" for kind, fraction in SHOWN.items()))
        note = "The paper prints no spread; 0.05 is taken to judge agreement. Attacks hit the first 1,000 test series."
        return [
            Table("R2 on Pendulum under attack", columns, rows, note),
            _picture("R2 against the share of attacked observations", "attacks", systems),
            _picture("The same for DeNOTS at several depths", "attacks-depth", depths),
        ]


def _standard(record: RunRecord) -> bool:
    return name_of(record) not in ODES or (option(record, "depth"), option(record, "tolerance")) == (DEPTH, 1e-3)


def _means(runs: Sequence[RunRecord], kind: str, fraction: float) -> tuple[float, ...]:
    """The mean over the repeats on each trained model; repeats on one model say nothing of another."""
    found = (r.extra["attacks"][kind].get(f"{fraction:g}", []) for r in runs)
    known = ([value for value in values if value is not None] for values in found)
    return tuple(float(np.mean(values)) for values in known if values)


def _picture(title: str, name: str, groups: dict[str, list[RunRecord]]) -> Picture:
    panels = []
    for kind, fractions in FRACTIONS.items():
        curves = []
        for label, runs in groups.items():
            cells = [(x, Cell(_means(runs, kind, x))) for x in ((0.0, *fractions) if kind == "drop" else fractions)]
            points = [(x, cell) for x, cell in cells if cell.values]
            y = [max(cell.mean, -1.0) for _, cell in points]
            curves.append(Curve(label, [x for x, _ in points], y))
        panels.append(Panel(kind, LABELS[kind], "test R2", tuple(curves), log_x=kind == "change"))
    return Picture(title, name, tuple(panels), "Means below -1 are drawn at -1.")
