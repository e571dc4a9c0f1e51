"""Fill in and continue angles of a pendulum, and sums of two sines."""

from collections.abc import Sequence

from denots.experiments import published
from denots.experiments.exhibit import Cell, Exhibit, Table
from denots.experiments.experiment import Experiment, Request
from denots.experiments.runs import RETIRED_TREES, Plan, name_of, option, quick_note, score_cell
from denots.runs.record import RunRecord

JUDGED_ON = (*published.FORECASTING, "sine-2")
PLANNED = (*published.FORECASTING["pendulum-angles"], "last-value", "trees")
SHOWN = (*PLANNED[:-1], RETIRED_TREES, "trees")


class Forecasting(Experiment):
    name = "forecasting"
    title = "Interpolation and extrapolation of angles"
    shows = "table of forecasting"
    reduced = f"One seed. {quick_note(*JUDGED_ON)}"

    def plan(self, request: Request) -> Plan:
        plan = Plan(request)
        for dataset in JUDGED_ON:
            for system in PLANNED:
                plan.add(dataset, system, request.seeded(quick=1, paper=3))
        return plan

    def exhibits(self, records: Sequence[RunRecord]) -> list[Exhibit]:
        def cell(system: str, dataset: str) -> Cell:
            runs = [r for r in records if r.spec.dataset.name == dataset and name_of(r) == system and _standard(r)]
            theirs = published.FORECASTING.get(dataset, {}).get(system)
            return score_cell(runs, theirs)

        theirs = published.FORECASTING["pendulum-angles"]
        rows = [(system, tuple(cell(system, dataset) for dataset in JUDGED_ON)) for system in SHOWN]
        shown = tuple(row for row in rows if row[0] in theirs or any(each.values for each in row[1]))
        return [Table("R2 over all hidden rows", JUDGED_ON, shown)]


def _standard(record: RunRecord) -> bool:
    """Not one of the depth and tolerance sweeps on the same data."""
    return name_of(record) != "denots" or (option(record, "depth"), option(record, "tolerance")) == (5.0, 1e-3)
