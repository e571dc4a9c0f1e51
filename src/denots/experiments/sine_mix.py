"""Remember the frequency of the first half while the second half goes by."""

from collections.abc import Sequence

from denots.experiments import published
from denots.experiments.exhibit import Cell, Exhibit, Table
from denots.experiments.experiment import Experiment, Request
from denots.experiments.runs import Plan, name_of, quick_note, score_cell
from denots.runs.record import RunRecord

DEPTH = 10.0
ODES = ("tanh", "relu", "none", "sync", "denots")
PUBLISHED, HARDER = "sine-mix", "sine-mix-jump"


class SineMix(Experiment):
    name = "sine-mix"
    title = "Does synchronous feedback forget, and anti-phase feedback remember?"
    shows = "table of SineMix"
    reduced = f"Two seeds, and one on the harder set. {quick_note(PUBLISHED, HARDER)}"

    def plan(self, request: Request) -> Plan:
        plan = Plan(request)
        for dataset, seeds in ((PUBLISHED, request.seeded(2, 5)), (HARDER, request.seeded(1, 3))):
            for system in published.SINE_MIX:
                plan.add(dataset, system, seeds, **({"depth": DEPTH} if system in ODES else {}))
        return plan

    def exhibits(self, records: Sequence[RunRecord]) -> list[Exhibit]:
        rows = []
        for system, theirs in published.SINE_MIX.items():
            runs, harder = (
                [r for r in records if r.spec.dataset.name == dataset and name_of(r) == system]
                for dataset in (PUBLISHED, HARDER)
            )
            early = Cell(tuple(value for r in runs if (value := r.curve[0]["val_metric"]) is not None))
            rows.append((system, (score_cell(runs, (theirs, 0.05), assumed=True), early, score_cell(harder))))
        note = (
            "Five epochs of 256 batches, depth 10 (the paper does not say which). The paper prints one digit: its spread is set to "
            "0.05. In the last column the second wave starts at a random phase, so that nothing but memory tells the first."
        )
        columns = ("R2", "R2 after one epoch, validation", "R2 where only memory helps")
        return [Table("R2 on SineMix", columns, tuple(rows), note)]
