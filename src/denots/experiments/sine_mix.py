"""Remember the frequency of the first half while the second half goes by."""

from collections.abc import Sequence

from denots.experiments import published
from denots.experiments.exhibit import Exhibit, Table
from denots.experiments.experiment import Experiment, Request
from denots.experiments.runs import Plan, quick_note, score_cell, system_of
from denots.training.record import RunRecord

DEPTH = 10.0
ODES = ("tanh", "relu", "none", "sync", "denots")


class SineMix(Experiment):
    name = "sine-mix"
    title = "Synchronous feedback forgets, anti-phase feedback remembers"
    shows = "table of SineMix"
    reduced = f"Two seeds. {quick_note('sine-mix')}"

    def plan(self, request: Request) -> Plan:
        plan = Plan(request)
        for system in published.SINE_MIX:
            depth = {"depth": DEPTH} if system in ODES else {}
            plan.add("sine-mix", system, request.seeded(quick=2, paper=5), **depth)
        return plan

    def exhibits(self, records: Sequence[RunRecord]) -> list[Exhibit]:
        rows = tuple(
            (system, (score_cell([r for r in records if system_of(r) == system], (theirs, 0.05), assumed=True),))
            for system, theirs in published.SINE_MIX.items()
        )
        note = "Five epochs, depth 10 (the paper does not say which). The paper prints one digit: its spread is set to 0.05."
        return [Table("R2 on SineMix", ("R2",), rows, note)]
