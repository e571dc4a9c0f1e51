"""What does a tolerance of 1e-3 cost in accuracy of the state?"""

from collections.abc import Sequence

import numpy as np
import torch

from denots.experiments.exhibit import Cell, Exhibit, Table
from denots.experiments.experiment import Experiment, Request
from denots.experiments.runs import DEPTHS, Plan, name_of, option, quick_note
from denots.runs.record import RunRecord
from denots.runs.run import Trial
from denots.theory.trajectory import tightened
from denots.training.model import Model, run_model

SERIES = 128


@torch.no_grad()
def state_accuracy(model: Model, problem: Trial) -> dict[str, float] | None:
    """Error of the last state against a solve in float64 to 1e-8, and the metric with either; None without kernels."""
    if getattr(model.backbone.config, "field", None) not in ("anti", "sync", "none"):
        return None
    count = min(SERIES, len(problem.test.series))
    series, target = problem.test.series.select(np.arange(count)), problem.test.target[:count]
    tight = tightened(model)
    states, outputs = [], []
    for each in (model, tight):
        each.eval()
        inputs = each.backbone.prepare(series)
        encoded = each.backbone(inputs)
        states.append(encoded)
        outputs.append(run_model(each, inputs).outputs)
    ok = states[0].ok & states[1].ok
    loose, exact = (found.states[ok, -1].double() for found in states)
    errors = (loose - exact).norm(dim=1) / exact.norm(dim=1)
    calls = [found.evaluations.double().mean() for found in states if found.evaluations is not None]
    return {
        "median error": float(errors.median()),
        "largest error": float(errors.max()),
        "metric": float(model.task.metric(outputs[0], target)),
        "metric at 1e-8": float(tight.task.metric(outputs[1], target)),
        "evaluations": float(calls[0]),
        "evaluations at 1e-8": float(calls[1]),
    }


class Tolerance(Experiment):
    name = "tolerance"
    title = "What tolerance 1e-3 costs in accuracy"
    shows = "a question that the paper leaves open"
    reduced = f"One seed, depths 1, 5 and 20. {quick_note('pendulum')}"
    measures = {"accuracy": state_accuracy}  # noqa: RUF012

    def plan(self, request: Request) -> Plan:
        plan = Plan(request)
        for depth in request.of((1, 5), (1, 5, 20), DEPTHS):
            plan.add("pendulum", "denots", request.seeded(quick=1, paper=3), depth=float(depth))
        return plan

    def exhibits(self, records: Sequence[RunRecord]) -> list[Exhibit]:
        known = [
            r for r in records if name_of(r) == "denots" and option(r, "tolerance") == 1e-3 and r.extra.get("accuracy")
        ]
        columns = tuple(known[0].extra["accuracy"]) if known else ()
        rows = tuple(
            (
                f"depth {depth}",
                tuple(
                    Cell(tuple(r.extra["accuracy"][c] for r in known if option(r, "depth") == depth)) for c in columns
                ),
            )
            for depth in DEPTHS
            if any(option(r, "depth") == depth for r in known)
        )
        note = f"Relative error of the last state over {SERIES} test series, against tolerance 1e-8 in float64, and R2 with either."
        return [Table("DeNOTS on Pendulum, solved to 1e-3 and to 1e-8", columns, rows, note)]
