"""How many parameters the backbones have, counted on the modules themselves."""

from collections.abc import Sequence

from denots.experiments import published
from denots.experiments.exhibit import Cell, Exhibit, Table
from denots.experiments.experiment import Experiment, Request
from denots.experiments.runs import Plan
from denots.protocol import Protocol
from denots.runs.published import published_run
from denots.runs.record import RunRecord
from denots.runs.run import system_of
from denots.systems import Shape, Trained
from denots.tasks import Regression
from denots.tasks.scale import Scale
from denots.training.model import Model

SHAPES = {"pendulum": Shape(2, 0), "uwgl": Shape(3, 0), "insect-sound": Shape(1, 0), "sepsis": Shape(34, 5)}
ANY_TASK = Regression(Scale.unit(1), (0.0,))  # heads are not counted
SHOWN = tuple(published.PARAMETERS["pendulum"])


def built(system: str, dataset: str, protocol: Protocol) -> Model | None:
    """The model that `denots train` would train; None for trees, which grow with the data."""
    fitted = system_of(published_run(dataset, system, protocol))
    return fitted.build(ANY_TASK, SHAPES[dataset], seed=0) if isinstance(fitted, Trained) else None


def count(system: str, dataset: str) -> int | None:
    """Parameters of a backbone as published, without embedding, static projection and head."""
    model = built(system, dataset, "paper")
    return None if model is None else model.backbone.core_parameters


class Parameters(Experiment):
    name = "parameters"
    title = "Number of parameters"
    shows = "table of parameter counts"

    def plan(self, request: Request) -> Plan:
        return Plan(request)

    def exhibits(self, records: Sequence[RunRecord]) -> list[Exhibit]:
        rows = []
        for system in SHOWN:
            cells = []
            for dataset in SHAPES:
                ours, theirs = count(system, dataset), published.PARAMETERS[dataset][system]
                cells.append(Cell(() if ours is None else (float(ours),), None if theirs is None else (theirs, 0.0)))
            rows.append((system, tuple(cells)))
        note = (
            "Counted without embedding, static projection and head. The paper prints the bare layer for both Transformers "
            "on UWGL, and for the neural CDE on Sepsis a model of 3,500 channels that cannot be fed with the 35 it gets."
        )
        return [Table("Parameters of the backbones", tuple(SHAPES), tuple(rows), note, digits=0)]
