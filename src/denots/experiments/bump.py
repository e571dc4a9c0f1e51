"""A short bump somewhere in a flat series: does depth or tolerance make the solver see it?"""

from collections.abc import Sequence

from denots.experiments import published
from denots.experiments.exhibit import Cell, Exhibit, Table
from denots.experiments.experiment import Experiment, Request
from denots.experiments.runs import score, specs, system_of
from denots.training.record import RunRecord
from denots.training.spec import RunSpec

SETTINGS = {"default": (1.0, 1e-3), "tolerance 1e-6": (1.0, 1e-6), "depth 20": (20.0, 1e-3)}
FIELDS = ("tanh", "relu", "none", "sync", "denots")


class Bump(Experiment):
    name = "bump"
    title = "Depth beats tolerance on Bump"
    shows = "table of Bump"
    reduced = "One seed, at most 12 epochs of 64 batches."

    def plan(self, request: Request) -> list[RunSpec]:
        seeds = request.seeded(quick=1, paper=3)
        return [
            spec
            for field in FIELDS
            for depth, tolerance in SETTINGS.values()
            for spec in specs(request, "bump", field, seeds, depth=depth, tolerance=tolerance)
        ]

    def exhibits(self, records: Sequence[RunRecord]) -> list[Exhibit]:
        rows = []
        for field in FIELDS:
            cells = []
            for i, (depth, tolerance) in enumerate(SETTINGS.values()):
                runs = [
                    record
                    for record in records
                    if system_of(record) == field
                    and record.spec.backbone.options["depth"] == depth
                    and record.spec.backbone.options["tolerance"] == tolerance
                ]
                theirs = published.BUMP[field][i] if field in published.BUMP else None
                cells.append(Cell(tuple(map(score, runs)), theirs))
            rows.append((field, tuple(cells)))
        note = "The paper has the tanh and the ReLU field; the others are ours."
        return [Table("AUROC on Bump", tuple(SETTINGS), tuple(rows), note)]
