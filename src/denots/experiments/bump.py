"""A short bump somewhere in a flat series: does depth or tolerance make the solver see it?"""

from collections.abc import Sequence

from denots.experiments import published
from denots.experiments.exhibit import Exhibit, Table
from denots.experiments.experiment import Experiment, Request
from denots.experiments.runs import Plan, name_of, option, quick_note, score_cell
from denots.runs.record import RunRecord

VARIANTS = {"default": (1.0, 1e-3), "tolerance 1e-6": (1.0, 1e-6), "depth 20": (20.0, 1e-3)}
SHOWN = ("tanh", "relu", "none", "sync", "denots")


class Bump(Experiment):
    name = "bump"
    title = "Does depth beat tolerance on Bump?"
    shows = "table of Bump"
    reduced = f"One seed. {quick_note('bump')}"

    def plan(self, request: Request) -> Plan:
        plan = Plan(request)
        for depth, tolerance in VARIANTS.values():
            for field in SHOWN:
                plan.add("bump", field, request.seeded(quick=1, paper=3), depth=depth, tolerance=tolerance)
        return plan

    def exhibits(self, records: Sequence[RunRecord]) -> list[Exhibit]:
        rows = []
        for field in SHOWN:
            cells = []
            for i, (depth, tolerance) in enumerate(VARIANTS.values()):
                runs = [
                    record
                    for record in records
                    if name_of(record) == field
                    and (option(record, "depth"), option(record, "tolerance")) == (depth, tolerance)
                    and not record.spec.backbone.options.get("learn_depth")
                ]
                theirs = published.BUMP[field][i] if field in published.BUMP else None
                cells.append(score_cell(runs, theirs))
            rows.append((field, tuple(cells)))
        note = "The paper has the tanh and the ReLU field; the others are ours."
        return [Table("AUROC on Bump", tuple(VARIANTS), tuple(rows), note)]
