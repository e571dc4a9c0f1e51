"""A short bump somewhere in a flat series: does depth or tolerance make the solver see it?"""

from collections.abc import Sequence

from denots.experiments import published
from denots.experiments.exhibit import Exhibit, Table
from denots.experiments.experiment import Experiment, Request
from denots.experiments.runs import Plan, name_of, option, quick_note, score_cell
from denots.runs.record import RunRecord

VARIANTS = {
    "default": (1.0, 1e-3),
    "tolerance 1e-4": (1.0, 1e-4),
    "tolerance 1e-5": (1.0, 1e-5),
    "tolerance 1e-6": (1.0, 1e-6),
    "depth 20": (20.0, 1e-3),
}
PRINTED = ("default", "tolerance 1e-6", "depth 20")  # the columns of the paper
SHOWN = ("tanh", "relu", "none", "sync", "denots")


class Bump(Experiment):
    name = "bump"
    title = "Does depth beat tolerance on Bump?"
    shows = "table of Bump"
    reduced = f"One seed. {quick_note('bump')}"

    def plan(self, request: Request) -> Plan:
        plan = Plan(request)
        for name in (*PRINTED, *(other for other in VARIANTS if other not in PRINTED)):
            depth, tolerance = VARIANTS[name]
            for field in SHOWN if name in PRINTED else published.BUMP:
                plan.add("bump", field, request.seeded(quick=1, paper=3), depth=depth, tolerance=tolerance)
        return plan

    def exhibits(self, records: Sequence[RunRecord]) -> list[Exhibit]:
        rows = []
        for field in SHOWN:
            cells = []
            for name, (depth, tolerance) in VARIANTS.items():
                runs = [
                    record
                    for record in records
                    if name_of(record) == field
                    and (option(record, "depth"), option(record, "tolerance")) == (depth, tolerance)
                    and not record.spec.backbone.options.get("learn_depth")
                ]
                printed = field in published.BUMP and name in PRINTED
                theirs = published.BUMP[field][PRINTED.index(name)] if printed else None
                cells.append(score_cell(runs, theirs))
            rows.append((field, tuple(cells)))
        note = (
            "The paper has the tanh and the ReLU field; the others are ours. It does not say which tolerance it takes; its number "
            "stands beside the tightest."
        )
        return [Table("AUROC on Bump", tuple(VARIANTS), tuple(rows), note)]
