"""Fill in and continue angles of a pendulum, and sums of two sines."""

from collections.abc import Sequence

from denots.experiments import published
from denots.experiments.exhibit import Cell, Exhibit, Table
from denots.experiments.experiment import Experiment, Request
from denots.experiments.runs import QUICK_NOTE, score, specs, system_of
from denots.training.record import RunRecord
from denots.training.spec import RunSpec

DATASETS = (*published.FORECASTING, "sine-2")
SYSTEMS = (*published.FORECASTING["pendulum-angles"], "last-value", "boosted-trees")


class Forecasting(Experiment):
    name = "forecasting"
    title = "Interpolation and extrapolation of angles"
    shows = "table of forecasting"
    reduced = f"One seed. {QUICK_NOTE}."

    def plan(self, request: Request) -> list[RunSpec]:
        seeds = request.seeded(quick=1, paper=3)
        return [spec for d in DATASETS for s in SYSTEMS for spec in specs(request, d, s, seeds)]

    def exhibits(self, records: Sequence[RunRecord]) -> list[Exhibit]:
        def cell(system: str, dataset: str) -> Cell:
            runs = (r for r in records if r.spec.dataset.name == dataset and system_of(r) == system)
            theirs = published.FORECASTING.get(dataset, {}).get(system)
            return Cell(tuple(map(score, runs)), theirs)

        rows = tuple((system, tuple(cell(system, dataset) for dataset in DATASETS)) for system in SYSTEMS)
        return [Table("R2 over all hidden rows", DATASETS, rows)]
