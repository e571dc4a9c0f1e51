"""Does a deeper model get by with smaller weights?"""

from collections.abc import Sequence

from denots.experiments.exhibit import Cell, Curve, Exhibit, Panel, Picture, Table
from denots.experiments.experiment import Experiment, Request
from denots.experiments.runs import DEPTHS, Plan, name_of, option, quick_note, score_cell
from denots.runs.record import RunRecord
from denots.runs.run import Trial
from denots.theory.trajectory import driven
from denots.training.model import Model

SHOWN = ("tanh", "denots")
QUICK_DEPTHS = (1, 5, 20)


def weight_norms(model: Model, problem: Trial) -> dict[str, float]:
    """The root of the sum of squares of all weights and biases of the field, and of each of them."""
    squares = {name: float(weight.detach().square().sum()) for name, weight in driven(model).field.named_parameters()}
    return {"all": sum(squares.values()) ** 0.5, **{name: square**0.5 for name, square in squares.items()}}


class WeightNorms(Experiment):
    name = "weight-norms"
    title = "Norm of the weights against depth"
    shows = "figure of weight norms"
    reduced = f"One seed, depths {', '.join(map(str, QUICK_DEPTHS))}. {quick_note('pendulum')}"
    measures = {"weights": weight_norms}  # noqa: RUF012

    def plan(self, request: Request) -> Plan:
        plan = Plan(request)
        for system in SHOWN:
            for depth in request.of((1, 20), QUICK_DEPTHS, DEPTHS):
                plan.add("pendulum", system, request.seeded(quick=1, paper=3), depth=float(depth))
        return plan

    def exhibits(self, records: Sequence[RunRecord]) -> list[Exhibit]:
        found = {s: [r for r in records if name_of(r) == s and "weights" in r.extra] for s in SHOWN}
        curves = []
        for system, runs in found.items():
            cells = {d: Cell(tuple(r.extra["weights"]["all"] for r in runs if option(r, "depth") == d)) for d in DEPTHS}
            known = [(float(d), cell.mean) for d, cell in cells.items() if cell.values]
            dots = tuple(
                (
                    option(r, "depth"),
                    r.extra["weights"]["all"],
                    f"{system}, depth {option(r, 'depth'):g}, seed {r.spec.seed}",
                )
                for r in runs
            )
            curves.append(Curve(system, [x for x, _ in known], [y for _, y in known], runs=dots))
        parts = [name for name in (found["tanh"][0].extra["weights"] if found["tanh"] else {})]
        rows = tuple(
            (
                f"depth {d}",
                tuple(score_cell(runs, values=tuple(r.extra["weights"][part] for r in runs)) for part in parts),
            )
            for d in DEPTHS
            if (runs := [r for r in found["tanh"] if option(r, "depth") == d])
        )
        panel = Panel("Pendulum", "depth D", "norm of all weights of the field", tuple(curves), log_x=True)
        note = "The paper shows the tanh field and says that norms fall with depth; DeNOTS is ours."
        return [
            Picture("Norm of the weights against depth", "weight-norms", (panel,), note),
            Table("Norms of the tanh field, matrix by matrix", tuple(parts), rows),
        ]
