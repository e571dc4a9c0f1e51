"""How far states wander at depth 20, field by field."""

from collections.abc import Sequence

import numpy as np

from denots.experiments.exhibit import Curve, Exhibit, Panel, Picture, Table
from denots.experiments.experiment import Experiment, Request
from denots.experiments.runs import Plan, name_of, option, quick_note, score_cell
from denots.runs.record import RunRecord
from denots.runs.run import Trial
from denots.theory.trajectory import follow
from denots.training.model import Model

SHOWN = ("relu", "tanh", "none", "sync", "denots")
DEPTH = 20.0
SERIES = 256


def state_norms(model: Model, problem: Trial) -> dict[str, list[float]]:
    """Mean and spread of the norm of the state over the first test series, at shares of the elapsed time."""
    series = problem.test.series
    path = follow(model, series.select(np.arange(min(SERIES, len(series)))))
    spread = path.norms.std(dim=0, correction=0)
    return {"share": path.shares.tolist(), "mean": path.norms.mean(dim=0).tolist(), "spread": spread.tolist()}


class Trajectories(Experiment):
    name = "trajectories"
    title = "Norm of the state along the trajectory"
    shows = "figure of trajectories at D = 20"
    reduced = f"One seed. {quick_note('pendulum')}"
    measures = {"norms": state_norms}  # noqa: RUF012

    def plan(self, request: Request) -> Plan:
        plan = Plan(request)
        for system in SHOWN:
            plan.add("pendulum", system, request.seeded(quick=1, paper=3), depth=DEPTH)
        return plan

    def exhibits(self, records: Sequence[RunRecord]) -> list[Exhibit]:
        curves, rows = [], []
        for system in SHOWN:
            runs = [r for r in records if name_of(r) == system and option(r, "depth") == DEPTH and _known(r)]
            if runs:
                shares = np.array(runs[0].extra["norms"]["share"])
                mean, spread = (np.mean([r.extra["norms"][k] for r in runs], axis=0) for k in ("mean", "spread"))
                low, high = np.maximum(mean - spread, mean / 10)[1:], (mean + spread)[1:]
                curves.append(Curve(system, shares[1:].tolist(), mean[1:].tolist(), (low.tolist(), high.tolist())))
            ends = tuple(r.extra["norms"]["mean"][-1] for r in runs)
            growth = tuple(r.extra["norms"]["mean"][-1] / r.extra["norms"]["mean"][len(shares) // 2] for r in runs)
            rows.append((system, tuple(score_cell(runs, values=values) for values in (None, ends, growth))))
        panel = Panel("Pendulum, depth 20", "share of elapsed time", "norm of the state", tuple(curves), log_y=True)
        note = "Mean over test series, with their spread; all start at zero. The paper: states of no feedback, ReLU and tanh grow, the two with negative feedback stay bounded."
        return [
            Picture("Norm of the state along the trajectory", "trajectories", (panel,), note),
            Table("Where trajectories end", ("test R2", "norm at the end", "norm at the end / half-way"), tuple(rows)),
        ]


def _known(record: RunRecord) -> bool:
    """Some series could be solved, so there is something to average."""
    return None not in record.extra.get("norms", {"mean": [None]})["mean"]
