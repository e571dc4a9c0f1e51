"""Few series: does a deeper model fit them better and generalise worse?"""

from collections.abc import Sequence

from denots.experiments import published
from denots.experiments.exhibit import Exhibit, Table
from denots.experiments.experiment import Experiment, Request
from denots.experiments.runs import Plan, option, quick_note, score_cell
from denots.runs.record import RunRecord
from denots.runs.run import Trial
from denots.training.model import Model, run_model


def on_train_and_test(model: Model, problem: Trial) -> dict[str, float]:
    """R2 and mean squared error in the target's own unit."""
    found = {}
    for split, part in (("train", problem.train), ("test", problem.test)):
        output = run_model(model, model.backbone.prepare(part.series)).outputs
        error = model.task.answer(output) - part.target
        found[f"{split} R2"] = float(model.task.metric(output, part.target))
        found[f"{split} MSE"] = float(error.square().mean())
    return found


class Overfitting(Experiment):
    name = "overfitting"
    title = "Overfitting on Pendulum-small"
    shows = "table of overfitting"
    reduced = f"Two seeds. {quick_note('pendulum-small')}"
    measures = {"fit": on_train_and_test}  # noqa: RUF012

    def plan(self, request: Request) -> Plan:
        plan = Plan(request)
        for depth in published.OVERFITTING:
            plan.add("pendulum-small", "denots", request.seeded(quick=2, paper=3), depth=float(depth))
        return plan

    def exhibits(self, records: Sequence[RunRecord]) -> list[Exhibit]:
        columns = tuple(published.OVERFITTING[1])
        rows = tuple(
            (
                f"depth {depth}",
                tuple(score_cell(runs, theirs[c], values=tuple(r.extra["fit"][c] for r in runs)) for c in columns),
            )
            for depth, theirs in published.OVERFITTING.items()
            for runs in [[r for r in records if option(r, "depth") == depth and "fit" in r.extra]]
        )
        return [Table("DeNOTS on Pendulum-small", columns, rows)]
